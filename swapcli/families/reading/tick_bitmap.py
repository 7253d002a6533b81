"""Read the initialised ticks around the price, for pools with a tick bitmap.

A word of the bitmap covers 256 ticks of the pool's spacing. Reading all of them would take up to 6,932 calls, so only
some words to either side are read, and the table is closed at their ends: liquidity that extends beyond them is removed
there. Inside the range, swaps equal the contract's to the unit, since their steps end at word boundaries anyway; a swap
that would leave the range is rejected as if the pool had no more liquidity.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Final, Protocol

from swapcli.core.errors import InvalidPoolState
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import with_prefetch
from swapcli.families.reading.pool_ref import LastTicks
from swapcli.families.rounding import WORD_BITS
from swapcli.families.tick_math import MAX_TICK

REACH: Final = 6
"""The number of words read on either side of the price's own.

At a spacing of 10, the price can move to more than four times itself.
"""


class PriceState(NamedTuple):
    """The price, active liquidity and fee of a pool; `protocol_fees_ppm` are added when token0 or token1, respectively,
    is sold.

    `has_dynamic_fee` means that the fee of a pool with its own contract can change without an event.
    """

    sqrt_price_x96: int
    tick: int
    liquidity: int
    fee_ppm: int
    protocol_fees_ppm: tuple[int, int] = (0, 0)
    has_dynamic_fee: bool = False


class WordRange(NamedTuple):
    """The words of a bitmap from `first` to `last`."""

    first: int
    last: int

    def numbers(self) -> range:
        """Return the numbers of all words."""
        return range(self.first, self.last + 1)


class TickDataSource(Protocol):
    """Encodes a contract kind's calls for price, bitmap and ticks, and decodes their results."""

    def position_calls(self) -> Sequence[ContractCall]: ...

    def read_position(self, answers: Sequence[ReturnData]) -> PriceState: ...

    def word_calls(self, words: Sequence[int]) -> Sequence[ContractCall]: ...

    def read_words(self, words: Sequence[int], answers: Sequence[ReturnData]) -> list[int]: ...

    def tick_calls(self, ticks: Sequence[int]) -> Sequence[ContractCall]: ...

    def read_nets(self, ticks: Sequence[int], answers: Sequence[ReturnData]) -> list[int]: ...


def read_near_last(source: TickDataSource, spacing: int, last: LastTicks | None) -> TickRead:
    """Do the same as `read_around_price`, in one round if price and ticks are close to those of the last read."""
    read = read_around_price(source, spacing, last.tick if last else None)
    return with_prefetch(read, _guess_tick_calls(source, spacing, last) if last else ())


def _guess_tick_calls(source: TickDataSource, spacing: int, last: LastTicks) -> Sequence[ContractCall]:
    """Return calls for the ticks known from the last read, except those that only closed the table."""
    ends = {number * spacing for number in _ends(words_around(last.tick, spacing, REACH))}
    ticks = [tick for tick in last.initialized if tick not in ends]
    return source.tick_calls(ticks) if ticks else ()


TickRead = Generator[Sequence[ContractCall], Sequence[ReturnData], tuple[PriceState, dict[str, object]]]


def read_around_price(source: TickDataSource, spacing: int, near_tick: int | None, reach: int = REACH) -> TickRead:
    """Return the price state, and the market file fields for it and for the ticks around it.

    It takes two rounds if `near_tick` is close enough to the price, otherwise three. Raises the same errors as
    `BatchRead`.
    """
    calls = source.position_calls()
    prefetched = words_around(near_tick, spacing, reach).numbers() if near_tick is not None else range(0)
    answers = yield [*calls, *(source.word_calls(prefetched) if prefetched else ())]
    position = source.read_position(answers[: len(calls)])
    bitmap: dict[int, int] = {}
    if prefetched:
        bitmap.update(zip(prefetched, source.read_words(prefetched, answers[len(calls) :]), strict=True))
    words = words_around(position.tick, spacing, reach)
    missing = [number for number in words.numbers() if number not in bitmap]
    if missing:
        answers = yield source.word_calls(missing)
        bitmap.update(zip(missing, source.read_words(missing, answers), strict=True))
    ticks = initialized_ticks({number: bitmap[number] for number in words.numbers()}, spacing)
    nets: list[int] = []
    if ticks:
        answers = yield source.tick_calls(ticks)
        nets = source.read_nets(ticks, answers)
    ladder = close_liquidity(dict(zip(ticks, nets, strict=True)), position, words, spacing)
    return position, state_fields(position, spacing, ladder)


def state_fields(position: PriceState, spacing: int, ladder: Mapping[int, int]) -> dict[str, object]:
    """Return the market file fields of a price state and of the ticks in `ladder`, from tick to net liquidity."""
    dynamic = {"dynamic_fee": True} if position.has_dynamic_fee else {}
    return {
        "sqrt_price_x96": position.sqrt_price_x96,
        "tick": position.tick,
        "liquidity": position.liquidity,
        "tick_spacing": spacing,
        "ticks": [[tick, ladder[tick]] for tick in sorted(ladder)],
        **dynamic,
    }


def words_around(tick: int, spacing: int, reach: int) -> WordRange:
    """Return the word that contains `tick`, and up to `reach` words on either side."""
    own, bounds = tick // spacing // WORD_BITS, all_words(spacing)
    return WordRange(max(own - reach, bounds.first), min(own + reach, bounds.last))


def all_words(spacing: int) -> WordRange:
    """Return the range of words that can contain a tick."""
    max_index = MAX_TICK // spacing
    return WordRange(-max_index // WORD_BITS, max_index // WORD_BITS)


def initialized_ticks(bitmap: Mapping[int, int], spacing: int) -> list[int]:
    """Return the ticks whose bits are set, ascending."""
    return [
        (number * WORD_BITS + bit) * spacing
        for number in sorted(bitmap)
        if bitmap[number]
        for bit in range(WORD_BITS)
        if bitmap[number] >> bit & 1
    ]


def close_liquidity(nets: Mapping[int, int], position: PriceState, words: WordRange, spacing: int) -> dict[int, int]:
    """Return the net liquidity `nets` by tick in the range `words`, closed so that all liquidity begins and ends within
    the range.

    Raises `InvalidPoolState` if the range reaches the first or last possible tick and the liquidity does not add up
    there.
    """
    bounds = all_words(spacing)
    first, last = (number * spacing for number in _ends(words))
    low = first if words.first != bounds.first else None
    high = last if words.last != bounds.last else None
    return close_between(nets, position.tick, position.liquidity, low, high)


def close_between(
    nets: Mapping[int, int], tick: int, liquidity: int, low: int | None, high: int | None
) -> dict[int, int]:
    """Return the ticks `nets`, in which liquidity that extends beyond the range begins at `low` and ends at `high`.

    None means the first or last possible tick. Raises `InvalidPoolState` if the liquidity does not add up there.
    """
    before = liquidity - sum(net for each, net in nets.items() if each <= tick)
    beyond = liquidity + sum(net for each, net in nets.items() if each > tick)
    if before and low is None:
        raise InvalidPoolState("liquidity", f"differs by {before} from the sum of the ticks up to the price")
    if beyond and high is None:
        raise InvalidPoolState("ticks", f"their net liquidity sums to {beyond} instead of 0")
    ladder = dict(nets)
    for end, difference in ((low, before), (high, -beyond)):
        if difference and end is not None:
            ladder[end] = ladder.get(end, 0) + difference
    return {each: net for each, net in ladder.items() if net or each in nets}


def _ends(words: WordRange) -> tuple[int, int]:
    """Return the first and the last tick of the words, in units of the tick spacing."""
    return words.first * WORD_BITS, words.last * WORD_BITS + WORD_BITS - 1
