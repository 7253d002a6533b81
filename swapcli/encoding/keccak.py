"""Keccak-256 of a short message without the library, whose import takes as long as a hundred of these hashes.

The permutation is Keccak-f[1600] of https://keccak.team/keccak_specs_summary.html, written out: theta in `c` and `d`,
rho and pi in `b`, chi and iota in the new `a`. The lane at (x, y) is number x + 5 y.
"""

from __future__ import annotations

MAX_SHORT_BYTES = 135
"""Longer messages take more than one block: the rate is 136 bytes, and padding takes at least one."""

_WORD = 0xFFFFFFFFFFFFFFFF
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
_LANES, _LANE_BYTES = 25, 8


def keccak256_short(message: bytes) -> bytes:
    """Return Keccak-256, as Ethereum uses it, of at most `MAX_SHORT_BYTES` bytes."""
    block = bytearray(_LANES * _LANE_BYTES)
    block[: len(message)] = message
    block[len(message)] ^= 0x01
    block[MAX_SHORT_BYTES] ^= 0x80
    starts = range(0, len(block), _LANE_BYTES)
    lanes = _permute([int.from_bytes(block[start : start + _LANE_BYTES], "little") for start in starts])
    return b"".join([lane.to_bytes(_LANE_BYTES, "little") for lane in lanes])


def _permute(lanes: list[int]) -> tuple[int, int, int, int]:
    """Return the first four lanes after the permutation: the digest."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12 = lanes[:13]
    a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24 = lanes[13:]
    for constant in _ROUND_CONSTANTS:
        c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
        c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
        c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
        c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
        c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
        d0 = c4 ^ (c1 << 1 & _WORD | c1 >> 63)
        d1 = c0 ^ (c2 << 1 & _WORD | c2 >> 63)
        d2 = c1 ^ (c3 << 1 & _WORD | c3 >> 63)
        d3 = c2 ^ (c4 << 1 & _WORD | c4 >> 63)
        d4 = c3 ^ (c0 << 1 & _WORD | c0 >> 63)
        b0 = a0 ^ d0
        b1 = (t := a6 ^ d1) << 44 & _WORD | t >> 20
        b2 = (t := a12 ^ d2) << 43 & _WORD | t >> 21
        b3 = (t := a18 ^ d3) << 21 & _WORD | t >> 43
        b4 = (t := a24 ^ d4) << 14 & _WORD | t >> 50
        b5 = (t := a3 ^ d3) << 28 & _WORD | t >> 36
        b6 = (t := a9 ^ d4) << 20 & _WORD | t >> 44
        b7 = (t := a10 ^ d0) << 3 & _WORD | t >> 61
        b8 = (t := a16 ^ d1) << 45 & _WORD | t >> 19
        b9 = (t := a22 ^ d2) << 61 & _WORD | t >> 3
        b10 = (t := a1 ^ d1) << 1 & _WORD | t >> 63
        b11 = (t := a7 ^ d2) << 6 & _WORD | t >> 58
        b12 = (t := a13 ^ d3) << 25 & _WORD | t >> 39
        b13 = (t := a19 ^ d4) << 8 & _WORD | t >> 56
        b14 = (t := a20 ^ d0) << 18 & _WORD | t >> 46
        b15 = (t := a4 ^ d4) << 27 & _WORD | t >> 37
        b16 = (t := a5 ^ d0) << 36 & _WORD | t >> 28
        b17 = (t := a11 ^ d1) << 10 & _WORD | t >> 54
        b18 = (t := a17 ^ d2) << 15 & _WORD | t >> 49
        b19 = (t := a23 ^ d3) << 56 & _WORD | t >> 8
        b20 = (t := a2 ^ d2) << 62 & _WORD | t >> 2
        b21 = (t := a8 ^ d3) << 55 & _WORD | t >> 9
        b22 = (t := a14 ^ d4) << 39 & _WORD | t >> 25
        b23 = (t := a15 ^ d0) << 41 & _WORD | t >> 23
        b24 = (t := a21 ^ d1) << 2 & _WORD | t >> 62
        a0 = b0 ^ (_WORD ^ b1) & b2 ^ constant
        a1 = b1 ^ (_WORD ^ b2) & b3
        a2 = b2 ^ (_WORD ^ b3) & b4
        a3 = b3 ^ (_WORD ^ b4) & b0
        a4 = b4 ^ (_WORD ^ b0) & b1
        a5 = b5 ^ (_WORD ^ b6) & b7
        a6 = b6 ^ (_WORD ^ b7) & b8
        a7 = b7 ^ (_WORD ^ b8) & b9
        a8 = b8 ^ (_WORD ^ b9) & b5
        a9 = b9 ^ (_WORD ^ b5) & b6
        a10 = b10 ^ (_WORD ^ b11) & b12
        a11 = b11 ^ (_WORD ^ b12) & b13
        a12 = b12 ^ (_WORD ^ b13) & b14
        a13 = b13 ^ (_WORD ^ b14) & b10
        a14 = b14 ^ (_WORD ^ b10) & b11
        a15 = b15 ^ (_WORD ^ b16) & b17
        a16 = b16 ^ (_WORD ^ b17) & b18
        a17 = b17 ^ (_WORD ^ b18) & b19
        a18 = b18 ^ (_WORD ^ b19) & b15
        a19 = b19 ^ (_WORD ^ b15) & b16
        a20 = b20 ^ (_WORD ^ b21) & b22
        a21 = b21 ^ (_WORD ^ b22) & b23
        a22 = b22 ^ (_WORD ^ b23) & b24
        a23 = b23 ^ (_WORD ^ b24) & b20
        a24 = b24 ^ (_WORD ^ b20) & b21
    return a0, a1, a2, a3
