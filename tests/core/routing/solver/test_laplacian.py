"""The sparse elimination solves what it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.solver import laplacian

Network = tuple[int, dict[tuple[int, int], float], list[float], list[float]]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    size = draw(st.integers(1, 12))
    pairs = [(i, j) for i in range(size) for j in range(i)]
    values = st.floats(1e-6, 1e6)
    links = draw(st.dictionaries(st.sampled_from(pairs), values, max_size=20)) if pairs else {}
    ground = draw(st.lists(st.floats(1e-3, 1e3), min_size=size, max_size=size))
    right = draw(st.lists(st.floats(-1e3, 1e3), min_size=size, max_size=size))
    return size, links, ground, right


@given(networks())
def test_the_solution_balances_every_node(network: Network) -> None:
    size, links, ground, right = network
    off: list[dict[int, float]] = [{} for _ in range(size)]
    diagonal = ground.copy()
    for (i, j), conductance in links.items():
        off[i][j] = off[j][i] = conductance
        diagonal[i] += conductance
        diagonal[j] += conductance
    x = laplacian.solve_laplacian(diagonal.copy(), [row.copy() for row in off], right.copy())
    scale = max(map(abs, right)) + 1e-9
    for i in range(size):
        leaving = diagonal[i] * x[i] - sum(g * x[j] for j, g in off[i].items())
        size_of_terms = diagonal[i] * abs(x[i]) + sum(g * abs(x[j]) for j, g in off[i].items())
        assert abs(leaving - right[i]) <= 1e-9 * (size_of_terms + scale)
