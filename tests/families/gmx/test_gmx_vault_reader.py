"""Vaults of GMX V1 are read from the answers of recorded states, and left out with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.gmx.gmx_vault import USDG_UNIT, GmxVault, fee_of_token
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.chain.node.recorded_curve import RecordedContracts
from tests.families.gmx.test_gmx_vault import with_more_tokens
from tests.families.recorded import read_vectors, vectors_file
from tests.support.outside_ids import topic_of

FACTORY = Factory(ADDRESS, "gmx_vault", (ProtocolInfo(1, "test", "Test", "gmx_vault"),))
VIEWS = {
    "reserves": "poolAmounts(address)",
    "usdg": "usdgAmounts(address)",
    "max_usdg": "maxUsdgAmounts(address)",
    "targets": "getTargetUsdgAmount(address)",
    "min_prices": "getMinPrice(address)",
    "max_prices": "getMaxPrice(address)",
    "is_stable": "stableTokens(address)",
    "min_reserves": "reservedAmounts(address)",
}
FEE = "getFeeBasisPoints(address,uint256,uint256,uint256,bool)"


def contract_of(pool: GmxVault, is_dynamic: bool = True) -> RecordedContracts:
    """Return a vault with the state of a pool, which also has a token that it no longer trades."""
    contract = RecordedContracts()
    for name, value in {
        "isSwapEnabled()": 1,
        "hasDynamicFees()": is_dynamic,
        "swapFeeBasisPoints()": pool.fee_ppm // 100,
        "taxBasisPoints()": pool.tax_bps,
        "stableSwapFeeBasisPoints()": pool.stable_fee_bps,
        "stableTaxBasisPoints()": pool.stable_tax_bps,
        "allWhitelistedTokensLength()": len(pool.tokens) + 2,
    }.items():
        contract.put(ADDRESS, name, value)
    # The last token was listed twice, and one is no longer traded.
    for number, token in enumerate((*pool.tokens, pool.tokens[-1], "0x" + "ee" * 20)):
        contract.put_address(ADDRESS, "allWhitelistedTokens(uint256)", token, number)
        contract.put(ADDRESS, "whitelistedTokens(address)", token in pool.tokens, token)
    for k, token in enumerate(pool.tokens):
        for field, view in VIEWS.items():
            contract.put(ADDRESS, view, getattr(pool, field)[k], token)
        contract.put(ADDRESS, "bufferAmounts(address)", pool.min_reserves[k] // 2, token)
        contract.put(ADDRESS, "tokenDecimals(address)", pool.decimals[k], token)
        change = 10_000 * USDG_UNIT
        debt, target = pool.usdg[k], pool.targets[k] if is_dynamic else 0
        contract.put(ADDRESS, FEE, fee_of_token(debt, debt + change, target, 30, 50), token, change, 30, 50, 1)
        after = max(0, debt - change - 1)
        contract.put(ADDRESS, FEE, fee_of_token(debt, after, target, 300, 500), token, change + 1, 300, 500, 0)
    return contract


def recorded_pools() -> list[GmxVault]:
    """Return the first state of each recorded vault."""
    pools: dict[str, GmxVault] = {}
    for swap in replay_recorded_swaps(vectors_file("gmx_vault")):
        assert isinstance(swap.pool, GmxVault)
        pools.setdefault(swap.pool.address, swap.pool)
    return list(pools.values())


def read(contract: RecordedContracts, decimals: tuple[int, ...]) -> Pool | SkippedItem:
    (ref,) = run_batched([("", pool_reader(FACTORY.kind).read_constants(FACTORY, ADDRESS))], contract.send)
    assert isinstance(ref, PoolRef), ref
    contract.rounds = 0
    (pool,) = run_batched([("", pool_reader(ref.kind).load(ref._replace(decimals=decimals)))], contract.send)
    return pool


def test_a_vault_is_read_in_one_round() -> None:
    pools = recorded_pools()
    assert len(pools) == len(read_vectors("gmx_vault")["pools"])
    for expected in pools:
        contract = contract_of(expected)
        pool = read(contract, expected.decimals)
        assert isinstance(pool, GmxVault), pool
        assert pool.state() == expected.state()
        assert (pool.tokens, pool.fee_ppm) == (expected.tokens, expected.fee_ppm)
        assert contract.rounds == 1


def test_a_vault_of_ten_tokens_and_more_is_read() -> None:
    expected = with_more_tokens(read_vectors("gmx_vault")["pools"][0])
    assert len(expected.tokens) == 14
    pool = read(contract_of(expected), expected.decimals)
    assert isinstance(pool, GmxVault), pool
    assert pool.state() == expected.state()


def test_without_dynamic_fees_there_are_no_targets() -> None:
    expected = recorded_pools()[0]
    pool = read(contract_of(expected, is_dynamic=False), expected.decimals)
    assert isinstance(pool, GmxVault)
    assert set(pool.targets) == {0}
    assert pool.fee_bps(0, 1, 10**30) == expected.fee_ppm // 100


@pytest.mark.parametrize(
    ("view", "value", "arguments", "reason"),
    [
        ("isSwapEnabled()", 0, (), "switched swaps off"),
        ("tokenDecimals(address)", 7, (TOKENS[0],), "different decimals"),
        ("getMinPrice(address)", 0, (TOKENS[0],), "min_prices"),
        ("getMaxPrice(address)", 1, (TOKENS[0],), "max_prices"),
        (FEE, 31, (TOKENS[0], 10_000 * USDG_UNIT, 30, 50, 1), "a different fee rule"),
        ("swapFeeBasisPoints()", 501, (), "fee_ppm"),
    ],
)
def test_answers_that_contradict_one_another_are_refused(
    view: str, value: int, arguments: tuple[Any, ...], reason: str
) -> None:
    pool = recorded_pools()[0]
    contract = contract_of(pool)
    contract.put(ADDRESS, view, value, *arguments)
    result = read(contract, pool.decimals)
    assert isinstance(result, SkippedItem)
    assert reason in result.reason


def test_a_vault_whose_oracle_is_too_old_is_left_out() -> None:
    pool = recorded_pools()[0]
    contract = contract_of(pool)
    contract.answers = {key: value for key, value in contract.answers.items() if not is_price(key)}
    result = read(contract, pool.decimals)
    assert isinstance(result, SkippedItem)
    assert "getMinPrice" in result.reason


def is_price(call: tuple[str, bytes]) -> bool:
    return call[1][:4] == bytes.fromhex("81a612d6")  # getMinPrice(address)


def test_the_catalogue_knows_the_vault_of_base() -> None:
    factories, _ = find_factories(find_network("base"), ["bmx"])
    assert [(each.address, each.kind) for each in factories] == [
        ("0xec8d8d4b215727f3476ff0ab41c406fa99b4272c", "gmx_vault")
    ]


def test_a_swap_is_told_from_one_of_balancer_v3() -> None:
    topic = topic_of("Swap(address,address,address,uint256,uint256,uint256,uint256)")
    account = "0x" + "99" * 20
    words: Mapping[str, int] = {"in": 1_000, "before the fee": 999, "after it": 996, "fee": 30}
    addresses = [int(each, 16) for each in (account, TOKENS[0], TOKENS[1])]
    data = b"".join(word.to_bytes(32) for word in (*addresses, *words.values()))
    (swap,) = find_swaps([Log(ADDRESS, (topic,), data, 1, 0)])
    assert (swap.key, swap.amounts.sold, swap.amounts.bought) == (ADDRESS, TOKENS[0], TOKENS[1])
    assert (swap.amounts.amount_in, swap.amounts.amount_out) == (1_000, 996)
    indexed = tuple(f"0x{int(each, 16):064x}" for each in (account, TOKENS[0], TOKENS[1]))
    (other,) = find_swaps([Log(ADDRESS, (topic, *indexed), data[96:], 1, 0)])
    assert (other.key, other.amounts.sold, other.amounts.amount_out) == (account, TOKENS[0], 999)
