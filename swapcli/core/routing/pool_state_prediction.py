"""Predict the states of unread pools from the price moves of pools that were read in two states.

Arbitrage keeps the pools of a token in line: most of a pool's price change is due to the price moves of its tokens,
which all pools of these tokens share. The rest is specific to the pool, and its spread measures the error of a
prediction for any other pool.

The moves are the least-squares potentials of a graph (Jiang, Lim, Yao, Ye, Statistical ranking and combinatorial Hodge
theory, 2011), iteratively reweighted with Cauchy weights against outliers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import exp, log, sqrt
from statistics import fmean, median

from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.records import NamedTuple
from swapcli.core.routing.solver.laplacian import Rows, solve_laplacian

_ROUNDS = 4  # of reweighting: weights of outliers, such as drained pools, settle within four
_MIN_SPREAD = 1e-6  # a hundredth of a basis point: smaller residuals are rounding errors
_MAD_TO_SIGMA = 1.4826  # ratio of standard deviation to median absolute deviation, normal distribution
_REGULARIZATION = 1e-9  # weight that ties every token to zero movement, so that the system has one solution
_MIN_INPUT = 1_000  # base units: smaller trades are dominated by rounding
_MIN_MOVE = 1e-7  # smaller moves are far within the fee of any pool


class PriceMoves(NamedTuple):
    """The logarithms of each token's price growth relative to the others, by address.

    `spread` is a robust standard deviation of the pools' own moves.
    """

    log_growth: Mapping[str, float]
    spread: float


class _Change(NamedTuple):
    """The logarithm of the growth of a pool's price of `token` in units of `other`."""

    token: str
    other: str
    growth: float


def price_moves(before: Mapping[str, Pool], after: Mapping[str, Pool]) -> PriceMoves:
    """Return the price moves of the tokens with pools in both states: a robust least-squares fit to the mid prices."""
    changes = [change for key, pool in after.items() if key in before for change in _changes(before[key], pool)]
    moves: dict[str, float] = {}
    weights = [1.0] * len(changes)
    spread = 0.0
    for _ in range(_ROUNDS if changes else 0):
        moves = _fit_moves(changes, weights)
        residuals = [abs(moves[c.token] - moves[c.other] - c.growth) for c in changes]
        spread = _spread(changes, residuals)
        weights = [1.0 / (1.0 + (residual / spread) ** 2) for residual in residuals]
    return PriceMoves(moves, spread)


def _spread(changes: Sequence[_Change], residuals: Sequence[float]) -> float:
    """Return a standard deviation of the residuals, corrected for the degrees of freedom that the fit uses.

    A token's only pool carries no information: the token's own move explains its change.
    """
    degrees = Counter(token for change in changes for token in (change.token, change.other))
    informative = [
        (change, residual)
        for change, residual in zip(changes, residuals, strict=True)
        if min(degrees[change.token], degrees[change.other]) > 1
    ]
    if not informative:
        return _MIN_SPREAD
    fitted = len({token for change, _ in informative for token in (change.token, change.other)}) - 1
    correction = len(informative) / max(len(informative) - fitted, 1)
    return max(_MAD_TO_SIGMA * median(residual for _, residual in informative) * sqrt(correction), _MIN_SPREAD)


def shift_market(pools: Mapping[str, Pool], moves: PriceMoves) -> dict[str, Pool]:
    """Return `pools` as arbitrage would have left them after `moves`.

    A token without a known move gets the average move of its neighbours. For a path through it, only the moves of the
    other tokens matter.
    """
    neighbours: dict[str, list[float]] = {}
    for pool in pools.values():
        known = [moves.log_growth[token] for token in pool.tokens if token in moves.log_growth]
        for token in pool.tokens if known else ():
            if token not in moves.log_growth:
                neighbours.setdefault(token, []).extend(known)
    estimates = {token: fmean(solution) for token, solution in neighbours.items()}
    all_moves = moves._replace(log_growth={**moves.log_growth, **estimates})
    return {key: shift_pool(pool, all_moves) for key, pool in pools.items()}


def shift_pool(pool: Pool, moves: PriceMoves) -> Pool:
    """Return `pool` as arbitrage would have left it after `moves`, or unchanged if a swap fails."""
    known = sorted((token for token in pool.tokens if token in moves.log_growth), key=lambda t: moves.log_growth[t])
    for sold, bought in pairwise(known):
        growth = moves.log_growth[bought] - moves.log_growth[sold]
        if growth > _MIN_MOVE:
            pool = _sell_to_move_price(pool, sold, bought, growth)
    return pool


def _sell_to_move_price(pool: Pool, sold: str, bought: str, growth: float) -> Pool:
    try:
        curve = pool.curve(sold, bought)
        amount = int(curve.trade_to_marginal_rate(curve.start_rate * exp(-growth))[0]) if curve.start_rate > 0.0 else 0
        return pool.swap(sold, bought, amount)[1] if amount > _MIN_INPUT else pool
    except Exception as error:
        pass_request_errors(error)
        return pool


def _changes(before: Pool, after: Pool) -> Iterator[_Change]:
    if before == after:
        yield from (_Change(token, other, 0.0) for token, other in pairwise(after.tokens))
        return
    for token, other in combinations(after.tokens, 2):
        old, new = _log_mid(before, token, other), _log_mid(after, token, other)
        if old is not None and new is not None:
            yield _Change(token, other, new - old)


def _log_mid(pool: Pool, token: str, other: str) -> float | None:
    """Return the logarithm of the mid rate of the two directions; None if one of them sells nothing."""
    try:
        forth, back = pool.curve(token, other).start_rate, pool.curve(other, token).start_rate
        return (log(forth) - log(back)) / 2.0
    except Exception as error:
        pass_request_errors(error)
        return None


def _fit_moves(changes: Iterable[_Change], weights: Iterable[float]) -> dict[str, float]:
    """Return the weighted least-squares fit of token moves to the changes."""
    numbers: dict[str, int] = {}
    off: Rows = []
    diagonal: list[float] = []
    right_side: list[float] = []
    for change, weight in zip(changes, weights, strict=True):
        for address in (change.token, change.other):
            if address not in numbers:
                numbers[address] = len(numbers)
                off.append({})
                diagonal.append(_REGULARIZATION)
                right_side.append(0.0)
        i, j = numbers[change.token], numbers[change.other]
        off[i][j] = off[j][i] = off[i].get(j, 0.0) + weight
        diagonal[i] += weight
        diagonal[j] += weight
        right_side[i] += weight * change.growth
        right_side[j] -= weight * change.growth
    solution = solve_laplacian(diagonal, off, right_side)
    return {address: solution[number] for address, number in numbers.items()}
