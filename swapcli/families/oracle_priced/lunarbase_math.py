"""The integer maths of Lunarbase's pools: the output of a sale around a square-root price, rounded like its contract.

The operator publishes P, the square root of the price of X in Y times 2^96. Two rules turn the size of a sale into
slippage; r is the value of the sale as a part of the value of both reserves, K is `concentration` / 2^12:

* quadratic: the sale moves along a constant product whose price range ends at a part c = K r^2 below the price (above
  it for a sale of Y), and which contains the whole bought reserve;
* linear: the price worsens by K r / 10 parts per million, rounded up to whole ones, 10% at most.

Public facts: Lunarbase-Lab/lunarbase-pmm-math, its READMEs and test vectors before and after commit 2298292; the same
vectors of the quadratic rule are in KyberNetwork/kyberswap-dex-lib@ae6a99aa.
"""

from __future__ import annotations

from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import UINT256_LIMIT, div_up, mul_div_up, require_uint256

Q96: Final = 1 << 96
"""The scale of square roots of prices."""
Q24: Final = 1 << 24
"""A fee of 100%."""
K_UNIT: Final = 1 << 12
"""The scale of `concentration`."""
SLIPPAGE_UNIT: Final = 1_000_000
"""A linear slippage of 100%."""
SLIPPAGE_SCALE: Final = 10
"""The divisor of the coefficient in the linear rule."""
MAX_SLIPPAGE: Final = SLIPPAGE_UNIT // SLIPPAGE_SCALE
_Q48: Final = 1 << 48
"""100% in the unit of the part by which the quadratic rule widens the range."""
_Q12: Final = 1 << 12
_LIQUIDITY_LIMIT: Final = 1 << 160
"""Above this, the contract's shift by 96 bits would lose bits, a case that no public source describes."""


class Anchor(NamedTuple):
    """The basis of a sale's price: the published square root of the price, both reserves, and the coefficient."""

    root: int
    reserve_x: int
    reserve_y: int
    concentration: int

    def value(self, amount_x: int) -> int:
        """Return the value in Y of an amount of X."""
        return _mul_div(_mul_div(amount_x, self.root, Q96), self.root, Q96)

    def worth_in_x(self, amount_y: int) -> int:
        """Return the value in X of an amount of Y."""
        return _mul_div(_mul_div(amount_y, Q96, self.root), Q96, self.root)

    @property
    def wealth(self) -> int:
        """The value of both reserves in Y."""
        return self.value(self.reserve_x) + self.reserve_y


def gross_output(anchor: Anchor, amount_in: int, sells_x: bool, is_linear: bool) -> tuple[int, int]:
    """Return the output of a sale before the fee, and the square root of the price that the contract reports with it.

    Raises `InsufficientLiquidity` if the pool would not take the sale, and `SwapReverts` if numbers overflow.
    """
    gross, root = (_linear if is_linear else _quadratic)(anchor, amount_in, sells_x)
    reserve = anchor.reserve_y if sells_x else anchor.reserve_x
    if gross > reserve:
        raise InsufficientLiquidity(f"the pool holds less than {gross} of the output token")
    return gross, root


def split_fee(gross: int, fee: int, multiplier: int) -> tuple[int, int]:
    """Return the output and the fee. `fee` is in parts of 2^24; callers without a privilege pay `multiplier` times that
    fee."""
    taken = gross * fee // Q24
    if multiplier > 1:
        taken = min(taken * multiplier, gross)
    return gross - taken, taken


def _quadratic(anchor: Anchor, amount_in: int, sells_x: bool) -> tuple[int, int]:
    width = _range_width(anchor, amount_in, sells_x)
    if not width:
        return _at_the_anchor(anchor, amount_in, sells_x), anchor.root
    if width >= _Q48:
        raise InsufficientLiquidity(f"{amount_in} is too large for the pool's price range")
    narrow = isqrt(_Q48 - width)  # the root of 1 - c, of 2^24
    return (_range_below if sells_x else _range_above)(anchor, amount_in, narrow)


def _range_width(anchor: Anchor, amount_in: int, sells_x: bool) -> int:
    """Return c times 2^48."""
    if not anchor.concentration:
        return 0
    wealth = anchor.wealth
    if not wealth:
        return 0
    value = anchor.value(amount_in) if sells_x else amount_in
    part = _Q48 if value >= wealth else _mul_div(value, _Q48, wealth)
    return min(anchor.concentration * (part * part // _Q48) // _Q12, _Q48)


def _range_below(anchor: Anchor, amount_x: int, narrow: int) -> tuple[int, int]:
    """Sell X in a range below the price, whose lowest root is P times the root of 1 - c."""
    root = anchor.root
    lowest = root * narrow // Q24
    if lowest >= root or not lowest:
        raise InsufficientLiquidity("the pool's price range is empty")
    liquidity = _checked(anchor.reserve_y * Q96 // (root - lowest))
    scaled = liquidity * Q96
    if amount_x > scaled * (root - lowest) // root // lowest:
        raise InsufficientLiquidity(f"{amount_x} is too large for the pool's price range")
    product = amount_x * root
    if scaled + product < UINT256_LIMIT:
        after = mul_div_up(scaled, root, scaled + product)
    else:  # in this case, the contract divides first
        after = div_up(scaled, scaled // root + amount_x)
    return liquidity * (root - after) // Q96, after


def _range_above(anchor: Anchor, amount_y: int, narrow: int) -> tuple[int, int]:
    """Sell Y in a range above the price, whose highest root is P divided by the root of 1 - c."""
    root = anchor.root
    highest = root * Q24 // narrow
    if highest <= root:
        raise InsufficientLiquidity("the pool's price range is empty")
    liquidity = _checked(_mul_div(anchor.reserve_x, root * highest // Q96, highest - root))
    if not liquidity or amount_y > liquidity * (highest - root) // Q96:
        raise InsufficientLiquidity(f"{amount_y} is too large for the pool's price range")
    after = root + amount_y * Q96 // liquidity
    return liquidity * Q96 * (after - root) // after // root, after


def _linear(anchor: Anchor, amount_in: int, sells_x: bool) -> tuple[int, int]:
    gross, slippage = _at_the_anchor(anchor, amount_in, sells_x), _slippage(anchor, amount_in, sells_x)
    if not slippage:
        return gross, anchor.root
    gross -= mul_div_up(gross, slippage, SLIPPAGE_UNIT + slippage)
    worse, better = SLIPPAGE_UNIT + slippage, SLIPPAGE_UNIT
    ratio = better * _Q48 // worse if sells_x else worse * _Q48 // better
    return gross, anchor.root * isqrt(ratio) // Q24


def _slippage(anchor: Anchor, amount_in: int, sells_x: bool) -> int:
    """Return the linear slippage in parts per million, with each of three divisions rounded up."""
    wealth = anchor.wealth
    if not (anchor.concentration and wealth):
        return 0
    value = anchor.value(amount_in) if sells_x else amount_in
    scaled = require_uint256(mul_div_up(value, anchor.concentration, wealth))
    return min(div_up(div_up(scaled, K_UNIT), SLIPPAGE_SCALE), MAX_SLIPPAGE)


def _at_the_anchor(anchor: Anchor, amount_in: int, sells_x: bool) -> int:
    return anchor.value(amount_in) if sells_x else anchor.worth_in_x(amount_in)


def _mul_div(a: int, b: int, denominator: int) -> int:
    return require_uint256(a * b // denominator)


def _checked(liquidity: int) -> int:
    if liquidity >= _LIQUIDITY_LIMIT:
        raise SwapReverts("the liquidity overflows the contract's arithmetic")
    return liquidity
