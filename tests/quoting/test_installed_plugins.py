"""Entry points of installed packages: when they are looked at, and which are skipped. All packages are real folders."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from swapcli import InvalidOption, UnknownNetwork, networks, protocols
from swapcli.core.networks.catalogue import find_network as catalogue_network
from swapcli.core.plugins import (
    AGGREGATOR_GROUP,
    DIALECT_GROUP,
    FAMILY_GROUP,
    NETWORK_GROUP,
    load_plugin,
    plugins,
    skipped_plugin,
)
from swapcli.families import family, is_family, is_kind
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.aggregators.adapter_definitions import find_adapter
from swapcli.quoting.config import load_settings, networks_from
from tests.support.command import run_swapcli
from tests.support.plugin_packages import installed, write_package

HARBOUR = {
    "name": "harbour",
    "chain_id": 77_001,
    "native": {"symbol": "HBR", "name": "Harbour", "decimals": 18},
}
NETWORK_MODULE = {"harbour.py": f"NETWORK = {HARBOUR!r}\n"}
BAD_MODULES = {
    "raises.py": "raise RuntimeError('no licence')",
    "exits.py": "import sys\nsys.exit('no licence')",
    "empty.py": "",
    "number.py": "VALUE = 7",
}


def find_network(name: str, home: Path) -> object:
    return networks_from(load_settings(flags={}, environ={}, config_path=None, home=home))(name)


def test_names_are_listed_without_an_import_and_imported_once_when_used(tmp_path: Path) -> None:
    write_package(tmp_path, "harbour-chain", {NETWORK_GROUP: {"harbour": "harbour:NETWORK"}}, NETWORK_MODULE, "2.1")
    with installed(tmp_path) as warnings:
        assert [each.origin for each in plugins(NETWORK_GROUP).values()] == ["harbour-chain 2.1"]
        row = networks(everything=True).document()[-1]
        assert row == {"name": "harbour", "package": "harbour-chain 2.1"}
        assert "harbour" not in sys.modules
        assert find_network("Harbour", tmp_path).chain_id == 77_001  # type: ignore[attr-defined]
        assert "harbour" in sys.modules
        assert warnings == []


@pytest.mark.parametrize(
    ("group", "name"),
    [
        (NETWORK_GROUP, "base"),
        (NETWORK_GROUP, "arbitrum"),
        (DIALECT_GROUP, "settler"),
        (DIALECT_GROUP, "auto"),
        (AGGREGATOR_GROUP, "lifi"),
        (AGGREGATOR_GROUP, "all"),
        (FAMILY_GROUP, "weighted"),
        (FAMILY_GROUP, "uniswap_v3"),
    ],
)
def test_a_built_in_name_cannot_be_taken(group: str, name: str, tmp_path: Path) -> None:
    write_package(tmp_path, "thief", {group: {name: "number:VALUE", "fine": "number:VALUE"}}, BAD_MODULES)
    with installed(tmp_path) as warnings:
        assert list(plugins(group)) == ["fine"]
        (warning,) = warnings
        assert f"{name} of the package thief 1.0 ({group}): a built-in already has that name" in warning
        assert "number" not in sys.modules


def test_a_name_that_two_packages_claim_is_nobodys(tmp_path: Path) -> None:
    for package in ("first", "second"):
        write_package(tmp_path, package, {NETWORK_GROUP: {"harbour": "harbour:NETWORK"}}, NETWORK_MODULE)
    with installed(tmp_path) as warnings:
        assert not plugins(NETWORK_GROUP)
        assert sorted(warnings) == [
            f"skipped the network harbour of the package {each} 1.0 (swapcli.networks): several packages define it: "
            "first 1.0, second 1.0"
            for each in ("first", "second")
        ]


@pytest.mark.parametrize("name", ["Harbour", "har bour", "../harbour", "h\x1b[31m"])
def test_a_name_that_could_mislead_is_skipped(name: str, tmp_path: Path) -> None:
    write_package(tmp_path, "odd", {NETWORK_GROUP: {name: "harbour:NETWORK"}}, NETWORK_MODULE)
    with installed(tmp_path) as warnings:
        assert not plugins(NETWORK_GROUP)
        assert warnings[0].isprintable()
        assert "its name may only contain" in warnings[0]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("absent:VALUE", "ModuleNotFoundError: No module named 'absent'"),
        ("empty:VALUE", "AttributeError: module 'empty' has no attribute 'VALUE'"),
        ("raises:VALUE", "RuntimeError: no licence"),
        ("exits:VALUE", "SystemExit: no licence"),
        ("number:VALUE", "TypeError: "),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_skipped_and_the_rest_works(
    target: str, problem: str, tmp_path: Path
) -> None:
    entries = {
        NETWORK_GROUP: {"bad": target, "harbour": "harbour:NETWORK"},
        DIALECT_GROUP: {"bad": target},
        AGGREGATOR_GROUP: {"bad": target},
        FAMILY_GROUP: {"bad": target},
    }
    write_package(tmp_path, "broken", entries, {**BAD_MODULES, **NETWORK_MODULE})
    with installed(tmp_path) as warnings:
        with pytest.raises(UnknownNetwork) as unknown:
            find_network("bad", tmp_path)
        assert f"the package broken 1.0 (swapcli.networks): it cannot be used: {problem}" in str(unknown.value.hint)
        base = find_network("base", tmp_path)
        with pytest.raises(InvalidOption) as unusable:
            router_dialect(base.for_dialect("bad"))  # type: ignore[attr-defined]
        assert "(swapcli.dialects)" in str(unusable.value.hint)
        with pytest.raises(Exception, match='no aggregator "bad"'):
            find_adapter("bad")
        assert not is_family("bad")
        assert len(warnings) == 4
        assert list(plugins(NETWORK_GROUP)) == ["harbour"]
        find_network("harbour", tmp_path)
        assert len(warnings) == 4


def test_a_package_without_readable_metadata_is_skipped(tmp_path: Path) -> None:
    nameless = write_package(tmp_path, "nameless", {NETWORK_GROUP: {"lost": "harbour:NETWORK"}})
    nameless.joinpath("METADATA").unlink()
    garbled = write_package(tmp_path, "garbled", {NETWORK_GROUP: {"garbled": "harbour:NETWORK"}})
    garbled.joinpath("entry_points.txt").write_text("[swapcli.networks]\nno sense\n= x\n[")
    undecodable = write_package(tmp_path, "undecodable", {})
    undecodable.joinpath("entry_points.txt").write_bytes(b"[swapcli.networks]\n\xff\xfe = x:Y\n")
    write_package(tmp_path, "harbour-chain", {NETWORK_GROUP: {"harbour": "harbour:NETWORK"}}, NETWORK_MODULE)
    with installed(tmp_path) as warnings:
        assert list(plugins(NETWORK_GROUP)) == ["harbour"]
        assert len(warnings) == 3
        assert all("its metadata cannot be read" in each for each in warnings)


FAMILY_MODULES = {
    "glide/__init__.py": "",
    "glide/rows.py": "FAMILIES, KINDS = {}, {}\n",
    "glide/glider.py": """
from swapcli.core.model.pool import Pool
class Unfinished(Pool):
    family = "glider"
class Renamed:
    family = "glider"
""",
}


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("glide.glider:Unfinished", "its class has no "),
        ("glide.glider:Renamed", "not a class derived from swapcli.Pool"),
    ],
)
def test_a_class_that_is_no_pool_is_skipped(target: str, problem: str, tmp_path: Path) -> None:
    write_package(tmp_path, "glide", {FAMILY_GROUP: {"glider": target}}, FAMILY_MODULES)
    with installed(tmp_path) as warnings:
        with pytest.raises(KeyError):
            family("glider")
        assert not is_kind("glider")
        assert problem in warnings[0]
        assert "glider" in str(skipped_plugin(FAMILY_GROUP, "glider"))
        rows = protocols("base").document()
        assert rows
        assert all(row.get("family") != "glider" for row in rows)


DIALECT_MODULE = """
class Partial:
    def __init__(self, network): self.name = "partial"
    def build_payload(self, swap, router): ...
class Unsteady(Partial):
    def __init__(self, network): 1 // 0
    def build_transactions(self, payload, allowances=()): ...
    def executable_pool(self, pool): ...
    def refusal_reason(self, pool): ...
"""


def test_a_dialect_that_does_not_meet_its_protocol_encodes_nothing(tmp_path: Path) -> None:
    entries = {DIALECT_GROUP: {"partial": "odd:Partial", "unsteady": "odd:Unsteady"}}
    write_package(tmp_path, "odd", entries, {"odd.py": DIALECT_MODULE})
    base = catalogue_network("base")
    with installed(tmp_path) as warnings:
        with pytest.raises(InvalidOption, match="the router dialect partial cannot be used: base needs"):
            router_dialect(base.for_dialect("partial"))
        assert "it has no executable_pool, refusal_reason, build_transactions" in warnings[0]
        with pytest.raises(InvalidOption, match=r"unsteady of the package odd 1\.0 cannot be used: ZeroDivisionError"):
            router_dialect(base.for_dialect("unsteady"))


def test_a_plugin_that_looks_itself_up_while_it_is_imported_ends(tmp_path: Path) -> None:
    module = "from swapcli.families import family\nfamily('loop')\n"
    write_package(tmp_path, "looping", {FAMILY_GROUP: {"loop": "looping:LOOP"}}, {"looping.py": module})
    with installed(tmp_path) as warnings:
        assert not is_family("loop")
        (warning,) = warnings
        assert warning.endswith('(swapcli.families): it cannot be used: no pool family "loop"')


def test_a_command_prints_the_warning_and_works(tmp_path: Path) -> None:
    write_package(tmp_path, "thief", {NETWORK_GROUP: {"base": "number:VALUE"}}, BAD_MODULES)
    with installed(tmp_path):
        listed = run_swapcli("networks", "--json")
        assert (listed.json[0]["name"], listed.json[0]["chainId"]) == ("base", "8453")
        assert listed.stderr == (
            "warning: skipped the network base of the package thief 1.0 (swapcli.networks): "
            "a built-in already has that name\n"
        )
    with installed(tmp_path):
        failed = run_swapcli("route", "thieves_net", "ETH", "USDC", "1", "--json")
        assert failed.error["code"] == "UNKNOWN_NETWORK"


def test_settings_of_a_network_whose_package_is_skipped_break_nothing_else(tmp_path: Path) -> None:
    write_package(tmp_path, "broken", {NETWORK_GROUP: {"bad": "raises:VALUE"}}, BAD_MODULES)
    settings = tmp_path / "config.yaml"
    settings.write_text("networks:\n  bad: {rpc_url: 'http://127.0.0.1:1'}\n")
    with installed(tmp_path):
        listed = run_swapcli("networks", "--json", "--config", str(settings))
        assert [row["name"] for row in listed.json] == ["base", "citrea", "hyperevm", "monad", "starknet"]
        assert listed.stderr.count("warning: skipped the network bad of the package broken 1.0") == 1
        for _ in range(2):
            failed = run_swapcli("networks", "bad", "--json", "--config", str(settings)).error
            assert (failed["code"], "no licence" in failed["hint"]) == ("UNKNOWN_NETWORK", True)
        assert run_swapcli("tokens", "base", "--config", str(settings)).exit_code == 0


def test_without_a_source_nothing_is_found() -> None:
    from swapcli.core import plugins as registry
    from swapcli.quoting.installed_plugins import InstalledPlugins

    registry.set_plugin_source(None)
    try:
        assert not plugins(FAMILY_GROUP)
        assert load_plugin(FAMILY_GROUP, "glider", str) is None
    finally:
        registry.set_plugin_source(InstalledPlugins)
