"""Polynomials that represent a curve between three of its trades, so that a search evaluates each trade once.

Between two trades the input q is a polynomial of the marginal rate r. It matches q and dq/dr at both ends and at a
trade between them, which makes it a quintic. One more term makes the output, the integral of r dq, match as well. The
output is that integral everywhere, so a piece is concave by itself and its rate is the derivative of its output. The
last term is about as large as the error of the quintic (Hermite interpolation, Quarteroni, Sacco, Saleri, Numerical
Mathematics, section 8.5). If it is too large, or if the output between the ends does not match, no piece is made.
"""

from __future__ import annotations

from bisect import bisect_right

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

PIECE_LENGTH: Final = 0.03125
"""The length of the longest piece, in the logarithm of the bought balance.

Empirical: most curves reject one twice as long.
"""
MAX_HALVINGS: Final = 8
"""The number of halvings down to the shortest piece, which is 0.0001 long, below the scale on which any of our curves
bends."""
_MAX_PIECES: Final = 96
"""The maximum number of pieces of a curve, which bounds its memory to some 40 kB; an order needs two to ten."""
_MAX_ERROR: Final = 3e-9
"""The largest last term, as a part of the amount sold in the piece.

The remaining error of the rate was at most 1.2e-9 on 190,000 random trades of stable and cryptoswap pools, and above
1e-10 on 0.04% of them.
"""
_BUMP: Final = 0.0024
"""The maximum of x^2 (x - 1/2)^2 (x - 1)^2 for x in [0, 1]."""
_THIRD: Final = 1.0 / 3.0
_SIXTH: Final = 1.0 / 6.0
_SEVENTH: Final = 1.0 / 7.0
_ROUNDING: Final = 1e-15
"""The relative difference of two outputs up to which it is float rounding."""


class CurvePoint(NamedTuple):
    """A trade on a curve: its marginal rate, both amounts, and the slope -d sold / d ln rate."""

    rate: float
    sold: float
    bought: float
    slope: float


class Piece(NamedTuple):
    """The trades with rates from `low` to `high`.

    `sold` and `bought` are the amounts at the rate `top`. With x = (top - rate) * scale, x (c1 + c2 x + c3 x^2 + ...)
    is sold in addition.
    """

    low: float
    high: float
    top: float
    scale: float
    sold: float
    bought: float
    c1: float
    c2: float
    c3: float
    c4: float
    c5: float
    c6: float


def fit_piece(first: CurvePoint, middle: CurvePoint, last: CurvePoint) -> Piece | None:
    """Return the piece from `first` to `last` through `middle`, or None if it would be inaccurate."""
    rate0, sold0, bought0, slope0 = first
    rate_m, sold_m, bought_m, slope_m = middle
    rate1, sold1, bought1, slope1 = last
    width = rate0 - rate1
    if not (rate0 > rate_m > rate1 > 0.0 and min(slope0, slope_m, slope1) > 0.0):
        return None
    m = (rate0 - rate_m) / width
    d0, dm, d1 = slope0 * width / rate0, slope_m * width / rate_m, slope1 * width / rate1
    vm, v1 = sold_m - sold0, sold1 - sold0
    # Divided differences over the nodes 0, 0, m, m, 1, 1.
    a1, a3 = vm / m, (v1 - vm) / (1.0 - m)
    b0, b1, b2, b3 = (a1 - d0) / m, (dm - a1) / m, (a3 - dm) / (1.0 - m), (d1 - a3) / (1.0 - m)
    e0, e1, e2 = (b1 - b0) / m, b2 - b1, (b3 - b2) / (1.0 - m)
    f4, f4_next = e1 - e0, e2 - e1
    f5 = f4_next - f4
    square = m * m
    c2 = b0 - m * e0 + square * f4 - square * f5
    c3 = e0 - 2.0 * m * f4 + (square + 2.0 * m) * f5
    c4 = f4 - (2.0 * m + 1.0) * f5
    c5 = f5
    weighted_sum = d0 / 2.0 + c2 * 2.0 / 3.0 + c3 * 0.75 + c4 * 0.8 + c5 * 5.0 / 6.0
    missing = bought1 - bought0 - (rate0 * v1 - width * weighted_sum)
    f6, allowed = 0.0, _MAX_ERROR * min(d0, dm, d1)
    if abs(missing) > _ROUNDING * bought1:
        area = 1.0 / 7.0 - (m + 1.0) / 3.0 + (square + 4.0 * m + 1.0) / 5.0 - (square + m) / 2.0 + square / 3.0
        f6 = missing / (width * area)
        if not abs(f6) * _BUMP <= allowed:
            return None
    c2, c3 = c2 + square * f6, c3 - 2.0 * (square + m) * f6
    c4, c5 = c4 + (square + 4.0 * m + 1.0) * f6, c5 - 2.0 * (m + 1.0) * f6
    piece = Piece(rate1, rate0, rate0, 1.0 / width, sold0, bought0, d0, c2, c3, c4, c5, f6)
    # An error with opposite signs in the two halves shows only in the middle.
    missing = bought_m - evaluate_piece(piece, rate_m)[1]
    return piece if abs(missing) <= max(_ROUNDING * bought_m, allowed * width) else None


def evaluate_piece(piece: Piece, rate: float) -> tuple[float, float, float]:
    """Return (sold, bought, slope) of the trade at a rate inside the piece."""
    _, _, top, scale, sold, bought, c1, c2, c3, c4, c5, c6 = piece
    fall = top - rate
    x = fall * scale
    added = x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * (c5 + x * c6)))))
    growth = c1 + x * (2.0 * c2 + x * (3.0 * c3 + x * (4.0 * c4 + x * (5.0 * c5 + x * 6.0 * c6))))
    # The integral of q dr from the first trade, over the decrease of the rate.
    below = x * (
        0.5 * c1 + x * (c2 * _THIRD + x * (0.25 * c3 + x * (0.2 * c4 + x * (c5 * _SIXTH + x * c6 * _SEVENTH))))
    )
    return sold + added, bought + rate * added + fall * below, rate * growth * scale


class PieceTable:
    """The pieces of a curve, made on demand; they may touch but not overlap.

    A thread may read the table while another one adds a piece.
    """

    __slots__ = ("_tables", "rejected")

    def __init__(self) -> None:
        # The negated upper rates in ascending order, and their pieces; replaced together.
        self._tables: tuple[list[float], list[Piece]] = [], []
        self.rejected: set[tuple[float, int, int]] = set()

    def find(self, rate: float) -> Piece | None:
        """Return the piece that contains the rate, or None if no piece does."""
        tops, pieces = self._tables
        k = bisect_right(tops, -rate) - 1
        if k >= 0 and pieces[k].low <= rate:
            return pieces[k]
        return None

    def add(self, piece: Piece) -> None:
        """Add a piece. If there are too many pieces, the new one replaces all of them."""
        tops, pieces = self._tables if len(self._tables[1]) < _MAX_PIECES else ([], [])
        k = bisect_right(tops, -piece.high)
        self._tables = [*tops[:k], -piece.high, *tops[k:]], [*pieces[:k], piece, *pieces[k:]]
