"""Solve small weighted-Laplacian systems: sparse elimination of symmetric, diagonally dominant matrices."""

from __future__ import annotations

Rows = list[dict[int, float]]
"""The off-diagonal weights of each row, by column."""

_MIN_PIVOT = 1e-300  # the smallest power of ten that is a normal float: replaces a pivot that cancelled to zero


def solve_laplacian(diagonal: list[float], off: Rows, right: list[float]) -> list[float]:
    """Return x with A x = right for the symmetric positive definite A = diag(diagonal) - off.

    `off[i][j] == off[j][i] >= 0` are edge weights. All three arguments are consumed. Nodes of low degree are eliminated
    first, which keeps the fill-in small on hub-and-spoke graphs (Tinney, Walker 1967: minimum degree ordering).
    """
    order = sorted(range(len(diagonal)), key=lambda k: len(off[k]))
    eliminated: list[tuple[int, float, list[tuple[int, float]]]] = []
    for k in order:
        row = off[k]
        pivot, value = diagonal[k] or _MIN_PIVOT, right[k]
        neighbours = list(row.items())
        eliminated.append((k, pivot, neighbours))
        for position, (i, weight) in enumerate(neighbours):
            factor = weight / pivot
            other = off[i]
            del other[k]
            diagonal[i] -= weight * factor
            right[i] += value * factor
            for j, other_weight in neighbours[position + 1 :]:
                fill = other.get(j, 0.0) + factor * other_weight
                other[j] = fill
                off[j][i] = fill
    solution = right
    for k, pivot, neighbours in reversed(eliminated):
        total = right[k]
        for i, weight in neighbours:
            total += weight * solution[i]
        solution[k] = total / pivot
    return solution
