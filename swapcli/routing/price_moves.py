"""How prices have moved between two states of some pools, and where that would have led pools not looked at.

Arbitrage keeps the pools of a token together, so most of what happens to one pool has happened to the others: the
prices of its tokens moved. What is left once the tokens' own moves are taken out is a pool's alone, and its spread says
how far off a guess at any other pool may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import exp, log, sqrt
from statistics import fmean, median
from typing import NamedTuple

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.routing.solver.laplacian import Rows, solve_laplacian

_ROUNDS = 4  # of reweighting: outliers, as of drained pools, count for less each time
_MIN_SPREAD = 1e-6  # a hundredth of a basis point: below it all residuals are rounding
_MAD_TO_SIGMA = 1.4826  # standard deviations in a median absolute deviation of a normal distribution
_REGULARIZATION = 1e-9  # weight that ties every token to no move at all, so that the system has one solution
_MIN_INPUT = 1_000  # base units: less is lost in rounding
_MIN_MOVE = 1e-7  # a hundredth of what the fee of any pool hides


class PriceMoves(NamedTuple):
    """`log_growth` are logarithms of how much each token's price has grown beside the others', by address.

    `spread` is a robust standard deviation of what pools moved beside that.
    """

    log_growth: Mapping[str, float]
    spread: float


class _Change(NamedTuple):
    """A pool's price of `token` in units of `other` has grown by the logarithm `growth`."""

    token: str
    other: str
    growth: float


def price_moves(before: Mapping[str, Pool], after: Mapping[str, Pool]) -> PriceMoves:
    """Return how the tokens of the pools that both know have moved: the least squares fit to the pools' mid prices."""
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
    """Return a standard deviation of the residuals, allowing for what the fit itself takes away.

    The only pool of a token tells nothing: the token's own move explains it.
    """
    degrees = Counter(token for change in changes for token in (change.token, change.other))
    telling = [
        (change, residual)
        for change, residual in zip(changes, residuals, strict=True)
        if min(degrees[change.token], degrees[change.other]) > 1
    ]
    if not telling:
        return _MIN_SPREAD
    fitted = len({token for change, _ in telling for token in (change.token, change.other)}) - 1
    taken = len(telling) / max(len(telling) - fitted, 1)
    return max(_MAD_TO_SIGMA * median(residual for _, residual in telling) * sqrt(taken), _MIN_SPREAD)


def shift_market(pools: Mapping[str, Pool], moves: PriceMoves) -> dict[str, Pool]:
    """Return `pools` as arbitrage would have left them after `moves`.

    A token that did not show how it moved is taken to have moved as its neighbours did on average: for a path through
    it only the moves of the others matter, whatever its own.
    """
    neighbours: dict[str, list[float]] = {}
    for pool in pools.values():
        known = [moves.log_growth[token] for token in pool.tokens if token in moves.log_growth]
        for token in pool.tokens if known else ():
            if token not in moves.log_growth:
                neighbours.setdefault(token, []).extend(known)
    guessed = {token: fmean(found) for token, found in neighbours.items()}
    moved = moves._replace(log_growth={**moves.log_growth, **guessed})
    return {key: shift_pool(pool, moved) for key, pool in pools.items()}


def shift_pool(pool: Pool, moves: PriceMoves) -> Pool:
    """Return `pool` as arbitrage would have left it after `moves`, the pool itself where it does not allow that."""
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
    except (PoolError, ArithmeticError):
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
    """Return the logarithm of the rate between those of the two directions; None where one sells nothing."""
    try:
        forth, back = pool.curve(token, other).start_rate, pool.curve(other, token).start_rate
        return (log(forth) - log(back)) / 2.0
    except (ArithmeticError, ValueError):
        return None


def _fit_moves(changes: Iterable[_Change], weights: Iterable[float]) -> dict[str, float]:
    """Return the tokens' moves for which the weighted squares of what they leave unexplained sum to the least."""
    numbers: dict[str, int] = {}
    off: Rows = []
    diagonal: list[float] = []
    right: list[float] = []
    for change, weight in zip(changes, weights, strict=True):
        for address in (change.token, change.other):
            if address not in numbers:
                numbers[address] = len(numbers)
                off.append({})
                diagonal.append(_REGULARIZATION)
                right.append(0.0)
        i, j = numbers[change.token], numbers[change.other]
        off[i][j] = off[j][i] = off[i].get(j, 0.0) + weight
        diagonal[i] += weight
        diagonal[j] += weight
        right[i] += weight * change.growth
        right[j] -= weight * change.growth
    found = solve_laplacian(diagonal, off, right)
    return {address: found[number] for address, number in numbers.items()}
