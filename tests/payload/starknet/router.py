"""A model of the router on Starknet, after its published interface and arithmetic, on the pools of a market.

It reads its arguments as Cairo does, without code of swapcli: a cursor over felts that checks the range of each type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from swapcli.core.model.pool import Pool

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
    """Execute `swap` on `pools` (by key). Each swap must name exactly one pool, and the id of its protocol."""
    cursor = Cursor(felts)
    token_in, token_out = cursor.address(), cursor.address()
    amount_in, min_received, recipient = cursor.u256(), cursor.u256(), cursor.address()
    swaps = cursor.array(lambda: read_swap(cursor))
    assert not cursor.span, "arguments are left over"
    present = dict(pools)
    balances = defaultdict(int, {token_in: amount_in})
    for swap in swaps:
        (key,) = (key for key, pool in present.items() if is_named(pool, swap))
        pool = present[key]
        assert protocol_ids[pool.protocol] == swap.protocol_id
        spent = balances[swap.token_in] * swap.rate // SCALE
        amount_out, present[key] = pool.swap(swap.token_in, swap.token_out, spent)
        balances[swap.token_in] -= spent
        balances[swap.token_out] += amount_out
    paid = balances.pop(token_out)
    assert paid >= min_received
    return Paid(paid, recipient, dict(balances))


def is_named(pool: Pool, swap: SwapParams) -> bool:
    """Return whether a swap names a pool: by its address, and its extra data where one contract has many pools."""
    is_here = pool.address == swap.pool_address and {swap.token_in, swap.token_out} == set(pool.tokens)
    return is_here and swap.extra_data == extra_data_of(pool)


def extra_data_of(pool: Pool) -> list[int]:
    """Return the documented extra data of a pool, from its state."""
    if pool.family != "ekubo":
        return [pool.fee_ppm] if pool.family == "concentrated" else []
    state: dict[str, Any] = pool.state()
    return [
        int(state["fee_x128"]), state["tick_spacing"], int(state["extension"], 16), state.get("skip_ahead", 0)
    ]  # fmt: skip


def read_swap(cursor: Cursor) -> SwapParams:
    return SwapParams(
        token_in=cursor.address(),
        token_out=cursor.address(),
        rate=cursor.felt(2**32),
        protocol_id=cursor.felt(2**32),
        pool_address=cursor.address(),
        extra_data=cursor.array(cursor.felt),
    )
