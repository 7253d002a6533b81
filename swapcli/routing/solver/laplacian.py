"""Solves the small symmetric systems of the solver: an electrical network with resistors to ground."""

from __future__ import annotations

Rows = list[dict[int, float]]

_TINY = 1e-300  # stands in for a pivot that cancelled out


def solve_laplacian(diagonal: list[float], off: Rows, right: list[float]) -> list[float]:
    """x with A x = right for the symmetric positive definite A = diag(diagonal) - off.

    `off[i][j] == off[j][i] >= 0` are conductances between i and j. All three arguments are consumed. Nodes with few
    neighbours are eliminated first, which keeps the fill-in small on hub-and-spoke graphs.
    """
    order = sorted(range(len(diagonal)), key=lambda k: len(off[k]))
    eliminated: list[tuple[int, float, list[tuple[int, float]]]] = []
    for k in order:
        row = off[k]
        pivot, value = diagonal[k] or _TINY, right[k]
        neighbours = list(row.items())
        eliminated.append((k, pivot, neighbours))
        for position, (i, g) in enumerate(neighbours):
            factor = g / pivot
            other = off[i]
            del other[k]
            diagonal[i] -= g * factor
            right[i] += value * factor
            for j, h in neighbours[position + 1 :]:
                joined = other.get(j, 0.0) + factor * h
                other[j] = joined
                off[j][i] = joined
    solution = right
    for k, pivot, neighbours in reversed(eliminated):
        total = right[k]
        for i, g in neighbours:
            total += g * solution[i]
        solution[k] = total / pivot
    return solution
