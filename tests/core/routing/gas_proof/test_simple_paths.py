"""The best simple path against every simple path, on small graphs with and without arbitrage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.gas_proof import simple_paths
from swapcli.core.routing.gas_proof.simple_paths import SimplePaths

TOKENS = range(6)
SOURCE, TARGET = 0, 5
Pair = tuple[int, int]


def every_path(
    rates: Mapping[Pair, float], start: int, passed: Sequence[int], max_hops: int
) -> Iterator[tuple[int, ...]]:
    """Yield the paths from `start` to the target through no token twice, and none of those `passed`."""
    between = [token for token in TOKENS if token not in (start, TARGET, *passed)]
    for count in range(len(between) + 1):
        for tokens in permutations(between, count):
            path = (start, *tokens, TARGET)
            if len(path) - 1 <= max_hops and all(pair in rates for pair in pairwise(path)):
                yield path


def product_of(rates: Mapping[Pair, float], path: Sequence[int]) -> float:
    return prod(rates[pair] for pair in pairwise(path))


pairs = st.sampled_from([(i, j) for i in TOKENS for j in TOKENS if i != j and i != TARGET and j != SOURCE])
graphs = st.dictionaries(pairs, st.floats(0.9, 1.15), min_size=4)


@given(graphs, st.integers(1, 6))
def test_the_best_path_is_the_best_of_all(rates: dict[Pair, float], max_hops: int) -> None:
    found = SimplePaths(rates, TARGET, max_hops).best(SOURCE)
    products = [product_of(rates, path) for path in every_path(rates, SOURCE, (), max_hops)]
    assert found.product == pytest.approx(max(products, default=0.0))
    assert bool(found.tokens) == bool(products)
    assert not products or product_of(rates, found.tokens) == pytest.approx(found.product)


@given(graphs, st.integers(2, 6), st.sampled_from(TOKENS[1:-1]), st.sampled_from(TOKENS[1:-1]))
def test_tokens_passed_are_left_out(rates: dict[Pair, float], max_hops: int, passed: int, start: int) -> None:
    if passed == start:
        return
    found = SimplePaths(rates, TARGET, max_hops).best(start, (SOURCE, passed))
    paths = every_path(rates, start, (SOURCE, passed), max_hops - 2)
    assert found.product == pytest.approx(max((product_of(rates, path) for path in paths), default=0.0))


@given(graphs, st.sampled_from([((1, 2),), ((1, 2), (2, 3), (1, 3)), ((4, 1), (4, 2))]))
def test_no_path_breaks_the_order_of_tokens(rates: dict[Pair, float], order: tuple[Pair, ...]) -> None:
    earlier: dict[int, list[int]] = {}
    for first, second in order:
        earlier.setdefault(second, []).append(first)
    found = SimplePaths(rates, TARGET, 6, earlier).best(SOURCE)
    paths = [
        path
        for path in every_path(rates, SOURCE, (), 6)
        if all(path.index(i) < path.index(j) for i, j in order if i in path and j in path)
    ]
    assert found.product == pytest.approx(max((product_of(rates, path) for path in paths), default=0.0))


@given(graphs, st.floats(0.5, 2.0))
def test_a_floor_counts_where_no_path_exceeds_it(rates: dict[Pair, float], floor: float) -> None:
    paths = SimplePaths(rates, TARGET, 6)
    best = paths.best(SOURCE).product
    assert paths.best(SOURCE, floor=floor).product == pytest.approx(max(best, floor))


@given(graphs)
def test_a_search_that_ends_early_gives_no_less(rates: dict[Pair, float]) -> None:
    best = SimplePaths(rates, TARGET, 6).best(SOURCE).product
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(simple_paths, "_MAX_VISITS", 2)
        assert SimplePaths(rates, TARGET, 6).best(SOURCE).product >= best * (1 - 1e-12)
