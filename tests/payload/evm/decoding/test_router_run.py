"""The minimum that a Universal Router call shows is what its commands guarantee, in any order, for any pools."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import NamedTuple

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import DecodedCall
from swapcli.payload.evm.decoding.decode import decode_calldata
from tests.examples import examples, generator
from tests.payload.evm.hostile_router import (
    BALANCE,
    FRIEND,
    NATIVE,
    ROUTER,
    SENDER,
    WETH,
    A,
    B,
    C,
    Command,
    HostileRouter,
    RevertedError,
    execute,
    pay_share,
    plan,
    pull,
    random_program,
    settle,
    settle_all,
    sweep,
    take,
    take_all,
    take_share,
    transfer,
    unwrap,
    v2,
    v3,
    v4,
    v4_swap,
    wrap,
)

VALUE = 1_000


def read(*commands: Command) -> DecodedCall:
    return decode_calldata(execute(commands), WETH, VALUE)


class Kind(NamedTuple):
    """A program that guarantees less than its swaps promise, and a similar one that guarantees what it promises."""

    hostile: tuple[Command, ...]
    enforced: int
    promised: int
    honest: tuple[Command, ...]
    minimum: int


SELL = v4_swap(A, B, 100, 90)
END = (settle_all(A, 200), take_all(B, 0))
KINDS = {
    "the output is sold again in the same V4 command": Kind(
        (v4(SELL, v4_swap(B, A, 89, 0), v4_swap(A, B, 1, 0), *END, take_all(A, 0)),), 1, 90, (v4(SELL, *END),), 90
    ),
    "the output is sold again by a path": Kind(
        (v4(SELL, v4_swap(B, A, 89, 0, as_path=True), v4_swap(A, B, 1, 0), *END, take_all(A, 0)),),
        1,
        90,
        (v4(v4_swap(A, B, 100, 90, as_path=True), *END),),
        90,
    ),
    "the whole output is sold again": Kind(
        (v4(SELL, v4_swap(B, A, 0, 0), v4_swap(A, B, 1, 2), *END, take_all(A, 0)),),
        2,
        92,
        (v4(SELL, v4_swap(A, B, 1, 2), *END),),
        92,
    ),
    "an exact output is sold again": Kind(
        (v4(v4_swap(A, B, 90, 100, exact_out=True), v4_swap(B, A, 80, 0), v4_swap(A, B, 1, 0), *END, take_all(A, 0)),),
        0,
        90,
        (v4(v4_swap(A, B, 90, 100, exact_out=True), settle_all(A, 200), take(B, SENDER, 90)),),
        90,
    ),
    "a pool without the liquidity for an exact output": Kind(
        (v4(v4_swap(A, B, 90, 100, exact_out=True), *END),),
        0,
        90,
        (v4(v4_swap(A, B, 90, 100, exact_out=True), settle_all(A, 200), take_all(B, 90)),),
        90,
    ),
    "a minimum of more bits than a sweep reads": Kind(
        (v3(ROUTER, 100, 0, [A, B]), sweep(B, SENDER, (1 << 160) + 3)),
        3,
        (1 << 160) + 3,
        (v3(ROUTER, 100, 90, [A, B]), sweep(B, SENDER, 90)),
        90,
    ),
    "the output pays for an exact output": Kind(
        (
            v4(
                SELL,
                v4_swap(B, A, 5, 80, exact_out=True),
                v4_swap(A, B, 5, 0),
                *END,
                take_all(A, 0),
            ),
        ),
        10,
        90,
        (v4(SELL, v4_swap(A, C, 5, 0), v4_swap(C, B, 0, 3), *END),),
        93,
    ),
    "with native input, the output is sold again": Kind(
        (
            v4(
                v4_swap(NATIVE, B, 1_000, 90),
                v4_swap(B, NATIVE, 89, 0),
                v4_swap(NATIVE, B, 1, 0),
                settle(NATIVE, 0, False),
                take_all(B, 0),
                take_all(NATIVE, 0),
            ),
        ),
        1,
        90,
        (v4(v4_swap(NATIVE, B, 1_000, 90), settle(NATIVE, 0, False), take_all(B, 0)),),
        90,
    ),
    "the output is taken by the router and settled for another swap": Kind(
        (
            v4(SELL, settle_all(A, 100), take(B, ROUTER, 50), v4_swap(B, A, 39, 0), take(B, SENDER), take(A, SENDER)),
            v4(settle(B, 50, False), v4_swap(B, A, 50, 0), v4_swap(A, B, 0, 0), take(A, SENDER), take(B, SENDER)),
        ),
        1,
        40,
        (v4(SELL, settle_all(A, 100), take(B, ROUTER, 50), take(B, SENDER)), sweep(B, SENDER, 0)),
        90,
    ),
    "a nested plan sells the output again": Kind(
        (plan([v4(SELL, v4_swap(B, A, 89, 0), v4_swap(A, B, 1, 0), *END, take_all(A, 0))]),),
        1,
        90,
        (v4(SELL, *END),),
        90,
    ),
    "a swap that may fail": Kind(
        ((0x80, v3(SENDER, 100, 90, [A, B])[1]), v3(SENDER, 50, 40, [A, B])),
        40,
        130,
        (v3(SENDER, 100, 90, [A, B]), v3(SENDER, 50, 40, [A, B])),
        130,
    ),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_minimum_that_later_commands_spend_is_not_shown(kind: Kind) -> None:
    order, honest = read(*kind.hostile).order, read(*kind.honest)
    assert order is not None
    assert (order.min_received, order.promised_received) == (kind.enforced, kind.promised)
    assert honest.order is not None
    assert (honest.order.min_received, honest.order.promised_received) == (kind.minimum, None)
    assert (honest.order.max_amount_in, honest.oddities) == (None, ())
    assert lowest(kind.hostile) < kind.promised
    assert lowest(kind.honest) == kind.minimum


def lowest(commands: tuple[Command, ...]) -> int:
    """Return the least of B that the sender gets in some executions."""
    received = []
    for seed in range(40):
        router = HostileRouter(Random(seed), {})
        with suppress(RevertedError):
            router.execute(execute(commands), VALUE)
            received.append(router.received[SENDER, B])
    return min(received)


MINIMUMS = {
    "a router that sells its balance again": (
        (v3(ROUTER, 100, 90, [A, B]), v3(ROUTER, BALANCE, 5, [B, C], pulls=False), sweep(C, SENDER, 0)),
        5,
    ),
    "a minimum of the last command": ((v2(ROUTER, 100, 0, [A, B]), sweep(B, SENDER, 90)), 90),
    "a larger minimum of a swap": ((v2(ROUTER, 100, 95, [A, B]), sweep(B, SENDER, 90)), 95),
    "a fee after a swap": ((v3(ROUTER, 100, 90, [A, B]), pay_share(B, FRIEND, 1_000), sweep(B, SENDER, 0)), 81),
    "a fixed fee after a swap": ((v3(ROUTER, 100, 90, [A, B]), transfer(B, FRIEND, 20), sweep(B, SENDER, 0)), 70),
    "a fee above the minimum": ((v3(ROUTER, 100, 90, [A, B]), transfer(B, FRIEND, 200), sweep(B, SENDER, 0)), 0),
    "a fee of V4": ((v4(SELL, settle_all(A, 200), take_share(B, FRIEND, 9_000), take_all(B, 0)),), 9),
    "a minimum of the last action": ((v4(v4_swap(A, B, 100, 0), settle_all(A, 200), take_all(B, 90)),), 90),
    "an exact amount of V4": ((v4(v4_swap(A, B, 100, 0), settle_all(A, 200), take(B, SENDER, 90)),), 90),
    "unwrapped output": ((v3(ROUTER, 100, 90, [A, WETH]), unwrap(SENDER, 0)), 90),
    "wrapped input": ((wrap(ROUTER, VALUE), v3(SENDER, BALANCE, 90, [WETH, B], pulls=False)), 90),
}


@pytest.mark.parametrize(("commands", "minimum"), MINIMUMS.values(), ids=MINIMUMS)
def test_the_minimum_is_what_reaches_the_recipient(commands: tuple[Command, ...], minimum: int) -> None:
    order = read(*commands).order
    assert order is not None
    assert (order.min_received, order.promised_received, order.max_amount_in) == (minimum, None, None)


def test_what_the_sender_pays_in_does_not_count() -> None:
    topped_up = read(v3(ROUTER, 100, 0, [A, B]), pull(B, ROUTER, 50), sweep(B, SENDER, 60)).order
    assert topped_up is not None
    assert (topped_up.min_received, topped_up.promised_received) == (10, 60)


def test_only_the_shown_form_of_the_native_currency_counts() -> None:
    native = v4(v4_swap(A, NATIVE, 9, 8), settle_all(A, 9), take_all(NATIVE, 0))
    order = read(v3(SENDER, 100, 90, [A, WETH]), native).order
    assert order is not None
    assert (order.min_received, order.promised_received, order.is_native_out) == (90, 98, False)


def test_a_debt_that_the_sender_pays_beside_the_swaps_is_seen() -> None:
    taken = v4(SELL, take(A, ROUTER, 700), settle(A, 0, True), take_all(B, 0))
    order = read(taken, v3(SENDER, 700, 0, [A, B], pulls=False)).order
    assert order is not None
    assert (order.amount_in, order.max_amount_in) == (100, 800)


def test_plans_are_read_eight_deep_and_as_long_as_a_transaction() -> None:
    swap = v3(SENDER, 100, 90, [A, B])
    nested, too_deep = swap, swap
    for depth in range(9):
        nested, too_deep = (plan([nested]) if depth < 8 else nested), plan([too_deep])
    order = read(nested).order
    assert order is not None
    assert order.min_received == 90
    assert "plans are nested more than 8 deep" in read(too_deep).oddities
    many = plan([swap] * 70)
    with pytest.raises(InvalidInput, match="more than 4096"):
        read(*[many] * 70)


def test_a_plan_that_pays_nobody_is_unusual() -> None:
    call = read(pull(A, ROUTER, 5), (0x03, b""))
    assert call.order is None
    assert "no command pays anyone" in call.oddities


@pytest.mark.fuzz
def test_random_programs_between_hostile_pools_pay_the_minimum() -> None:
    rng, executed = generator("router run"), 0
    for number in range(examples(30, full=1_500, fuzz=5_000)):
        calldata = execute(random_program(rng))
        order = decode_calldata(calldata, WETH, VALUE).order
        router = HostileRouter(rng, {A: 150, B: 30} if number % 3 == 0 else {})
        try:
            router.execute(calldata, VALUE)
        except RevertedError:
            continue
        if order is None:
            continue
        executed += 1
        sold = forms(order.token_in, is_native=order.is_native_in)
        bought = NATIVE if order.is_native_out else order.token_out
        received = router.received[order.recipient, bought]
        if bought not in sold:
            received = max(0, received - router.spent[bought])
        assert received >= order.min_received
        assert sum(router.spent[token] for token in sold) <= max(order.amount_in, order.max_amount_in or 0)
    assert executed


def forms(token: str, *, is_native: bool) -> set[str]:
    return {WETH, NATIVE} if is_native or token == WETH else {token}
