"""What a route means, to the unit: merged, in flow order, each rate relative to what the earlier ones left."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidRoute, PoolError, SwapReverts
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import RATE_SCALE, Route, Segment, Step, Swap
from swapcli.core.routing.replay import FlatSwap, KnownSwaps, execute, flatten, replay
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from tests.core.routing.random_routes import random_route
from tests.families.recorded import vectors_file
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_random_market,
    build_token,
    build_weighted,
    seeds,
)

A, B, C, D = (build_token(k) for k in range(4))
NAMES = {t.address: name for t, name in zip((A, B, C, D), "ABCD", strict=True)}
BY_NAME = {name: address for address, name in NAMES.items()}

amounts = st.floats(6, 22).map(lambda digits: int(10**digits))

Hop = str | dict[str, int]


def route(*segments: tuple[int, Sequence[Hop]]) -> Route:
    """Segments of hops; a hop is "ABx" (all of A for B in pool x) or {"ABx": 4000, "ABy": 6000}."""
    return Route(tuple(Segment(percent * 100, tuple(_hop(hop) for hop in hops)) for percent, hops in segments))


def _hop(hop: Hop) -> tuple[Swap, ...]:
    shares = {hop: 10_000} if isinstance(hop, str) else hop
    return tuple(Swap(name[2:], BY_NAME[name[0]], BY_NAME[name[1]], share) for name, share in shares.items())


def listed(given_route: Route) -> list[tuple[str, int]]:
    """The router's list in the notation of `route`, with rates."""
    return [(NAMES[s.token_in] + NAMES[s.token_out] + s.pool, s.rate) for s in flatten(given_route)]


# --- the list


def test_one_pool_spends_everything() -> None:
    assert listed(route((100, ["ABx"]))) == [("ABx", RATE_SCALE)]


def test_segments_that_share_a_pool_visit_it_once_together() -> None:
    split = route((40, [{"ABx": 2500, "ABy": 7500}, "BDz"]), (60, ["ABx", "BDz"]))
    assert listed(split) == [("ABx", 700_000), ("ABy", RATE_SCALE), ("BDz", RATE_SCALE)]


def test_a_token_of_several_segments_splits_by_their_weights() -> None:
    split = route((30, ["ABx", {"BDy": 5000, "BDz": 5000}]), (70, ["ABx", {"BDy": 1000, "BDw": 9000}]))
    # B spends 30 * 5000 + 70 * 1000 = 220,000 in y, 150,000 in z and 630,000 in w.
    assert listed(split)[1:] == [("BDy", 220_000), ("BDz", 150_000 * RATE_SCALE // 780_000), ("BDw", RATE_SCALE)]


def test_rates_are_of_the_remaining_balance_and_rounded_down() -> None:
    thirds = route((100, [{"ABx": 3333, "ABy": 3333, "ABz": 3334}]))
    assert listed(thirds) == [("ABx", 333_300), ("ABy", 499_925), ("ABz", RATE_SCALE)]


def test_one_pool_serves_two_pairs_as_two_entries() -> None:
    both = route((50, ["ABx", "BDy"]), (50, ["ACx", "CDy"]))
    assert listed(both) == [("ABx", 500_000), ("ACx", RATE_SCALE), ("BDy", RATE_SCALE), ("CDy", RATE_SCALE)]


def test_what_flows_into_a_token_comes_before_what_leaves_it() -> None:
    """B appears before C, but half of it comes out of C."""
    late = route((50, ["ABx", "BDy"]), (50, ["ACz", "CBw", "BDy"]))
    assert [name for name, _ in listed(late)] == ["ABx", "ACz", "CBw", "BDy"]


@pytest.mark.parametrize(("first", "second"), [("B", "C"), ("C", "B")])
def test_the_ready_token_that_appears_first_in_the_route_is_next(first: str, second: str) -> None:
    two = route((10, [f"A{first}x", f"{first}Dy"]), (90, [f"A{second}z", f"{second}Dw"]))
    assert [name[0] for name, _ in listed(two)] == ["A", "A", first, second]


def test_a_token_appears_where_it_is_first_bought_not_spent() -> None:
    """C is bought in the first segment's first hop, B only later."""
    bought = route((50, ["ACx", "CDy"]), (50, ["ABz", "BDw"]))
    assert [name[0] for name, _ in listed(bought)] == ["A", "A", "C", "B"]


def test_pools_of_a_token_stand_in_order_of_first_appearance() -> None:
    later = route((20, [{"ABz": 1, "ABx": 9999}]), (80, [{"ABy": 5000, "ABz": 5000}]))
    assert [name for name, _ in listed(later)] == ["ABz", "ABx", "ABy"]


@given(seeds)
def test_only_the_last_swap_of_each_token_has_the_full_rate(seed: int) -> None:
    given_route = random_route(random.Random(seed), build_random_market(seed, every_family=True))
    rates: dict[str, list[int]] = defaultdict(list)
    for swap in flatten(given_route) if given_route else ():
        rates[swap.token_in].append(swap.rate)
    for *earlier, last in rates.values():
        assert last == RATE_SCALE
        assert all(0 < rate < RATE_SCALE for rate in earlier)


# --- refused


def shares_of(*segment_shares: int, hop_shares: Sequence[int] = (10_000,)) -> Route:
    hop = tuple(Swap("xyz"[k], A.address, B.address, share) for k, share in enumerate(hop_shares))
    return Route(tuple(Segment(share, (hop,)) for share in segment_shares))


@pytest.mark.parametrize(
    "segment_shares",
    [(), (100,), (9_999,), (10_001,), (5_000, 4_999), (5_000, 5_001), (0, 10_000), (-1, 10_001), (20_000, -10_000)],
)
def test_segment_shares_must_be_positive_and_sum_to_10_000(segment_shares: tuple[int, ...]) -> None:
    with pytest.raises(InvalidRoute, match="segment"):
        flatten(shares_of(*segment_shares))


@pytest.mark.parametrize(
    "shares", [(), (9_999,), (10_001,), (5_000, 4_999), (0, 10_000), (-1, 10_001), (20_000, -10_000)]
)
def test_shares_of_a_hop_must_be_positive_and_sum_to_10_000(shares: tuple[int, ...]) -> None:
    with pytest.raises(InvalidRoute, match="shares of the pools in one hop"):
        flatten(shares_of(10_000, hop_shares=shares))


def test_a_segment_without_hops_is_refused() -> None:
    with pytest.raises(InvalidRoute, match="no hops"):
        flatten(Route((Segment(10_000, ()),)))


@pytest.mark.parametrize(
    "cyclic",
    [
        route((100, ["ABx", "BAy", "ADz"])),
        route((50, ["ABx", "BCy", "CDz"]), (50, ["ACx", "CBy", "BDz"])),
        route((50, ["ADw"]), (20, ["ABx", "BCy", "CDz"]), (30, ["ACx", "CBy", "BDz"])),
        route((100, ["ABx", "BCy", "CBz", "BDw"])),
        route((100, ["AAx"])),
    ],
    ids=[
        "through the source",
        "two segments in opposite directions",
        "of three",
        "there and back",
        "a token for itself",
    ],
)
def test_hops_that_form_a_cycle_are_refused(cyclic: Route) -> None:
    with pytest.raises(InvalidRoute, match="cycle"):
        flatten(cyclic)


def pools_of(*pools: tuple[str, Pool]) -> Mapping[str, Pool]:
    return {name: replace(pool, address=name) for name, pool in pools}


EVEN = pools_of(
    ("x", build_constant_product(0, A, B, 10**24, 10**24)),
    ("y", build_constant_product(1, B, D, 10**24, 10**24)),
    ("z", build_constant_product(2, B, C, 10**24, 10**24)),
)


def test_a_pool_that_the_market_does_not_have_is_named() -> None:
    with pytest.raises(InvalidRoute, match="pool w, which is not in the market"):
        replay(EVEN, route((100, ["ABx", "BDw"])), UNIT)


@pytest.mark.parametrize("hop", ["BDx", "DBx"])
def test_a_pool_that_does_not_hold_the_tokens_is_named(hop: str) -> None:
    with pytest.raises(InvalidRoute, match="pool x does not hold"):
        replay(EVEN, route((100, [hop])), UNIT)


def test_a_reused_pool_without_the_second_tokens_is_named() -> None:
    with pytest.raises(InvalidRoute, match="pool x does not hold"):
        replay(EVEN, route((100, ["ABx", "BDx"])), UNIT)


@pytest.mark.parametrize("amount", [0, 1, UNIT, 10**60])
def test_pools_that_do_not_fit_are_refused_whatever_the_amount(amount: int) -> None:
    """Before a pool on the way could revert, spend nothing or run out."""
    for unfit in (route((100, ["ABx", "BCz", "CDy"])), route((100, ["ABx", "BCz", "CDw"]))):
        with pytest.raises(InvalidRoute):
            replay(EVEN, unfit, amount)


@pytest.mark.parametrize(
    "apart",
    [
        route((100, ["ABx", "CBz"])),
        route((100, ["ABx", "DBy"])),
        route((100, ["ABx", {"BDy": 5_000, "CDw": 5_000}])),
        route((100, [{"ABx": 5_000, "ACw": 5_000}, "BDy"])),
        route((100, ["BDy", "ABx"])),
    ],
    ids=["another token", "backwards", "one pool sells another", "one pool buys another", "the wrong way round"],
)
def test_hops_that_do_not_join_are_refused(apart: Route) -> None:
    with pytest.raises(InvalidRoute, match="do not connect"):
        flatten(apart)


@pytest.mark.parametrize(
    "astray",
    [
        route((50, ["ABx", "BDy"]), (50, ["BDy"])),
        route((50, ["ABx", "BDy"]), (50, ["ABx", "BCz"])),
        route((50, ["ABx"]), (50, ["ABx", "BDy"])),
        route((50, ["ABx", "BDy"]), (50, ["BAx", "ADw"])),
    ],
    ids=["starts late", "ends elsewhere", "on through the output token", "there before here"],
)
def test_segments_must_start_and_end_at_the_same_tokens(astray: Route) -> None:
    with pytest.raises(InvalidRoute, match="different tokens"):
        flatten(astray)


@pytest.mark.parametrize(
    "through",
    [
        route((50, ["ADw"]), (50, ["ABx", "BAx", "ADw"])),
        route((50, ["ADw"]), (50, ["ADw", "DBy", "BDy"])),
    ],
    ids=["its input token", "its output token"],
)
def test_a_path_through_the_ends_of_the_route_is_refused(through: Route) -> None:
    with pytest.raises(InvalidRoute, match="cycle"):
        flatten(through)


def long_way(length: int) -> Route:
    """A path of `length` hops, each in a pool of its own."""
    tokens = [f"t{k}" for k in range(length + 1)]
    hops = tuple((Swap(f"p{i}", i, j, 10_000),) for i, j in pairwise(tokens))
    return Route((Segment(10_000, hops),))


def test_a_route_of_thousands_of_hops_takes_linear_time() -> None:
    """Twenty times as many hops may take about twenty times as long, not four hundred times."""

    def seconds(given_route: Route) -> float:
        started = process_time()
        with suppress(InvalidRoute):
            flatten(given_route)
        return process_time() - started

    short, long = long_way(500), long_way(10_000)
    hops = long.segments[0].hops
    there_and_back = Route((Segment(5_000, hops), Segment(5_000, hops[::-1])))
    wide = Route(tuple(Segment(100, long_way(100 + k).segments[0].hops) for k in range(100)))
    assert len(flatten(long)) == 10_000
    assert min(seconds(long) for _ in range(3)) < 100 * min(seconds(short) for _ in range(3)) + 0.05
    assert max(seconds(there_and_back), seconds(wide)) < 1.0


def test_a_pool_that_runs_out_names_itself() -> None:
    narrow = pools_of(("n", build_concentrated(0, B, D, 10**18, 1.0, 600)))
    with pytest.raises(InsufficientLiquidity) as caught:
        replay({**EVEN, **narrow}, route((100, ["ABx", "BDn"])), 10**23)
    assert caught.value.details["pool"] == "n"


def test_a_pool_that_would_revert_names_itself() -> None:
    full = pools_of(("f", build_constant_product(0, B, D, (1 << 112) - 5, 10**24)))
    with pytest.raises(SwapReverts) as caught:
        replay({**EVEN, **full}, route((100, ["ABx", "BDf"])), UNIT)
    assert caught.value.details["pool"] == "f"


@pytest.mark.parametrize(("amount", "spends"), [(10_000, True), (9_999, False), (1, False), (0, False)])
def test_a_share_that_spends_nothing_names_its_pool(amount: int, spends: bool) -> None:
    rich = pools_of(
        ("r", build_constant_product(0, A, B, 10**12, 10**24)), ("s", build_constant_product(1, A, B, 10**12, 10**24))
    )
    tiny = route((100, [{"ABr": 1, "ABs": 9_999}]))
    if spends:
        assert [step.amount_in for step in replay(rich, tiny, amount).steps] == [1, 9_999]
    else:
        with pytest.raises(SwapReverts) as caught:
            replay(rich, tiny, amount)
        assert caught.value.details["pool"] == "r"


# --- executed


def test_a_pool_used_twice_is_quoted_on_its_new_state() -> None:
    basket = replace(build_weighted(0, [A, B, C], [1.0, 1.0, 1.0], 1e6, [1, 1, 1], 3000), address="w")
    amount = 10**22
    middle, after = basket.swap(A.address, B.address, amount)
    last, final = after.swap(B.address, C.address, middle)
    result = replay({"w": basket}, route((100, ["ABw", "BCw"])), amount)
    assert [step.amount_out for step in result.steps] == [middle, last]
    assert (result.amount_out, result.pools_after) == (last, {"w": final})
    assert last != basket.swap(B.address, C.address, middle)[0]


def test_each_swap_spends_the_floor_of_the_current_balance() -> None:
    split = route((100, [{"ABx": 3333, "ABw": 6667}]))
    pools = {**EVEN, **pools_of(("w", build_constant_product(3, A, B, 10**24, 10**24)))}
    spent = [step.amount_in for step in replay(pools, split, 1_000_001).steps]
    assert spent == [1_000_001 * 333_300 // RATE_SCALE, 1_000_001 - 1_000_001 * 333_300 // RATE_SCALE]


def test_the_pools_of_the_market_are_left_as_they_were() -> None:
    before = {key: pool.state() for key, pool in EVEN.items()}
    after = replay(EVEN, route((100, ["ABx", "BDy"])), UNIT).pools_after
    assert {key: pool.state() for key, pool in EVEN.items()} == before
    assert set(after) == {"x", "y"}
    assert all(after[key].state() != before[key] for key in after)


# --- against another implementation


@dataclass
class Row:
    """What the merged route sells to one pool for one token."""

    pool: str
    token_in: str
    token_out: str
    weight: int


def merged(given_route: Route) -> list[Row]:
    rows: list[Row] = []
    for segment in given_route.segments:
        for swap in (swap for hop in segment.hops for swap in hop):
            key = (swap.pool, swap.token_in, swap.token_out)
            row = next((row for row in rows if (row.pool, row.token_in, row.token_out) == key), None)
            if row is None:
                rows.append(Row(*key, 0))
                row = rows[-1]
            row.weight += segment.share * swap.share
    return rows


def executed(pools: Mapping[str, Pool], given_route: Route, amount_in: int) -> tuple[list[Step], int]:
    """The published rules, one after the other."""
    swaps = [swap for segment in given_route.segments for hop in segment.hops for swap in hop]
    appearance = [address for swap in swaps for address in (swap.token_in, swap.token_out)]
    rows, state, steps = merged(given_route), dict(pools), list[Step]()
    balance = defaultdict(int, {swaps[0].token_in: amount_in})
    while rows:
        spent = next(t for t in appearance if {t} & {r.token_in for r in rows} - {r.token_out for r in rows})
        sold = [row for row in rows if row.token_in == spent]
        rows = [row for row in rows if row.token_in != spent]
        for k, row in enumerate(sold):
            rate = 1_000_000 * row.weight // sum(other.weight for other in sold[k:])
            paid = balance[spent] * rate // 1_000_000
            if paid == 0:
                raise SwapReverts("nothing to spend")
            got, state[row.pool] = state[row.pool].swap(spent, row.token_out, paid)
            balance[spent] -= paid
            balance[row.token_out] += got
            steps.append(Step(row.pool, spent, row.token_out, rate, paid, got))
    return steps, balance[swaps[-1].token_out]


@given(seeds, amounts, st.booleans())
def test_replays_like_a_plain_reading_of_the_rules(seed: int, amount: int, every_family: bool) -> None:
    rng = random.Random(seed)
    market = build_random_market(seed, tokens=rng.randint(2, 6), pools=rng.randint(6, 16), every_family=every_family)
    for given_route in filter(None, (random_route(rng, market, segments=6) for _ in range(5))):
        try:
            steps, amount_out = executed(market.pools, given_route, amount)
        except PoolError as error:
            with pytest.raises(type(error)) as caught:
                replay(market.pools, given_route, amount)
            assert caught.value.details["pool"] in market.pools
            continue
        result = replay(market.pools, given_route, amount)
        assert (list(result.steps), result.amount_out) == (steps, amount_out)
        assert flatten(given_route) == tuple(FlatSwap(s.pool, s.token_in, s.token_out, s.rate) for s in steps)


@given(seeds, amounts)
def test_known_swaps_change_no_replay(seed: int, amount: int) -> None:
    """Amounts a few units apart share most of their swaps, and pools that swap twice have other states in between."""
    rng = random.Random(seed)
    market = build_random_market(seed, every_family=True)
    given_route = random_route(rng, market, segments=6)
    if given_route is None:
        return
    swaps, known = flatten(given_route), KnownSwaps()
    for amount_in in (amount, amount + 1, amount, amount + rng.randint(2, 1_000)):
        try:
            plain = execute(market.pools, swaps, amount_in)
        except PoolError as error:
            with pytest.raises(type(error)):
                execute(market.pools, swaps, amount_in, known=known)
        else:
            assert execute(market.pools, swaps, amount_in, known=known) == plain


@given(seeds, amounts)
def test_nothing_is_lost_or_made_on_the_way(seed: int, amount: int) -> None:
    """What enters and leaves the router's hands adds up, token by token."""
    market = build_random_market(seed, every_family=True)
    given_route = random_route(random.Random(seed), market)
    try:
        result = replay(market.pools, given_route, amount) if given_route else None
    except PoolError:
        return
    balances: dict[str, int] = defaultdict(int, {A.address: amount})
    for step in result.steps if result else ():
        balances[step.token_in] -= step.amount_in
        balances[step.token_out] += step.amount_out
        assert min(balances.values()) >= 0
    if result:
        assert balances.pop(B.address) == result.amount_out
        assert set(balances.values()) == {0}


@given(seeds)
def test_a_segment_written_in_two_parts_means_the_same(seed: int) -> None:
    market = build_random_market(seed)
    given_route = random_route(random.Random(seed), market)
    if given_route is None or all(segment.share == 1 for segment in given_route.segments):
        return
    big = max(given_route.segments, key=lambda segment: segment.share)
    at = given_route.segments.index(big)
    halves = (big._replace(share=1), big._replace(share=big.share - 1))
    again = Route((*given_route.segments[:at], *halves, *given_route.segments[at + 1 :]))
    assert flatten(again) == flatten(given_route)


def test_the_amount_reaches_the_first_pool_whole() -> None:
    assert replay(EVEN, route((100, ["ABx"])), 12_345).steps[0].amount_in == 12_345


def test_what_a_pool_leaves_of_its_input_is_sold_by_the_next() -> None:
    seen = 0
    for name in ("iziswap", "clober_v2"):
        for swap in replay_recorded_swaps(vectors_file(name)):
            pool = swap.pool
            sold, bought = pool.tokens
            amount = 10**18
            try:
                paid, _ = pool.swap(sold, bought, amount // 2)
            except PoolError:
                continue
            left = pool.unspent(sold, bought, amount // 2)
            last = replace(build_constant_product(1, A, B, UNIT, UNIT), tokens=(sold, bought))
            swaps = FlatSwap(pool.key, sold, bought, RATE_SCALE // 2), FlatSwap(last.key, sold, bought, RATE_SCALE)
            first, second = execute({pool.key: pool, last.key: last}, swaps, amount).steps
            assert (first.amount_in, first.amount_out, second.amount_in) == (amount // 2, paid, amount // 2 + left)
            seen += left > 0
    assert seen
