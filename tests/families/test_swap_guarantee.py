"""What `Pool.swap` guarantees in every family, for any state that the family accepts, any tokens and any integer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final

import pytest

from swapcli.core.errors import Cancelled, InvalidPoolState, SwapReverts, UncomputableSwap
from swapcli.core.model.pool import Pool, guard_swap
from swapcli.core.routing.replay import PoolFault, swap_exactly
from swapcli.families import FAMILIES, family
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.changed_pools import random_amount
from swapcli.testing.swap_guarantee import (
    check_any_tokens_and_amounts,
    check_random_swaps,
    check_swap,
    check_way_back,
)
from tests.examples import examples, few, generator
from tests.families.random_states import random_pools, recorded_pools
from tests.families.test_contradictory_states import valid_pool
from tests.support.faults import DEFECT, ERRORS, with_broken_method

REDUNDANT: Final = {
    "cryptoswap": "it stores the invariant of its reserves, and the way back starts at that of the changed ones",
    "balancer_v2_eclp": "its ellipse is stored with numbers that follow from it",
    "balancer_v3_eclp": "its ellipse is stored with numbers that follow from it",
    "dodo_v2": "its targets follow from its reserves",
    "euler_swap": "a pool whose reserves are above its curve gives them away, as the contract does",
    "maverick_v2": "prices have 18 digits, which extreme ticks consume",
    "kuru": "the bid and the ask of its vault are a spread apart",
    "smardex": "its fictive reserves follow from the real ones, and a sale to the average and back can gain",
    "uniswap_v4_hooked": "a hook's own sale has a price of its own",
    "sampled": "quotes of a protocol can be any",
}
"""Families that accept states which no swaps lead to, in which the way back gains, or whose contract gives more."""


def ends(pool: Pool) -> tuple[str, str]:
    """Return the first two tokens of a pool."""
    return pool.tokens[0], pool.tokens[1]


@pytest.mark.parametrize("name", FAMILIES)
def test_any_tokens_and_any_integer_are_swapped_or_refused(name: str) -> None:
    check_any_tokens_and_amounts(valid_pool(name))


@pytest.mark.fuzz
@pytest.mark.parametrize("name", few(FAMILIES, 16))
def test_random_states_swap_or_refuse(name: str) -> None:
    rng, count = generator(f"states of {name}"), examples(20, full=1_000, fuzz=2_000)
    accepted = swapped = 0
    for pool in random_pools(name, rng, count):
        accepted += 1
        swapped += check_random_swaps(pool, rng, way_back=name not in REDUNDANT)
    assert accepted == count
    assert swapped > count // 10


@pytest.mark.fuzz
@pytest.mark.parametrize("name", FAMILIES)
def test_there_and_back_gains_nothing_in_recorded_states(name: str) -> None:
    """The swap before leads to a state of the contract: recorded ones may have been written into its storage."""
    rng = generator(f"ways back of {name}")
    for pool in recorded_pools(name):
        for _ in range(examples(2, full=20, fuzz=40)):
            now = pool
            for is_first in (True, False):
                token_in, token_out = rng.sample(pool.tokens, 2)
                amount_in = max(random_amount(rng, now, token_in, token_out), 1)
                done = check_swap(now, token_in, token_out, amount_in)
                if done is None:
                    continue
                if not is_first and name not in REDUNDANT:
                    check_way_back(now, token_in, token_out, amount_in, done)
                now = done[1]


@pytest.mark.parametrize("error", ERRORS)
def test_an_exception_of_a_family_is_a_pool_error(error: type[Exception]) -> None:
    pool = with_broken_method(valid_pool("constant_product"), "swap", error)
    with pytest.raises(UncomputableSwap, match=DEFECT) as raised:
        pool.swap(*ends(pool), 10**18)
    assert isinstance(raised.value.__cause__, error)
    assert raised.value.details["pool"] == pool.key
    with pytest.raises(PoolFault, match=DEFECT):
        swap_exactly(pool, pool.tokens[0], pool.tokens[1], 10**18)


@pytest.mark.parametrize("error", [Cancelled, MemoryError])
def test_errors_of_the_whole_request_pass(error: type[Exception]) -> None:
    pool = with_broken_method(valid_pool("constant_product"), "swap", error)
    with pytest.raises(error):
        pool.swap(*ends(pool), 10**18)


def with_swap(swap: Callable[..., Any]) -> Pool:
    """Return a pair of a family whose `swap` is this function."""

    pair = valid_pool("constant_product")
    custom: type[Pool] = type("Custom", (ConstantProduct,), {"__slots__": (), "swap": swap})
    return custom.from_state(pair.identity, pair.state())


@pytest.mark.parametrize("amount_out", [0, -1])
def test_an_output_of_nothing_is_refused(amount_out: int) -> None:
    pool = with_swap(lambda pool, *_: (amount_out, pool))
    with pytest.raises(SwapReverts, match="rounds to zero"):
        pool.swap(*ends(pool), 10**18)


def test_a_state_that_cannot_be_read_after_an_absurd_amount_is_refused() -> None:
    def swap(pool: ConstantProduct, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool]:
        del token_in, token_out
        return 1, replace(pool, reserves=(pool.reserves[0] + amount_in, pool.reserves[1] - 1))

    pool = with_swap(swap)
    assert pool.swap(*ends(pool), 10**18)[0] == 1
    with pytest.raises(SwapReverts, match="cannot store its state") as raised:
        pool.swap(*ends(pool), 2**200)
    assert isinstance(raised.value.__cause__, InvalidPoolState)


def test_every_class_has_one_guard() -> None:
    for name in FAMILIES:
        swap = family(name).swap
        assert guard_swap(swap) is swap
        assert not getattr(vars(swap)["__wrapped__"], "is_guarded", False)


def test_a_function_that_copies_the_name_of_a_guarded_one_is_guarded() -> None:
    calls = []

    def swap(pool: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool]:
        calls.append((token_in, token_out))
        return amount_in, pool

    @wraps(swap)
    def decorated(*arguments: Any) -> Any:
        return swap(*arguments)

    pool = with_swap(decorated)
    with pytest.raises(SwapReverts, match="an input of 0"):
        pool.swap(*ends(pool), 0)
    assert not calls
