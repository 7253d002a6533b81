"""Pools of Aegis, by the rules of the definitions, with a hook by its sources on the real pool manager."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import WAD
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.testing.evm import ContractArtifact
from swapcli.testing.pool_laws import check_curve_follows, check_state_round_trip
from tests.contracts.evm import compile_solidity
from tests.examples import fuzzed_seeds
from tests.families.real_pools import ContractFixture, add_random_positions
from tests.families.uniswap.hooked_pools import HookedPool, backward, compare_one_hooked_swap, forward, hooked_pool

AEGIS_HOOK: Final = 0x10CC
FIRST: Final = ("monad", "0xb4f4949e8d0a177bb6d2fea33e9516bb219610cc")
SECOND: Final = ("base", "0x8f29bd5c8429730fa4c46e6295c4e679ededd0cc")
OF_MONAD: Final = ("monad", "0xe449e013004db4a5681e9622ca10c5ba0ea610cc")
SEEDS, SWAPS = 100, 100
"""10,000 swaps. One seed runs by default."""


def fee_cut_hook() -> ContractArtifact:
    """Return the hook of `fee_cut_hook.sol`."""
    return compile_solidity("fee_cut_hook.sol", root=Path(__file__).parent)["FeeCutHook"]


def rule_of(network: str, hook: str) -> Mapping[str, Any]:
    """Return the rule that a definition has for a hook."""
    rules = find_network(network).hook_rules
    (rule,) = (each for each in rules if isinstance(each, dict) and hook in each["hooks"])
    return {key: value for key, value in rule.items() if key != "hooks"}


class AegisPool(HookedPool):
    """A pool whose hook takes a part of its LP fee for itself."""

    def __init__(self, rng: Random, *, price: int = 0, fixture: ContractFixture | None = None) -> None:
        super().__init__(
            rng, "", AEGIS_HOOK, is_dynamic=True, price=price, spacing=60, hook_code=fee_cut_hook(), fixture=fixture
        )

    def set_parts(
        self, base: int, surge: int = 0, manual: int | None = None, *, part: int = 0, rounds_up: bool
    ) -> HookFees:
        """Set the fees in ppm. Return them as swapcli has them."""
        self.hook.send("set", base, surge, manual or 0, manual is not None, part, rounds_up)
        fee = base + surge if manual is None else manual
        fees = DirectionFees(fee, 0, 0, part, rounds_up and bool(part))
        return HookFees(fees, fees)


def opened() -> AegisPool:
    real = AegisPool(Random("aegis"), price=3 * Q96)
    tick = real.position()[1] // 60 * 60
    real.mint(tick - 6_000, tick + 6_000, 10**22)
    return real


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
def test_swaps_with_a_part_of_the_fee_equal_the_contracts(seed: int) -> None:
    rng = Random(f"aegis {seed}")
    real = AegisPool(rng)
    ticks = add_random_positions(rng, real)
    part = rng.choice((0, 1, 100_000, 1_000_000, rng.randrange(1_000_001)))
    base = rng.choice((100, 3_000, rng.randrange(400_000)))
    fees = real.set_parts(base, rng.randrange(50_000), part=part, rounds_up=rng.random() < 0.5)
    pool = real.read_hooked(ticks, fees)
    check_state_round_trip(pool)
    for _ in range(SWAPS):
        pool = compare_one_hooked_swap(rng, real, pool)


@pytest.mark.parametrize(
    ("network", "hook", "manual", "rounds_up"),
    [(*FIRST, None, True), (*FIRST, 900, True), (*SECOND, None, False), (*OF_MONAD, None, False)],
    ids=["version 1.0", "version 1.0 with a manual fee", "version 1.1", "version 1.1 on Monad"],
)
def test_the_fees_are_read_and_confirmed(network: str, hook: str, manual: int | None, rounds_up: bool) -> None:
    real = opened()
    fees = real.set_parts(2_500, 700, manual, part=100_000, rounds_up=rounds_up)
    rule = rule_of(network, hook)
    pool = real.load_hooked(real.ref(rule))
    assert (pool.fees, pool.hook_gas) == (fees, rule["gas"])
    assert UniswapV4Hooked.from_state(pool.identity, pool.state()) == pool
    rng = Random("aegis swaps")
    for _ in range(10):
        pool = compare_one_hooked_swap(rng, real, pool)


@pytest.mark.parametrize("rounds_up", [True, False])
def test_the_curve_is_that_of_the_swaps(rounds_up: bool) -> None:
    fees = DirectionFees(12_000, 0, 0, 250_000, rounds_up)
    pool = hooked_pool(HookFees(fees, fees), permissions=AEGIS_HOOK)
    for way in (forward(pool), backward(pool)):
        check_curve_follows(pool, way, 10**19)


def test_a_part_of_the_fee_is_rounded_up() -> None:
    """Of 1,000,001 the fee of 3,000 ppm is 3,000.003, and a third of it 1,000.001."""
    down, up = (DirectionFees(3_000, 0, 0, 333_333, rounds_up) for rounds_up in (False, True))
    assert (down.taken_of_input(1_000_001), up.taken_of_input(1_000_001)) == (1_000, 1_001)
    assert down.input_part == pytest.approx(0.999)


def test_the_whole_input_cannot_be_taken() -> None:
    fees = DirectionFees(500_000, WAD // 2, 0, 1_000_000)
    with pytest.raises(InvalidPoolState, match="takes the whole input"):
        hooked_pool(HookFees(fees, fees), permissions=AEGIS_HOOK)


def test_a_hook_that_rounds_otherwise_is_refused() -> None:
    real = opened()
    real.set_parts(2_501, 700, part=99_999, rounds_up=False)
    skipped = real.load(real.ref({**rule_of(*SECOND), "fees": {"lp": "$fee", "cut": 50_000}}))
    assert isinstance(skipped, SkippedItem)
    assert "the quoter contradicts the rule" in skipped.reason
