"""Swap events: each names the pool, the tokens and the amounts paid.

Some events also contain the state after the swap. An event alone proves nothing, because any contract can emit it. The
caller must check that the emitting contract belongs to the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, topic_of
from swapcli.families.row import KeyOfEvent, SwapAmounts, SwapDecoder


class SwapEvent(NamedTuple):
    """A swap announced by a log, in the pool with this `key`. The pool's contract is one of `kinds`.

    `first_log` and `last_log` are the positions in the block of the first and the last log that belong to the swap.
    """

    key: str
    kinds: tuple[str, ...]
    emitter: str
    first_log: int
    last_log: int
    amounts: SwapAmounts

    @property
    def moves_nothing(self) -> bool:
        """Whether the event has no amounts, because a hook swapped in place of its V4 pool, or because the pool has no
        liquidity."""
        return not (self.amounts.amount_in or self.amounts.amount_out)


class _Shape(NamedTuple):
    """How the swaps of some kinds of contracts are announced."""

    kinds: tuple[str, ...]
    key_of: KeyOfEvent
    decode: SwapDecoder


def find_swaps(logs: Iterable[Log]) -> list[SwapEvent]:
    """Return the swaps that the logs of one block announce, in order. Malformed logs are ignored.

    Liquidity Book emits one event for each bin; consecutive events count as one swap.
    """
    found: list[SwapEvent] = []
    for event in _decode_all(sorted(logs, key=lambda log: log.log_index)):
        last = found[-1] if found else None
        if last and _is_continued(last, event):
            found[-1] = _joined(last, event)
        else:
            found.append(event)
    return found


def _decode_all(logs: Iterable[Log]) -> Iterator[SwapEvent]:
    for log in logs:
        for shape in swap_shapes().get(log.topics[0], ()) if log.topics else ():
            try:
                amounts, key = shape.decode(log), shape.key_of(log)
            except (InvalidInput, IndexError):
                continue
            yield SwapEvent(key, shape.kinds, log.address, log.log_index, log.log_index, amounts)
            break


def _is_continued(last: SwapEvent, event: SwapEvent) -> bool:
    by_bins = any(KINDS[kind].has_event_per_bin for kind in event.kinds)
    is_next = (last.key, last.last_log + 1) == (event.key, event.first_log)
    return by_bins and is_next and last.amounts.sold == event.amounts.sold


def _joined(first: SwapEvent, second: SwapEvent) -> SwapEvent:
    amounts = second.amounts._replace(
        amount_in=first.amounts.amount_in + second.amounts.amount_in,
        amount_out=first.amounts.amount_out + second.amounts.amount_out,
        problem=first.amounts.problem or second.amounts.problem,
    )
    return first._replace(last_log=second.last_log, amounts=amounts)


def swap_shapes() -> Mapping[str, tuple[_Shape, ...]]:
    """Return the known forms of swap events, by first topic. The first form that fits an event is used."""
    return _swap_shapes(len(KINDS))


@lru_cache(1)
def _swap_shapes(count: int) -> Mapping[str, tuple[_Shape, ...]]:
    """Return the shapes from the rows of the kinds, `count` at present; kinds that share a shape have it once."""
    del count
    found: dict[str, dict[tuple[KeyOfEvent, SwapDecoder], tuple[str, ...]]] = {}
    for kind, row in KINDS.items():
        for signature, decode in row.swaps.items():
            shapes = found.setdefault(topic_of(signature), {})
            shape = (row.key_of_swap(signature), decode)
            shapes[shape] = (*shapes.get(shape, ()), kind)
    return MappingProxyType(
        {topic: tuple(_Shape(kinds, *shape) for shape, kinds in shapes.items()) for topic, shapes in found.items()}
    )
