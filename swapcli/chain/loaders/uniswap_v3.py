"""Uniswap V3, PancakeSwap V3, Slipstream and their like, which answer alike where it matters.

The fee is read with the state: Slipstream's changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.chain.abi import calldata, read_word, read_words, signed
from swapcli.chain.batch_read import Reading, prefetched
from swapcli.chain.loaders.build_pool import made
from swapcli.chain.loaders.tick_bitmap import Position, guesses, read_around
from swapcli.chain.node import Answer, Call
from swapcli.chain.pool_ref import Place
from swapcli.model.pool import Pool

_POSITION = ("slot0()", "liquidity()", "fee()")
_SPACING = "tickSpacing()"
_BITMAP = "tickBitmap(int16)"
_TICKS = "ticks(int24)"


def load(place: Place) -> Reading[Pool]:
    """Three rounds, one where the place knows price and ticks well enough; one more where it knows no spacing."""
    spacing = place.tick_spacing
    if not spacing:
        (answer,) = yield [Call(place.address, calldata(_SPACING))]
        spacing = read_spacing(answer)
    source = _Pool(place.address)
    position, state = yield from prefetched(read_around(source, spacing, place.near_tick), guesses(source, place))
    return made(place, position.fee_ppm, state)


def read_spacing(answer: Answer) -> int:
    """The tick spacing; a zero, by which nothing can be divided, becomes one and is refused with the state."""
    return max(read_word(answer, _SPACING), 1)


def read_nets(ticks: Sequence[int], answers: Sequence[Answer]) -> list[int]:
    """The second word that `ticks` returns: the liquidity that a tick adds on the way up."""
    return [signed(read_words(answer, 2, f"ticks({tick})")[1]) for tick, answer in zip(ticks, answers, strict=True)]


def tick_calls(pool: str, ticks: Sequence[int]) -> list[Call]:
    """The questions that `read_nets` reads."""
    return [Call(pool, calldata(_TICKS, tick)) for tick in ticks]


class _Pool:
    """A pool that is its own contract."""

    def __init__(self, address: str) -> None:
        self._address = address

    def position_calls(self) -> Sequence[Call]:
        return [Call(self._address, calldata(name)) for name in _POSITION]

    def read_position(self, answers: Sequence[Answer]) -> Position:
        slot0, liquidity, fee = answers
        price, tick = read_words(slot0, 2, _POSITION[0])
        return Position(price, signed(tick), read_word(liquidity, _POSITION[1]), read_word(fee, _POSITION[2]))

    def word_calls(self, words: Sequence[int]) -> Sequence[Call]:
        return [Call(self._address, calldata(_BITMAP, number)) for number in words]

    def read_words(self, words: Sequence[int], answers: Sequence[Answer]) -> list[int]:
        return [read_word(answer, f"tickBitmap({n})") for n, answer in zip(words, answers, strict=True)]

    def tick_calls(self, ticks: Sequence[int]) -> Sequence[Call]:
        return tick_calls(self._address, ticks)

    def read_nets(self, ticks: Sequence[int], answers: Sequence[Answer]) -> list[int]:
        return read_nets(ticks, answers)
