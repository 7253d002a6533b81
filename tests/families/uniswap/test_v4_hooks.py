"""Uniswap V4 pools with hooks, dynamic fees and protocol fees, against the real pool manager."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random

import pytest

from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.model.router_execution import Execution
from swapcli.core.routing.replay import replay
from swapcli.families.protocol_fees import DYNAMIC_FEE, with_protocol_fee
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.v4_hooks import check_hooks
from swapcli.testing.evm import RevertedError
from tests.examples import fuzzed_seeds
from tests.families.real_pools import ContractFixture, UniswapV4, add_random_positions, random_sqrt_price
from tests.families.uniswap.test_concentrated_differential import compare_one_swap
from tests.support.pools import build_constant_product, build_token

AFTER_SWAP = 0x0040
CHANGES_AMOUNTS = {0x0080: "beforeSwap (bit 7)", 0x0008: "beforeSwapReturnsDelta", 0x0004: "afterSwapReturnsDelta"}
HARMLESS = 0x3FFF & ~sum(CHANGES_AMOUNTS)
"""Every permission that leaves the amounts of a swap alone."""
LOWEST, HIGHEST = -887_220, 887_220
PATHS = Execution(executes_paths=True)
SEEDS, SWAPS = 100, 200
"""20,000 swaps in all; pools refuse about half of them, as the contract does. One seed runs by default."""


def hook_at(permissions: int) -> str:
    return f"0x{0x5AFE << 140 | permissions:040x}"


def random_permissions(rng: Random) -> int:
    """Return permissions that leave swaps alone and do not contradict themselves."""
    bits = rng.choice((AFTER_SWAP, 0x1040, 0x2000, HARMLESS, rng.randrange(1 << 14) & HARMLESS))
    for returns, callback in ((1, 10), (0, 8)):
        if not bits >> callback & 1:
            bits &= ~(1 << returns)
    return bits


def random_pool(rng: Random) -> UniswapV4:
    spacing, permissions = rng.choice((1, 10, 60, 200)), random_permissions(rng)
    is_dynamic = not permissions or rng.random() < 0.6
    fee_ppm = rng.choice((0, 100, 3_000, 10_000, rng.randrange(998_000)))
    real = UniswapV4(
        ContractFixture(), fee_ppm, spacing, random_sqrt_price(rng), hooks=hook_at(permissions),
        has_dynamic_fee=is_dynamic,
    )  # fmt: skip
    if rng.random() < 0.7:
        real.set_protocol_fees(rng.choice((0, 1, 1_000, rng.randrange(1_001))), rng.randrange(1_001))
    return real


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
def test_swaps_with_hooks_and_fees_equal_the_pool_manager(seed: int) -> None:
    rng = Random(f"hooks {seed}")
    real = random_pool(rng)
    ticks = add_random_positions(rng, real)
    pool = real.read(ticks)
    for _ in range(SWAPS):
        if real.has_dynamic_fee and rng.random() < 0.1:
            real.set_dynamic_fee(rng.choice((0, rng.randrange(20_000))))
            pool = real.read(ticks)
        pool = compare_one_swap(rng, real.world, real, pool)
    assert pool == real.read(ticks)
    assert Concentrated.from_state(real.identity(), json.loads(json.dumps(pool.state()))) == pool


@pytest.mark.parametrize(
    ("sells_token0", "protocol_fees_ppm", "amount_out"),
    [
        (True, (0, 0), 1991192476508643200),
        (False, (0, 0), 498148812329971100),
        (True, (500, 1_000), 1990197284168336061),
        (False, (500, 1_000), 497651014107210099),
    ],
)
def test_each_direction_adds_its_own_protocol_fee(
    sells_token0: bool, protocol_fees_ppm: tuple[int, int], amount_out: int
) -> None:
    """Amounts were recorded from the contract's bytecode."""
    pool = full_range_pool(protocol_fees_ppm=protocol_fees_ppm)
    token_in, token_out = pool.tokens if sells_token0 else pool.tokens[::-1]
    assert pool.swap(token_in, token_out, 10**18)[0] == amount_out
    assert pool.curve(token_in, token_out).amount_out(1e18) == pytest.approx(amount_out, rel=1e-12)


@pytest.mark.parametrize(("lp_fee_ppm", "protocol_fee_ppm", "fee_ppm"), [(3_000, 500, 3_499), (3_000, 1_000, 3_997)])
def test_the_lp_fee_is_taken_of_what_the_protocol_leaves(lp_fee_ppm: int, protocol_fee_ppm: int, fee_ppm: int) -> None:
    assert with_protocol_fee(lp_fee_ppm, protocol_fee_ppm) == fee_ppm


def test_hooks_are_accepted_exactly_as_the_manager_creates_them() -> None:
    rng = Random("permissions")
    fixture = ContractFixture()
    accepted = 0
    for _ in range(60):
        permissions, is_dynamic = rng.choice((0, random_permissions(rng), rng.randrange(1 << 14))), rng.random() < 0.5
        hooks = hook_at(permissions) if permissions or rng.random() < 0.5 else ZERO_ADDRESS
        reason = reason_to_refuse(hooks, is_dynamic)
        accepted += not reason
        changing = [name for bit, name in CHANGES_AMOUNTS.items() if permissions & bit]
        if is_created(fixture, hooks, is_dynamic):
            assert bool(changing) == ("has permissions" in reason) == bool(reason)
            assert all(name in reason for name in changing)
        else:
            assert "contradict" in reason
    assert accepted >= 15


def is_created(fixture: ContractFixture, hooks: str, is_dynamic: bool) -> bool:
    try:
        UniswapV4(fixture, 3_000, 60, Q96, hooks=hooks, has_dynamic_fee=is_dynamic)
    except RevertedError:
        return False
    return True


def reason_to_refuse(hooks: str, is_dynamic: bool) -> str:
    try:
        check_hooks(hooks, has_dynamic_fee=is_dynamic)
    except InvalidPoolState as error:
        return error.problem
    return ""


@pytest.mark.parametrize("bit", CHANGES_AMOUNTS)
def test_a_hook_that_may_change_amounts_is_refused_by_its_bit(bit: int) -> None:
    with pytest.raises(InvalidPoolState, match=CHANGES_AMOUNTS[bit].split()[0]) as caught:
        full_range_pool(hooks=hook_at(0x00C0 | bit))
    assert caught.value.field == "hooks"


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("hooks", {"hooks": ZERO_ADDRESS, "dynamic_fee": True}),
        ("hooks", {"hooks": hook_at(0), "dynamic_fee": False}),
        ("hooks", {"hooks": hook_at(0x0002)}),
        ("dynamic_fee", {"dynamic_fee": 1}),
        ("protocol_fees_ppm", {"protocol_fees_ppm": [0]}),
        ("protocol_fees_ppm[1]", {"protocol_fees_ppm": [0, 1_001]}),
        ("protocol_fees_ppm", {"protocol_fees_ppm": 5}),
        ("pool_id", {"pool_id": None}),
        ("pool_id", {"pool_id": None, "hooks": None, "protocol_fees_ppm": [0, 1]}),
    ],
)
def test_a_contradictory_hook_or_fee_names_its_field(field: str, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        full_range_pool(state={"hooks": hook_at(AFTER_SWAP), **changes})
    assert caught.value.field == field


def test_fees_that_take_the_whole_input_are_refused() -> None:
    with pytest.raises(InvalidPoolState, match=r"protocol_fees_ppm: .* take the whole input"):
        full_range_pool(fee_ppm=999_999, protocol_fees_ppm=(0, 1_000))
    assert full_range_pool(fee_ppm=999_998).swap_fee_ppm(down=True) == 999_998


def test_the_key_has_the_dynamic_fee_and_the_hook() -> None:
    hooks = hook_at(AFTER_SWAP)
    pool = full_range_pool(hooks=hooks, dynamic_fee=True, protocol_fees_ppm=(7, 9))
    assert pool.fee_ppm == 3_000
    key = pool.api_extra_data()
    assert (key["fee"], key["hooks"], key["tickSpacing"]) == (DYNAMIC_FEE, hooks, 60)
    assert full_range_pool(hooks=hooks).api_extra_data()["fee"] == 3_000


def test_a_pool_is_unpredictable_after_a_hook_has_traded() -> None:
    """The first swap equals the contract's; the hook trades after it, so the second one does not."""
    real = UniswapV4(ContractFixture(), 3_000, 60, Q96, hooks=hook_at(AFTER_SWAP))
    real.mint(LOWEST, HIGHEST, 10**21)
    real.hook.send("tradeAfterSwaps", 10**17)
    pool = real.read({LOWEST, HIGHEST})
    assert pool.is_single_use
    token0, token1 = pool.tokens
    amount_out, after = pool.swap(token0, token1, 10**18)
    assert real.swap(True, 10**18).got == amount_out
    assert real.swap(True, 10**18).got != after.swap(token0, token1, 10**18)[0]


def test_a_route_swaps_once_in_a_pool_that_its_hook_may_change() -> None:
    a, b, c = (build_token(number) for number in (0x10, 0x11, 0x21))
    first, second = (build_constant_product(number, a, b, 10**24, 10**24) for number in (1, 2))
    plain = full_range_pool(tokens=(b.address, c.address))
    into_b = tuple(Swap(pool.key, a.address, b.address, SHARES_PER_HOP // 2) for pool in (first, second))
    route = Route((Segment(SHARES_PER_ROUTE, (into_b, (Swap(plain.key, b.address, c.address, SHARES_PER_HOP),))),))
    hooked = full_range_pool(tokens=(b.address, c.address), hooks=hook_at(AFTER_SWAP))
    for pool in (plain, hooked):
        pools = {each.key: each for each in (first, second, pool)}
        assert len(replay(pools, route, 10**18).steps) == 3, "one swap after both"
    assert len(replay({**pools, plain.key: plain}, route, 10**18, PATHS).steps) == 4, "one swap after each"
    with pytest.raises(SwapReverts, match="only one swap per transaction can be predicted") as caught:
        replay(pools, route, 10**18, PATHS)
    assert caught.value.details["pool"] == hooked.key


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_hook_that_reverts_gives_no_other_amount(is_closed: bool) -> None:
    real = UniswapV4(ContractFixture(), 500, 10, Q96, hooks=hook_at(AFTER_SWAP))
    real.mint(LOWEST, HIGHEST, 10**21)
    real.hook.send("close", is_closed)
    token0, token1 = real.world.tokens
    expected = real.read({LOWEST, HIGHEST}).swap(token0, token1, 10**18)[0]
    if is_closed:
        with pytest.raises(RevertedError):
            real.swap(True, 10**18)
    else:
        assert real.swap(True, 10**18).got == expected


TOKENS = "0x" + "11" * 20, "0x" + "22" * 20


def full_range_pool(
    fee_ppm: int = 3_000, tokens: tuple[str, str] = TOKENS, state: Mapping[str, object] | None = None, **more: object
) -> Concentrated:
    """Return a pool with liquidity over all ticks at a price of about 2."""
    identity = PoolIdentity("0x" + "99" * 20, "test", tokens, (18, 18), fee_ppm)
    fields: dict[str, object] = {
        "sqrt_price_x96": 112045541949572287496682733568,
        "tick": 6931,
        "liquidity": 10**21,
        "tick_spacing": 60,
        "ticks": [[LOWEST, 10**21], [HIGHEST, -(10**21)]],
        "pool_id": "0x" + "ab" * 32,
    }
    return Concentrated.from_state(identity, {**fields, **(state or {}), **more})
