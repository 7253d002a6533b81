"""A batch: one to three pairs, one output token, each call serialised as it would be alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.errors import InvalidInput
from swapcli.model.transaction import RouterCall
from swapcli.starknet import BatchPair, parse_batch, serialise_batch, serialise_call
from tests.starknet.strategies import ADDRESSES, CALLS, U256

PAIRS = st.lists(st.tuples(U256, ADDRESSES), min_size=1, max_size=3)


def into(calls: list[RouterCall], token_out: str) -> list[RouterCall]:
    return [call._replace(route=call.route._replace(token_out=token_out)) for call in calls]


@given(PAIRS, ADDRESSES, st.booleans())
def test_pairs_keep_their_order_and_share_the_output_token(
    pairs: list[tuple[int, str]], token_out: str, repeated: bool
) -> None:
    amounts, tokens_in = zip(*pairs, strict=True)
    checked = parse_batch(amounts, tokens_in, [token_out] * (len(pairs) if repeated else 1))
    assert checked == tuple(BatchPair(amount, token_in, token_out) for amount, token_in in pairs)


@given(st.lists(CALLS, min_size=1, max_size=3), ADDRESSES)
def test_each_call_is_serialised_as_it_would_be_alone(calls: list[RouterCall], token_out: str) -> None:
    batch = into(calls, token_out)
    assert serialise_batch(batch) == tuple(map(serialise_call, batch))


@pytest.mark.parametrize("count", [0, 4, 100])
def test_a_batch_of_another_size_is_refused(count: int) -> None:
    with pytest.raises(InvalidInput, match=f"1 to 3 pairs, not {count}"):
        parse_batch([1] * count, ["0x1"] * count, ["0x2"])


@given(CALLS, st.sampled_from([0, 4, 9]))
def test_calls_of_another_number_are_refused(call: RouterCall, count: int) -> None:
    with pytest.raises(InvalidInput, match=f"1 to 3 pairs, not {count}"):
        serialise_batch([call] * count)


@given(CALLS, st.lists(ADDRESSES, min_size=2, max_size=3, unique=True))
def test_a_second_output_token_is_refused(call: RouterCall, tokens_out: list[str]) -> None:
    count = len(tokens_out)
    with pytest.raises(InvalidInput, match="the same token"):
        parse_batch([1] * count, ["0x1"] * count, tokens_out)
    with pytest.raises(InvalidInput, match="the same token"):
        serialise_batch([into([call], token_out)[0] for token_out in tokens_out])


@pytest.mark.parametrize(
    ("amounts", "tokens_in", "tokens_out"), [(2, 1, 1), (1, 2, 1), (3, 3, 2), (3, 3, 0), (1, 1, 2), (2, 0, 2)]
)
def test_lists_of_unlike_lengths_are_refused(amounts: int, tokens_in: int, tokens_out: int) -> None:
    with pytest.raises(InvalidInput, match=f"a batch of {amounts} amounts needs"):
        parse_batch([1] * amounts, ["0x1"] * tokens_in, ["0x2"] * tokens_out)
