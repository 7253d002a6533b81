"""Recover the public key from a signature on secp256k1 (SEC 1, section 4.1.6). This code cannot sign anything.

A signing library could do this too, but swapcli never signs, so it depends on none.
"""

from __future__ import annotations

from typing import Final, TypeAlias

ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # of the group of secp256k1
_PRIME: Final = 2**256 - 2**32 - 977  # of its field
_SEVEN: Final = 7
"""The constant in the curve's equation, y^2 = x^3 + 7."""
_BITS: Final = 256  # of a scalar

_Point: TypeAlias = tuple[int, int]

_GENERATOR: Final[_Point] = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def recover_public_key(digest: bytes, r: int, s: int, parity: int) -> bytes | None:
    """Return the 64-byte public key that signed a 32-byte digest, or None if no key can have made this signature.

    `parity` (0 or 1) is the parity of y at the point with x = r.
    """
    if not (0 < r < ORDER and 0 < s < ORDER and parity in (0, 1)):
        return None
    square = (pow(r, 3, _PRIME) + _SEVEN) % _PRIME
    y = pow(square, (_PRIME + 1) // 4, _PRIME)
    if y * y % _PRIME != square:
        return None
    if y % 2 != parity:
        y = _PRIME - y
    inverse = pow(r, -1, ORDER)
    at_generator, at_point = -int.from_bytes(digest) * inverse % ORDER, s * inverse % ORDER
    key = _add(_multiply(_GENERATOR, at_generator), _multiply((r, y), at_point))
    return None if key is None else key[0].to_bytes(32) + key[1].to_bytes(32)


def _add(first: _Point | None, second: _Point | None) -> _Point | None:
    """Add two points; None is the point at infinity."""
    if first is None or second is None:
        return second if first is None else first
    (x1, y1), (x2, y2) = first, second
    if x1 == x2 and (y1 + y2) % _PRIME == 0:
        return None
    numerator, denominator = (3 * x1 * x1, 2 * y1) if first == second else (y2 - y1, x2 - x1)
    slope = numerator * pow(denominator, -1, _PRIME)
    x = (slope * slope - x1 - x2) % _PRIME
    return x, (slope * (x1 - x) - y1) % _PRIME


def _multiply(point: _Point, factor: int) -> _Point | None:
    total: _Point | None = None
    power: _Point | None = point
    for bit in range(_BITS):
        if factor >> bit & 1:
            total = _add(total, power)
        power = _add(power, power)
    return total
