"""Invalid market files raise a `MarketError` that names the field, and the pool if there is one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swapcli.core.errors import InvalidPoolState, MarketError
from swapcli.state.markets.format import parse_market
from tests.state.markets.test_format import POOL, USDC, WETH, described, document, find_small_network, parse
from tests.strategies import Document

OTHER = "0x" + "12" * 20


def refused(entry: Document) -> MarketError:
    """Return the error of a file, which skipping bad pools must not hide."""
    with pytest.raises(MarketError) as caught:
        parse(entry, skip_bad_pools=True)
    assert type(caught.value) is MarketError
    with pytest.raises(MarketError):
        parse(entry)
    return caught.value


def refused_text(text: str | bytes) -> str:
    with pytest.raises(MarketError) as caught:
        parse_market(text, networks=find_small_network)
    return caught.value.message


def refused_pool(**changes: object) -> InvalidPoolState:
    """Return the error of a file whose only pool has `changes`; ... removes a member."""
    pool = {key: value for key, value in {**document()["pools"][0], **changes}.items() if value is not ...}
    with pytest.raises(InvalidPoolState) as caught:
        parse(document(pools=[pool]))
    return caught.value


def test_a_misspelt_key_of_a_pool_is_named() -> None:
    error = refused_pool(fee_ppm=..., fee_pm=3_000)
    assert (error.field, error.hint) == ("fee_ppm", 'the pool has "fee_pm": did you mean fee_ppm?')
    assert refused_pool(fee_ppm=...).hint is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ('{"format": "swap-market/1",\n "network": ', "it is not valid JSON: Expecting value at line 2, column 13"),
        ('{"format": "swap-', "it is not valid JSON: Unterminated string at line 1, column 12"),
        (
            "{'format': 1}",
            "it is not valid JSON: Expecting property name enclosed in double quotes at line 1, column 2",
        ),
        ("[]", "expected a JSON object, not a list"),
        ("null", "expected a JSON object, not null"),
        ('"swap-market/1"', 'expected a JSON object, not "swap-market/1"'),
        ('{"block": NaN}', "it is not valid JSON: NaN is not a number"),
        ('{"block": -Infinity}', "it is not valid JSON: -Infinity is not a number"),
        ('{"a": {"b": 1, "b": 1}}', 'it has the key "b" twice in one object'),
        ('{"block": ' + "9" * 5_000 + "}", "it contains a number that is out of range"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"a":' * 100_000, "it is nested too deeply"),
        (b"\xff\xfe{}", "it is not valid UTF-8 at byte 0"),
    ],
)
def test_what_is_not_one_json_object_is_refused_with_its_place(text: str | bytes, problem: str) -> None:
    assert refused_text(text) == f"not a market file: {problem}"


def test_a_syntax_error_carries_line_and_column() -> None:
    with pytest.raises(MarketError) as caught:
        parse_market('{\n  "format": }', networks=find_small_network)
    assert caught.value.details == {"line": 2, "column": 13}


@pytest.mark.parametrize(
    "key", ["format", "network", "block", "timestamp", "provenance", "source", "gas_price_wei", "tokens", "pools"]
)
def test_a_missing_member_is_named(key: str) -> None:
    entry = document()
    del entry[key]
    assert refused(entry).message == f"{key}: missing"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("format", "swap-market/2", 'expected "swap-market/1", not "swap-market/2"'),
        ("format", 1, 'expected "swap-market/1", not 1'),
        ("network", "home", 'expected an object, not "home"'),
        ("block", -1, "expected an integer from 0 to 2^63 - 1, not -1"),
        ("block", 1.0, "expected an integer from 0 to 2^63 - 1, not 1.0"),
        ("timestamp", True, "expected an integer from 0 to 2^63 - 1, not true"),
        ("timestamp", "now", 'expected an integer from 0 to 2^63 - 1, not "now"'),
        ("provenance", "rumour", 'expected one of recorded, synced, modelled, synthetic, not "rumour"'),
        ("provenance", "live", 'expected one of recorded, synced, modelled, synthetic, not "live"'),
        ("provenance", None, "expected one of recorded, synced, modelled, synthetic, not null"),
        ("source", ["a"], "expected a string, not a list"),
        ("source", "a\x1b[31m", 'expected a string without control characters, not "a\\u001b[31m"'),
        ("gas_price_wei", None, "expected an integer from 0 to 2^256 - 1, not null"),
        ("gas_price_wei", "-1", 'expected an integer from 0 to 2^256 - 1, not "-1"'),
        ("gas_price_wei", "0x10", 'expected an integer from 0 to 2^256 - 1, not "0x10"'),
        ("gas_price_wei", "1_0", 'expected an integer from 0 to 2^256 - 1, not "1_0"'),
        ("gas_price_wei", "²", 'expected an integer from 0 to 2^256 - 1, not "²"'),
        ("gas_price_wei", "٣", 'expected an integer from 0 to 2^256 - 1, not "٣"'),
        ("gas_price_wei", str(2**256), f'expected an integer from 0 to 2^256 - 1, not "{2**256}"'),
        ("tokens", {}, "expected a list, not an object"),
        ("pools", None, "expected a list, not null"),
    ],
)
def test_a_wrong_member_is_named_with_what_was_expected(key: str, value: object, problem: str) -> None:
    error = refused(document(**{key: value}))
    assert error.message == f"{key}: {problem}"
    assert error.details == {"field": key}


@pytest.mark.parametrize(
    ("index", "changes", "message"),
    [
        (0, {"address": "0x12"}, "tokens[0].address: "),
        (0, {"address": None}, "tokens[0].address: missing"),
        (0, {"address": 5}, "tokens[0].address: expected an address, not 5"),
        (0, {"address": "\x1b" * 42}, "tokens[0].address: expected an address, not "),
        (0, {"address": "0x" + "0" * 40}, "tokens[0].address: 0x" + "0" * 40 + " stands for the native token"),
        (0, {"address": "0x" + "E" * 40}, "tokens[0].address: 0x" + "e" * 40 + " stands for the native token"),
        (1, {"address": WETH.address.upper()}, f"tokens[1].address: {WETH.address} is listed twice"),
        (1, {"symbol": 3}, "tokens[1].symbol: expected a string, not 3"),
        (1, {"name": "a\nb"}, "tokens[1].name: expected a string without control characters"),
        (1, {"name": "\ud800"}, "tokens[1].name: expected a string without control characters"),
        (1, {"decimals": 78}, "tokens[1].decimals: expected an integer from 0 to 77, not 78"),
        (1, {"decimals": -1}, "tokens[1].decimals: expected an integer from 0 to 77, not -1"),
        (1, {"decimals": None}, "tokens[1].decimals: expected an integer from 0 to 77, not null"),
        (1, {"price_usd": -0.5}, "tokens[1].price_usd: expected an amount in dollars, 0 or more, not -0.5"),
        (1, {"price_usd": "1"}, 'tokens[1].price_usd: expected an amount in dollars, 0 or more, not "1"'),
        (1, {"price_usd": False}, "tokens[1].price_usd: expected an amount in dollars, 0 or more, not false"),
        (
            1,
            {"price_usd": 10**400},
            "tokens[1].price_usd: expected an amount in dollars, 0 or more, not a 1329-bit number",
        ),
    ],
)
def test_a_wrong_token_is_named_by_its_place(index: int, changes: Document, message: str) -> None:
    entry = document()
    entry["tokens"][index] |= changes
    assert refused(entry).message.startswith(message)


def test_a_price_beyond_floats_is_refused() -> None:
    text = json.dumps(document()).replace('"price_usd": 1', '"price_usd": 1e999')
    assert refused_text(text).startswith("tokens[1].price_usd: expected an amount in dollars")


@pytest.mark.parametrize("key", ["address", "symbol", "name", "decimals"])
def test_a_missing_member_of_a_token_is_named(key: str) -> None:
    entry = document()
    del entry["tokens"][1][key]
    assert refused(entry).message == f"tokens[1].{key}: missing"


def test_a_token_must_be_an_object() -> None:
    assert refused(document(tokens=[WETH.address])).message.startswith("tokens[0]: expected an object, not ")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({}, "network.name: missing"),
        ({"name": ""}, "network.name: empty"),
        ({"name": 5}, "network.name: expected a string, not 5"),
        (described(chain_id=0), "network.chain_id: expected an integer from 1 to 2^256 - 1, not 0"),
        (described(native=None), "network.native: expected an object, not null"),
        (described(native={"symbol": "E", "name": "E"}), "network.native.decimals: missing"),
        (
            described(native={"symbol": "E", "name": "E", "decimals": 99}),
            "network.native.decimals: expected an integer",
        ),
        (described(wrapped_native=OTHER), f"network.wrapped_native: {OTHER} is not among the tokens"),
        (described(wrapped_native="weth"), 'network.wrapped_native: expected an address, not "weth"'),
        (described(wrapped_native=USDC.address), f"network.wrapped_native: {USDC.address} has 6 decimals"),
        (described(router=1), "network.router: expected an address, not 1"),
        (described(router="0x1"), "network.router: "),
        (described(kind="solana"), "network.kind: expected one of evm, starknet, not "),
        (described(protocols={}), "network.protocols: expected a list, not an object"),
        (described(protocols=[None]), "network.protocols[0]: expected an object, not null"),
        (described(protocols=[{"id": 1, "amm_name": "a"}]), "network.protocols[0].display_name: missing"),
        (
            described(protocols=[{"id": 2**23, "amm_name": "a", "display_name": "A"}]),
            "network.protocols[0].id: expected an integer from 0 to 8388607",
        ),
        (
            described(protocols=[{"id": 1, "amm_name": name, "display_name": ""} for name in "ab"]),
            "network.protocols: 1 is listed twice",
        ),
        (
            described(protocols=[{"id": number, "amm_name": "a", "display_name": ""} for number in (1, 2)]),
            "network.protocols: a is listed twice",
        ),
    ],
)
def test_a_wrong_network_is_named_by_its_member(network: Document, message: str) -> None:
    assert refused(document(network=network)).message.startswith(message)


def test_an_undescribed_unknown_network_lists_what_is_missing() -> None:
    network = described()
    del network["router"], network["chain_id"]
    error = refused(document(network=network))
    assert 'unknown network "elsewhere"' in error.message
    assert "chain_id, router missing" in error.message
    assert error.hint is not None


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"tokens": ...}, "tokens", "missing"),
        ({"tokens": [WETH.address]}, "tokens", "expected a list of at least two addresses, not a list"),
        ({"tokens": "WETH"}, "tokens", 'expected a list of at least two addresses, not "WETH"'),
        ({"tokens": [WETH.address, None]}, "tokens[1]", "missing"),
        ({"tokens": [WETH.address, 7]}, "tokens[1]", "expected an address, not 7"),
        ({"tokens": [WETH.address, OTHER]}, "tokens[1]", f"{OTHER} is not among the file's tokens"),
        ({"tokens": [WETH.address, WETH.address.upper()]}, "tokens", "the same token is listed twice"),
        ({"protocol": ...}, "protocol", "missing"),
        ({"protocol": "swapX"}, "protocol", 'home has no protocol "swapX"'),
        ({"protocol": ["uniswapV2"]}, "protocol", "expected a name, not a list"),
        ({"family": ...}, "family", "missing"),
        ({"family": "orders"}, "family", 'unknown family "orders"'),
        ({"family": []}, "family", "expected a name, not a list"),
        ({"fee_ppm": ...}, "fee_ppm", "missing"),
        ({"fee_ppm": -1}, "fee_ppm", "expected an integer from 0 to 999999, not -1"),
        ({"fee_ppm": 1_000_000}, "fee_ppm", "expected an integer from 0 to 999999, not 1000000"),
        ({"fee_ppm": 0.3}, "fee_ppm", "expected an integer from 0 to 999999, not 0.3"),
        ({"reserves": ...}, "reserves", "missing"),
        ({"reserves": ["-1", "1"]}, "reserves[0]", "expected an integer"),
        ({"reserves": ["1", str(2**256)]}, "reserves[1]", "expected an integer"),
        ({"reserves": ["1", None]}, "reserves[1]", "expected an integer"),
        ({"reserves": ["1"]}, "reserves", "expected 2 entries, not 1"),
    ],
)
def test_a_wrong_pool_is_named_by_its_address_and_field(changes: Document, field: str, problem: str) -> None:
    error = refused_pool(**changes)
    assert (error.pool, error.field) == (POOL, field)
    assert error.problem.startswith(problem)
    assert error.message == f"pool {POOL}: {field}: {error.problem}"


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"family": "stable_swap"}, "did you mean stableswap?"),
        ({"family": "orders"}, "known families: constant_product, concentrated, "),
        ({"protocol": "uniswapV22"}, "did you mean uniswapV2"),
    ],
)
def test_an_unknown_name_comes_with_the_closest_ones(changes: Document, hint: str) -> None:
    assert str(refused_pool(**changes).hint).startswith(hint)


CONCENTRATED: dict[str, Any] = {
    "protocol": "uniswapV3",
    "family": "concentrated",
    "tick_spacing": 10,
    "tick": 0,
    "sqrt_price_x96": str(2**96),
    "liquidity": "5",
    "ticks": [[-10, "5"], [10, "-5"]],
    "reserves": ...,
}


def test_the_concentrated_pool_of_these_tests_is_valid() -> None:
    pool = {**document()["pools"][0], **CONCENTRATED, "reserves": ["0", "0"]}
    assert len(parse(document(pools=[pool])).market.pools) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ticks": [[-10, "5"], [10, "-4"]]}, "ticks"),
        ({"ticks": [[10, "5"], [-10, "-5"]]}, "ticks[1]"),
        ({"ticks": [[-10, "-5"], [10, "5"]]}, "ticks[0]"),
        ({"ticks": [[-9, "5"], [10, "-5"]]}, "ticks[0]"),
        ({"ticks": None}, "ticks"),
        ({"liquidity": "6"}, "liquidity"),
        ({"tick": 10}, "tick"),
        ({"sqrt_price_x96": "0"}, "sqrt_price_x96"),
    ],
)
def test_ticks_that_contradict_themselves_or_price_are_refused(changes: Document, field: str) -> None:
    error = refused_pool(**{**CONCENTRATED, **changes})
    assert (error.pool, error.field) == (POOL, field)


@pytest.mark.parametrize(
    ("address", "name"),
    [("0x12", "0x12"), ("\x1b[2J", "pools[0]"), (None, "pools[0]"), (7, "pools[0]"), ("0x" + "z" * 40, "pools[0]")],
)
def test_a_pool_with_a_wrong_address_is_named_printably(address: object, name: str) -> None:
    error = refused_pool(address=address)
    assert (error.pool, error.field) == (name, "address")
    assert error.message.isprintable()


def test_a_pool_of_a_singleton_is_named_by_its_id() -> None:
    pool_id = "0x" + "5a" * 32
    error = refused_pool(**{**CONCENTRATED, "pool_id": pool_id, "liquidity": "7"})
    assert (error.pool, error.field) == (pool_id, "liquidity")


def test_pools_of_one_singleton_are_told_apart_by_their_ids() -> None:
    pools = [
        {**document()["pools"][0], **CONCENTRATED, "reserves": ["0", "0"], "pool_id": f"0x{number:064x}"}
        for number in (1, 2)
    ]
    assert list(parse(document(pools=pools)).market.pools) == [pool["pool_id"] for pool in pools]


def test_a_pool_listed_twice_is_refused_in_any_letter_case() -> None:
    pool = document()["pools"][0]
    with pytest.raises(InvalidPoolState) as caught:
        parse(document(pools=[pool, {**pool, "address": POOL.upper().replace("X", "x")}]))
    assert caught.value.message == f"pool {POOL}: address: this pool is listed twice"


def test_a_pool_must_be_an_object() -> None:
    with pytest.raises(InvalidPoolState) as caught:
        parse(document(pools=[POOL]))
    assert caught.value.message == f'pools[0]: expected an object, not "{POOL}"'
