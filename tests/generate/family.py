"""Adds the skeleton of a pool family to the program: `python -m tests.generate.family NAME [--folder FOLDER]`.

It writes the family's class, its reader and their tests, and a row into each table. What only the author can know says
"TODO NAME": that raises NotImplementedError, so that its tests fail until it is written. `docs/families.md` leads on.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
TEMPLATES: Final = Path(__file__).parent / "family_templates"
TOPIC: Final = "swapcli/faces/cli/topics/pools.txt"
TOPIC_WIDTH: Final = 26
"""Where the fields of a family begin in the topic on pools."""


class Row(NamedTuple):
    """A row of a table: it stands before the line that begins with `before`."""

    file: str
    before: str
    text: str


class Family(NamedTuple):
    """A family to add. `folder` is that of its class, its reader and their tests."""

    name: str
    folder: str

    @property
    def class_name(self) -> str:
        return "".join(part.capitalize() for part in self.name.split("_"))

    @property
    def kind(self) -> str:
        return self.name.upper()


def sources_of(family: Family) -> dict[str, str]:
    """Return the files to write, by path: each from its template."""
    values = {"name": family.name, "folder": family.folder, "Class": family.class_name, "KIND": family.kind}
    paths = {
        f"swapcli/families/{family.folder}/{family.name}.py": "pool",
        f"swapcli/families/{family.folder}/{family.name}_reader.py": "reader",
        f"tests/families/{family.folder}/test_{family.name}.py": "test_pool",
        f"tests/families/{family.folder}/test_{family.name}_reader.py": "test_reader",
    }
    return {
        path: Template((TEMPLATES / f"{template}.py.txt").read_text()).substitute(values)
        for path, template in paths.items()
    }


def new_folders_of(family: Family) -> dict[str, str]:
    """Return the `__init__.py` of the folder in each tree, by path, for a folder that does not exist yet."""
    return {
        f"swapcli/families/{family.folder}/__init__.py": (
            f'"""TODO {family.name}: the contracts whose pools stand here."""\n\nPUBLIC = ()\n'
        ),
        f"tests/families/{family.folder}/__init__.py": "",
    }


def rows_of(family: Family) -> tuple[Row, ...]:
    """Return the rows of the tables: class, kind of contract, reader, call of the router, and form in market files."""
    name, kind = family.name, family.kind
    return (
        Row(
            "swapcli/families/__init__.py",
            '    "sampled": (',
            f'    "{name}": ("{family.folder}", "{family.class_name}"),\n',
        ),
        Row("swapcli/core/model/contract_kind.py", "    SAMPLED = ", f'    {kind} = "{name}"\n'),
        Row(
            "swapcli/families/reading/contract_kinds.py",
            "    ContractKind.SAMPLED: KindTraits(",
            f"    ContractKind.{kind}: KindTraits(\n"
            f'        ("{name}",),\n'
            f'        "{family.folder}.{name}",\n'
            f'        unannounced="TODO {name}: or the events that announce a change of its state",\n'
            "    ),\n",
        ),
        Row(
            "swapcli/payload/evm/extra_data.py",
            '        "sampled": RouterFamily(',
            f'        "{name}": RouterFamily(None, _nothing),\n',
        ),
        Row(TOPIC, f"{'  sampled':<{TOPIC_WIDTH}}  nothing", f"{f'  {name}':<{TOPIC_WIDTH}}  reserves\n"),
    )


def add_family(family: Family, root: Path = ROOT) -> list[str]:
    """Write the skeleton, and return the paths of the files that are new or have a new row.

    Raises `ValueError` for a name that is no family's or is taken, before anything is written.
    """
    for name in family:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(f'"{name}" is not a name: use lower-case letters, digits and underscores')
    sources, rows = sources_of(family), rows_of(family)
    taken = [path for path in sources if (root / path).exists()]
    if taken:
        raise ValueError(f"{taken[0]} exists already")
    texts = {row.file: _with_row((root / row.file).read_text(), row) for row in rows}
    folders = {path: text for path, text in new_folders_of(family).items() if not (root / path).exists()}
    for path, text in {**folders, **sources, **texts}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return [*folders, *sources, *texts]


def _with_row(text: str, row: Row) -> str:
    before, line, after = text.partition(f"\n{row.before}")
    if not line or f"\n{row.before}" in after:
        raise ValueError(f"{row.file} has not exactly one line that begins with {row.before!r}")
    return f"{before}\n{row.text}{line[1:]}{after}"


def main() -> None:
    """Add the family of the command line."""
    parser = argparse.ArgumentParser(prog="make family", description="Add the skeleton of a pool family.")
    parser.add_argument("name", help="as in the field `family` of market files")
    parser.add_argument("--folder", help="of its class, its reader and their tests; by default a new one of this name")
    arguments = parser.parse_args()
    family = Family(arguments.name, arguments.folder or arguments.name)
    try:
        paths = add_family(family)
    except ValueError as error:
        parser.error(str(error))
    print("\n".join(paths))
    print(f'\nTests fail until all of it is written: git grep -n "TODO {family.name}". docs/families.md says how.')


if __name__ == "__main__":
    main()
