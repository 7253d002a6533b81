"""A model of the router on Starknet, after its published interface and arithmetic, on the pools of a market.

It reads its arguments as Cairo does, without code of swapcli: a cursor over felts that checks the range of each type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from swapcli.model.pool import Pool

T = TypeVar("T")

SCALE = 1_000_000


class Paid(NamedTuple):
    """The output of a call, its recipient, and the balances left in the router."""

    amount_out: int
    recipient: str
    left_behind: dict[str, int]


class Cursor:
    """Cairo's `Serde`: reads values from the front of a span."""

    def __init__(self, span: Sequence[int]) -> None:
        self.span = list(span)

    def felt(self, limit: int = 2**251 + 17 * 2**192 + 1) -> int:
        value = self.span.pop(0)
        assert 0 <= value < limit
        return value

    def address(self) -> str:
        return f"0x{self.felt(2**251):064x}"

    def u256(self) -> int:
        return self.felt(2**128) + self.felt(2**128) * 2**128

    def array(self, member: Callable[[], T]) -> list[T]:
        return [member() for _ in range(self.felt(2**32))]


class SwapParams(NamedTuple):
    token_in: str
    token_out: str
    rate: int
    protocol_id: int
    pool_address: str
    extra_data: list[int]


def run(felts: Sequence[int], pools: Mapping[str, Pool], protocol_ids: Mapping[str, int]) -> Paid:
    """Execute `swap` on `pools` (by address). Each swap must have the id of its pool's protocol."""
    cursor = Cursor(felts)
    token_in, token_out = cursor.address(), cursor.address()
    amount_in, min_received, recipient = cursor.u256(), cursor.u256(), cursor.address()
    swaps = cursor.array(lambda: read_swap(cursor))
    assert not cursor.span, "arguments are left over"
    present = dict(pools)
    balances = defaultdict(int, {token_in: amount_in})
    for swap in swaps:
        pool = present[swap.pool_address]
        assert protocol_ids[pool.protocol] == swap.protocol_id
        assert swap.extra_data == ([pool.fee_ppm] if pool.family == "concentrated" else [])
        spent = balances[swap.token_in] * swap.rate // SCALE
        amount_out, present[swap.pool_address] = pool.swap(swap.token_in, swap.token_out, spent)
        balances[swap.token_in] -= spent
        balances[swap.token_out] += amount_out
    paid = balances.pop(token_out)
    assert paid >= min_received
    return Paid(paid, recipient, dict(balances))


def read_swap(cursor: Cursor) -> SwapParams:
    return SwapParams(
        token_in=cursor.address(),
        token_out=cursor.address(),
        rate=cursor.felt(2**32),
        protocol_id=cursor.felt(2**32),
        pool_address=cursor.address(),
        extra_data=cursor.array(cursor.felt),
    )
