"""Imports go down only, heavy libraries load on demand, and every pool family is in every list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from inspect import isabstract
from itertools import pairwise
from pathlib import Path

import pytest

import swapcli
from swapcli import families as family_index
from swapcli.core.model.pool import Pool
from tests.support.sources import parsed

PACKAGE = Path(swapcli.__file__).parent
REMOTE_STATE_MODULES = (
    "quoting/backtest.py", "quoting/simulated_offers.py",
    "quoting/sources/remote.py", "quoting/sources/stored.py", "quoting/sources/live.py",
    "quoting/sources/live_reading.py", "quoting/sources/probed_transfers.py", "quoting/followers/",
    "quoting/sources/found_pools.py", "quoting/sources/token_checks.py", "quoting/openers/listed_pools.py",
    "state/found_pools_file.py", "state/confirmed_tokens_file.py",
    "payload/verdict/swap_rehearsal.py", "quoting/verification/",
    "payload/review/contract_codes.py", "payload/variant_memory.py", "payload/checks/presign_checks.py",
    "payload/checks/simulated_variants.py",
    "payload/simulation/", "payload/permits.py", "quoting/permits.py",
    "payload/signing/signing_fields.py", "payload/signing/signing_values.py", "quoting/syncing/",
    "quoting/proving/", "quoting/planning/past_prices.py", "quoting/planning/price_events.py",
    "faces/cli/commands/hindsight/", "faces/cli/commands/sync/", "faces/cli/commands/verify/",
)  # fmt: skip
"""Modules that load only when a quote uses a service, a store or a node."""

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"core"}),
    frozenset({"families"}),
    frozenset({"state", "interface", "errors"}),
    frozenset({"payload"}),
    frozenset({"quoting"}),
    frozenset({"faces", "testing"}),
)
"""The packages from the bottom up. A package may import itself and lower layers, but not other packages of its layer.
The folders and modules inside a package form layers too: none of them import each other."""

BASICS = {"core.annotations", "core.errors", "core.frozen_dataclass", "core.records"}
"""What every package may import."""

STRICTER = {
    "core.encoding": BASICS,
    "core.validation": {*BASICS, "core.encoding"},
    "core.model": {*BASICS, "core.encoding", "core.plugins", "core.validation"},
    "core.networks": {*BASICS, "core.encoding", "core.validation", "core.model"},
    "core.plugins": {"core.annotations", "core.records"},
    "core.execution": BASICS,
    "core.routing": {*BASICS, "core.model"},
    "interface": {*BASICS, "core.encoding", "core.validation", "core.model", "core.networks"},
    "payload.evm": {
        *BASICS, "core.encoding", "core.validation", "core.model", "core.networks",
        "families.family_row", "families.is_built_in", "families.is_family", "families.row",
    },
    "payload.starknet": {
        *BASICS, "core.encoding", "core.validation", "core.model", "core.networks", "families.is_built_in",
    },
    "quoting.pictures": {
        *BASICS, "core.encoding", "core.model", "core.networks", "interface",
        "quoting.depth_result", "quoting.quote_results",
    },
}  # fmt: skip
"""Packages that may import, besides themselves, only these."""

NARROWER = {"interface": "core.networks.address", "quoting.pictures": "core.networks.address"}
"""Packages that may import only one module of `core.networks`.

The format of an address depends on the kind of network, so `interface` uses `address`. Callers pass every other
property of a network to `interface`."""

HEAVY = {
    "rich",
    "yaml",
    "Crypto",
    "numpy",
    "scipy",
    "web3",
    "httpx",
    "starlette",
    "uvicorn",
    "msgspec",
    "eth_abi",
    "redis",
    "mcp",
    "mcp_types",
}
"""Libraries that no module imports at the top level, except modules that are loaded on demand."""
LOADED_ON_DEMAND = (
    "faces/cli/render/terminal_tables.py", "faces/cli/commands/sync/progress.py",
    "faces/service/", "faces/mcp/protocol_server.py", "quoting/config/yaml_parser.py", "quoting/config/edit.py",
    "quoting/remote/", "quoting/aggregators/ask_aggregator.py", "state/rpc/", "families/reading/", "state/discovery/",
    "state/mined/", "state/read_cache/", "state/sync/", "state/feed/", "state/store/", "state/transfers/",
    "state/names.py", "state/tokens.py", "state/snapshot_reader.py", "state/settler_registry.py",
    "state/remembered_json.py", "state/agreements_file.py", "state/router_findings_file.py",
    "quoting/sources/state_confirmation.py", "state/book_prices.py", "testing/",
)  # fmt: skip
"""Modules and packages that no other module imports at the top level."""


ENTRY_POINTS = ("__init__", "__main__", "startup")
"""Modules that may import anything."""


def layer_index(package: str) -> int:
    return next(index for index, packages in enumerate(LAYERS) if package in packages)


def package_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return [file for file in sorted(PACKAGE.rglob("*.py")) if package_of(file) not in ENTRY_POINTS]


def packages() -> list[str]:
    return sorted({package_of(file) for file in modules()})


def modules_of(package: str) -> list[Path]:
    return [file for file in modules() if package_of(file) == package]


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Return every module that a file imports, at any level."""
    found: list[str] = []
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.extend(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


def own_imports(file: Path) -> set[str]:
    """Return what a file imports of this program, without the program's name."""
    own = {name.removeprefix("swapcli.") for name in imports(file) if name.startswith("swapcli.")}
    return own - set(swapcli.__all__)


def test_only_faces_import_the_public_library() -> None:
    """The root package names what is below it, so imports of it by anything but a face would go up."""
    for file in modules():
        if package_of(file) != "faces":
            assert not [name for name in imports(file) if name.removeprefix("swapcli.") in swapcli.__all__], file


def is_in(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("package", packages())
def test_imports_go_down_only(package: str) -> None:
    for file in modules_of(package):
        for name in own_imports(file):
            other = name.split(".")[0]
            assert other == package or layer_index(other) < layer_index(package), f"{file} imports {name}"


@pytest.mark.parametrize("package", STRICTER)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    for file in PACKAGE.joinpath(*package.split(".")).rglob("*.py"):
        for name in own_imports(file):
            assert is_in(name, {package} | STRICTER[package]), f"{file} must not know {name}"
            narrow = NARROWER.get(package)
            assert narrow is None or not is_in(name, {"core.networks"}) or is_in(name, {narrow}), file


def folder_of(name: str) -> str:
    """Return the folder of a module inside its package; the module itself if it lies directly in the package."""
    return ".".join(name.split(".")[:2])


@pytest.mark.parametrize("package", ["core", "families", "state", "interface", "payload", "quoting", "faces"])
def test_folders_of_a_package_do_not_import_each_other(package: str) -> None:
    graph: dict[str, set[str]] = {}
    for name, targets in import_graph().items():
        if is_in(name, {package}) and name != package:
            below = {folder_of(each) for each in targets if is_in(each, {package}) and each != package}
            graph.setdefault(folder_of(name), set()).update(below - {folder_of(name)})
    assert cycles(graph) == []


def test_every_package_is_in_one_layer() -> None:
    assert all(not (lower & upper) for lower, upper in pairwise(LAYERS))
    assert {package_of(file) for file in modules()} <= frozenset().union(*LAYERS)


def test_package_docstrings_name_existing_modules() -> None:
    for file in PACKAGE.rglob("__init__.py"):
        docstring = ast.get_docstring(parsed(file)) or ""
        siblings = {path.stem for folder in (file.parent, PACKAGE) for path in folder.iterdir()}
        imported = {name.rpartition(".")[2] for name in imports(file)}
        assert set(re.findall(r"`([a-z][a-z0-9_]*)`", docstring)) <= siblings | imported, file


def top_level_imports(file: Path) -> Iterator[str]:
    for node in parsed(file).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("package", packages())
def test_heavy_libraries_are_imported_on_demand(package: str) -> None:
    for file in modules_of(package):
        if not str(file.relative_to(PACKAGE)).startswith(LOADED_ON_DEMAND):
            assert not {name.split(".")[0] for name in top_level_imports(file)} & HEAVY, file


def test_two_modules_import_web3() -> None:
    """One for lasting connections, with what web3 depends on, and one for names. Others import them on demand."""
    connection, names = PACKAGE / "state/rpc/subscribed_connection.py", PACKAGE / "state/names.py"
    libraries = {"web3": {connection, names}, "websockets": {connection}, "ens": {names}}
    for library, users in libraries.items():
        assert {file for file in modules() if library in {name.split(".")[0] for name in imports(file)}} == users
    on_demand = {"swapcli.state.rpc.subscribed_connection", "swapcli.state.names"}
    assert not [file for file in modules() if on_demand & set(top_level_imports(file))]


def test_one_module_imports_redis_and_only_on_demand() -> None:
    found = {file for file in modules() if any(re.match(r"redis(\.|$)", name) for name in imports(file))}
    assert found == {PACKAGE / "state" / "feed" / "redis_client.py"}
    assert not [file for file in modules() if "redis" in {name.split(".")[0] for name in top_level_imports(file)}]


def test_one_module_imports_the_sdk_of_the_tools() -> None:
    found = {file for file in modules() if {"mcp", "mcp_types"} & {name.split(".")[0] for name in imports(file)}}
    assert found == {PACKAGE / "faces" / "mcp" / "protocol_server.py"}


FACES_BELOW = {"faces.service": {"faces.mcp", "faces.cli"}, "faces.mcp": {"faces.service", "faces.cli"}}
"""The faces that the command line starts, and what none of them may import."""


@pytest.mark.parametrize("face", FACES_BELOW)
def test_a_face_knows_no_other_face(face: str) -> None:
    for file in PACKAGE.joinpath(*face.split(".")).rglob("*.py"):
        assert not [name for name in own_imports(file) if is_in(name, FACES_BELOW[face])], file


def test_the_protocol_knows_no_layer_between() -> None:
    """What a tool does is the commands' business: the server of the protocol gets functions."""
    for file in (PACKAGE / "faces" / "mcp").rglob("*.py"):
        assert all(is_in(name, {"core", "faces.mcp"}) for name in own_imports(file)), file


@pytest.mark.parametrize("package", sorted(set(packages()) - {"families"}))
def test_on_demand_packages_are_not_imported_at_start(package: str) -> None:
    on_demand = {name.rstrip("/").removesuffix(".py").replace("/", ".") for name in LOADED_ON_DEMAND}
    for file in modules_of(package):
        if not str(file.relative_to(PACKAGE)).startswith((*LOADED_ON_DEMAND, *REMOTE_STATE_MODULES)):
            for name in top_level_imports(file):
                assert not is_in(name.removeprefix("swapcli."), on_demand), f"{file} imports {name}"


def test_pools_load_no_readers() -> None:
    """Most quotes are on pools in memory; a reader is imported when the first pool of its kind is read."""
    names = {".".join((folder, name)) for name, (folder, _) in family_index._CLASSES.items()}
    files = {module_name(file): file for file in modules_of("families")}
    loaded, waiting = set[str](), {f"families.{name}" for name in names}
    while waiting:
        loaded |= waiting
        found = {name.removeprefix("swapcli.") for each in waiting for name in top_level_imports(files[each])}
        waiting = {name for name in found if name in files} - loaded
    assert not [name for name in loaded if name.startswith("families.reading")]


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


@cache
def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports; the package itself, which has only lazy names, is left out."""
    files = {
        module_name(file): file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE or file.stem != "__init__"
    }
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        imported = [each.removeprefix("swapcli.") for each in imports(file)]
        parents = [each.rpartition(".")[0] for each in imported]
        targets = {each if each in files else parent for each, parent in zip(imported, parents, strict=True)}
        graph[name] = targets & files.keys() - {name}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules of which each reaches every other."""
    reachable = {name: set(targets) for name, targets in graph.items()}
    order = list(graph)
    for middle in order:
        for start in order:
            if middle in reachable[start]:
                reachable[start] |= reachable[middle]
    groups = {frozenset({name, *(each for each in reachable[name] if name in reachable[each])}) for name in order}
    return sorted((set(group) for group in groups if len(group) > 1), key=sorted)


def test_no_modules_import_each_other() -> None:
    assert cycles(import_graph()) == []


def test_no_modules_of_the_benchmark_import_each_other() -> None:
    folder = PACKAGE.parent / "bench"
    files = {".".join(file.relative_to(folder.parent).with_suffix("").parts): file for file in folder.rglob("*.py")}
    graph = {
        name: {each for each in files if any(is_in(found, {each}) for found in imports(file))} - {name}
        for name, file in files.items()
    }
    assert sum(map(len, graph.values())) > len(graph)
    assert cycles(graph) == []


@cache
def public_names(folder: str) -> tuple[str, ...]:
    """Return the names in `PUBLIC` of a folder; `swapcli/core/__init__.py` says what they mean."""
    for node in parsed(PACKAGE.joinpath(*folder.split("."), "__init__.py")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC":
            names: tuple[str, ...] = ast.literal_eval(node.value)
            return names
    raise AssertionError(f"{folder}/__init__.py has no PUBLIC")


@cache
def is_folder(name: str) -> bool:
    return PACKAGE.joinpath(*name.split(".")).is_dir()


def closed_folder(name: str, importer: str = "") -> str | None:
    """Return the outermost folder around a module, itself included, of which the importer is no part."""
    parts = name.split(".")
    around = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return next((each for each in around if is_folder(each) and not is_in(importer, {each})), None)


def is_public(folder: str, name: str) -> bool:
    """Return whether modules outside of the folder may import a module inside."""
    inside = name.removeprefix(f"{folder}.")
    if inside in public_names(folder):
        return True
    opened = [each for each in public_names(folder) if is_folder(f"{folder}.{each}") and is_in(inside, {each})]
    return bool(opened) and name != f"{folder}.{opened[0]}" and is_public(f"{folder}.{opened[0]}", name)


def imports_past_public() -> Iterator[tuple[str, str]]:
    """Yield importers from outside of a folder, with each module inside that no `PUBLIC` allows them to import."""
    users = import_graph() | {"": {name.removeprefix("swapcli.") for name in swapcli._MODULES.values()}}
    for importer, targets in users.items():
        for name in targets:
            folder = closed_folder(name, importer)
            if folder is not None and folder != name and not is_public(folder, name):
                yield importer, name


def test_no_import_goes_past_a_public_interface() -> None:
    past = [*imports_past_public()]
    assert not past, "\n".join(advice(*each) for each in past)


def advice(importer: str, name: str) -> str:
    """Return what to do about an import past a public interface."""
    folder = closed_folder(name, importer)
    return (
        f"{importer or '__init__'} imports {name}, which {folder} keeps to itself: import a public module of {folder},"
        f" or add the module to PUBLIC of swapcli/{str(folder).replace('.', '/')}/__init__.py"
    )


def test_the_advice_on_an_import_past_a_public_interface_names_both_ways_out() -> None:
    assert advice("faces.cli.app", "quoting.sources.live") == (
        "faces.cli.app imports quoting.sources.live, which quoting keeps to itself: import a public module of quoting,"
        " or add the module to PUBLIC of swapcli/quoting/__init__.py"
    )


PURE = (
    "core/model",
    "core/networks",
    "core/routing",
    "core/selection",
    "families",
    "interface",
    "state/markets",
    "payload/evm",
    "payload/starknet",
    "quoting/pictures",
)
IMPURE = {"time", "random", "secrets", "socket", "subprocess", "urllib", "environ", "getenv"}


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_read_no_clock_and_no_environment(package: str) -> None:
    for file in (PACKAGE / package).rglob("*.py"):
        attributes = {node.attr for node in ast.walk(parsed(file)) if isinstance(node, ast.Attribute)}
        assert not ({name.split(".")[0] for name in imports(file)} | attributes) & IMPURE, file


def families() -> dict[str, type[Pool]]:
    """Return every pool class in `pools/`, by family."""
    for file in (PACKAGE / "families").rglob("*.py"):
        __import__(f"swapcli.{module_name(file)}")
    classes = [cls for derived in Pool.__subclasses__() for cls in concrete_classes(derived)]
    return {cls.family: cls for cls in classes if cls.__module__.startswith("swapcli.families.")}


def concrete_classes(cls: type[Pool]) -> list[type[Pool]]:
    """Return the class and every one derived from it, without the abstract ones."""
    below = [each for derived in cls.__subclasses__() for each in concrete_classes(derived)]
    return below if isabstract(cls) else [cls, *below]


def test_the_list_of_families_is_complete() -> None:
    """A class that the list lacks needs a line in `_CLASSES` of swapcli/families/__init__.py."""
    assert set(families()) == set(family_index.FAMILIES)
    for name, cls in families().items():
        assert family_index.family(name) is cls
        assert cls.swap_gas > 0


def test_every_family_is_read_and_encoded() -> None:
    from swapcli.families.reading.contract_kinds import KINDS
    from swapcli.families.reading.pool_readers import pool_reader

    read = {name for traits in KINDS.values() for name in traits.families}
    assert read == set(family_index.FAMILIES) - {"wrapper"}
    for kind, traits in KINDS.items():
        reader = pool_reader(kind)
        assert callable(reader.load)
        assert hasattr(reader, "read_constants") or not traits.list_functions
        assert hasattr(reader, "read_created") or not traits.created


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in (PACKAGE / "families").glob("*/rows.py")))
def test_rows_and_index_name_the_same(folder: str) -> None:
    """If they differ, add the missing line to swapcli/families/__init__.py, or the row to the folder's rows.py."""
    rows = import_module(f"swapcli.families.{folder}.rows")
    assert set(rows.FAMILIES) == {name for name, (where, _) in family_index._CLASSES.items() if where == folder}
    assert set(rows.KINDS) == {name for name, where in family_index._FOLDERS_OF_KINDS.items() if where == folder}


def test_a_family_without_a_row_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(family_index._CLASSES, "glider", ("gmx", "Glider"))
    with pytest.raises(LookupError, match=r"glider has no row: add it to FAMILIES in swapcli/families/gmx/rows\.py"):
        family_index.family_row("glider")


def test_every_family_of_the_catalogue_exists() -> None:
    from swapcli.core.networks.catalogue import find_network, network_names

    used = {protocol.family for name in network_names() for protocol in find_network(name).protocols}
    assert used - {None} <= set(family_index.FAMILIES)


ROUTING_LAYERS = ("graph", "solver", "search")
"""The folders of `routing` from the bottom up."""


@pytest.mark.parametrize("folder", ROUTING_LAYERS)
def test_routing_imports_go_down_only(folder: str) -> None:
    higher = ROUTING_LAYERS[ROUTING_LAYERS.index(folder) + 1 :]
    for file in (PACKAGE / "core/routing" / folder).rglob("*.py"):
        imported = {name.split(".")[3] for name in imports(file) if name.startswith("swapcli.core.routing.")}
        assert not imported.intersection(higher), file


def test_routing_names_no_family() -> None:
    for file in (PACKAGE / "core/routing").rglob("*.py"):
        assert not any(name.startswith("swapcli.families.") for name in imports(file)), file
