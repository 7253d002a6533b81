"""Several swaps into one token, executed in one transaction: a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from swapcli.errors import InvalidInput
from swapcli.model.transaction import RouterCall
from swapcli.starknet.cairo_serde import serialise_call

MAX_PAIRS = 3


class BatchPair(NamedTuple):
    """One swap of a batch: sell `amount` base units of `token_in`."""

    amount: int
    token_in: str
    token_out: str


def parse_batch(amounts: Sequence[int], tokens_in: Sequence[str], tokens_out: Sequence[str]) -> tuple[BatchPair, ...]:
    """Return the pairs of a batch, from its lists of amounts and canonical addresses.

    One output token serves all pairs; it may also be repeated for each. Raises `InvalidInput` for lists of
    different lengths, for no pair or more than three, and for a second output token.
    """
    _check_count(len(amounts))
    if len(tokens_in) != len(amounts):
        raise InvalidInput(f"a batch of {len(amounts)} amounts needs as many input tokens, not {len(tokens_in)}")
    if len(tokens_out) not in (1, len(amounts)):
        raise InvalidInput(f"a batch of {len(amounts)} amounts needs one output token, not {len(tokens_out)}")
    token_out = _one_output(tokens_out)
    return tuple(BatchPair(amount, token_in, token_out) for amount, token_in in zip(amounts, tokens_in, strict=True))


def serialise_batch(calls: Sequence[RouterCall]) -> tuple[tuple[int, ...], ...]:
    """Serialise the arguments of each `swap` of a batch, in order. Raises as `parse_batch` and `serialise_call` do."""
    _check_count(len(calls))
    _one_output([call.route.token_out for call in calls])
    return tuple(serialise_call(call) for call in calls)


def _check_count(count: int) -> None:
    if not 1 <= count <= MAX_PAIRS:
        raise InvalidInput(f"a batch has 1 to {MAX_PAIRS} pairs, not {count}", details={"pairs": count})


def _one_output(tokens_out: Sequence[str]) -> str:
    if len(set(tokens_out)) > 1:
        raise InvalidInput("all pairs of a batch must buy the same token", details={"tokens_out": list(tokens_out)})
    return tokens_out[0]
