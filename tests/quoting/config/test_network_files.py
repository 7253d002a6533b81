"""Network files beside the settings file: found by their names, read on request, and refused with file and line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.errors import ConfigError, UnknownNetwork
from swapcli.core.networks.catalogue import all_network_names, find_network, network_names, parse_network
from swapcli.core.networks.hook_rules import parse_hook_rules
from swapcli.core.networks.quoter_definitions import parse_quoters
from swapcli.quoting.config import Settings, load_settings, network_names_from, networks_from
from swapcli.quoting.config.file_lines import json_lines
from swapcli.quoting.config.network_files import parse_network_file
from swapcli.quoting.config.yaml_parser import lines_of_yaml
from swapcli.quoting.network_definition import definition_of
from swapcli.quoting.openers.choose_aggregators import choose_aggregators
from tests.quoting.test_package import run_python

TOKEN = "0x" + "56" * 20
FACTORY = "0x" + "fa" * 20
HOOK = "0x" + "b0" * 20
ROUTER = "0x" + "34" * 20
OWN: dict[str, Any] = {
    "name": "mine",
    "chain_id": 31337,
    "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
    "wrapped_native": TOKEN,
    "tokens": [{"address": TOKEN, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18}],
    "protocols": [{"id": 1, "amm_name": "uniswapV3", "display_name": "Uniswap V3", "family": "concentrated"}],
    "deployments": [
        {"protocols": ["uniswapV3"], "name": "V3", "addresses": {"factory": FACTORY}, "fee_tiers": {"500": 10}}
    ],
}
EXTENSION: dict[str, Any] = {
    "name": "base",
    "tokens": [{"address": TOKEN, "symbol": "MINE", "name": "My Token", "decimals": 9}],
    "protocols": [
        {"id": 900_001, "amm_name": "mySwap", "display_name": "My Swap", "family": "constant_product"},
        {"id": 900_002, "amm_name": "myQuoted", "display_name": "My Quoted", "family": "sampled"},
    ],
    "deployments": [
        {"protocols": ["mySwap"], "name": "My Swap", "addresses": {"factory": FACTORY}, "fee_tiers": {"3000": 0}}
    ],
    "quoters": [
        {
            "protocols": ["myQuoted"],
            "quote": {
                "contract": "$pool",
                "call": "getAmountOut(uint256,address)",
                "arguments": ["$amount", "$token_in"],
            },
            "pools": [
                {"pool": "0x" + "ab" * 20, "token0": TOKEN, "token1": "0x4200000000000000000000000000000000000006"}
            ],
        }
    ],
    "hook_rules": [{"rule": "fees", "hooks": [HOOK], "fees": {"input": 3000}}],
    "aggregators": {
        "mine": {
            "address": "https://aggregator.example",
            "requests": [{"method": "GET", "path": "/quote", "query": {"sell": "{token_in}"}}],
            "answer": {"output": "out"},
        }
    },
}

Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads the settings of a file with network files beside it, given by name."""

    def loaded(settings: object = None, **files: object) -> Settings:
        (tmp_path / "networks").mkdir(exist_ok=True)
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            (tmp_path / "networks" / name.replace("__", ".")).write_text(text)
        (tmp_path / "config.yaml").write_text(json.dumps(settings))
        return load_settings(flags={}, environ={}, config_path=tmp_path / "config.yaml", home=tmp_path)

    return loaded


def refused(settings: Settings, name: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        networks_from(settings)(name)
    return caught.value


def test_a_file_describes_a_network(load: Load) -> None:
    settings = load(mine__json=OWN)
    found = networks_from(settings)("mine")
    assert (found.chain_id, found.tokens[0].symbol, found.deployments[0].addresses) == (
        31337,
        "WETH",
        {"factory": FACTORY},
    )
    assert networks_from(settings)("31337") == found
    assert network_names_from(settings) == tuple(sorted([*network_names(), "mine"]))
    assert network_names_from(settings, everything=True) == tuple(sorted([*all_network_names(), "mine"]))


def test_yaml_describes_the_same_as_json(load: Load) -> None:
    text = f"""
name: mine
chain_id: 31337
native: {{symbol: ETH, name: Ether, decimals: 18}}
wrapped_native: {TOKEN}
tokens:
  - {{address: {TOKEN}, symbol: WETH, name: Wrapped Ether, decimals: 18}}
protocols:
  - {{id: 1, amm_name: uniswapV3, display_name: Uniswap V3, family: concentrated}}
deployments:
  - {{protocols: [uniswapV3], name: V3, addresses: {{factory: {FACTORY}}}, fee_tiers: {{500: 10}}}}
"""
    in_json = networks_from(load(mine__json=OWN))("mine")
    assert networks_from(load(mine__json=json.dumps(OWN), other__yaml=text.replace("name: mine", "name: other")))(
        "other"
    ) == in_json._replace(name="other")


def test_a_file_extends_a_built_in_network_and_each_part_takes_effect(load: Load) -> None:
    base, found = find_network("base"), networks_from(load(base__json=EXTENSION))("base")
    assert [token.symbol for token in found.tokens] == [*(token.symbol for token in base.tokens), "MINE"]
    assert found.deployments == (*base.deployments, found.deployments[-1])
    assert found.deployments[-1].addresses == {"factory": FACTORY}
    assert parse_hook_rules(found).keys() - parse_hook_rules(base).keys() == {HOOK}
    assert parse_quoters(found).keys() - parse_quoters(base).keys() == {"myQuoted"}
    names = {each.adapter.name for each in choose_aggregators(["mine"], found, {}).asked}
    assert names == {"mine"}
    assert find_network("base").tokens == base.tokens


def test_the_pools_of_an_added_protocol_are_found(load: Load) -> None:
    from swapcli.quoting.protocol_list import describe_protocols

    supported = {
        each.protocol.amm_name: each for each in describe_protocols(networks_from(load(base__json=EXTENSION))("base"))
    }
    assert supported["mySwap"].can_sync
    assert supported["myQuoted"].can_sync


def test_settings_come_on_top_of_a_file(load: Load) -> None:
    file = {**EXTENSION, "router": "0x" + "99" * 20, "gas_price_wei": 7}
    own = {"tokens": [{"address": TOKEN, "symbol": "OTHER", "name": "Other", "decimals": 6}], "router": ROUTER}
    found = networks_from(load({"networks": {"base": own}}, base__json=file))("base")
    assert (found.router, found.tokens[-1].symbol, found.gas_price_wei) == (ROUTER, "OTHER", 7)
    assert not found.chooses_router


def test_the_router_of_a_file_is_the_one_that_quotes_are_for(load: Load) -> None:
    assert networks_from(load(base__json={"name": "base", "tokens": []}))("base").chooses_router
    named = networks_from(load(base__json={"name": "base", "router": ROUTER, "router_dialect": "own"}))("base")
    assert (named.router, named.router_dialect, named.chooses_router) == (ROUTER, "own", False)


def test_an_aggregator_of_a_file_takes_its_key_from_the_settings(load: Load) -> None:
    settings = load({"aggregators": {"mine": {"api_key": "k"}}}, base__json=EXTENSION)
    (asked,) = choose_aggregators(["mine"], networks_from(settings)("base"), settings.aggregators).asked
    assert asked.key is not None
    assert asked.key.reveal() == "k"
    others = choose_aggregators(["all"], networks_from(settings)("monad"), settings.aggregators)
    assert "mine" not in {each.adapter.name for each in others.asked}


def test_a_file_that_names_a_network_makes_it_one_of_the_users(load: Load) -> None:
    settings = load(ethereum__json={"name": "ethereum"})
    assert "ethereum" in network_names_from(settings)
    assert networks_from(settings)("ethereum").chain_id == 1


def test_the_nodes_of_a_file_are_the_users(load: Load) -> None:
    from swapcli.quoting.live_choice import NodeOrigin, NodeRules

    settings = load(mine__json={**OWN, "rpc_urls": ["https://node.example/key", {"url": "https://public.example"}]})
    network, rules = networks_from(settings)("mine"), NodeRules(settings, None, False, {})
    named, public = rules.named_nodes(network), rules.public_nodes(network)
    assert named is not None
    assert public is not None
    assert (named.origin, [url.reveal() for url in named.urls]) == (NodeOrigin.SETTINGS, ["https://node.example/key"])
    assert [url.reveal() for url in public.urls] == ["https://public.example"]


def test_other_files_and_folders_are_ignored(load: Load) -> None:
    settings = load(mine__json=OWN, README__txt="x", _x__json="{", **{"mine__json~": "{", "a b__yaml": ""})
    assert set(network_names_from(settings)) == {*network_names(), "mine"}


def test_files_are_read_when_their_network_is_requested(load: Load) -> None:
    settings = load(mine__json="{", base__yaml=EXTENSION)
    assert networks_from(settings)("monad").name == "monad"
    assert networks_from(settings)("8453").name == "base"
    with pytest.raises(UnknownNetwork):
        networks_from(settings)("elsewhere")
    assert refused(settings, "mine").message.startswith(f"{settings.network_folder.files['mine']}:1: not JSON: ")


def test_quotes_on_other_networks_open_no_file_and_need_no_yaml(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "swapcli" / "networks"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text("{")
    (folder / "other.yaml").write_text("{")
    program = (
        "import sys\nopened, listed = [], []\n"
        "def note(event, arguments):\n"
        f"    if event == 'open' and str(arguments[0]).startswith({str(folder)!r}): opened.append(arguments[0])\n"
        f"    if event == 'os.listdir' and str(arguments[0]) == {str(folder)!r}: listed.append(arguments[0])\n"
        "sys.addaudithook(note)\n"
        "import swapcli\n"
        "with swapcli.Market.open('base', offline=True) as market: market.quote('ETH', 'USDC', '1')\n"
        "print(opened, len(listed), 'yaml' in sys.modules)\n"
    )
    assert run_python("-c", program, home=tmp_path) == "[] 1 False\n"


def test_two_files_of_one_network_are_refused(load: Load) -> None:
    error = refused(load(mine__json=OWN, mine__yaml=OWN), "mine")
    assert error.message.endswith("mine.json, mine.yaml describe the same network")


def lined(content: object, *path: str | int) -> int:
    """Return the line of a key in the text of a network file, which has one key or entry per line."""
    text = json.dumps(content, indent=1)
    return {each.path: each.line for each in json_lines(text)}["".join(map(_step, path)).lstrip(".")]


def _step(part: str | int) -> str:
    return f"[{part}]" if isinstance(part, int) else f".{part}"


def changed(*path: str | int, value: object) -> dict[str, Any]:
    """Return the definition with another value at a path."""
    copy = json.loads(json.dumps(OWN))
    inner = copy
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return dict(copy)


@pytest.mark.parametrize(
    ("content", "path", "words"),
    [
        (changed("tokns", value=[]), ("tokns",), 'unknown key "tokns"'),
        (changed("deployments", 0, "adresses", value={}), ("deployments", 0, "adresses"), 'unknown key "adresses"'),
        (changed("protocols", 0, "family", value="uniswap"), ("protocols", 0, "family"), 'unknown family "uniswap"'),
        (
            changed("protocols", 0, "contracts", value=["v9"]),
            ("protocols", 0, "contracts", 0),
            "unknown kind of contract",
        ),
        (changed("tokens", 0, "decimals", value="many"), ("tokens", 0, "decimals"), "expected an integer"),
        (changed("tokens", 0, "address", value="0x12"), ("tokens", 0, "address"), "tokens[0].address: "),
        (
            changed("deployments", 0, "fee_tiers", "0500", value=1),
            ("deployments", 0, "fee_tiers", "0500"),
            "listed twice",
        ),
        (
            changed("deployments", 0, "protocols", value=["v4"]),
            ("deployments", 0, "protocols", 0),
            'unknown protocol "v4"',
        ),
        (changed("name", value="other"), ("name",), 'expected "mine", the name of its file'),
        (changed("native", "symbol", value=None), ("native", "symbol"), "native.symbol: expected"),
        (changed("rpc_urls", value=["ftp://x/key"]), ("rpc_urls", 0), "rpc_urls[0]: expected an http"),
        (changed("aggregators", value={"a": {"adress": ""}}), ("aggregators", "a", "adress"), 'unknown key "adress"'),
        (changed("quoters", value=[{"quot": 1}]), ("quoters", 0, "quot"), 'unknown key "quot"'),
        (changed("hook_rules", value=[{"rule": "x"}]), ("hook_rules", 0, "rule"), 'unknown rule "x"'),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    load: Load, content: object, path: tuple[str | int, ...], words: str
) -> None:
    settings = load(mine__json=content)
    error = refused(settings, "mine")
    assert error.message.startswith(f"{settings.network_folder.files['mine']}:{lined(content, *path)}: ")
    assert words in error.message
    assert "key" not in error.message.partition("expected")[0] or "unknown" in error.message


def test_a_key_that_stands_twice_is_refused_with_its_line(load: Load) -> None:
    text = json.dumps(OWN, indent=1).replace('"500": 10', '"500": 10,\n"500": 60')
    settings = load(mine__json=text)
    line = text[: text.rindex('"500"')].count("\n") + 1
    assert (
        refused(settings, "mine").message
        == f'{settings.network_folder.files["mine"]}:{line}: the key "500" appears twice'
    )
    tiers = "name: mine\ndeployments:\n  - fee_tiers:\n      500: 10\n      500: 60\n"
    other = load(mine__json=OWN, more__yaml=tiers)
    assert refused(other, "more").message.endswith('more.yaml:5: the key "500" appears twice')


def test_an_extension_of_nothing_is_refused_with_the_close_name(load: Load) -> None:
    error = refused(load(bse__json={"name": "bse", "tokens": []}), "bse")
    assert 'bse.json:2: name: "bse" is not a built-in network' in error.message
    assert error.hint == "did you mean base?"


def test_a_file_of_a_built_in_network_has_its_chain_id(load: Load) -> None:
    error = refused(load(base__json={"name": "base", "chain_id": 1}), "base")
    assert error.message.endswith("base.json:3: chain_id: expected 8453, the chain id of base, not 1")


def test_mistakes_in_the_settings_have_the_line_too(tmp_path: Path) -> None:
    text = (
        f"slippage: 1\nnetworks:\n  base:\n    tokens:\n      - {{address: {TOKEN}, symbol: M, name: M, decimals: x}}\n"
    )
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(flags={}, environ={}, config_path=tmp_path / "config.yaml", home=tmp_path)
    assert caught.value.message.startswith(f"{tmp_path / 'config.yaml'}:5: networks.base.tokens[0].decimals: expected")


@pytest.mark.parametrize("name", all_network_names())
def test_a_definition_reads_back_as_the_network(name: str) -> None:
    network = find_network(name)
    text = json.dumps(definition_of(network))
    assert parse_network(parse_network_file(text, "x.json"), "x") == network


def test_lines_of_json_and_yaml_are_those_of_the_keys() -> None:
    text = json.dumps(OWN, indent=2)
    lines = {each.path: each.line for each in json_lines(text)}
    assert lines == lines_of_yaml(text)
    for path, line in lines.items():
        key = path.rpartition(".")[2]
        assert key.endswith("]") or f'"{key}"' in text.splitlines()[line - 1]


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    depth = 100_000
    with pytest.raises(ConfigError, match=r"x\.json: nested too deeply"):
        parse_network_file("[" * depth + "]" * depth, "x.json")
    assert sys.getrecursionlimit() < depth
