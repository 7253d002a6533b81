"""Curve's cryptoswap pools of volatile coins, twocrypto-ng and tricrypto-ng, exactly as the contracts compute a swap.

`version` is the pool contract's version. Version v2.1.0d of twocrypto-ng uses the StableSwap maths: see the module
fxswap.

A pool concentrates its liquidity around a price scale, which follows a moving average of its own prices as far as the
pool's earned fees can pay for it. So a swap also changes the invariant, the prices and maybe the scale, and the next
swap of the same block starts from them. The fee stays in the pool; it grows from `mid_fee` in balance to `out_fee` far
out of balance.

The state holds the contract's values at one block: `price_oracle`, and during a ramp `amp` and `gamma`, depend on its
time. The stored invariant does not belong to the stored balances, except during a ramp, when each swap solves for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.curve.cryptoswap_curve import CryptoFee, CryptoSwapCurve
from swapcli.families.curve.cryptoswap_math import A_MULTIPLIER, MATHS, Maths, fee_reduction, marginal_prices
from swapcli.families.curve.fxswap import (
    FX_VERSION,
    FxPrices,
    FxRules,
    FxSwapCurve,
    fee_at,
    find_invariant,
    find_other_balance,
    tweak_price,
)
from swapcli.families.curve.stableswap_math import FEE_DENOMINATOR
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_multi_token
from swapcli.families.reserves import reserves_after_swap, to_18_decimals
from swapcli.families.rounding import WORD_BITS, require_uint128, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

FEE_PER_PPM: Final = FEE_DENOMINATOR // PPM
VERSIONS: Final = frozenset({*MATHS, (2, FX_VERSION)})
"""The known contracts, by number of coins and version."""
_BITS: Final = 128
_FEE_PARAMETER_BITS: Final = 64
"""The number of bits in which the contracts pack each fee and each parameter of the price scale."""
_LIMIT_MARGIN: Final = 0.01
"""The fraction of the contract's balance limits that the curve omits, since the fees of a swap move the limits."""
_MAX_RAMP_BITS: Final = 64  # seconds, enough for any time on the chain
_MAX_UINT128: Final = (1 << 128) - 1
"""The contracts pack `amp`, `gamma` and prices in 128 bits; the three-coin pools reject a price of this value."""


class CryptoParameters(NamedTuple):
    """The parameters of a cryptoswap pool at a block.

    Fees are scaled by 10^10, `amp` is A n^n 10^4, and all others are scaled by 10^18. `ramp_seconds_left` is the time
    until `amp` and `gamma` stop changing, None if they do not change.
    """

    version: str
    amp: int
    gamma: int
    mid_fee: int
    out_fee: int
    fee_gamma: int
    allowed_extra_profit: int
    adjustment_step: int
    ramp_seconds_left: int | None = None


class CryptoPrices(NamedTuple):
    """A pool's prices and profit. Each price is that of a coin after the first, in units of coin 0, scaled by 10^18.

    Pools with the StableSwap maths also have `burnable_shares`, the donated liquidity tokens that a move of the scale
    may burn at the block, and `scale_is_fixed`, which means that the scale cannot move because of an earlier swap in
    the same block.
    """

    scale: tuple[int, ...]
    oracle: tuple[int, ...]
    last: tuple[int, ...]
    invariant: int
    xcp_profit: int
    virtual_price: int
    burnable_shares: int = 0
    scale_is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class CryptoSwap(Pool):
    """A cryptoswap pool: `reserves` in base units; `lp_supply` is the number of liquidity tokens, scaled by 10^18.

    `fee_ppm` is the lowest fee, rounded down.
    """

    reserves: tuple[int, ...]
    prices: CryptoPrices
    parameters: CryptoParameters
    lp_supply: int

    family: ClassVar[str] = "cryptoswap"
    swap_gas: ClassVar[int] = 130_000
    """Medians of recorded swaps (169,000 for two coins and 176,000 for three), less about 40,000 for the
    transaction."""

    @property
    def changes_without_events(self) -> bool:
        """Whether A and gamma change with time, or the price oracle is still moving towards the last prices.

        Donated liquidity is also released over time.
        """
        if self.parameters.version == FX_VERSION:
            return True
        prices = self.prices
        targets = (min(last, 2 * scale) for last, scale in zip(prices.last, prices.scale, strict=True))
        return self.parameters.ramp_seconds_left is not None or prices.oracle != tuple(targets)

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` as the contract's `exchange` does. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        if not (self.lp_supply and self.prices.virtual_price and all(self.reserves)):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        try:
            if self.parameters.version == FX_VERSION:
                amount_out, after = self._exchange_fx(i, j, amount_in)
            else:
                amount_out, reserves, moved = self._exchange(i, j, amount_in)
                after = _replace_state(self, reserves, moved)
        except SwapReverts as error:
            raise SwapReverts(f"pool {self.key}: {error.message}") from None
        prices = after.prices
        require_uint128(max(after.reserves[i], prices.invariant, prices.xcp_profit, prices.virtual_price, *prices.last))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        if not (self.lp_supply and self.prices.virtual_price and all(self.reserves)):
            return ZeroCurve()
        parameters = self.parameters
        if parameters.version == FX_VERSION:
            return self._fx_curve(i, j)
        amp, gamma = parameters.amp, parameters.gamma
        balances, maths = self._scaled_reserves(), self._maths
        try:
            d = maths.find_invariant(amp, gamma, balances, 0) if parameters.ramp_seconds_left else self.prices.invariant
            maths.check_limits(amp, gamma, d)
        except SwapReverts:
            return ZeroCurve()
        low, high = maths.share_range(gamma)
        low, high = low * (1.0 + _LIMIT_MARGIN), high * (1.0 - _LIMIT_MARGIN)
        if not all(low < balance / d < high for balance in balances):
            return ZeroCurve()
        x = balances[i]
        if len(balances) == 2:
            third, excess = 0, (2 * x - d) ** 2 / (4 * x * d)
        else:
            third = balances[3 - i - j]
            excess = (d**3 + 27 * x * third * (x + third - d)) / (27 * x * third * d)
        scales = (WAD, *self.prices.scale)
        units = [d * WAD / (scales[k] * to_18_decimals(self.decimals[k])) for k in (i, j)]
        return CryptoSwapCurve(
            (x / d, third / d, excess),
            amp / A_MULTIPLIER,
            gamma / WAD,
            CryptoFee(
                parameters.mid_fee / FEE_DENOMINATOR, parameters.out_fee / FEE_DENOMINATOR, parameters.fee_gamma / WAD
            ),
            (low, high),
            (units[0], units[1]),
        )

    def state(self) -> dict[str, object]:
        """Return the fields that `from_state` reads."""
        prices, parameters = self.prices, self.parameters
        state: dict[str, object] = {
            "version": parameters.version,
            "reserves": _texts(self.reserves),
            "invariant": str(prices.invariant),
            "amp": str(parameters.amp),
            "gamma": str(parameters.gamma),
            "price_scale": _texts(prices.scale),
            "price_oracle": _texts(prices.oracle),
            "last_prices": _texts(prices.last),
            "mid_fee": str(parameters.mid_fee),
            "out_fee": str(parameters.out_fee),
            "fee_gamma": str(parameters.fee_gamma),
            "allowed_extra_profit": str(parameters.allowed_extra_profit),
            "adjustment_step": str(parameters.adjustment_step),
            "xcp_profit": str(prices.xcp_profit),
            "virtual_price": str(prices.virtual_price),
            "lp_supply": str(self.lp_supply),
        }
        if prices.burnable_shares:
            state["burnable_shares"] = str(prices.burnable_shares)
        if prices.scale_is_fixed:
            state["scale_is_fixed"] = True
        if parameters.ramp_seconds_left is not None:
            state["ramp_seconds_left"] = parameters.ramp_seconds_left
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`. Raises `InvalidPoolState` for a version or parameters without known maths.

        Optional: `ramp_seconds_left`; of version v2.1.0d also `burnable_shares` and `scale_is_fixed`.
        """
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        parameters = _read_parameters(identity, fields)
        prices = CryptoPrices(
            _read_prices(fields, "price_scale", count - 1),
            _read_prices(fields, "price_oracle", count - 1),
            _read_prices(fields, "last_prices", count - 1, WORD_BITS if count == 2 else _BITS),
            fields.uint("invariant", _BITS),
            fields.uint("xcp_profit"),
            fields.uint("virtual_price"),
            fields.optional_uint("burnable_shares", _BITS) or 0,
            fields.boolean("scale_is_fixed"),
        )
        lp_supply = fields.uint("lp_supply", _BITS)
        if parameters.version != FX_VERSION:
            for name in ("burnable_shares", "scale_is_fixed"):
                if getattr(prices, name):
                    raise InvalidPoolState(name, f"only pools of version {FX_VERSION} have it")
        elif prices.burnable_shares and (prices.scale_is_fixed or prices.burnable_shares > lp_supply):
            problem = f"above lp_supply: {prices.burnable_shares} > {lp_supply}"
            raise InvalidPoolState("burnable_shares", "the scale is fixed" if prices.scale_is_fixed else problem)
        return cls(*identity, fields.uints("reserves", count, _BITS), prices, parameters, lp_supply)

    def _exchange(self, i: int, j: int, amount_in: int) -> tuple[int, tuple[int, ...], CryptoPrices]:
        """Return the output, the reserves and the prices after a swap of the i-th coin for the j-th."""
        prices, parameters = self.prices, self.parameters
        maths = self._maths
        scales = [WAD, *prices.scale]
        units = [to_18_decimals(places) for places in self.decimals]
        before = self._scaled_reserves()
        balances = list(before)
        balances[i] = (self.reserves[i] + amount_in) * units[i] * scales[i] // WAD
        if parameters.ramp_seconds_left:
            d = maths.find_invariant(parameters.amp, parameters.gamma, before, 0)
        else:
            d = prices.invariant
        maths.check_limits(parameters.amp, parameters.gamma, d)
        y, k0 = maths.find_balance(parameters.amp, parameters.gamma, balances, d, j)
        gross = balances[j] - y - 1
        if gross < 0:
            raise SwapReverts("the output is less than the contract's rounding")
        balances[j] = y
        gross = gross * WAD // scales[j] // units[j]
        amount_out = gross - self._fee(balances) * gross // FEE_DENOMINATOR
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out)
        balances[j] = reserves[j] * units[j] * scales[j] // WAD
        return amount_out, reserves, self._tweak_prices(maths, balances, k0)

    def _exchange_fx(self, i: int, j: int, amount_in: int) -> tuple[int, Self]:
        """Return the output and the pool after a swap of the i-th coin for the j-th with the StableSwap maths."""
        prices, parameters = self.prices, self.parameters
        amp, ramp = parameters.amp, parameters.ramp_seconds_left
        scales = (WAD, *prices.scale)
        units = [to_18_decimals(places) for places in self.decimals]
        balances = self._scaled_reserves()
        d = find_invariant(amp, balances) if ramp is not None else prices.invariant
        balances[i] = require_uint256((self.reserves[i] + amount_in) * units[i] * scales[i]) // WAD
        y = find_other_balance(amp, balances, d, j)
        gross = balances[j] - y - 1
        if gross < 0:
            raise SwapReverts("the output is less than the contract's rounding")
        balances[j] = y
        gross = gross * WAD // scales[j] // units[j]
        fee = fee_at(balances, parameters.mid_fee, parameters.out_fee, parameters.fee_gamma)
        amount_out = gross - fee * gross // FEE_DENOMINATOR
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out)
        if reserves[i] >> _BITS:
            raise SwapReverts(f"{amount_in} would raise a balance above 2^128 - 1")
        balances[j] = reserves[j] * units[j] * scales[j] // WAD
        moved = tweak_price(
            FxPrices(
                *(prices.scale[0], prices.oracle[0], prices.last[0], prices.invariant, prices.xcp_profit),
                *(prices.virtual_price, self.lp_supply, prices.burnable_shares, prices.scale_is_fixed),
            ),
            FxRules(amp, parameters.allowed_extra_profit, parameters.adjustment_step, ramp is not None),
            balances,
        )
        settled = CryptoPrices(
            *((moved.scale,), (moved.oracle,), (moved.last,), moved.invariant, moved.xcp_profit, moved.virtual_price),
            *(moved.burnable, moved.scale_is_fixed),
        )
        if ramp == 0:  # ended before this block: a swap since then has stored the invariant for the last A
            parameters = parameters._replace(ramp_seconds_left=None)
        after: Self = _replace_fx_state(self, reserves, settled, parameters, moved.supply)
        return amount_out, after

    def _fx_curve(self, i: int, j: int) -> RateCurve:
        """Return the floating-point curve of one direction, from the sold coin's balance and the other balance at the
        invariant."""
        parameters, balances = self.parameters, self._scaled_reserves()
        amp = parameters.amp
        try:
            in_ramp = parameters.ramp_seconds_left is not None
            d = find_invariant(amp, balances) if in_ramp else self.prices.invariant
            balances[j] = find_other_balance(amp, balances, d, j)
        except SwapReverts:
            return ZeroCurve()
        if not (d and all(balances)):
            return ZeroCurve()
        scales = (WAD, *self.prices.scale)
        units = [WAD / (scales[k] * to_18_decimals(self.decimals[k])) for k in (i, j)]
        fees = parameters.mid_fee / FEE_DENOMINATOR, parameters.out_fee / FEE_DENOMINATOR, parameters.fee_gamma / WAD
        return FxSwapCurve(balances, d, (i, j), amp / A_MULTIPLIER, fees, (units[0], units[1]))

    def _scaled_reserves(self) -> list[int]:
        """Return the reserves in units of coin 0, with 18 decimals."""
        scales = (WAD, *self.prices.scale)
        return [
            reserve * to_18_decimals(places) * scale // WAD
            for reserve, places, scale in zip(self.reserves, self.decimals, scales, strict=True)
        ]

    @property
    def _maths(self) -> Maths:
        return MATHS[len(self.tokens), self.parameters.version]

    def _fee(self, balances: Sequence[int]) -> int:
        """Return the fee, scaled by 10^10, at scaled balances."""
        reduction = fee_reduction(balances, self.parameters.fee_gamma)
        return (self.parameters.mid_fee * reduction + self.parameters.out_fee * (WAD - reduction)) // WAD

    def _tweak_prices(self, maths: Maths, balances: Sequence[int], k0: int) -> CryptoPrices:
        """Return the prices after a swap that left the scaled `balances`, like the contract's `tweak_price`."""
        prices, parameters = self.prices, self.parameters
        amp, gamma = parameters.amp, parameters.gamma
        d = maths.find_invariant(amp, gamma, balances, k0)
        last = tuple(
            price * scale // WAD
            for price, scale in zip(marginal_prices(amp, gamma, balances, d), prices.scale, strict=True)
        )
        if len(last) > 1 and max(last) >= _MAX_UINT128:
            raise SwapReverts("a price is too large for the contract")
        virtual_price = self._virtual_price(maths, d, prices.scale)
        if parameters.ramp_seconds_left is None and virtual_price <= prices.virtual_price:
            raise SwapReverts("the swap would not raise the value of the pool's liquidity")
        xcp_profit = prices.xcp_profit * virtual_price // prices.virtual_price
        if 2 * virtual_price < WAD:
            raise SwapReverts("the value of the pool's liquidity is too low")
        after = CryptoPrices(prices.scale, prices.oracle, last, d, xcp_profit, virtual_price)
        if 2 * virtual_price - WAD > xcp_profit + 2 * parameters.allowed_extra_profit:
            return self._move_scale(maths, balances, after)
        return after

    def _move_scale(self, maths: Maths, balances: Sequence[int], prices: CryptoPrices) -> CryptoPrices:
        """Return `prices` with the price scale closer to the oracle, if the profit pays for it."""
        gaps = [abs(o * WAD // s - WAD) for o, s in zip(prices.oracle, prices.scale, strict=True)]
        norm = gaps[0] if len(gaps) == 1 else isqrt(sum(gap * gap for gap in gaps))
        step = max(self.parameters.adjustment_step, norm // 5)
        if norm <= step:
            return prices
        scale = tuple((s * (norm - step) + step * o) // norm for s, o in zip(prices.scale, prices.oracle, strict=True))
        moved = [balances[0], *(x * new // s for x, new, s in zip(balances[1:], scale, prices.scale, strict=True))]
        d = maths.find_invariant(self.parameters.amp, self.parameters.gamma, moved, 0)
        if maths.checks_new_shares and not all(10**16 <= x * WAD // d <= 10**20 for x in moved):
            raise SwapReverts("the balances would be too far from the new price scale")
        virtual_price = self._virtual_price(maths, d, scale)
        if virtual_price > WAD and 2 * virtual_price - WAD > prices.xcp_profit:
            return prices._replace(scale=scale, invariant=d, virtual_price=virtual_price)
        return prices

    def _virtual_price(self, maths: Maths, d: int, scale: Sequence[int]) -> int:
        n = len(self.tokens)
        return WAD * maths.mean([d // n, *(d * WAD // (n * price) for price in scale)]) // self.lp_supply


_replace_state = fast_replace(CryptoSwap, "reserves", "prices")
_replace_fx_state = fast_replace(CryptoSwap, "reserves", "prices", "parameters", "lp_supply")


def _read_parameters(identity: PoolIdentity, fields: StateFields) -> CryptoParameters:
    version, count = fields.text("version"), len(identity.tokens)
    if (count, version) not in VERSIONS:
        raise InvalidPoolState("version", f"version {version} has no known maths for {count} coins")
    mid_fee, out_fee = (fields.integer(key, 0, FEE_DENOMINATOR) for key in ("mid_fee", "out_fee"))
    if mid_fee > out_fee:
        raise InvalidPoolState("mid_fee", f"above out_fee: {mid_fee} > {out_fee}")
    if identity.fee_ppm != mid_fee // FEE_PER_PPM:
        raise InvalidPoolState(
            "fee_ppm", f"expected mid_fee in parts per million, rounded down, not {identity.fee_ppm}"
        )
    return CryptoParameters(
        version,
        fields.integer("amp", 1, _MAX_UINT128),
        fields.integer("gamma", 1, _MAX_UINT128),
        mid_fee,
        out_fee,
        fields.integer("fee_gamma", 1, WAD),
        fields.uint("allowed_extra_profit", _FEE_PARAMETER_BITS),
        fields.uint("adjustment_step", _FEE_PARAMETER_BITS),
        fields.optional_uint("ramp_seconds_left", _MAX_RAMP_BITS),
    )


def _read_prices(fields: StateFields, key: str, count: int, bits: int = _BITS) -> tuple[int, ...]:
    prices = fields.uints(key, count, bits)
    if not all(prices):
        raise InvalidPoolState(key, "a price is zero")
    return prices


def _texts(values: Sequence[int]) -> list[str]:
    return [str(value) for value in values]
