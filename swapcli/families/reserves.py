"""Convert amounts to other decimals, and compute reserves after a swap."""

from __future__ import annotations

from swapcli.core.annotations import Final

MAX_DECIMALS: Final = 18  # decimals to which contracts scale amounts


def to_18_decimals(decimals: int) -> int:
    """Return the factor that scales an amount to 18 decimals."""
    factor: int = 10 ** (MAX_DECIMALS - decimals)
    return factor


def change_decimals(amount: int, before: int, after: int) -> int:
    """Convert an amount with `before` decimals to one with `after` decimals, rounded down."""
    added = after - before
    changed: int = amount * 10**added if added > 0 else amount // 10**-added
    return changed


def reserves_after_swap(reserves: tuple[int, ...], i: int, amount_in: int, j: int, amount_out: int) -> tuple[int, ...]:
    """Return the reserves after adding `amount_in` to the i-th and subtracting `amount_out` from the j-th."""
    after = list(reserves)
    after[i] += amount_in
    after[j] -= amount_out
    return tuple(after)
