"""Execute a route in integers, as the router contract does.

The router holds the input and executes a flat list of swaps. In each swap, most routers spend `floor(balance * rate /
rate_scale)` of the current balance of the swap's input token. The list then merges the segments: a pool's weight is the
sum of segment share times hop share, tokens come in topological order, and each rate is relative to the balance after
the token's earlier swaps, including input that pools did not spend. Some routers may instead read rates as parts of the
balance before the token's first swap: then rates sum to 100%, and up to one unit per swap stays in the router.

A router that executes paths takes an absolute amount of the input for each path of single pools. A hop of several pools
becomes several paths: the pools of consecutive hops are joined in order, each as far as its share reaches (the
north-west corner rule of transportation problems), so that a hop of m pools after one of n adds at most m - 1 paths.

Only replayed amounts are ever shown or encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from swapcli.core.errors import InvalidRoute, PoolError, SwapReverts, UncomputableSwap
from swapcli.core.model.pool import Pool, SharedState
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Step, Swap
from swapcli.core.model.router_execution import RATES, Execution
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import topological_order

_ROUTE_WEIGHT = SHARES_PER_ROUTE * SHARES_PER_HOP


class FlatSwap(NamedTuple):
    """One entry of the flat list, before amounts are known.

    The swap spends the fraction `rate` of the router's balance or, if `input_weight` is not 0, that many
    `_ROUTE_WEIGHT`ths of the route's input.
    """

    pool: str
    token_in: str
    token_out: str
    rate: int
    input_weight: int = 0


class Replay(NamedTuple):
    """An executed route: its steps with amounts, and the states of its pools afterwards, by key."""

    steps: tuple[Step, ...]
    amount_out: int
    pools_after: Mapping[str, Pool]

    @property
    def sampled_pools(self) -> tuple[str, ...]:
        """The keys of the pools whose outputs are quotes from their protocols."""
        return tuple(key for key, pool in self.pools_after.items() if pool.is_sampled)

    @property
    def estimated_pools(self) -> tuple[str, ...]:
        """The keys of the sampled pools whose protocol has not quoted the exact amount."""
        return tuple(key for key, pool in self.pools_after.items() if pool.is_estimated)


def flatten(route: Route, execution: Execution = RATES) -> tuple[FlatSwap, ...]:
    """Return the flat list of `route`, in time linear in the number of swaps. Raises `InvalidRoute`."""
    _check_shares(route)
    _check_paths(route)
    return _join_paths(route, execution) if execution.executes_paths else _merge_segments(route, execution)


def _merge_segments(route: Route, execution: Execution) -> tuple[FlatSwap, ...]:
    """Return the swaps of all segments by token, with rates relative to the token's balance."""
    weights: dict[str, dict[tuple[str, str], int]] = {}
    appearance: dict[str, int] = {}
    for segment in route.segments:
        for hop in segment.hops:
            for swap in hop:
                appearance.setdefault(swap.token_in, len(appearance))
                appearance.setdefault(swap.token_out, len(appearance))
                spent = weights.setdefault(swap.token_in, {})
                key = (swap.pool, swap.token_out)
                spent[key] = spent.get(key, 0) + segment.share * swap.share
    order, token_in = _execution_order(weights, appearance), route.segments[0].hops[0][0].token_in
    return tuple(
        swap
        for token in order
        for swap in _choose_rates(execution, sells_input=token == token_in)(token, weights[token], execution.rate_scale)
    )


def _join_paths(route: Route, execution: Execution) -> tuple[FlatSwap, ...]:
    """Return the swaps of one path of single pools after another. The last path spends the rest of the input."""
    weights: dict[tuple[Swap, ...], int] = {}
    for segment in route.segments:
        for path, share in _single_pool_paths(segment):
            weights[path] = weights.get(path, 0) + segment.share * share
    scale, last = execution.rate_scale, len(weights) - 1
    return tuple(
        FlatSwap(swap.pool, swap.token_in, swap.token_out, scale, weight if position == 0 and number < last else 0)
        for number, (path, weight) in enumerate(weights.items())
        for position, swap in enumerate(path)
    )


def planned_steps(route: Route, amount_in: int, execution: Execution = RATES) -> tuple[Step, ...]:
    """Return the steps of a route without amounts: shares alone determine which pool spends which part.

    For a router that executes paths, the first step of each path has an amount. Raises `InvalidRoute`.
    """
    swaps = flatten(route, execution)
    token_in, left = swaps[0].token_in, amount_in
    steps = []
    for swap in swaps:
        spent = 0
        if execution.executes_paths and swap.token_in == token_in:
            spent = amount_in * swap.input_weight // _ROUTE_WEIGHT if swap.input_weight else left
            left -= spent
        steps.append(Step(swap.pool, swap.token_in, swap.token_out, swap.rate, spent, 0))
    return tuple(steps)


_Rates = Callable[[str, Mapping[tuple[str, str], int], int], Sequence[FlatSwap]]
"""Returns the swaps of a token, from the weights of its pools and the scale of rates."""

_WeightedPath = tuple[tuple[Swap, ...], int]
"""A path of single pools, and its share of the segment in hundredths of a percent."""


def _single_pool_paths(segment: Segment) -> list[_WeightedPath]:
    """Return paths of single pools, with their shares of the segment, that together carry each pool's share of its hop.

    The swaps of a path have no shares of their own, so that equal paths of several segments are equal.
    """
    paths: list[_WeightedPath] = [((), SHARES_PER_HOP)]
    for hop in segment.hops:
        joined: list[_WeightedPath] = []
        swap, left = hop[0], hop[0].share
        following = iter(hop[1:])
        for path, share in paths:
            missing = share
            while missing:
                if not left:
                    swap = next(following)
                    left = swap.share
                taken = min(missing, left)
                joined.append(((*path, swap._replace(share=SHARES_PER_HOP)), taken))
                missing -= taken
                left -= taken
        paths = joined
    return paths


def _check_shares(route: Route) -> None:
    if sum(segment.share for segment in route.segments) != SHARES_PER_ROUTE:
        raise InvalidRoute("the shares of the segments do not sum to 100%")
    for segment in route.segments:
        if segment.share <= 0 or not segment.hops:
            raise InvalidRoute("a segment has no share or no hops")
        for hop in segment.hops:
            if not hop or any(swap.share <= 0 for swap in hop) or sum(swap.share for swap in hop) != SHARES_PER_HOP:
                raise InvalidRoute("the shares of the pools in one hop do not sum to 100%")


def _check_paths(route: Route) -> None:
    """Check that all segments are simple paths between the same two tokens. Raises `InvalidRoute`."""
    first, last = route.segments[0].hops[0][0].token_in, route.segments[0].hops[-1][0].token_out
    for segment in route.segments:
        tokens = _path(segment)
        if (tokens[0], tokens[-1]) != (first, last):
            raise InvalidRoute("the segments start or end at different tokens")
        if len(set(tokens)) < len(tokens):
            raise InvalidRoute("the hops of the route form a cycle")


def _path(segment: Segment) -> list[str]:
    """Return the tokens that a segment passes through."""
    tokens = [segment.hops[0][0].token_in]
    for hop in segment.hops:
        token_out = hop[0].token_out
        if any(swap.token_in != tokens[-1] or swap.token_out != token_out for swap in hop):
            raise InvalidRoute("the hops of a segment do not connect")
        tokens.append(token_out)
    return tokens


def _execution_order(weights: Mapping[str, Mapping[tuple[str, str], int]], appearance: Mapping[str, int]) -> list[str]:
    """Return the tokens to spend, each after all its inflows; ready tokens come in order of first appearance."""
    edges = ((token, token_out) for token, swaps in weights.items() for token_out in {out for _, out in swaps})
    order = topological_order(edges, appearance)
    if order is None:
        raise InvalidRoute("the hops of the route form a cycle")
    return [token for token in order if token in weights]


def _choose_rates(execution: Execution, *, sells_input: bool) -> _Rates:
    if execution.is_absolute(sells_input=sells_input):
        return _absolute_rates
    return _nearest_rates if execution.rounds_to_nearest else _rates


def _rates(token: str, weights: Mapping[tuple[str, str], int], scale: int) -> Sequence[FlatSwap]:
    remaining = sum(weights.values())
    swaps = []
    for (pool, token_out), weight in weights.items():
        swaps.append(FlatSwap(pool, token, token_out, scale * weight // remaining))
        remaining -= weight
    return swaps


def _nearest_rates(token: str, weights: Mapping[tuple[str, str], int], scale: int) -> Sequence[FlatSwap]:
    """Return the swaps of a token with rates rounded to the nearest.

    The largest shares come first: the rest after them is small, and so is the amount of one unit of rate. Every pool
    gets at least one unit of rate, and the last one spends the rest.
    """
    remaining = sum(weights.values())
    swaps = []
    for (pool, token_out), weight in sorted(weights.items(), key=lambda entry: -entry[1]):
        nearest = (2 * scale * weight + remaining) // (2 * remaining)
        rate = scale if weight == remaining else min(max(nearest, 1), scale - 1)
        swaps.append(FlatSwap(pool, token, token_out, rate))
        remaining -= weight
    return swaps


def _absolute_rates(token: str, weights: Mapping[tuple[str, str], int], scale: int) -> Sequence[FlatSwap]:
    """Return the swaps with rates that sum to `scale`: each is the difference of two rounded sums of weights."""
    total = sum(weights.values())
    before, swaps = 0, []
    for (pool, token_out), weight in weights.items():
        after = before + weight
        swaps.append(FlatSwap(pool, token, token_out, scale * after // total - scale * before // total))
        before = after
    return swaps


def replay(pools: Mapping[str, Pool], route: Route, amount_in: int, execution: Execution = RATES) -> Replay:
    """Execute `route` on `pools` (by key) with `amount_in` base units of its first token, as a router does.

    Raises `InvalidRoute` for paths that do not connect, an unknown pool, or a pool without the tokens. Raises
    `PoolError` if a swap would revert, spend nothing or leave input behind, or if the code of a pool fails.
    """
    swaps = flatten(route, execution)
    check_pools(pools, swaps)
    with faults_as_reverts():
        return execute(pools, swaps, amount_in, execution)


@contextmanager
def faults_as_reverts() -> Iterator[None]:
    """Raise `SwapReverts` instead of `PoolFault`, for callers that replay a given route and cannot skip a pool."""
    try:
        yield
    except PoolFault as fault:
        raise SwapReverts(f"pool {fault.key}: {fault.reason}", details={"pool": fault.key}) from fault


def check_pools(pools: Mapping[str, Pool], swaps: Sequence[FlatSwap]) -> None:
    """Raise `InvalidRoute` unless `pools` contains every pool that `swaps` uses, with matching tokens."""
    for swap in swaps:
        pool = pools.get(swap.pool)
        if pool is None:
            raise InvalidRoute(f"the route uses pool {swap.pool}, which is not in the market")
        if swap.token_in not in pool.tokens or swap.token_out not in pool.tokens:
            raise InvalidRoute(f"pool {swap.pool} does not hold {swap.token_in} and {swap.token_out}")


class PoolFault(Exception):
    """The code of a pool raised an exception, with the reason in `reason`.

    A search skips that pool and starts again.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(key, reason)
        self.key, self.reason = key, reason


def swap_exactly(pool: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool]:
    """Return the result of `pool.swap`. Raises `PoolError`, and `PoolFault` in place of `UncomputableSwap`."""
    try:
        return pool.swap(token_in, token_out, amount_in)
    except UncomputableSwap as error:
        raise _fault_of(pool, error) from error


def _fault_of(pool: Pool, error: UncomputableSwap) -> PoolFault:
    from swapcli.core.model.skipped_pool import fault_reason

    return PoolFault(pool.key, fault_reason(error))


class KnownSwaps:
    """A cache of one route's swaps between replays.

    If a pool pays the same few units for slightly more input, all swaps after it are the same.
    """

    __slots__ = ("_results",)

    def __init__(self) -> None:
        # Stored with the pools, so that no other pool can get the ID of one.
        self._results: dict[tuple[int, str, str, int], tuple[Pool, tuple[int, Pool]]] = {}

    def swap(self, pool: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool]:
        """Return the result of `pool.swap`, raising the same errors."""
        key = (id(pool), token_in, token_out, amount_in)
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = pool, pool.swap(token_in, token_out, amount_in)
        return found[1]


def execute(
    pools: Mapping[str, Pool],
    swaps: Sequence[FlatSwap],
    amount_in: int,
    execution: Execution = RATES,
    known: KnownSwaps | None = None,
) -> Replay:
    """Execute the flat list of a valid route; `known` caches swaps between replays.

    Raises `PoolError`, and `PoolFault` if the code of a pool fails.
    """
    scale = execution.rate_scale
    token_in = swaps[0].token_in
    is_absolute = {swap.token_in: execution.is_absolute(sells_input=swap.token_in == token_in) for swap in swaps}
    balances = {token_in: amount_in}
    before_first_swap: dict[str, int] = {}
    touched: dict[str, Pool] = {}
    shared: dict[str, SharedState] = {}
    sampled = _SampledFlow()
    steps: list[Step] = []
    for swap in swaps:
        key, sold, bought, rate, input_weight = swap
        pool = touched.get(key) or pools[key]
        if shared:
            pool = _with_shared_state(pool, shared)
        if key in touched and pool.is_single_use:
            problem = f"pool {key}: only one swap per transaction can be predicted"
            raise SwapReverts(problem, details={"pool": key})
        balance = balances[sold]
        if input_weight:
            spend = amount_in * input_weight // _ROUTE_WEIGHT
        elif is_absolute[sold]:
            spend = before_first_swap.setdefault(sold, balance) * rate // scale
        else:
            spend = balance * rate // scale
        if spend <= 0:
            raise SwapReverts("the share is too small to spend anything", details={"pool": key})
        try:
            # As in `swap_exactly`, whose call would take a twentieth of the time of a pair's swap.
            if known is None:
                amount_out, after = pool.swap(sold, bought, spend)
            else:
                amount_out, after = known.swap(pool, sold, bought, spend)
        except UncomputableSwap as error:
            raise _fault_of(pool, error) from error
        except PoolError as error:
            error.details.setdefault("pool", key)
            raise
        touched[key] = after
        for changed in after.shared_states:
            _record_shared_state(changed, shared)
        sampled.add(pool, swap, spend, amount_out)
        balances[sold] = balance - spend
        if pool.leaves_input and rate != scale:  # the last swap of a token sells all that is left
            balances[sold] += pool.unspent(sold, bought, spend)
        balances[bought] = balances.get(bought, 0) + amount_out
        steps.append(Step(key, sold, bought, rate, spend, amount_out))
    return Replay(tuple(steps), balances[swaps[-1].token_out], touched)


def _with_shared_state(pool: Pool, shared: Mapping[str, SharedState]) -> Pool:
    """Return the pool after earlier swaps, also in other pools, that changed a contract it swaps through."""
    for known in pool.shared_states:
        changed = shared.get(known.address)
        # A market file may give one address to contracts of different families, whose states have different forms.
        if changed is not None and len(changed.reserves) == len(known.reserves):
            pool = pool.with_shared_state(changed)
    return pool


def _record_shared_state(changed: SharedState, shared: dict[str, SharedState]) -> None:
    """Record the state of the contract that a pool has swapped through, because others may use it."""
    before = shared.get(changed.address)
    if changed.lp_supply is None and before is not None:
        changed = changed._replace(lp_supply=before.lp_supply)
    shared[changed.address] = changed


class _SampledFlow:
    """The tokens whose balances depend on the output of a sampled pool.

    The output of such a pool is known only once its protocol has quoted the amount. No sampled pool may sell the output
    of another one, so that all protocols can quote in one exchange.
    """

    __slots__ = ("_sources",)

    def __init__(self) -> None:
        self._sources: dict[str, tuple[str, str, int]] = {}

    def add(self, pool: Pool, swap: FlatSwap, amount_in: int, amount_out: int) -> None:
        """Add a swap. Raises `SwapReverts`, which names the smaller of two consecutive sampled pools."""
        if not (pool.is_sampled or self._sources):
            return
        source = self._sources.get(swap.token_in)
        if pool.is_sampled and source:
            key, token, paid = source
            is_larger = token == swap.token_in and paid < amount_in
            problem = f"pools {key} and {swap.pool}: a path can have only one sampled pool"
            raise SwapReverts(problem, details={"pool": key if is_larger else swap.pool})
        if pool.is_sampled:
            self._sources[swap.token_out] = (swap.pool, swap.token_out, amount_out)
        elif source:
            self._sources.setdefault(swap.token_out, source)
