"""Write a package with a new pool family: `python -m swapcli.testing.new_family glider ../swapcli-glider`.

The package has the family's class, its reader, its rows, their tests and an entry point by which swapcli finds it. The
parts that only the author can write raise NotImplementedError with "TODO glider", so that the tests fail until they are
written. `docs/families.md` has the next steps.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from keyword import iskeyword, kwlist
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

from swapcli.families import FAMILIES, KIND_NAMES
from swapcli.testing.recorded_swaps import FORMAT

TEMPLATES: Final = Path(__file__).parent / "family_templates"
_LINE_LENGTH: Final = 120
_ROW_NAMES: Final = ("Event", "FamilyRow", "KindRow", "SwapAmounts")


class NewFamily(NamedTuple):
    """A family to write. `package` is the dotted name of the Python package for its class, its reader and its rows."""

    name: str
    package: str

    @property
    def class_name(self) -> str:
        """The name of the family's class."""
        return "".join(part.capitalize() for part in self.name.split("_"))

    def from_template(self, template: str, **others: str) -> str:
        """Return a template with the family's names and the `others` filled in."""
        values = {"name": self.name, "package": self.package, "Class": self.class_name, **others}
        return Template((TEMPLATES / f"{template}.txt").read_text()).substitute(values)

    @property
    def import_line(self) -> str:
        """The line that imports the family's class."""
        return f"from {self.package}.{self.name} import {self.class_name}\n"

    @property
    def no_vectors(self) -> str:
        """A document for recorded swaps that is still empty."""
        source = f"TODO {self.name}: record swaps of the contract, and say which one it is"
        return json.dumps({"format": FORMAT, "source": source, "pools": []})


def check_name(name: str) -> None:
    """Raise `ValueError` unless a family may have this name."""
    if iskeyword(name):
        raise ValueError(f'"{name}" is a Python keyword: choose another name')
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,23}", name):
        raise ValueError(f'"{name}" is not a name: use up to 24 lower-case letters, digits and underscores')


def write_package(name: str, folder: Path) -> list[Path]:
    """Write the package of a family into a new or empty folder, named after the family, and return the files.

    Raises `ValueError` for an invalid or taken name, and for a folder with files, before anything is written.
    """
    check_name(name)
    if name in FAMILIES or name in KIND_NAMES:
        raise ValueError(f'swapcli already has a family or a kind named "{name}": choose another name')
    distribution = folder.absolute().name
    package = distribution.replace("-", "_").lower()
    taken = {"swapcli", "tests", *kwlist, *sys.stdlib_module_names}
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9_-]*[A-Za-z0-9])?", distribution) or package in taken:
        raise ValueError(f'"{distribution}" cannot be the name of a package: use a folder such as swapcli-{name}')
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty: use a new folder")
    family = NewFamily(name, package)
    source = Path("src") / package
    texts = {
        Path("pyproject.toml"): family.from_template("pyproject.toml", distribution=distribution),
        Path("README.md"): family.from_template("readme.md", distribution=distribution),
        Path(".gitignore"): "__pycache__/\n.*_cache/\n.hypothesis/\n.venv/\ndist/\nnode_modules/\npackage*.json\n",
        source / "__init__.py": family.from_template("package.py"),
        source / "py.typed": "",
        source / f"{name}.py": family.from_template("pool.py"),
        source / f"{name}_reader.py": family.from_template("reader.py"),
        source / "rows.py": with_rows(family.from_template("rows.py"), family),
        Path("tests") / f"test_{name}.py": family.from_template(
            "test_pool.py",
            path_import="from pathlib import Path\n",
            import_gap="",
            import_inside="",
            import_after=f"\n{family.import_line}",
            vectors=f'Path(__file__).parent / "{name}.json"',
        ),
        Path("tests") / f"{name}.json": f"{family.no_vectors}\n",
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [folder / path for path in texts]


def with_rows(text: str, family: NewFamily) -> str:
    """Return a folder's module `rows` with the family's rows, its constants, and the event of its swaps."""
    helpers, family_row, kind_row = family.from_template("row.py").split("# ---\n")
    before, table, after = text.partition("\nFAMILIES: Final")
    text = f"{before.rstrip()}\n\n\n{helpers.strip()}\n\n{table}{after}"
    text = _at_end_of_table(text, "FAMILIES: Final", family_row)
    text = _at_end_of_table(text, "KINDS: Final", kind_row)
    if "import NamedTuple\n" not in text:
        first = "\nfrom swapcli.families"
        text = text.replace(first, f"\nfrom swapcli.core.records import NamedTuple{first}", 1)
    return _with_row_imports(text)


def _with_row_imports(text: str) -> str:
    """Import the names that the new rows use from `swapcli.families.row`, in the linter's order."""
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


def _at_end_of_table(text: str, table: str, new: str) -> str:
    before, found, after = text.partition(f"\n{table}")
    if not found:
        raise ValueError(f"the rows have no table {table!r}")
    rows, closing, rest = after.partition("\n}\n")
    return f"{before}{found}{rows}\n{new.rstrip()}{closing}{rest}"


def main() -> None:
    """Write the package that the command line describes."""
    parser = argparse.ArgumentParser(
        prog="python -m swapcli.testing.new_family", description="Write a package with a new pool family."
    )
    parser.add_argument("name", help="as in the field `family` of market files")
    parser.add_argument("folder", type=Path, help="a new one, named after the package, such as ../swapcli-glider")
    arguments = parser.parse_args()
    try:
        paths = write_package(arguments.name, arguments.folder)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    print("\n".join(map(str, paths)))
    print(f'\nIts tests fail until all of it is written: grep -rn "TODO {arguments.name}" {arguments.folder}')


if __name__ == "__main__":
    main()
