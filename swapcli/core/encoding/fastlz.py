"""Measure the length of bytes after FastLZ compression at level 1. OP-stack networks charge for data by this length.

The result equals that of Solady's `LibZip.flzCompress` to the byte. The networks' own price oracle calls that function,
and their nodes return the same numbers. Nothing is compressed, only counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_FIRST: Final = 2  # the byte at which the search for matches begins
_TAIL: Final = 14
"""The number of trailing bytes in which no match can start."""
_UNCOMPARED: Final = 4
"""The number of bytes at the end that are never part of a match; one more byte precedes them."""
_WINDOW: Final = 0x1FFF  # bytes: the maximum distance back to the start of a match
_HASHED: Final = 3  # bytes of the shortest match, which the hash covers
_HASH_FACTOR: Final = 2_654_435_769
_HASH_SHIFT: Final = 19  # leaves 13 bits of the 32, one slot each
_SLOTS: Final = 1 << 13
_LONGEST_RUN: Final = 32  # literal bytes after one control byte
_LONGEST_PIECE: Final = 262  # bytes of a match that one instruction copies
_SHORT_MATCH: Final = 6  # bytes: shorter matches take an instruction of two bytes, longer ones of three


def measure_compressed_length(content: bytes) -> int:
    """Return the compressed length in bytes; 0 for no bytes."""
    length = start = 0
    for at, end in _matches(content):
        length += _literals_length(at - start) + _match_length(end - at)
        start = end
    return length + _literals_length(len(content) - start)


def _matches(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each stretch that repeats earlier bytes begins and ends."""
    last_seen = [0] * _SLOTS
    at, stop = _FIRST, len(content) - _TAIL
    while at < stop:
        slot = _slot(content, at)
        before, last_seen[slot] = last_seen[slot], at
        if at - before > _WINDOW or content[before : before + _HASHED] != content[at : at + _HASHED]:
            at += 1
            continue
        end = _end_of_match(content, at, at - before)
        yield at, end
        for passed in (end - 2, end - 1):
            last_seen[_slot(content, passed)] = passed
        at = end


def _slot(content: bytes, at: int) -> int:
    return (int.from_bytes(content[at : at + _HASHED], "little") * _HASH_FACTOR >> _HASH_SHIFT) % _SLOTS


def _end_of_match(content: bytes, at: int, distance: int) -> int:
    place, stop = at + _HASHED, len(content) - _UNCOMPARED
    while place < stop and content[place] == content[place - distance]:
        place += 1
    return min(place, stop - 1)


def _literals_length(count: int) -> int:
    """Return the length of uncompressed bytes: each run of up to 32 is preceded by one byte with its length."""
    return count + -(-count // _LONGEST_RUN)


def _match_length(size: int) -> int:
    """Return the length of a match of `size` bytes.

    Its size less two is split into pieces of up to 262, of three bytes each; a short rest takes two.
    """
    pieces, rest = divmod(size - 3, _LONGEST_PIECE)
    return 3 * pieces + (3 if rest >= _SHORT_MATCH else 2)
