"""The package as programs import it: its names, their documentation, and what the import costs."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import swapcli
from swapcli.core import errors
from tests.quoting import user_program

ROOT = Path(__file__).parents[2]
HEAVY = {"web3", "httpx", "rich", "typer", "yaml", "click", "asyncio", "decimal", "logging", "sqlite3", "dataclasses"}
MAX_IMPORT_MS = 60
README_BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def run_python(*arguments: str, home: Path) -> str:
    """Run a fresh interpreter in which warnings are errors; return its output."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "SWAPCLI_LIVE": "never"}
    command = [sys.executable, "-I", "-W", "error", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_program_of_a_user_runs_without_warnings(tmp_path: Path) -> None:
    printed = run_python(str(user_program.__file__), home=tmp_path)
    assert printed == 'UNKNOWN_TOKEN no token "NOPE" on base\n'


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    program = "import sys; before = set(sys.modules); import swapcli; print(sorted(set(sys.modules) - before))"
    assert run_python("-c", program, home=tmp_path) == "['swapcli']\n"


def test_importing_market_and_quote_is_light(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "started = time.process_time()\n"
        "from swapcli import Market, SwapQuote, quote\n"
        "spent_ms = (time.process_time() - started) * 1000\n"
        "import json\n"
        "print(json.dumps([spent_ms, sorted(sys.modules)]))"
    )
    runs = [json.loads(run_python("-c", program, home=tmp_path)) for _ in range(3)]
    loaded = set(runs[0][1])
    assert not {name.split(".")[0] for name in loaded} & HEAVY
    own = {name for name in loaded if name.startswith("swapcli.")}
    assert own == {
        f"swapcli.{name}"
        for name in ("core", "core.errors", "core.records", "quoting", "quoting.market", "quoting.swap_quote")
    }
    assert min(spent_ms for spent_ms, _ in runs) <= MAX_IMPORT_MS


def test_the_public_names_are_these() -> None:
    assert swapcli.__all__ == sorted(swapcli.__all__)
    assert [name for name in swapcli.__all__ if not name[0].isupper()] == ["__version__", "aquote", "quote"]
    assert {"AsyncMarket", "Market", "SwapQuote", "SwapcliError"} < set(swapcli.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        swapcli.__getattr__("nonsense")


@pytest.mark.parametrize("name", [name for name in swapcli.__all__ if name != "__version__"])
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(swapcli, name)
    assert value.__name__ == name
    assert inspect.getdoc(value)
    if not inspect.isclass(value) or not value.__module__.startswith("swapcli.quoting"):
        return
    for member, attribute in vars(value).items():
        if not member.startswith("_") and member not in getattr(value, "_fields", ()):
            assert inspect.getdoc(attribute), f"{name}.{member}"


def test_type_checkers_see_what_the_package_exports() -> None:
    tree = ast.parse(Path(swapcli.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(swapcli.__all__)
    assert (Path(swapcli.__file__).parent / "py.typed").exists()


def test_errors_are_those_of_the_documented_tree() -> None:
    documented = set(re.findall(r"^[│├└─ ]*(\w+)", errors.__doc__ or "", re.MULTILINE))
    classes = {
        name for name, each in vars(errors).items() if inspect.isclass(each) and each.__module__ == errors.__name__
    }
    assert classes <= documented


def test_the_block_of_the_readme_runs(tmp_path: Path) -> None:
    ((block, output),) = README_BLOCK.findall((ROOT / "README.md").read_text())
    assert run_python("-c", block, home=tmp_path) == output
