"""Calls survive the round trip through felts, and no other felts are accepted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.transaction import RouterCall, RouterSwapParam
from swapcli.payload.starknet import deserialise_call, serialise_call
from swapcli.payload.starknet.felts import FIELD_PRIME, U32_LIMIT, U256_LIMIT
from tests.payload.starknet.strategies import ADDRESS_LIMIT, ADDRESSES, CALLS, FELTS, SWAPS, U128_LIMIT

HOSTILE = st.one_of(
    FELTS,
    st.sampled_from([-1, 0, 1, 2**32, 2**64, U128_LIMIT, ADDRESS_LIMIT, FIELD_PRIME, U256_LIMIT, 10**400]),
    st.integers(0, 12),
    st.integers(),
)
ONE_SWAP = 14
"""Felts of a call of one swap without extra data."""


@given(CALLS)
def test_a_call_is_read_back_from_its_felts(call: RouterCall) -> None:
    assert deserialise_call(serialise_call(call), amount_out=call.route.amount_out) == call


@given(CALLS)
def test_the_layout_is_the_published_one(call: RouterCall) -> None:
    felts = serialise_call(call)
    route = call.route
    assert felts[0] == int(route.token_in, 16)
    assert felts[1] == int(route.token_out, 16)
    assert felts[2] + felts[3] * 2**128 == route.amount_in
    assert felts[4] + felts[5] * 2**128 == route.min_received
    assert felts[6] == int(route.recipient, 16)
    assert felts[7] == len(call.swaps)
    rest = felts[8:]
    for swap in call.swaps:
        places = (swap.token_in, swap.token_out, swap.pool_address)
        assert (rest[0], rest[1], rest[4]) == tuple(int(place, 16) for place in places)
        assert rest[2:4] == (swap.rate, swap.protocol_id)
        assert rest[5] == len(swap.extra_felts)
        assert rest[6 : 6 + rest[5]] == swap.extra_felts
        rest = rest[6 + rest[5] :]
    assert not rest


@given(CALLS)
def test_every_felt_is_one(call: RouterCall) -> None:
    assert all(0 <= felt < FIELD_PRIME for felt in serialise_call(call))


@given(CALLS, st.data())
def test_felts_that_end_early_are_refused(call: RouterCall, data: st.DataObject) -> None:
    felts = serialise_call(call)
    with pytest.raises(InvalidInput):
        deserialise_call(felts[: data.draw(st.integers(0, len(felts) - 1))])


@given(CALLS, st.lists(HOSTILE, min_size=1, max_size=9))
def test_felts_left_over_are_refused(call: RouterCall, more: list[int]) -> None:
    with pytest.raises(InvalidInput, match="left over"):
        deserialise_call((*serialise_call(call), *more))


@given(CALLS, st.lists(st.tuples(st.integers(0, 2**16), st.sampled_from("rid"), HOSTILE), min_size=1, max_size=4))
def test_altered_felts_are_refused_or_are_another_call(
    call: RouterCall, alterations: list[tuple[int, str, int]]
) -> None:
    felts = list(serialise_call(call))
    for place, what, felt in alterations:
        at = place % len(felts)
        felts[at : at + (what != "i")] = [] if what == "d" else [felt]
    try:
        read = deserialise_call(felts)
    except InvalidInput:
        return
    assert list(serialise_call(read)) == felts


@given(st.lists(HOSTILE, max_size=40))
def test_any_felts_are_refused_or_tell_a_call_to_the_felt(felts: list[int]) -> None:
    try:
        read = deserialise_call(felts)
    except InvalidInput:
        return
    assert list(serialise_call(read)) == felts


@given(SWAPS, st.sampled_from([2, 1_000, 2**31, 2**32, 2**200, FIELD_PRIME - 1]))
def test_a_count_beyond_the_felts_is_refused_at_once(swap: RouterSwapParam, count: int) -> None:
    felts = [1, 2, 3, 0, 4, 0, 5, count, *([1] * 6)]
    with pytest.raises(InvalidInput, match="swaps is too large"):
        deserialise_call(felts)
    felts = [1, 2, 3, 0, 4, 0, 5, 1, 1, 2, swap.rate, swap.protocol_id, 6, count]
    with pytest.raises(InvalidInput, match=r"swaps\[0\]\.extra\.length is too large"):
        deserialise_call(felts)


@pytest.mark.parametrize(
    ("at", "felt", "field"),
    [
        (0, 0, "token_in"),
        (0, ADDRESS_LIMIT, "token_in"),
        (1, 0, "token_out"),
        (2, U128_LIMIT, "amount_in.low"),
        (3, U128_LIMIT, "amount_in.high"),
        (4, U128_LIMIT, "min_received.low"),
        (5, U128_LIMIT, "min_received.high"),
        (6, 0, "destination"),
        (7, 0, "swaps"),
        (8, 0, "swaps[0].token_in"),
        (9, ADDRESS_LIMIT, "swaps[0].token_out"),
        (10, 0, "swaps[0].rate"),
        (10, RATE_SCALE + 1, "swaps[0].rate"),
        (11, U32_LIMIT, "swaps[0].protocol"),
        (12, 0, "swaps[0].pool_address"),
        (13, 1, "swaps[0].extra.length"),
    ],
)
def test_a_felt_out_of_range_is_refused_by_the_name_of_its_field(at: int, felt: int, field: str) -> None:
    felts = [1, 2, 3, 0, 4, 0, 5, 1, 1, 2, RATE_SCALE, 2, 6, 0]
    assert len(felts) == ONE_SWAP
    assert serialise_call(deserialise_call(felts)) == tuple(felts)
    felts[at] = felt
    with pytest.raises(InvalidInput) as caught:
        deserialise_call(felts)
    assert caught.value.details == {"field": field}


def test_a_call_of_nothing_is_refused() -> None:
    felts = [1, 2, 0, 0, 4, 0, 5, 1, 1, 2, RATE_SCALE, 2, 6, 0]
    with pytest.raises(InvalidInput, match="amount_in must be at least 1"):
        deserialise_call(felts)


@given(CALLS, st.sampled_from([-1, U256_LIMIT, 2**300]))
def test_an_amount_out_of_range_is_not_serialised(call: RouterCall, amount: int) -> None:
    with pytest.raises(InvalidInput, match="amount_in"):
        serialise_call(call._replace(route=call.route._replace(amount_in=amount)))
    with pytest.raises(InvalidInput, match="min_received"):
        serialise_call(call._replace(route=call.route._replace(min_received=amount)))


@given(CALLS)
def test_the_input_is_positive_and_the_minimum_may_be_zero(call: RouterCall) -> None:
    with pytest.raises(InvalidInput, match="amount_in must be at least 1"):
        serialise_call(call._replace(route=call.route._replace(amount_in=0)))
    assert serialise_call(call._replace(route=call.route._replace(min_received=0)))[4:6] == (0, 0)


@given(CALLS, st.sampled_from([0, ADDRESS_LIMIT, 2**256 - 1]).map("0x{:064x}".format))
def test_an_address_out_of_range_is_not_serialised(call: RouterCall, address: str) -> None:
    route = call.route
    changed = (route._replace(token_in=address), route._replace(token_out=address), route._replace(recipient=address))
    for wrong in changed:
        with pytest.raises(InvalidAddress):
            serialise_call(call._replace(route=wrong))


def wrong_swaps(swap: RouterSwapParam) -> list[RouterSwapParam]:
    return [
        *(swap._replace(rate=rate) for rate in (-1, 0, RATE_SCALE + 1, U32_LIMIT)),
        *(swap._replace(protocol_id=number) for number in (-1, U32_LIMIT)),
        *(swap._replace(extra_felts=felts) for felts in ((-1,), (FIELD_PRIME,), (0, 2**300))),
        swap._replace(token_in="0x0"),
        swap._replace(token_out="0x0"),
        swap._replace(pool_address="0x0"),
    ]


@given(CALLS, st.integers(0, 7))
def test_a_swap_with_a_field_out_of_range_is_not_serialised(call: RouterCall, number: int) -> None:
    at = number % len(call.swaps)
    for wrong in wrong_swaps(call.swaps[at]):
        with pytest.raises(InvalidInput):
            serialise_call(call._replace(swaps=(*call.swaps[:at], wrong, *call.swaps[at + 1 :])))


@given(CALLS)
def test_integrators_and_empty_calls_are_refused(call: RouterCall) -> None:
    with pytest.raises(InvalidInput, match="integrator"):
        serialise_call(call._replace(integrator_data=b"\1"))
    with pytest.raises(InvalidInput, match="at least one swap"):
        serialise_call(call._replace(swaps=()))


@given(CALLS, ADDRESSES)
def test_addresses_are_serialised_alike_in_any_letter_case(call: RouterCall, recipient: str) -> None:
    plain = call._replace(route=call.route._replace(recipient=recipient))
    shouted = call._replace(route=call.route._replace(recipient=recipient.upper()))
    assert serialise_call(plain) == serialise_call(shouted)
