"""Former names of settings and of keys of networks: they work in every source, and each source is warned of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.model import deprecations
from swapcli.core.model.deprecations import DEPRECATIONS, DeprecatedKind, Deprecation, deprecations_of
from swapcli.quoting.config.settings import NAMED_TABLES, TABLE, variable_of
from swapcli.quoting.config.source_readers import former_key, row_of
from tests.quoting.config.in_memory import DEFAULT_FILE, load, refused
from tests.support.command import run_swapcli

FORMER = tuple(
    Deprecation(kind, name, present, "0.1.0", "9.0.0", "2026-11-26")
    for kind, name, present in (
        (DeprecatedKind.SETTING, "highest_slippage", "max_slippage"),
        (DeprecatedKind.SETTING, "http.port", "service.port"),
        (DeprecatedKind.SETTING, "theme", "color"),
        (DeprecatedKind.DEFINITION_KEY, "node", "rpc_url"),
        (DeprecatedKind.DEFINITION_KEY, "ticker", "symbol"),
    )
)
URL = "http://127.0.0.1:8545"
TOKEN = "0x" + "ab" * 20


@pytest.fixture(autouse=True)
def former_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with former names, as a version with such rows has them."""
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (*DEPRECATIONS, *FORMER))


def sentence(name: str, replacement: str, place: str = "") -> str:
    return f"{place}{name} is deprecated, and version 9.0.0 drops it: use {replacement}"


@pytest.mark.parametrize(
    ("sources", "present", "warning"),
    [
        ({"text": "highest_slippage: 7"}, {"text": "max_slippage: 7"}, ("highest_slippage", "max_slippage")),
        ({"text": "http: {port: 81}"}, {"text": "service: {port: 81}"}, ("http.port", "service.port")),
        (
            {"environ": {"SWAPCLI_HIGHEST_SLIPPAGE": "7"}},
            {"environ": {"SWAPCLI_MAX_SLIPPAGE": "7"}},
            ("SWAPCLI_HIGHEST_SLIPPAGE", "SWAPCLI_MAX_SLIPPAGE"),
        ),
        (
            {"environ": {"SWAPCLI_HTTP_PORT": "81"}},
            {"environ": {"SWAPCLI_SERVICE_PORT": "81"}},
            ("SWAPCLI_HTTP_PORT", "SWAPCLI_SERVICE_PORT"),
        ),
        ({"flags": {"highest_slippage": 7}}, {"flags": {"max_slippage": 7}}, ("highest_slippage", "max_slippage")),
        (
            {"text": f"networks: {{base: {{node: {URL}}}}}"},
            {"text": f"networks: {{base: {{rpc_url: {URL}}}}}"},
            ("node", "rpc_url"),
        ),
        (
            {"environ": {"SWAPCLI_NETWORKS_BASE_NODE": URL}},
            {"environ": {"SWAPCLI_NETWORKS_BASE_RPC_URL": URL}},
            ("SWAPCLI_NETWORKS_BASE_NODE", "SWAPCLI_NETWORKS_BASE_RPC_URL"),
        ),
        (
            {"text": f"networks: {{base: {{tokens: [{{address: '{TOKEN}', ticker: A, name: A, decimals: 6}}]}}}}"},
            {"text": f"networks: {{base: {{tokens: [{{address: '{TOKEN}', symbol: A, name: A, decimals: 6}}]}}}}"},
            ("ticker", "symbol"),
        ),
    ],
)
def test_a_former_name_means_the_present_one_and_warns(
    sources: dict[str, Any], present: dict[str, Any], warning: tuple[str, str]
) -> None:
    found, expected = load(**sources), load(**present)
    assert found._replace(deprecations=(), origins=expected.origins) == expected
    assert found.origins.keys() == expected.origins.keys()
    assert expected.deprecations == ()
    place = ""
    if "text" in sources:
        place = f"{DEFAULT_FILE}: networks.base: " if "networks" in sources["text"] else f"{DEFAULT_FILE}: "
    assert found.deprecations == (sentence(*warning, place),)


@pytest.mark.parametrize("text", ["max_slippage: 7\nhighest_slippage: 9", "highest_slippage: 9\nmax_slippage: 7"])
def test_the_present_name_counts_where_both_are_given(text: str) -> None:
    found = load(text)
    assert found.max_slippage_ppm == 70_000
    assert len(found.deprecations) == 1
    assert load("max_slippage: 7", environ={"SWAPCLI_HIGHEST_SLIPPAGE": "9"}).max_slippage_ppm == 90_000


def test_a_wrong_value_is_named_as_it_was_written() -> None:
    assert refused("highest_slippage: much").message.startswith(f"{DEFAULT_FILE}: highest_slippage: expected")
    wrong = refused(environ={"SWAPCLI_HIGHEST_SLIPPAGE": "much"})
    assert wrong.message.startswith("SWAPCLI_HIGHEST_SLIPPAGE: expected")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_command_line_warns_on_stderr(tmp_path: Path, options: tuple[str, ...]) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("highest_slippage: 7\ntheme: never\n")
    ran = run_swapcli("config", "get", "max_slippage", *options, env={"SWAPCLI_CONFIG": str(file)})
    assert ran.exit_code == 0
    assert "7" in ran.stdout
    assert ran.stderr.splitlines() == [
        f"warning: {sentence(*names, place=f'{file}: ')}"
        for names in (("highest_slippage", "max_slippage"), ("theme", "color"))
    ]


def test_the_json_of_an_error_stays_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("highest_slippage: 7\n")
    ran = run_swapcli("price", "base", "NOBODY", "--json", env={"SWAPCLI_CONFIG": str(file)})
    assert ran.error["code"] == "UNKNOWN_TOKEN"


def test_config_names_the_present_setting_and_removes_the_former(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("slippage: 1\nhighest_slippage: 7\n")
    env = {"SWAPCLI_CONFIG": str(file)}
    for words in (("get", "highest_slippage"), ("set", "highest_slippage", "8"), ("set", "networks.base.node", "-")):
        ran = run_swapcli("config", *words, env=env)
        present = "networks.base.rpc_url" if "node" in words[1] else "max_slippage"
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert f"{words[1]} is the former name of {present}" in ran.stderr
    assert run_swapcli("config", "unset", "highest_slippage", env=env).exit_code == 0
    assert file.read_text() == "slippage: 1\n"


def test_the_library_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", "")
    warnings: list[str] = []
    with Market.embedded("base", settings={"highest_slippage": 7}, warn=warnings.append) as market:
        assert market.settings.max_slippage_ppm == 70_000
    assert warnings == [sentence("highest_slippage", "max_slippage")]


def test_no_former_name_is_that_of_a_setting() -> None:
    for each in deprecations_of(DeprecatedKind.SETTING).values():
        assert row_of(each.name) is None
        assert each.replacement in TABLE
        assert variable_of(each.name) not in {row.variable for row in TABLE.values()}
        assert former_key(each.name) == each
    known = {name for table in NAMED_TABLES.values() for name in table}
    assert known.isdisjoint(deprecations_of(DeprecatedKind.DEFINITION_KEY))
    assert former_key("slippage") is former_key("networks.base.ticker") is None
