"""Adds the skeleton of a pool family to the program: `python -m tests.generate.family NAME [--folder FOLDER]`.

It writes the family's class, its reader, their tests and the file of recorded swaps; its row, its kind's row, the
record of its constants and the event of its swaps in the folder's `rows.py`; its line in the index; and its protocol in
the definition of a network. Where only the author knows how to go on, it says "TODO NAME": that raises
NotImplementedError, so that its tests fail until it is written. `docs/families.md` leads on.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
TEMPLATES: Final = Path(__file__).parent / "family_templates"
INDEX: Final = "swapcli/families/__init__.py"
_FIRST_OWN_ID: Final = 100
"""The ids below are those of the public router."""
_LINE_LENGTH: Final = 120
_ROW_NAMES: Final = ("Event", "FamilyRow", "KindRow", "SwapAmounts")


class Family(NamedTuple):
    """A family to add. `folder` is that of its class, its reader, its rows and their tests."""

    name: str
    folder: str
    network: str = "base"

    @property
    def class_name(self) -> str:
        return "".join(part.capitalize() for part in self.name.split("_"))

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

    def from_template(self, template: str) -> str:
        """Return a template with the names of the family."""
        values = {"name": self.name, "folder": self.folder, "Class": self.class_name, "network": self.network}
        return Template((TEMPLATES / f"{template}.txt").read_text()).substitute(values)


def sources_of(family: Family) -> dict[str, str]:
    """Return the files to write, by path: each from its template."""
    return {
        f"swapcli/families/{family.folder}/{family.name}.py": family.from_template("pool.py"),
        f"swapcli/families/{family.folder}/{family.name}_reader.py": family.from_template("reader.py"),
        f"tests/families/{family.folder}/test_{family.name}.py": family.from_template("test_pool.py"),
    }


def new_folders_of(family: Family) -> dict[str, str]:
    """Return the files that a folder needs which does not exist yet, by path; its rows are empty."""
    return {
        f"swapcli/families/{family.folder}/__init__.py": (
            f'"""TODO {family.name}: the contracts whose pools stand here."""\n\nPUBLIC = ()\n'
        ),
        family.rows: family.from_template("rows.py"),
    }


def add_family(family: Family, root: Path = ROOT) -> list[str]:
    """Write the skeleton, and return the paths of the files that are new or have a new row.

    Raises `ValueError` for a name that is no family's or is taken, before anything is written.
    """
    for name in family:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(f'"{name}" is not a name: use lower-case letters, digits and underscores')
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
        family.rows: with_rows(rows, family),
        INDEX: _with_index_lines(index, family),
        family.definition: _with_protocol((root / family.definition).read_text(), family),
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / family.vectors).parent.mkdir(parents=True, exist_ok=True)
    (root / family.vectors).write_bytes(_empty_vectors(family))
    return [*texts, family.vectors]


def with_rows(text: str, family: Family) -> str:
    """Return the rows of a folder with those of a family, its constants, and the event of its swaps."""
    helpers, family_row, kind_row = family.from_template("row.py").split("# ---\n")
    before, table, after = text.partition("\nFAMILIES: Final")
    text = f"{before.rstrip()}\n\n\n{helpers.strip()}\n\n{table}{after}"
    text = _at_end_of_table(text, "FAMILIES: Final", family_row, family.rows)
    text = _at_end_of_table(text, "KINDS: Final", kind_row, family.rows)
    if "import NamedTuple\n" not in text:
        text = _before(
            text, "from swapcli.families", "from swapcli.core.records import NamedTuple\n", family.rows, first=True
        )
    return _with_row_imports(text)


def _with_row_imports(text: str) -> str:
    """Import what the new rows use of `swapcli.families.row`, in the order of the linter."""
    pattern = r"from swapcli\.families\.row import (?:\(([^)]*)\)|([^\n]*))\n"
    found = re.search(pattern, text)
    if found is None:
        raise ValueError("the rows import nothing from swapcli.families.row")
    names = {name.strip() for name in (found[1] or found[2]).split(",") if name.strip()} | {*_ROW_NAMES, "read_words"}
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    line = f"from swapcli.families.row import {', '.join(ordered)}\n"
    if len(line) > _LINE_LENGTH + 1:
        line = "from swapcli.families.row import (\n" + "".join(f"    {name},\n" for name in ordered) + ")\n"
    return text[: found.start()] + line + text[found.end() :]


def _with_index_lines(text: str, family: Family) -> str:
    text = _before(
        text, '    "sampled": (', f'    "{family.name}": ("{family.folder}", "{family.class_name}"),\n', INDEX
    )
    return _before(text, '    "sampled": "', f'    "{family.name}": "{family.folder}",\n', INDEX)


def _with_protocol(text: str, family: Family) -> str:
    """Return a definition with a protocol of the family, and a deployment without an address that is known."""
    ids = [protocol["id"] for protocol in json.loads(text)["protocols"]]
    name = f"{family.class_name[0].lower()}{family.class_name[1:]}"
    protocol = {
        "id": max(*ids, _FIRST_OWN_ID - 1) + 1, "amm_name": name, "display_name": family.class_name,
        "family": family.name, "extended": True,
    }  # fmt: skip
    deployment = {
        "protocols": [name], "name": family.class_name, "addresses": {"factory": f"0x{'00' * 20}"},
        "source": f"TODO {family.name}: the address of its factory, and who published it", "unconfirmed": ["addresses"],
    }  # fmt: skip
    for key, entry in (("protocols", protocol), ("deployments", deployment)):
        start = text.index(f'\n  "{key}": [\n')
        end = text.index("\n  ]", start)
        text = f"{text[:end]},\n    {json.dumps(entry)}{text[end:]}"
    return text


def _empty_vectors(family: Family) -> bytes:
    document = {"format": "recorded-swaps/1", "source": f"TODO {family.name}: contract and revision", "pools": []}
    return lzma.compress(json.dumps(document).encode())


def _before(text: str, line: str, new: str, file: str, *, first: bool = False) -> str:
    """Insert text before the only line that begins with `line`, or before the first one."""
    before, found, after = text.partition(f"\n{line}")
    if not found or (not first and f"\n{line}" in after):
        raise ValueError(f"{file} has not exactly one line that begins with {line!r}")
    return f"{before}\n{new}{found[1:]}{after}"


def _at_end_of_table(text: str, table: str, new: str, file: str) -> str:
    before, found, after = text.partition(f"\n{table}")
    if not found:
        raise ValueError(f"{file} has no table {table!r}")
    rows, closing, rest = after.partition("\n}\n")
    return f"{before}{found}{rows}\n{new.rstrip()}{closing}{rest}"


def main() -> None:
    """Add the family of the command line."""
    parser = argparse.ArgumentParser(prog="make family", description="Add the skeleton of a pool family.")
    parser.add_argument("name", help="as in the field `family` of market files")
    parser.add_argument("--folder", help="of its class, its reader and their tests; by default a new one of this name")
    parser.add_argument("--network", help="in whose definition its protocol stands", default="base")
    arguments = parser.parse_args()
    family = Family(arguments.name, arguments.folder or arguments.name, arguments.network)
    try:
        paths = add_family(family)
    except ValueError as error:
        parser.error(str(error))
    print("\n".join(paths))
    print(f'\nTests fail until all of it is written: git grep -n "TODO {family.name}". docs/families.md says how.')


if __name__ == "__main__":
    main()
