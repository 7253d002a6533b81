"""Pairs of Liquidity Book (joe-v2, versions 2.1 and 2.2): bins with a fee that depends on volatility and time.

`bin_swap` has the steps of a swap, and `volatility_fee` the fee. The state is valid at its `timestamp`; a swap in a
later block may have a lower fee.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.bins.bin_math import MAX_BIN_STEP, MAX_ID, rate_of_bin
from swapcli.families.bins.bin_state import Bins, check_sides, read_bins
from swapcli.families.bins.bin_swap import positions_ahead, swap_through_bins
from swapcli.families.bins.volatility_fee import (
    FeeParameters,
    Volatility,
    VolatilityFees,
    fee_parameters_state,
    read_fee_parameters,
    read_volatility,
)
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import UINT128_LIMIT
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

BIN_GAS: Final = 13_800
"""Gas units for each bin after the first, measured on the contract's bytecode in anvil: a swap took 112,000 gas in two
bins and 236,400 in eleven."""


@dataclass(frozen=True, slots=True)
class LiquidityBook(Pool):
    """A Liquidity Book pair. `fee_ppm` is the base fee, rounded down. `tokens` are X and Y, in the contract's order."""

    active_id: int
    bin_step: int
    bins: Bins
    fee_parameters: FeeParameters
    volatility: Volatility
    timestamp: int

    family: ClassVar[str] = "liquidity_book"
    # 21,000 less than bins of PancakeSwap Infinity: 90,500 and 111,400 gas through the same contract, in anvil.
    swap_gas: ClassVar[int] = 45_800

    @property
    def changes_without_events(self) -> bool:
        """Whether earlier volatility is still decaying, so that the fee depends on the time."""
        return self.timestamp - self.volatility.updated_at < self.fee_parameters.decay_period_s

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises the same errors as `Pool.swap`; the contract has no partial fills."""
        swap_for_y = is_forward(self, token_in, token_out)
        if amount_in >= UINT128_LIMIT:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^128 - 1")
        fees = self._fees()
        result = swap_through_bins(self.bins, self.active_id, self.bin_step, swap_for_y, amount_in, fees)
        if result.amount_left:
            raise InsufficientLiquidity(f"pool {self.key} runs out of liquidity before the input is spent")
        if not result.amount_out:
            raise self.rounds_to_zero(amount_in)
        accumulator = fees.volatility.accumulator_in(result.active_id, self.fee_parameters)
        volatility = fees.volatility._replace(accumulator=accumulator)
        after: Self = _replace_bins(self, result.active_id, self.bins.replace(result.amounts), volatility)
        return result.amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate per bin."""
        swap_for_y = is_forward(self, token_in, token_out)
        outputs = self.bins.amounts_y if swap_for_y else self.bins.amounts_x
        return BinCurve(((rate, outputs[i]) for i, rate in self._rates(swap_for_y)), UINT128_LIMIT - 1)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        return {
            "active_id": self.active_id,
            "bin_step": self.bin_step,
            "bins": self.bins.state(),
            "fee_parameters": fee_parameters_state(self.fee_parameters),
            "volatility": self.volatility._asdict(),
            "timestamp": self.timestamp,
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `active_id`, `bin_step`, `bins: [[id, x, y], ...]`, `fee_parameters`, `volatility`, `timestamp`."""
        check_pair(identity)
        fields = StateFields(state)
        bin_step = fields.integer("bin_step", 1, MAX_BIN_STEP)
        bins = read_bins(fields, bin_step)
        active_id = fields.integer("active_id", 1, MAX_ID)
        check_sides(bins, active_id)
        parameters = read_fee_parameters(fields, bin_step)
        if identity.fee_ppm != parameters.base_fee_ppm(bin_step):
            expected = parameters.base_fee_ppm(bin_step)
            raise InvalidPoolState("fee_ppm", f"expected the base fee of {expected} ppm, not {identity.fee_ppm}")
        timestamp = fields.uint("timestamp", 40)
        return cls(
            *identity,
            active_id,
            bin_step,
            bins,
            parameters,
            read_volatility(fields, timestamp),
            timestamp,
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the bins between this state and `after`."""
        assert isinstance(after, LiquidityBook)
        ids = self.bins.ids
        return self.swap_gas + BIN_GAS * abs(bisect_left(ids, after.active_id) - bisect_left(ids, self.active_id))

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        rates = self._rates(is_forward(self, token_in, token_out))
        count = sum(1 for _, bin_rate in rates if bin_rate >= rate)
        return self.swap_gas + BIN_GAS * max(count - 1, 0)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return `binStep`."""
        return {"binStep": self.bin_step}

    def _fees(self) -> VolatilityFees:
        volatility = self.volatility.at(self.timestamp, self.active_id, self.fee_parameters)
        return VolatilityFees(self.fee_parameters, volatility, self.bin_step)

    def _rates(self, swap_for_y: bool) -> Iterator[tuple[int, float]]:
        """Yield position and rate of the bins that a swap visits."""
        fees = self._fees()
        for i in positions_ahead(self.bins, self.active_id, swap_for_y):
            bin_id = self.bins.ids[i]
            gamma = 1.0 - fees.fee_of_bin(bin_id) / WAD
            yield i, gamma * rate_of_bin(self.bin_step, bin_id, swap_for_y)


_replace_bins = fast_replace(LiquidityBook, "active_id", "bins", "volatility")
