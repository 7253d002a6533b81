"""Routes found elsewhere compete with what a search finds: the outcome is no worse than any of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.routing.competing_routes import KnownRoute
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from tests.examples import examples
from tests.support.pools import (
    UNIT,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)


@settings(max_examples=examples(4, full=20), deadline=None)
@given(seeds, st.integers(18, 23), st.booleans())
def test_a_result_is_no_worse_than_a_route_of_another_state(seed: int, digits: int, in_reverse: bool) -> None:
    elsewhere, here = (build_random_market(seed, tokens=5, noise=noise) for noise in (6.0, 0.8))
    requested = build_order(here, 0, 1, 10**digits)._replace(reverse=in_reverse)
    try:
        found = Router(elsewhere).search(requested).best
    except NoRoute:
        return
    candidate = KnownRoute(found.route, found.amount_in)
    try:
        alone = replay(here.pools, found.route, found.amount_in)
    except PoolError:
        return
    outcome = Router(here).search(requested, known_routes=[candidate])
    if not in_reverse:
        assert outcome.best.replay.amount_out >= alone.amount_out
    elif alone.amount_out >= requested.amount:
        assert outcome.best.amount_in <= found.amount_in
    best = outcome.best
    assert replay(here.pools, best.route, best.amount_in).amount_out == best.replay.amount_out


def two_pools() -> tuple[Router, Router]:
    """A market with one pool, and one in which another pool of the pair has been drained instead."""
    a, b = build_token(0), build_token(1)
    good = build_constant_product(0, a, b, 1000 * UNIT, 1000 * UNIT)
    other = build_constant_product(1, a, b, 900 * UNIT, 900 * UNIT)
    return Router(build_market([good], [a, b])), Router(build_market([other], [a, b]))


def test_a_candidate_over_missing_pools_is_ignored() -> None:
    here, elsewhere = two_pools()
    requested = build_order(here.market, 0, 1, UNIT)
    found = elsewhere.search(requested).best
    outcome = here.search(requested, known_routes=[KnownRoute(found.route, found.amount_in)])
    assert outcome.best == here.search(requested).best


def test_a_candidate_is_certified_as_any_route_is() -> None:
    here, _ = two_pools()
    requested = build_order(here.market, 0, 1, UNIT)
    found = here.search(requested).best
    with_it = here.search(requested, known_routes=[KnownRoute(found.route, UNIT)])
    certificate = here.build_quote(requested, with_it, certify=True).certificate
    assert certificate is not None
    assert 0.0 <= certificate.gap_bps < 1.0


def test_a_candidate_is_the_result_if_the_search_finds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    here, _ = two_pools()
    requested = build_order(here.market, 0, 1, UNIT)
    found = here.search(requested).best
    monkeypatch.setattr("swapcli.core.routing.search.route_search.RouteSearch.run", lambda _: None)
    assert here.search(requested).best.replay.amount_out > 0  # the last resort: the best path by exact swaps
    monkeypatch.setattr("swapcli.core.routing.search.exact_paths.exact_paths", lambda *_: iter(()))
    with pytest.raises(NoRoute):
        here.search(requested)
    outcome = here.search(requested, known_routes=[KnownRoute(found.route, found.amount_in)])
    assert outcome.best.replay == found.replay
    certificate = here.build_quote(requested, outcome, certify=True).certificate
    assert certificate is not None
    assert certificate.bound >= found.replay.amount_out
