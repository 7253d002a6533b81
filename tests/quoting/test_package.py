"""The package as programs import it: its names, their documentation, and what the import costs."""

from __future__ import annotations

import ast
import inspect
import json
import re
import resource
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
MAX_BARE_STARTS = 5
"""How many starts of Python without any import one with the library may take."""
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
        for name in (
            "core",
            "core.annotations",
            "core.errors",
            "core.plugins",
            "core.records",
            "core.validation",
            "core.validation.argument_types",
            "quoting",
            "quoting.market",
            "quoting.price_policy",
            "quoting.swap_quote",
        )
    }
    assert min(spent_ms for spent_ms, _ in runs) <= MAX_IMPORT_MS


def test_the_public_names_are_these() -> None:
    assert swapcli.__all__ == sorted(swapcli.__all__)
    functions = [name for name in swapcli.__all__ if not name[0].isupper()]
    assert functions == [
        *("__version__", "add_network", "aquote", "check_network", "check_proof", "decode", "export_market", "family"),
        *(
            "health",
            "import_market",
            "mark_part_done",
            "network_definition",
            "network_details",
            "networks",
            "probe_nodes",
            "protocols",
            "prove",
        ),
        *("public_venues", "quote", "remove_network", "remove_store", "router_deployment", "schema", "setting"),
        *("settings", "store_info", "stores", "sync", "tokens"),
    ]
    assert {"AsyncMarket", "Market", "SwapQuote", "SwapcliError"} < set(swapcli.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(swapcli, "nonsense")  # noqa: B009 (type checkers refuse the plain form)


def test_the_package_lists_its_names_before_any_use(tmp_path: Path) -> None:
    program = "import sys, swapcli; print(dir(swapcli) == swapcli.__all__, 'swapcli.core' in sys.modules)"
    assert run_python("-c", program, home=tmp_path) == "True False\n"
    shown = run_python("-c", "import swapcli; help(swapcli)", home=tmp_path)
    assert "class Market(" in shown
    assert "class NoRoute(" in shown
    assert "with Market.embedded" in shown


def test_errors_are_imported_from_the_package(tmp_path: Path) -> None:
    program = (
        "from swapcli import Market, NoRoute, SwapcliError, UnknownToken\n"
        "try:\n"
        "    Market.embedded('base').quote('NOPE', 'ETH', 1)\n"
        "except UnknownToken as error:\n"
        "    print(error.code, issubclass(NoRoute, SwapcliError))"
    )
    assert run_python("-c", program, home=tmp_path) == "UNKNOWN_TOKEN True\n"


def test_the_library_starts_within_five_bare_starts(tmp_path: Path) -> None:
    def start_s(program: str) -> float:
        """Return the CPU time of a start, which waits beside other tests do not lengthen."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run_python("-c", program, home=tmp_path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    starts = [(start_s("from swapcli import Market, NoRoute, quote"), start_s("")) for _ in range(9)]
    library_s, bare_s = map(min, zip(*starts, strict=True))
    assert library_s <= MAX_BARE_STARTS * bare_s


@pytest.mark.slow
def test_a_misspelled_import_fails_in_mypy(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from swapcli import Market, NoRoute\nfrom swapcli import Markt\n\nprint(Market, NoRoute, Markt)\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(program)]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 1
    assert re.findall(r"program.py:(\d+): error: (.*)  ", checked.stdout) == [
        ("2", 'Module "swapcli" has no attribute "Markt"; maybe "Market"?')
    ], checked.stdout


@pytest.mark.parametrize("name", [name for name in swapcli.__all__ if name != "__version__"])
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(swapcli, name)
    assert value.__name__ == name
    assert inspect.getdoc(value)
    if not inspect.isclass(value) or not value.__module__.startswith("swapcli.quoting"):
        return
    fields = {*getattr(value, "_fields", ()), *getattr(value, "__dataclass_fields__", ())}
    for member, attribute in vars(value).items():
        if not member.startswith("_") and member not in fields:
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
    assert classes <= set(swapcli.__all__)


def test_the_block_of_the_readme_runs(tmp_path: Path) -> None:
    ((block, output),) = README_BLOCK.findall((ROOT / "README.md").read_text())
    assert run_python("-c", block, home=tmp_path) == output
