"""Pools of EulerSwap keep the laws of all pools; the compiled contracts of both versions gave the recorded swaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.euler.euler_swap import MAX_RESERVE, EulerSwap
from swapcli.testing.pool_laws import check_curve_follows, check_state_round_trip, check_swap_laws
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import vectors_file

UNLIMITED = (MAX_RESERVE, MAX_RESERVE)
E18 = 10**18
MANAGER = "0x" + "4a" * 20
VAULTS = ["0x" + "e0" * 20, "0x" + "e1" * 20, "0x" + "e2" * 20, "0x" + "e3" * 20]


def euler_pool(**changes: object) -> EulerSwap:
    """Return a pool at its equilibrium of 10^24 and 2 x 10^24, whose second token is worth a half of the first one."""
    state: Mapping[str, object] = {
        "version": 2, "reserves": (10**24, 2 * 10**24), "equilibrium": (10**24, 2 * 10**24), "min_reserves": (0, 0),
        "prices": (2 * E18, E18), "concentrations": (9 * 10**17, 5 * 10**17), "fees": (10**15, 2 * 10**15),
        "debts": (0, 0), "deposit_capacity": (10**30, 10**30), "min_deposits": (0, 0), "output_limits": UNLIMITED,
        "secured_outputs": UNLIMITED, "manager_balances": UNLIMITED, "pool_manager": MANAGER,
        "v4_fee_ppm": 0, "vaults": [VAULTS[:1], VAULTS[1:2]], **changes,
    }  # fmt: skip
    texts = {
        name: [str(each) for each in value] if isinstance(value, tuple) else value for name, value in state.items()
    }
    if "deposits" in changes:
        del texts["secured_outputs"]
    return EulerSwap.from_state(PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 1_000), texts)


DEPOSITS, LTV = 10**23, 0.9
"""Of the account of `secured_pool`, in either token of the same price."""


def secured_pool(**changes: object) -> EulerSwap:
    """Return a pool of two tokens at 1:1, of an account with deposits in both, each of which secures 0.9 of the other.

    Its curve is a constant sum of 10^25 each, so that only the account limits a swap.
    """
    state: Mapping[str, object] = {
        "reserves": (10**25, 10**25), "equilibrium": (10**25, 10**25), "prices": (E18, E18),
        "concentrations": (WAD, WAD), "fees": (0, 0), "deposits": (DEPOSITS, DEPOSITS),
        "collateral": (9 * DEPOSITS // 10,) * 2, "collateral_rates": (9 * 10**35,) * 2, "fee_paid_out": 0, **changes,
    }  # fmt: skip
    return euler_pool(**state)


def largest(pool: EulerSwap, sold: int = 0) -> int:
    """Return the largest output of a pool whose swaps are refused from some amount on."""
    low, high = 0, 10**25
    while high - low > 1:
        middle = (low + high) // 2
        try:
            pool.swap(*tokens_of(sold), middle)
            low = middle
        except PoolError:
            high = middle
    return pool.swap(*tokens_of(sold), low)[0]


def valid_pool() -> EulerSwap:
    return secured_pool()


def tokens_of(sold: int) -> tuple[str, str]:
    return TOKENS[sold], TOKENS[1 - sold]


@st.composite
def pools(draw: st.DrawFn) -> EulerSwap:
    """Return a pool that swaps have moved away from its equilibrium."""
    concentrations = st.one_of(st.just(WAD), st.integers(0, WAD - 10**5))
    equilibrium = tuple(10 ** draw(st.integers(10, 26)) for _ in range(2))
    pool = euler_pool(
        version=draw(st.sampled_from((1, 2))),
        reserves=equilibrium,
        equilibrium=equilibrium,
        prices=(E18, max(1, int(E18 * equilibrium[0] / equilibrium[1] * 10 ** draw(st.floats(-1, 1)))) % 10**24 + 1),
        concentrations=(draw(concentrations), draw(concentrations)),
        fees=(fee := draw(st.integers(0, 10**17)), fee),
    )
    for sold in draw(st.lists(st.sampled_from((0, 1)), max_size=2)):
        try:
            _, pool = pool.swap(*tokens_of(sold), int(pool.reserves[sold] * draw(st.floats(1e-6, 0.9))) + 1)
        except PoolError:
            break
    return pool


@given(pool=pools(), sold=st.sampled_from((0, 1)), part=st.floats(1e-7, 2.0))
def test_pools_keep_the_laws(pool: EulerSwap, sold: int, part: float) -> None:
    amount = int(pool.reserves[sold] * part) + 1
    check_swap_laws(pool, tokens_of(sold), amount, dust=rounding(pool))


@given(pool=pools(), sold=st.sampled_from((0, 1)), part=st.floats(1e-5, 0.5))
def test_the_curve_is_the_swap_in_floats(pool: EulerSwap, sold: int, part: float) -> None:
    if min(pool.reserves) > 10**9:
        check_curve_follows(pool, tokens_of(sold), int(pool.reserves[sold] * part) + 1, relative=1e-8)
    check_state_round_trip(pool)


def rounding(pool: EulerSwap) -> int:
    """Return the worth of a few units of either token in the other one."""
    return 4 + int(4 * sum(pool.curve(*tokens_of(sold)).start_rate for sold in (0, 1)))


def test_recorded_swaps_are_of_both_versions_and_refusals() -> None:
    swaps = list(replay_recorded_swaps(vectors_file("euler_swap")))
    assert {each.pool.version for each in swaps if isinstance(each.pool, EulerSwap)} == {1, 2}
    assert sum(each.expected is not None for each in swaps) > 300
    assert sum(each.expected is None for each in swaps) > 50


def test_a_swap_by_hand() -> None:
    """10^21 less a thousandth is sold; the second token goes below its equilibrium y0 on its own half."""
    amount_out, after = euler_pool().swap(*tokens_of(0), 10**21)
    net = 10**21 - 10**18
    # net = (1 / 2) (y0 - y) (1 / 2 + (1 / 2) y0 / y), with y = y0 - amount_out
    left = 2 * 10**24 - amount_out
    assert net == pytest.approx(0.5 * amount_out * (0.5 + 0.5 * 2 * 10**24 / left), rel=1e-12)
    assert after.reserves == (10**24 + net, left)


def test_a_token_that_the_owner_does_not_let_be_sold() -> None:
    pool = euler_pool(fees=(WAD, 0))
    with pytest.raises(SwapReverts, match="does not allow"):
        pool.swap(*tokens_of(0), 10**21)
    assert pool.curve(*tokens_of(0)).start_rate == 0.0
    assert pool.swap(*tokens_of(1), 10**21)[0] == euler_pool(fees=(0, 0)).swap(*tokens_of(1), 10**21)[0]


def test_pools_of_one_vault_share_what_it_can_pay_and_take() -> None:
    """The second pool borrows from a vault of its own, too."""
    limits = {"output_limits": (10**24, 10**21), "deposit_capacity": (10**24, 10**24)}
    first, second = euler_pool(**limits), euler_pool(**limits, vaults=[VAULTS[:1], [VAULTS[2], VAULTS[1]]])
    paid, after = first.swap(*tokens_of(0), 4 * 10**20)
    assert second.swap(*tokens_of(0), 4 * 10**20)[0] == paid
    for shared in after.shared_states:
        second = second.with_shared_state(shared)
    assert second.vault_uses == ((0, 4 * 10**20), (0, 0), (paid, 0))
    check_state_round_trip(second)
    with pytest.raises(InsufficientLiquidity):
        second.swap(*tokens_of(0), 4 * 10**20)
    rest = (10**21 - paid) // 2
    assert second.swap(*tokens_of(0), rest)[0] == euler_pool(**limits).swap(*tokens_of(0), rest)[0] <= 10**21 - paid
    unrelated = euler_pool(vaults=[VAULTS[2:3], VAULTS[3:]])
    assert unrelated.with_shared_state(after.shared_states[0]) == unrelated


@pytest.mark.parametrize(
    ("vaults", "uses"),
    [
        ([VAULTS[:1]], None),
        ([VAULTS[:1], VAULTS[:1]], None),
        ([[], VAULTS[:1]], None),
        ([VAULTS[:3], VAULTS[3:]], None),
        ([VAULTS[:1], ["0x12"]], None),
        ([VAULTS[:1], VAULTS[1:2]], [["0", "0"]]),
        ([VAULTS[:1], VAULTS[1:2]], [["0"], ["0"]]),
    ],
)
def test_vaults_that_contradict_themselves_are_refused(vaults: object, uses: object) -> None:
    changes = {"vaults": vaults} | ({} if uses is None else {"vault_uses": uses})
    with pytest.raises(InvalidPoolState, match="vault"):
        euler_pool(**changes)


def test_a_pool_without_one_of_its_tokens_pays_the_other_only() -> None:
    pool = euler_pool(equilibrium=(0, 2 * 10**24), reserves=(0, 2 * 10**24))
    check_curve_follows(pool, tokens_of(0), 10**21)
    assert pool.curve(*tokens_of(1)).start_rate == 0.0
    with pytest.raises(PoolError):
        pool.swap(*tokens_of(1), 10**21)


@pytest.mark.parametrize(("version", "gas"), [(1, 640_900), (2, 400_000)])
def test_the_gas_is_that_of_the_version(version: int, gas: int) -> None:
    pool = euler_pool(version=version)
    assert pool.gas_units(pool) == pool.gas_units_to(*tokens_of(0), 1.0) == gas


def test_at_the_equilibrium_the_rate_is_that_of_the_prices() -> None:
    pool = euler_pool(fees=(0, 0))
    assert [pool.curve(*tokens_of(sold)).start_rate for sold in (0, 1)] == [2.0, 0.5]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"output_limits": (10**24, 10**21)}, InsufficientLiquidity),
        ({"secured_outputs": (10**24, 10**21)}, InsufficientLiquidity),
        ({"deposit_capacity": (10**20, 10**20)}, InsufficientLiquidity),
        ({"deposit_capacity": (10**21 - 1, 0)}, InsufficientLiquidity),
        ({"min_deposits": (10**21, 0)}, SwapReverts),
        ({"debts": (10**21 - 10**18 - 1, 0), "min_deposits": (2, 0)}, SwapReverts),
        ({"reserves": (MAX_RESERVE, 2 * 10**24)}, SwapReverts),
        ({"manager_balances": (10**21 - 1, 0)}, InsufficientLiquidity),
    ],
)
def test_what_the_vaults_do_not_allow(version: int, changes: Mapping[str, object], refused: type[PoolError]) -> None:
    pool = euler_pool(version=version, **changes)
    with pytest.raises(refused):
        pool.swap(*tokens_of(0), 10**21)


def test_a_debt_makes_room_and_is_repaid_by_the_unit() -> None:
    net = 10**21 - 10**18
    for debt in (net, net - 2, 10**22):
        pool = euler_pool(debts=(debt, 0), deposit_capacity=(10**20, 0), min_deposits=(2, 2))
        assert pool.swap(*tokens_of(0), 10**21)[0] == euler_pool().swap(*tokens_of(0), 10**21)[0]


def test_reserves_end_at_their_minimum() -> None:
    pool = euler_pool(min_reserves=(0, 2 * 10**24 - 10**21))
    most = int(pool.curve(*tokens_of(0)).capacity)
    assert pool.swap(*tokens_of(0), int(most * 0.999))[0] <= 10**21
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*tokens_of(0), int(most * 1.001))


def test_amounts_that_the_contract_cannot_count() -> None:
    pool = euler_pool()
    with pytest.raises(SwapReverts, match="more than the contract can count"):
        pool.swap(*tokens_of(0), MAX_RESERVE + 1)
    with pytest.raises(SwapReverts, match="rounds to zero"):
        pool.swap(*tokens_of(1), 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": 3}, "version"),
        ({"prices": (0, 1)}, "prices"),
        ({"prices": (10**25 + 1, 1)}, "prices"),
        ({"concentrations": (WAD + 1, 0)}, "concentrations"),
        ({"fees": (WAD + 1, 0)}, "fees"),
        ({"min_reserves": (10**24 + 1, 0)}, "min_reserves"),
        ({"reserves": (10**23, 2 * 10**24)}, "reserves"),
        ({"reserves": (10**24, 10**24)}, "reserves"),
        ({"reserves": (0, 2 * 10**24), "version": 1}, "reserves"),
        ({"v4_fee_ppm": 10**6}, "v4_fee_ppm"),
    ],
)
def test_states_that_the_contract_never_has(changes: Mapping[str, object], field: str) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        euler_pool(**changes)
    assert caught.value.field == field


def test_a_pool_is_its_own_hook() -> None:
    pool = euler_pool(v4_fee_ppm=300)
    key = {"token0": TOKENS[0], "token1": TOKENS[1], "fee": 300, "tickSpacing": 1, "hooks": ADDRESS}
    assert pool.api_extra_data() == key
    assert pool.is_single_use
    assert (pool.called_address, pool.key) == (MANAGER, ADDRESS)
    assert replace(pool, v4_fee_ppm=0).swap(*tokens_of(0), 10**21)[0] == pool.swap(*tokens_of(0), 10**21)[0]


def test_the_input_is_collateral_for_what_a_swap_borrows() -> None:
    """With deposits D of both and x sold, D is withdrawn, and at most 0.9 (D + x) borrowed: x = 1.9 D / 0.1."""
    pool = secured_pool()
    for sold in (0, 1):
        assert largest(pool, sold) == pytest.approx(19 * DEPOSITS, rel=2e-3)
        assert largest(pool, sold) <= 19 * DEPOSITS
        assert pool.curve(*tokens_of(sold)).capacity == pytest.approx(largest(pool, sold), rel=1e-6)
    without = secured_pool(collateral_rates=(0, 0))
    assert largest(without) == pytest.approx(1.9 * DEPOSITS, rel=1e-4)
    check_state_round_trip(pool)


def test_old_files_count_no_input() -> None:
    """Those without an account have what it could pay without the input."""
    state = secured_pool().state()
    for name in ("deposits", "collateral", "collateral_rates", "fee_paid_out"):
        del state[name]
    state["secured_outputs"] = [str(19 * DEPOSITS // 10)] * 2
    pool = EulerSwap.from_state(secured_pool().identity, state)
    assert largest(pool) == 19 * DEPOSITS // 10
    check_state_round_trip(pool)


def test_a_fee_that_is_paid_out_is_no_collateral() -> None:
    """Of 10% of the input, a half is deposited: x 0.95 0.9 + 1.9 D = 0.9 x."""
    pool = secured_pool(fees=(WAD // 10, 0), fee_paid_out=WAD // 2)
    x = 1.9 * DEPOSITS / (0.9 - 0.95 * 0.9)
    assert largest(pool) == pytest.approx(0.9 * x, rel=2e-3)
    assert pool.curve(*tokens_of(0)).capacity == pytest.approx(x, rel=2e-3)


@pytest.mark.parametrize("collateral", [9, 6])
def test_while_a_debt_in_the_sold_token_is_left_only_spare_deposits_are_paid(collateral: int) -> None:
    """The debt is half of the deposits. Each unit sold frees one of collateral, each unit bought takes 0.9."""
    debt = DEPOSITS // 2
    pool = secured_pool(debts=(debt, 0), deposits=(0, DEPOSITS), collateral=(collateral * DEPOSITS // 10, 0))
    for part in (0.1, 0.5, 0.99):
        sold = int(debt * part)
        assert pool.swap(*tokens_of(0), sold)[0] == sold
    # Beyond the debt, the rest is deposited and secures a loan.
    beyond, after = pool.swap(*tokens_of(0), 2 * debt)
    assert beyond == 2 * debt
    assert after.debts == (0, 0)


def test_a_debt_that_the_deposits_are_needed_for() -> None:
    """The account owes almost what its deposits secure: what it sells may be worth no less than nine tenths."""
    debt = DEPOSITS * 899 // 1000
    poor = {"debts": (debt, 0), "deposits": (0, DEPOSITS), "collateral": (9 * DEPOSITS // 10, 0)}
    assert secured_pool(**poor).swap(*tokens_of(0), debt // 2)[0] == debt // 2
    # At a price of 1.2 for the sold token, each unit sold would take 1.08 of collateral for one of debt.
    cheap = secured_pool(**poor, prices=(12 * E18 // 10, E18))
    with pytest.raises(InsufficientLiquidity, match="lacks the collateral"):
        cheap.swap(*tokens_of(0), debt // 2)
    assert 0.0 < cheap.curve(*tokens_of(0)).capacity < debt / 2
    unhealthy = secured_pool(**{**poor, "collateral": (debt - 1, 0)})
    with pytest.raises(InsufficientLiquidity, match="lacks the collateral"):
        unhealthy.swap(*tokens_of(0), 10**6)
    assert unhealthy.curve(*tokens_of(0)).capacity == 0.0


def test_debts_and_deposits_follow_a_swap() -> None:
    pool = secured_pool(deposits=(0, DEPOSITS))
    amount_out, after = pool.swap(*tokens_of(0), 2 * DEPOSITS)
    assert amount_out == 2 * DEPOSITS
    account = after.account
    assert account is not None
    assert (after.debts, account.deposits) == ((0, DEPOSITS), (2 * DEPOSITS, 0))
    assert account.collateral == (0, 27 * DEPOSITS // 10)
    check_state_round_trip(after)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"collateral": (1,)}, "collateral"),
        ({"collateral_rates": (1 << 240, 0)}, "collateral_rates[0]"),
        ({"fee_paid_out": WAD + 1}, "fee_paid_out"),
    ],
)
def test_an_account_that_contradicts_itself(changes: Mapping[str, object], field: str) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        secured_pool(**changes)
    assert caught.value.field == field


@pytest.mark.parametrize("sold", [0, 1])
def test_the_vaults_of_compiled_contracts_paid_what_is_quoted(sold: int) -> None:
    """Amounts near the limits too: both pay, or both refuse."""
    swaps = list(replay_recorded_swaps(vectors_file("euler_swap_vaults")))
    assert [each for each in swaps if each.amount_out != each.expected] == []
    refused = [each for each in swaps if each.expected is None and isinstance(each.pool, EulerSwap)]
    assert len(refused) > 400
    assert {len(each.pool.vaults[sold]) for each in refused if isinstance(each.pool, EulerSwap)} == {1, 2}
    assert any(each.pool.debts[sold] for each in refused if isinstance(each.pool, EulerSwap))
