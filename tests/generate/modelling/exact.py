"""Arithmetic that gives the same digits on every machine: decimals of one precision, and random numbers from hashes."""

from __future__ import annotations

from decimal import Context, Decimal
from hashlib import sha256

PRECISION = Context(prec=60)
"""Active while a market is modelled. `exp`, `ln` and `sqrt` are correctly rounded; `**` is not, so it is not used."""


class SeededRandom:
    """Numbers drawn from a hash of `seed` and a counter."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def uniform(self) -> Decimal:
        """Return a uniform number between 0 and 1, both excluded."""
        self._count += 1
        digest = sha256(f"{self._seed}/{self._count}".encode()).digest()
        return Decimal(2 * int.from_bytes(digest[:8]) + 1) / Decimal(1 << 65)

    def symmetric_uniform(self) -> Decimal:
        """Return a uniform number between -1 and 1."""
        return 2 * self.uniform() - 1

    def log_uniform(self, low: int, high: int) -> Decimal:
        """Return a number between `low` and `high` whose logarithm is uniform."""
        return low * (self.uniform() * (Decimal(high) / low).ln()).exp()

    def exponential(self) -> Decimal:
        """Return an exponential number with mean 1."""
        return -self.uniform().ln()
