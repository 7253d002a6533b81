"""Adds the skeleton of a pool family to the program: `python -m tests.generate.family NAME [--folder FOLDER]`.

It writes the family's class, its reader, their tests and the file of recorded swaps; its row, its kind's row, the
record of its constants and the event of its swaps in the folder's `rows.py`; its line in the index; and its protocol in
the definition of a network. Where only the author knows how to go on, it says "TODO NAME": that raises
NotImplementedError, so that its tests fail until it is written. With `--package ../swapcli-glider` it writes a package
outside of the program, as `swapcli.testing.new_family` does. `docs/families.md` leads on.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path
from typing import Final, NamedTuple

from swapcli.testing.new_family import NewFamily, check_name, with_rows, write_package

ROOT: Final = Path(__file__).parents[2]
INDEX: Final = "swapcli/families/__init__.py"
_FIRST_OWN_ID: Final = 100
"""The ids below are those of the public router."""


class Family(NamedTuple):
    """A family to add. `folder` is that of its class, its reader, its rows and their tests."""

    name: str
    folder: str
    network: str = "base"

    @property
    def new(self) -> NewFamily:
        """The family as the templates know it."""
        return NewFamily(self.name, f"swapcli.families.{self.folder}")

    @property
    def rows(self) -> str:
        """The path of the folder's rows."""
        return f"swapcli/families/{self.folder}/rows.py"

    @property
    def definition(self) -> str:
        """The path of the network's definition."""
        return f"swapcli/core/networks/definitions/{self.network}.json"

    @property
    def vectors(self) -> str:
        """The path of the recorded swaps."""
        return f"tests/families/vectors/{self.name}.json.xz"


def sources_of(family: Family) -> dict[str, str]:
    """Return the files to write, by path: each from its template."""
    return {
        f"swapcli/families/{family.folder}/{family.name}.py": family.new.from_template("pool.py"),
        f"swapcli/families/{family.folder}/{family.name}_reader.py": family.new.from_template("reader.py"),
        f"tests/families/{family.folder}/test_{family.name}.py": family.new.from_template(
            "test_pool.py",
            path_import="",
            import_gap="\n",
            import_inside=family.new.import_line,
            import_after="from tests.families.recorded import vectors_file\n",
            vectors=f'vectors_file("{family.name}")',
        ),
    }


def new_folders_of(family: Family) -> dict[str, str]:
    """Return the files that a folder needs which does not exist yet, by path; its rows are empty."""
    return {
        f"swapcli/families/{family.folder}/__init__.py": (f"{family.new.from_template('package.py')}\nPUBLIC = ()\n"),
        family.rows: family.new.from_template("rows.py"),
    }


def add_family(family: Family, root: Path = ROOT) -> list[str]:
    """Write the skeleton, and return the paths of the files that are new or have a new row.

    Raises `ValueError` for a name that is no family's or is taken, before anything is written.
    """
    for name in family:
        check_name(name)
    sources = sources_of(family)
    index = (root / INDEX).read_text()
    taken = [path for path in sources if (root / path).exists()]
    if taken or f'\n    "{family.name}": ' in index:
        where = taken[0] if taken else INDEX
        raise ValueError(f'the family "{family.name}" exists already in {where}: choose another name, or edit it there')
    if not (root / family.definition).exists():
        raise ValueError(f'"{family.network}" has no definition: use the name of a file in swapcli/core/networks')
    folders = {path: text for path, text in new_folders_of(family).items() if not (root / path).exists()}
    rows = folders.pop(family.rows, None) or (root / family.rows).read_text()
    texts = {
        **folders,
        **sources,
        family.rows: with_rows(rows, family.new),
        INDEX: _with_index_lines(index, family),
        family.definition: _with_protocol((root / family.definition).read_text(), family),
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / family.vectors).parent.mkdir(parents=True, exist_ok=True)
    (root / family.vectors).write_bytes(lzma.compress(family.new.no_vectors.encode()))
    return [*texts, family.vectors]


def _with_index_lines(text: str, family: Family) -> str:
    text = _before(
        text, '    "sampled": (', f'    "{family.name}": ("{family.folder}", "{family.new.class_name}"),\n', INDEX
    )
    return _before(text, '    "sampled": "', f'    "{family.name}": "{family.folder}",\n', INDEX)


def _with_protocol(text: str, family: Family) -> str:
    """Return a definition with a protocol of the family, and a deployment without an address that is known."""
    ids = [protocol["id"] for protocol in json.loads(text)["protocols"]]
    name = f"{family.new.class_name[0].lower()}{family.new.class_name[1:]}"
    protocol = {
        "id": max(*ids, _FIRST_OWN_ID - 1) + 1, "amm_name": name, "display_name": family.new.class_name,
        "family": family.name, "extended": True,
    }  # fmt: skip
    deployment = {
        "protocols": [name], "name": family.new.class_name, "addresses": {"factory": f"0x{'00' * 20}"},
        "source": f"TODO {family.name}: the address of its factory, and who published it", "unconfirmed": ["addresses"],
    }  # fmt: skip
    for key, entry in (("protocols", protocol), ("deployments", deployment)):
        start = text.index(f'\n  "{key}": [\n')
        end = text.index("\n  ]", start)
        text = f"{text[:end]},\n    {json.dumps(entry)}{text[end:]}"
    return text


def _before(text: str, line: str, new: str, file: str) -> str:
    """Insert text before the only line that begins with `line`."""
    before, found, after = text.partition(f"\n{line}")
    if not found or f"\n{line}" in after:
        raise ValueError(f"{file} has not exactly one line that begins with {line!r}")
    return f"{before}\n{new}{found[1:]}{after}"


def main() -> None:
    """Add the family of the command line."""
    parser = argparse.ArgumentParser(prog="make family", description="Add the skeleton of a pool family.")
    parser.add_argument("name", help="as in the field `family` of market files")
    parser.add_argument("--folder", help="of its class, its reader and their tests; by default a new one of this name")
    parser.add_argument("--network", help="in whose definition its protocol stands; base by default")
    parser.add_argument("--package", type=Path, help="a new folder, for a package outside of this program")
    arguments = parser.parse_args()
    family = Family(arguments.name, arguments.folder or arguments.name, arguments.network or "base")
    if arguments.package and (arguments.folder or arguments.network):
        parser.error("a package has no folder or network of swapcli: leave out FOLDER and NETWORK")
    try:
        paths = add_family(family) if arguments.package is None else write_package(arguments.name, arguments.package)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    print("\n".join(map(str, paths)))
    print(f'\nTests fail until all of it is written: grep -rn "TODO {family.name}". docs/families.md says how.')


if __name__ == "__main__":
    main()
