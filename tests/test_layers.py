"""The house: imports go down only, and a pool family that lands is in every list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from swapcli import pools
from swapcli.model.pool import Pool

PACKAGE = Path(pools.__file__).parents[1]
ASKING = (
    "engine/sources/remote.py", "engine/sources/stored.py", "engine/sources/live.py", "engine/block_snapshot.py",
    "engine/sync/", "engine/payload_checks.py", "engine/market_follower.py", "cli/commands/market.py",
    "cli/store_paths.py", "cli/commands/sync.py", "cli/sync_filter_options.py", "cli/render/store_view.py",
    "cli/render/sync_view.py",
)  # fmt: skip
"""Imported only by who asks a service, a store or a node."""

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "startup"}),
    frozenset({"encoding", "backoff"}),
    frozenset({"validation"}),
    frozenset({"model"}),
    frozenset({"networks", "pools"}),
    frozenset({"routing"}),
    frozenset({"selection", "api", "evm", "starknet", "markets"}),
    frozenset({"chain", "store", "remote", "config"}),
    frozenset({"engine"}),
    frozenset({"library"}),
    frozenset({"service"}),
    frozenset({"cli"}),
)
"""From the ground up. A part may import itself and what lies below it, but not its neighbours."""

STRICTER = {
    "routing": {"errors", "model", "pools"},
    "api": {"errors", "model", "networks"},
    "pools": {"errors", "model"},
    "networks": {"errors", "model"},
    "evm": {"errors", "model", "networks"},
    "starknet": {"errors", "model", "networks"},
}
"""Routing knows no network, the wire no pool."""

NARROWER = {
    "api": {"swapcli.networks": "swapcli.networks.address."},
}
"""Of some parts only one module. How an address is read and shown is a matter of the kind of network, and has one home;
what is known of networks is handed to the wire."""

HEAVY = {"rich", "yaml", "Crypto", "numpy", "scipy", "web3", "httpx", "starlette", "uvicorn", "msgspec", "eth_abi"}
"""Never imported by a module as it loads, but for modules that are themselves loaded on demand."""
LOADED_ON_DEMAND = (
    "cli/render/table.py", "cli/render/progress.py", "config/yaml_text.py", "remote/", "service/", "chain/", "store/",
)  # fmt: skip
"""Modules, and parts of which nothing else imports anything as it loads."""


ENTRY_POINTS = ("__init__", "__main__", "startup")
"""They import what they start. `startup` also has functions for the command line, and lies at the ground for it."""


def level(part: str) -> int:
    return next(height for height, parts in enumerate(LAYERS) if part in parts)


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return [file for file in sorted(PACKAGE.rglob("*.py")) if part_of(file) not in ENTRY_POINTS]


def imports(file: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parts_imported(file: Path) -> set[str]:
    own = (name.split(".") for name in imports(file) if name.startswith("swapcli."))
    return {name[1] for name in own if name[1] != "__version__"}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_go_down_only(file: Path) -> None:
    part = part_of(file)
    for other in parts_imported(file) - {part}:
        assert level(other) < level(part), f"{part} imports {other}"
        assert other in STRICTER.get(part, {other}) | {"encoding", "validation"}, f"{part} must not know {other}"


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_some_parts_may_use_only_one_module_of_another(file: Path) -> None:
    for whole, allowed in NARROWER.get(part_of(file), {}).items():
        assert all(name.startswith(allowed) for name in imports(file) if name.startswith(f"{whole}."))


def test_every_layer_is_named_once() -> None:
    assert all(not (lower & upper) for lower, upper in pairwise(LAYERS))
    assert {part_of(file) for file in modules()} <= frozenset().union(*LAYERS)


def top_level_imports(file: Path) -> Iterator[str]:
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_module_imports_something_heavy_as_it_loads(file: Path) -> None:
    if not str(file.relative_to(PACKAGE)).startswith(LOADED_ON_DEMAND):
        assert not {name.split(".")[0] for name in top_level_imports(file)} & HEAVY


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_what_is_loaded_on_demand_is_not_imported_by_anything_that_loads_at_once(file: Path) -> None:
    demanded = {name.rstrip("/") for name in LOADED_ON_DEMAND if name.endswith("/")}
    if not str(file.relative_to(PACKAGE)).startswith((*LOADED_ON_DEMAND, *ASKING)):
        assert not {part for name in top_level_imports(file) for part in name.split(".")[1:2]} & demanded


PURE = ("errors", "model", "networks", "pools", "routing", "selection", "api", "markets", "evm", "starknet")
PURE_MODULES = [file for file in modules() if part_of(file) in PURE]
IMPURE = {"time", "random", "secrets", "socket", "subprocess", "urllib", "environ", "getenv"}


@pytest.mark.parametrize("file", PURE_MODULES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_what_lies_below_the_engine_reads_no_clock_and_no_environment(file: Path) -> None:
    attributes = {node.attr for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute)}
    assert not ({name.split(".")[0] for name in imports(file)} | attributes) & IMPURE


def families() -> dict[str, type[Pool]]:
    """Every pool class that a module in `pools/` defines, by family."""
    for file in (PACKAGE / "pools").glob("*.py"):
        __import__(f"swapcli.pools.{file.stem}")
    return {cls.family: cls for cls in Pool.__subclasses__() if cls.__module__.startswith("swapcli.pools.")}


def test_every_family_is_in_the_list_and_every_name_in_the_list_is_a_family() -> None:
    assert set(families()) == set(pools.FAMILIES)
    for name, cls in families().items():
        assert pools.family(name) is cls
        assert cls.swap_gas > 0


def test_every_family_of_the_catalogue_exists() -> None:
    from swapcli.networks.catalogue import network, network_names

    used = {protocol.family for name in network_names() for protocol in network(name).protocols}
    assert used - {None} <= set(pools.FAMILIES)


def test_routing_names_no_family() -> None:
    for file in (PACKAGE / "routing").rglob("*.py"):
        assert not any(name.startswith("swapcli.pools.") for name in imports(file)), file
