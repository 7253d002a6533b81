"""Lunarbase's, LFJ's and Mento's pools are read from the answers of doubles, and left out with a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import PoolError
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.oracle_priced.lfj_poe import LfjPoe
from swapcli.families.oracle_priced.lunarbase import Lunarbase
from swapcli.families.oracle_priced.mento_fpmm import MentoFpmm
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import MULTICALL3, Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from swapcli.testing.strategies import ADDRESS
from tests.chain.node.recorded_curve import RecordedContracts
from tests.families.oracle_priced import test_lfj_poe, test_lunarbase, test_mento_fpmm
from tests.support.outside_ids import keccak256, topic_of

WRAPPED = "0x" + "ee" * 20
ORACLE = "0x" + "0c" * 20
NOW = test_mento_fpmm.NOW
QUOTED_PARTS = (10_000, 100, 7)


def put_words(
    contract: RecordedContracts, address: str, name: str, values: tuple[int, ...], *arguments: int | str
) -> None:
    """Set the words that a function returns."""
    words = encode(["int256" if value < 0 else "uint256" for value in values], values)
    contract.answers[address, encode_call(name, *arguments)] = words


def paid(pool: Pool, i: int, amount: int) -> int:
    try:
        return pool.swap(pool.tokens[i], pool.tokens[1 - i], amount)[0]
    except PoolError:
        return 0


def lunarbase_of(pool: Lunarbase, quoted: Lunarbase | None = None, multiplier: int | None = None) -> RecordedContracts:
    """Return a contract with the state of a pool and the quotes of another, the first by default."""
    contract = RecordedContracts()
    put_words(contract, ADDRESS, "state()", (pool.anchor, pool.fee_ask, pool.fee_bid, 12_345))
    contract.put_address(ADDRESS, "X()", pool.tokens[0])
    contract.put_address(ADDRESS, "Y()", pool.tokens[1])
    contract.put(ADDRESS, "getXReserve()", pool.reserves[0])
    contract.put(ADDRESS, "getYReserve()", pool.reserves[1])
    contract.put(ADDRESS, "concentrationK()", pool.concentration)
    contract.put(ADDRESS, "paused()", 0)
    if multiplier is not None:
        contract.put(ADDRESS, "blacklistFeeMultiplier()", multiplier)
    for i, name in enumerate(("quoteXToY(uint256)", "quoteYToX(uint256)")):
        for part in QUOTED_PARTS:
            amount = pool.reserves[i] // part
            put_words(contract, ADDRESS, name, (paid(quoted or pool, i, amount), 0, 0), amount)
    return contract


def poe_of(pool: LfjPoe, expiry: int = NOW) -> RecordedContracts:
    """Return a pool and its oracle."""
    contract = RecordedContracts()
    put_words(contract, ADDRESS, "getTokens()", (int(pool.tokens[0], 16), int(pool.tokens[1], 16)))
    put_words(contract, ADDRESS, "getBalances()", pool.reserves)
    contract.put_address(ADDRESS, "getOracle()", ORACLE)
    key = keccak256(bytes.fromhex(pool.tokens[0][2:] + pool.tokens[1][2:])).hex()
    put_words(contract, ORACLE, "getData(bytes32)", (pool.price, pool.fee_ppm, pool.alpha_bps, expiry), f"0x{key}")
    contract.put(MULTICALL3, "getCurrentBlockTimestamp()", NOW)
    for i in range(2):
        for part in QUOTED_PARTS:
            amount = pool.reserves[i] // part
            out = paid(pool, i, amount)
            put_words(contract, ADDRESS, "getQuote(bool,uint256)", (out, amount if out else amount - 1), 1 - i, amount)
    return contract


def fpmm_of(pool: MentoFpmm) -> RecordedContracts:
    """Return a pair whose oracle has a valid rate."""
    contract = RecordedContracts()
    put_words(contract, ADDRESS, "getReserves()", (*pool.reserves, NOW))
    put_words(contract, ADDRESS, "getRebalancingState()", (*pool.rate, 1, 1, 0, 0, 0))
    contract.put(ADDRESS, "lpFee()", pool.lp_fee_bps)
    contract.put(ADDRESS, "protocolFee()", pool.fee_ppm // 100 - pool.lp_fee_bps)
    contract.put(MULTICALL3, "getCurrentBlockTimestamp()", pool.timestamp)
    for i, token in enumerate(pool.tokens):
        contract.put_address(ADDRESS, f"token{i}()", token)
        contract.put(ADDRESS, f"decimals{i}()", 10 ** pool.decimals[i])
        amount = 10 ** pool.decimals[i] * 1_000 + 7
        contract.put(ADDRESS, "getAmountOut(uint256,address)", pool.amount_out(i, amount), amount, token)
        short, long = pool.limits[i]
        values = (short.limit, long.limit, pool.decimals[i], short.updated, long.updated, short.netflow, long.netflow)
        put_words(contract, ADDRESS, "getTradingLimits(address)", values, token)
    return contract


def read(kind: str, contract: RecordedContracts, decimals: tuple[int, ...]) -> Pool | SkippedItem:
    """Read a pool as from a node: its reference, then its state; `rounds` are those of the latter."""
    factory = Factory(ADDRESS, kind, (ProtocolInfo(1, "test", "Test", kind),), wrapped_native=WRAPPED)
    (ref,) = run_batched([("", pool_reader(kind).read_constants(factory, ADDRESS))], contract.send)
    assert isinstance(ref, PoolRef), ref
    contract.rounds = 0
    (pool,) = run_batched([("", pool_reader(kind).load(ref._replace(decimals=decimals)))], contract.send)
    return pool


@pytest.mark.parametrize(
    ("pool", "double", "rounds"),
    [
        (test_lunarbase.valid_pool(), lunarbase_of, 2),
        (replace(test_lunarbase.valid_pool(), is_linear=True), lunarbase_of, 2),
        (test_lfj_poe.valid_pool(), poe_of, 2),
        (test_mento_fpmm.valid_pool(), fpmm_of, 1),
    ],
)
def test_a_pool_is_read_in_a_few_rounds(pool: Pool, double: Callable[[Pool], RecordedContracts], rounds: int) -> None:
    contract = double(pool)
    assert read(pool.family, contract, pool.decimals) == pool
    assert contract.rounds == rounds


def test_a_native_token_counts_as_wrapped() -> None:
    contract = lunarbase_of(test_lunarbase.valid_pool())
    contract.put_address(ADDRESS, "X()", ZERO_ADDRESS)
    pool = read("lunarbase", contract, (18, 6))
    assert isinstance(pool, Lunarbase)
    assert pool.tokens[0] == WRAPPED


@pytest.mark.parametrize("asked_with_a_privilege", [False, True])
def test_the_fee_is_that_of_callers_without_a_privilege(asked_with_a_privilege: bool) -> None:
    pool = test_lunarbase.valid_pool()
    expected = replace(pool, fee_multiplier=4, fee_ppm=4 * pool.fee_bid * 10**6 // 2**24)
    contract = lunarbase_of(pool, pool if asked_with_a_privilege else expected, multiplier=4)
    assert read("lunarbase", contract, pool.decimals) == expected


def refused(kind: str, contract: RecordedContracts, decimals: tuple[int, ...]) -> str:
    result = read(kind, contract, decimals)
    assert isinstance(result, SkippedItem)
    return result.reason


def test_a_lunarbase_pool_that_follows_no_known_rule_is_left_out() -> None:
    pool = test_lunarbase.valid_pool()
    wrong = replace(pool, concentration=pool.concentration + 4_096)
    assert "no known rule" in refused("lunarbase", lunarbase_of(pool, wrong), pool.decimals)


def test_a_stale_or_paused_lunarbase_pool_is_left_out() -> None:
    pool = test_lunarbase.valid_pool()
    stale = lunarbase_of(pool)
    for call in [call for call in stale.answers if call[1][:4] in {keccak256(n.encode())[:4] for n in QUOTE_FUNCTIONS}]:
        stale.answers[call] = bytes(96)
    assert "stale" in refused("lunarbase", stale, pool.decimals)
    paused = lunarbase_of(pool)
    paused.put(ADDRESS, "paused()", 1)
    assert "paused" in refused("lunarbase", paused, pool.decimals)


QUOTE_FUNCTIONS = ("quoteXToY(uint256)", "quoteYToX(uint256)")


def test_a_price_of_poe_that_has_expired_is_not_used() -> None:
    pool = test_lfj_poe.valid_pool()
    assert "expired" in refused("lfj_poe", poe_of(pool, NOW - 1), pool.decimals)


def test_a_pool_of_poe_with_other_quotes_is_left_out() -> None:
    pool = test_lfj_poe.valid_pool()
    contract = poe_of(pool)
    amount = pool.reserves[0] // 100
    put_words(contract, ADDRESS, "getQuote(bool,uint256)", (paid(pool, 0, amount) + 1, amount), 1, amount)
    assert "known rule" in refused("lfj_poe", contract, pool.decimals)


@pytest.mark.parametrize(
    ("view", "reason"),
    [("getRebalancingState()", "no valid rate"), ("getAmountOut(uint256,address)", "known rule")],
)
def test_a_pair_of_mento_that_gives_no_rate_is_left_out(view: str, reason: str) -> None:
    pool = test_mento_fpmm.valid_pool()
    contract = fpmm_of(pool)
    selector = keccak256(view.encode())[:4]
    contract.answers = {call: answer for call, answer in contract.answers.items() if call[1][:4] != selector}
    assert reason in refused("mento_fpmm", contract, pool.decimals)


def test_a_pair_of_mento_with_other_decimals_is_left_out() -> None:
    pool = test_mento_fpmm.valid_pool()
    assert "decimals" in refused("mento_fpmm", fpmm_of(pool), (6, 6))


@pytest.mark.parametrize(
    ("network", "protocol", "kind", "addresses"),
    [
        ("monad", "lunarbase", "lunarbase", 2),
        ("base", "lunarbase", "lunarbase", 4),
        ("monad", "lfjPoe", "lfj_poe", 1),
        ("monad", "mentoV3", "mento_fpmm", 1),
    ],
)
def test_the_catalogue_knows_the_contracts(network: str, protocol: str, kind: str, addresses: int) -> None:
    factories, _ = find_factories(find_network(network), [protocol])
    assert [each.kind for each in factories] == [kind] * addresses
    assert all(each.is_enumerable for each in factories)


def test_mentos_factory_has_its_list_in_one_answer() -> None:
    contract = RecordedContracts()
    contract.answers[ORACLE, encode_call("deployedFPMMAddresses()")] = encode(["address[]"], [[ADDRESS, WRAPPED]])
    factory = Factory(ORACLE, "mento_fpmm", (ProtocolInfo(1, "test", "Test", "mento_fpmm"),))
    (listed,) = run_batched([("", pool_reader("mento_fpmm").read_list(factory))], contract.send)
    assert listed == (ADDRESS, WRAPPED)


EVENTS: Mapping[str, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    "lunarbase": ("SwapExecuted(address,bool,uint256,uint256,uint256)", (), (7, 0, 30, 70, 1)),
    "lfj_poe": ("Swap(address,address,bool,uint256,uint256,uint256,uint256)", (1, 2, 0), (70, 30, 0, 1)),
    "mento_fpmm": ("Swap(address,uint256,uint256,uint256,uint256,address)", (1, 2), (0, 70, 30, 0)),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_the_event_of_a_swap_says_its_amounts(kind: str) -> None:
    signature, indexed, data = EVENTS[kind]
    topics = (topic_of(signature), *(f"0x{value:064x}" for value in indexed))
    (swap,) = find_swaps([Log(ADDRESS, topics, b"".join(word.to_bytes(32) for word in data), 1, 0)])
    assert (swap.key, swap.amounts[:4], swap.amounts.problem) == (ADDRESS, (1, 0, 70, 30), "")
