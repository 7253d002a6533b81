"""Twocrypto pools with the StableSwap maths: recorded swaps of the contract, the laws of all pools, and the reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.units import WAD
from swapcli.families.curve import cryptoswap_reader
from swapcli.families.curve.cryptoswap import CryptoSwap
from swapcli.families.reading.calls import MULTICALL3
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.pool_laws import check_state_round_trip, check_two_parts, swap_there_and_back
from swapcli.testing.recorded_swaps import check_recorded_swaps, replay_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.chain.node.recorded_curve import MATHS, RecordedContracts
from tests.families.random_pools import fx_pools
from tests.families.recorded import vectors_file

NOW = 1_800_000_000
Way = tuple[str, str]
FACTORY = Factory("0x" + "fa" * 20, "cryptoswap", (ProtocolInfo(1, "test", "Test", "cryptoswap"),))


def recorded_pool() -> CryptoSwap:
    """Return a recorded pool that may move its scale and burn donated liquidity."""
    pools = (swap.pool for swap in replay_recorded_swaps(vectors_file("fxswap")))
    return next(
        pool
        for pool in pools
        if isinstance(pool, CryptoSwap) and pool.prices.burnable_shares and pool.parameters.ramp_seconds_left is None
    )


def ways(pool: CryptoSwap) -> tuple[Way, Way]:
    """Return both directions."""
    first, second = pool.tokens
    return (first, second), (second, first)


@pytest.mark.parametrize(("name", "paid"), [("fxswap", 543), ("yieldbasis", 40)])
def test_recorded_swaps_are_repeated_to_the_unit(name: str, paid: int) -> None:
    assert check_recorded_swaps(vectors_file(name)) == paid


def test_recorded_swaps_cover_what_the_maths_distinguishes() -> None:
    moves = burns = repeated = ramps = 0
    for swap in replay_recorded_swaps(vectors_file("fxswap")):
        pool, after = swap.pool, swap.after
        if isinstance(pool, CryptoSwap) and isinstance(after, CryptoSwap):
            moves += after.prices.scale != pool.prices.scale
            burns += after.lp_supply != pool.lp_supply
            repeated += pool.prices.scale_is_fixed
            ramps += pool.parameters.ramp_seconds_left is not None
    assert min(moves, burns, repeated, ramps) > 50


@given(fx_pools(), st.booleans(), parts, st.floats(0.01, 0.99))
def test_two_parts_pay_no_more_than_the_whole_and_its_fee(
    pool: CryptoSwap, turned: bool, size: float, part: float
) -> None:
    pool = replace(pool, prices=pool.prices._replace(scale_is_fixed=True, burnable_shares=0))
    pool = replace(pool, parameters=pool.parameters._replace(out_fee=pool.parameters.mid_fee))
    sold, bought = ways(pool)[turned]
    amount_in = max(1, int(pool.reserves[turned] * size))
    try:
        whole, _ = pool.swap(sold, bought, amount_in)
    except PoolError:
        assume(False)
        raise
    dust = 8 * (1 + pool.curve(sold, bought).start_rate) + whole * 2 * pool.parameters.mid_fee / 10**10
    check_two_parts(pool, (sold, bought), amount_in, part, dust)


@given(fx_pools(), st.booleans(), parts)
def test_there_and_back_gains_nothing(pool: CryptoSwap, turned: bool, size: float) -> None:
    pool = replace(pool, prices=pool.prices._replace(scale_is_fixed=True, burnable_shares=0))
    sold, bought = ways(pool)[turned]
    amount_in = max(1, int(pool.reserves[turned] * size))
    assert swap_there_and_back(pool, sold, bought, amount_in) <= amount_in


@given(fx_pools())
def test_state_survives_a_round_trip(pool: CryptoSwap) -> None:
    check_state_round_trip(pool)
    assert pool.changes_without_events


def test_the_scale_moves_once_in_a_block() -> None:
    pool = recorded_pool()
    amount_in = pool.reserves[0] // 1000
    _, after = pool.swap(*ways(pool)[0], amount_in)
    _, again = after.swap(*ways(pool)[0], amount_in)
    assert after.prices.scale_is_fixed
    assert not after.prices.burnable_shares
    assert again.prices.scale == after.prices.scale
    assert again.lp_supply == after.lp_supply


def test_the_first_swap_after_a_ramp_ends_it() -> None:
    pool = recorded_pool()
    pool = replace(pool, parameters=pool.parameters._replace(ramp_seconds_left=0))
    _, after = pool.swap(*ways(pool)[0], pool.reserves[0] // 1000)
    assert after.parameters.ramp_seconds_left is None


@pytest.mark.parametrize("amp", [1, 4_999])
def test_an_amplification_below_the_contracts_is_refused(amp: int) -> None:
    pool = recorded_pool()
    pool = replace(pool, parameters=pool.parameters._replace(amp=amp))
    with pytest.raises(SwapReverts):
        pool.swap(*ways(pool)[0], 10**6)
    assert pool.curve(*ways(pool)[0]).start_rate == 0.0


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("burnable_shares", {"burnable_shares": str(2**127)}),
        ("burnable_shares", {"scale_is_fixed": True}),
        ("burnable_shares", {"version": "v2.1.0"}),
        ("scale_is_fixed", {"version": "v2.1.0", "burnable_shares": None, "scale_is_fixed": True}),
        ("scale_is_fixed", {"scale_is_fixed": 1}),
    ],
)
def test_a_contradiction_is_refused_by_its_field(field: str, change: Mapping[str, object]) -> None:
    pool = recorded_pool()
    with pytest.raises(InvalidPoolState) as caught:
        CryptoSwap.from_state(pool.identity, {**pool.state(), **change})
    assert caught.value.field == field


class FxContract(RecordedContracts):
    """A pool of the new version, whose last swap was a minute ago, and its maths contract."""

    def __init__(self, pool: CryptoSwap, **changed: int) -> None:
        super().__init__()
        prices, parameters = pool.prices, pool.parameters
        self.put_version(ADDRESS, "v2.1.0d")
        self.put_version(MATHS, "v0.1.0")
        self.put_address(ADDRESS, "MATH()", MATHS)
        self.put(MULTICALL3, "getCurrentBlockTimestamp()", NOW)
        for k in range(2):
            self.put_address(ADDRESS, "coins(uint256)", TOKENS[k], k)
            self.put(ADDRESS, "balances(uint256)", pool.reserves[k], k)
        values = {
            **{name: getattr(parameters, name) for name in ("gamma", "mid_fee", "out_fee", "fee_gamma")},
            **{name: getattr(parameters, name) for name in ("allowed_extra_profit", "adjustment_step")},
            "A": parameters.amp,
            "D": prices.invariant,
            "totalSupply": pool.lp_supply,
            "xcp_profit": prices.xcp_profit,
            "virtual_price": prices.virtual_price,
            "price_scale": prices.scale[0],
            "price_oracle": prices.oracle[0],
            "last_prices": prices.last[0],
            "future_A_gamma_time": 0,
            "last_timestamp": NOW - 60,
            "donation_shares": 0,
            "last_donation_release_ts": NOW - 100,
            "donation_duration": 1_000,
            "donation_protection_expiry_ts": 0,
            "donation_protection_period": 600,
        }
        for name, value in (values | changed).items():
            self.put(ADDRESS, f"{name}()", value)


def read(pool: CryptoSwap, **changed: int) -> CryptoSwap:
    contract = FxContract(pool, **changed)
    (ref,) = run_batched([(ADDRESS, cryptoswap_reader.read_constants(FACTORY, ADDRESS))], contract.send)
    assert isinstance(ref, PoolRef), ref
    contract.rounds = 0
    ref = ref._replace(decimals=pool.decimals)
    (read_pool,) = run_batched([(ADDRESS, cryptoswap_reader.load(ref))], contract.send)
    assert isinstance(read_pool, CryptoSwap), read_pool
    assert contract.rounds == 1
    return read_pool


def test_a_pool_is_found_and_read_in_one_round() -> None:
    pool = recorded_pool()
    pool = replace(
        pool, address=ADDRESS, tokens=TOKENS[:2], prices=pool.prices._replace(burnable_shares=0), protocol="test"
    )
    assert read(pool) == pool


@pytest.mark.parametrize(
    ("changed", "burnable"),
    [
        ({"donation_shares": 10_000}, 1_000),
        ({"donation_shares": 10_000, "last_donation_release_ts": NOW - 5_000}, 10_000),
        ({"donation_shares": 10_000, "donation_protection_expiry_ts": NOW + 150}, 750),
        ({"donation_shares": 10_000, "donation_protection_expiry_ts": NOW + 900}, 0),
        ({"donation_shares": 10_000, "last_timestamp": NOW}, 0),
    ],
)
def test_donated_liquidity_is_released_with_time(changed: dict[str, int], burnable: int) -> None:
    pool = read(recorded_pool(), **changed)
    assert pool.prices.burnable_shares == burnable
    assert pool.prices.scale_is_fixed is ("last_timestamp" in changed)


@pytest.mark.parametrize(("end", "left"), [(NOW - 70, None), (NOW - 10, 0), (NOW + 30, 30)])
def test_a_ramp_counts_until_the_first_swap_after_it(end: int, left: int | None) -> None:
    assert read(recorded_pool(), future_A_gamma_time=end).parameters.ramp_seconds_left == left


def test_donated_liquidity_of_the_future_is_refused() -> None:
    contract = FxContract(recorded_pool(), donation_shares=1, last_donation_release_ts=NOW + 1)
    ref = PoolRef(ADDRESS, "test", "cryptoswap", "cryptoswap", TOKENS[:2], (18, 18), 50)
    (skipped,) = run_batched([(ADDRESS, cryptoswap_reader.load(ref))], contract.send)
    assert isinstance(skipped, SkippedItem)
    assert "donated liquidity" in skipped.reason


def test_pools_that_hold_far_more_than_a_contract_can_refuse_swaps() -> None:
    pool = replace(recorded_pool(), reserves=(2**127, 2**127))
    for way in ways(pool):
        with pytest.raises(PoolError):
            pool.swap(*way, WAD)
