"""Compute Ethereum's Keccak-256, with pycryptodome if it is installed and otherwise in Python.

A few short messages are always hashed in Python: loading the library takes 10 ms, hashing one message in Python 0.15
ms. Many short messages, such as a route's addresses, are hashed together.

The permutation is Keccak-f[1600] of https://keccak.team/keccak_specs_summary.html, written out: theta in `c` and `d`,
rho and pi in `b`, chi and iota in the new `a`. The lane at (x, y) is number x + 5 y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import count

MAX_SHORT_BYTES = 135
"""The maximum length of a message that fits one block: the rate is 136 bytes, and padding takes at least one."""

_RATE_BYTES = MAX_SHORT_BYTES + 1
_FEW_MESSAGES = 64
"""How many short messages are hashed in Python before the library is loaded."""

_WORD = 0xFFFFFFFFFFFFFFFF  # a lane with all bits set
_ROUND_CONSTANTS = (
    0x0000000000000001,
    0x0000000000008082,
    0x800000000000808A,
    0x8000000080008000,
    0x000000000000808B,
    0x0000000080000001,
    0x8000000080008081,
    0x8000000000008009,
    0x000000000000008A,
    0x0000000000000088,
    0x0000000080008009,
    0x000000008000000A,
    0x000000008000808B,
    0x800000000000008B,
    0x8000000000008089,
    0x8000000000008003,
    0x8000000000008002,
    0x8000000000000080,
    0x000000000000800A,
    0x800000008000000A,
    0x8000000080008081,
    0x8000000000008080,
    0x0000000080000001,
    0x8000000080008008,
)
_LANES, _LANE_BYTES, _DIGEST_LANES = 25, 8, 4

_short_messages = count()


def keccak256(message: bytes) -> bytes:
    """Return the 32-byte Keccak-256 hash of a message of any length, with the padding used before the SHA-3 standard.

    Published vector: the empty message gives c5d24601 86f7233c 927e7db2 dcc703c0 e500b653 ca82273b 7bfad804 5d85a470.
    """
    if len(message) <= MAX_SHORT_BYTES and next(_short_messages) < _FEW_MESSAGES:
        return keccak256_python(message)
    return _fastest_hash()(message)


@cache
def _fastest_hash() -> Callable[[bytes], bytes]:
    """Return the compiled hash function, or the Python one below if pycryptodome is absent or cannot load its code."""
    try:
        from Crypto.Hash import keccak
    except (ImportError, OSError):
        return keccak256_python

    def compiled(message: bytes) -> bytes:
        return bytes(keccak.new(digest_bits=256, data=message).digest())

    return compiled


def keccak256_python(message: bytes) -> bytes:
    """Return the `keccak256` hash of a message, computed in Python: 0.15 ms per 136 bytes."""
    padded = bytearray(message)
    padded += bytes(_RATE_BYTES - len(message) % _RATE_BYTES)
    padded[len(message)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * _LANES
    for block in range(0, len(padded), _RATE_BYTES):
        for lane, start in enumerate(range(block, block + _RATE_BYTES, _LANE_BYTES)):
            lanes[lane] ^= int.from_bytes(padded[start : start + _LANE_BYTES], "little")
        lanes = _permute(lanes, 1)
    return b"".join([lane.to_bytes(_LANE_BYTES, "little") for lane in lanes[:_DIGEST_LANES]])


def keccak256_many(messages: Sequence[bytes]) -> list[bytes]:
    """Return the `keccak256` hashes of messages of at most `MAX_SHORT_BYTES` bytes: a hundred take about 1 ms."""
    count = len(messages)
    blocks = bytearray(count * _LANES * _LANE_BYTES)
    for start, message in zip(range(0, len(blocks), _LANES * _LANE_BYTES), messages, strict=True):
        blocks[start : start + len(message)] = message
        blocks[start + len(message)] ^= 0x01
        blocks[start + MAX_SHORT_BYTES] ^= 0x80
    words = memoryview(blocks).cast("Q")
    lanes = [int.from_bytes(words[number::_LANES].tobytes(), "little") for number in range(_LANES)]
    digests = [lane.to_bytes(count * _LANE_BYTES, "little") for lane in _permute(lanes, count)[:_DIGEST_LANES]]
    starts = range(0, count * _LANE_BYTES, _LANE_BYTES)
    return [b"".join([digest[start : start + _LANE_BYTES] for digest in digests]) for start in starts]


@lru_cache(maxsize=4)
def _masks(count: int) -> tuple[int, int, list[int], list[int]]:
    """Return the number 1 in each of `count` words, all their bits set, and masks of their low and high bits by
    number."""
    unit = int.from_bytes(b"\1\0\0\0\0\0\0\0" * count, "little")
    ones = _WORD * unit
    low = [((1 << bits) - 1) * unit for bits in range(_WORD.bit_length())]
    return unit, ones, low, [ones ^ mask for mask in low]


def _permute(lanes: list[int], count: int) -> list[int]:
    """Return the lanes after permuting `count` states, which are packed side by side in long integers.

    A rotation shifts the words of all states at once, and masks the bits that cross into the next word.
    """
    unit, ones, low, high = _masks(count)
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12 = lanes[:13]
    a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24 = lanes[13:]
    for constant in _ROUND_CONSTANTS:
        c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
        c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
        c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
        c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
        c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
        d0 = c4 ^ (c1 << 1 & high[1] | c1 >> 63 & low[1])
        d1 = c0 ^ (c2 << 1 & high[1] | c2 >> 63 & low[1])
        d2 = c1 ^ (c3 << 1 & high[1] | c3 >> 63 & low[1])
        d3 = c2 ^ (c4 << 1 & high[1] | c4 >> 63 & low[1])
        d4 = c3 ^ (c0 << 1 & high[1] | c0 >> 63 & low[1])
        b0 = a0 ^ d0
        b1 = (t := a6 ^ d1) << 44 & high[44] | t >> 20 & low[44]
        b2 = (t := a12 ^ d2) << 43 & high[43] | t >> 21 & low[43]
        b3 = (t := a18 ^ d3) << 21 & high[21] | t >> 43 & low[21]
        b4 = (t := a24 ^ d4) << 14 & high[14] | t >> 50 & low[14]
        b5 = (t := a3 ^ d3) << 28 & high[28] | t >> 36 & low[28]
        b6 = (t := a9 ^ d4) << 20 & high[20] | t >> 44 & low[20]
        b7 = (t := a10 ^ d0) << 3 & high[3] | t >> 61 & low[3]
        b8 = (t := a16 ^ d1) << 45 & high[45] | t >> 19 & low[45]
        b9 = (t := a22 ^ d2) << 61 & high[61] | t >> 3 & low[61]
        b10 = (t := a1 ^ d1) << 1 & high[1] | t >> 63 & low[1]
        b11 = (t := a7 ^ d2) << 6 & high[6] | t >> 58 & low[6]
        b12 = (t := a13 ^ d3) << 25 & high[25] | t >> 39 & low[25]
        b13 = (t := a19 ^ d4) << 8 & high[8] | t >> 56 & low[8]
        b14 = (t := a20 ^ d0) << 18 & high[18] | t >> 46 & low[18]
        b15 = (t := a4 ^ d4) << 27 & high[27] | t >> 37 & low[27]
        b16 = (t := a5 ^ d0) << 36 & high[36] | t >> 28 & low[36]
        b17 = (t := a11 ^ d1) << 10 & high[10] | t >> 54 & low[10]
        b18 = (t := a17 ^ d2) << 15 & high[15] | t >> 49 & low[15]
        b19 = (t := a23 ^ d3) << 56 & high[56] | t >> 8 & low[56]
        b20 = (t := a2 ^ d2) << 62 & high[62] | t >> 2 & low[62]
        b21 = (t := a8 ^ d3) << 55 & high[55] | t >> 9 & low[55]
        b22 = (t := a14 ^ d4) << 39 & high[39] | t >> 25 & low[39]
        b23 = (t := a15 ^ d0) << 41 & high[41] | t >> 23 & low[41]
        b24 = (t := a21 ^ d1) << 2 & high[2] | t >> 62 & low[2]
        a0 = b0 ^ (ones ^ b1) & b2 ^ constant * unit
        a1 = b1 ^ (ones ^ b2) & b3
        a2 = b2 ^ (ones ^ b3) & b4
        a3 = b3 ^ (ones ^ b4) & b0
        a4 = b4 ^ (ones ^ b0) & b1
        a5 = b5 ^ (ones ^ b6) & b7
        a6 = b6 ^ (ones ^ b7) & b8
        a7 = b7 ^ (ones ^ b8) & b9
        a8 = b8 ^ (ones ^ b9) & b5
        a9 = b9 ^ (ones ^ b5) & b6
        a10 = b10 ^ (ones ^ b11) & b12
        a11 = b11 ^ (ones ^ b12) & b13
        a12 = b12 ^ (ones ^ b13) & b14
        a13 = b13 ^ (ones ^ b14) & b10
        a14 = b14 ^ (ones ^ b10) & b11
        a15 = b15 ^ (ones ^ b16) & b17
        a16 = b16 ^ (ones ^ b17) & b18
        a17 = b17 ^ (ones ^ b18) & b19
        a18 = b18 ^ (ones ^ b19) & b15
        a19 = b19 ^ (ones ^ b15) & b16
        a20 = b20 ^ (ones ^ b21) & b22
        a21 = b21 ^ (ones ^ b22) & b23
        a22 = b22 ^ (ones ^ b23) & b24
        a23 = b23 ^ (ones ^ b24) & b20
        a24 = b24 ^ (ones ^ b20) & b21
    return [
        a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
        a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24,
    ]  # fmt: skip
