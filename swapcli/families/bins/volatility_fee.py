"""The fee of Liquidity Book: a base fee, and a variable fee that grows with the number of bins crossed by recent swaps.

The contract's accumulator adds the distance of a bin from the reference bin to a reference volatility that earlier
swaps have left. The first swap after the filter period renews both references; after the decay period, earlier swaps no
longer count. So the fee depends on the time of the swap and on the bin. Source: `PairParameterHelper.sol` of joe-v2.
"""

from __future__ import annotations

from swapcli.core.annotations import Final, Self
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import BPS, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.bins.bin_math import MAX_ID
from swapcli.families.state_fields import StateFields

_MAX_FEE: Final = WAD // 10
"""`MAX_FEE` in the contract, which rejects parameters that would allow more."""
_MAX_PROTOCOL_SHARE: Final = 2_500  # basis points of the fee: the contract's `MAX_PROTOCOL_SHARE`
_BASE_FEE_UNIT: Final = 10**10  # the 10^18 fraction of a base factor times a bin step of 1
_VARIABLE_FEE_DIVISOR: Final = 100  # scales the variable fee to a 10^18 fraction
_BASE_FACTORS_PER_PPM: Final = 100
"""The product (base factor * bin step) for a fee of 1 ppm: both are in basis points."""


class FeeParameters(NamedTuple):
    """The contract's static parameters: periods in seconds, `protocol_share` and `reduction_factor` in basis points."""

    base_factor: int
    filter_period_s: int
    decay_period_s: int
    reduction_factor: int
    variable_fee_control: int
    protocol_share: int
    max_accumulator: int

    def base_fee_ppm(self, bin_step: int) -> int:
        """Return the base fee in ppm, rounded down."""
        return self.base_factor * bin_step // _BASE_FACTORS_PER_PPM

    def fee(self, bin_step: int, accumulator: int) -> int:
        """Return the total fee, scaled by `WAD`, at an accumulated volatility of `accumulator`."""
        base = self.base_factor * bin_step * _BASE_FEE_UNIT
        product = accumulator * bin_step
        # Rounded up by the contract.
        return base - -product * product * self.variable_fee_control // _VARIABLE_FEE_DIVISOR


class Volatility(NamedTuple):
    """The contract's variable parameters after the last swap; `updated_at` is the time of that swap."""

    accumulator: int
    reference: int
    id_reference: int
    updated_at: int

    def at(self, now: int, active_id: int, parameters: FeeParameters) -> Self:
        """Return the parameters at the start of a swap at the time `now`."""
        elapsed = now - self.updated_at
        if elapsed < parameters.filter_period_s:
            return self._replace(updated_at=now)
        is_decayed = elapsed >= parameters.decay_period_s
        reference = 0 if is_decayed else self.accumulator * parameters.reduction_factor // BPS
        return self._replace(reference=reference, id_reference=active_id, updated_at=now)

    def accumulator_in(self, bin_id: int, parameters: FeeParameters) -> int:
        """Return the volatility accumulator while a swap is in a bin."""
        return min(self.reference + abs(bin_id - self.id_reference) * BPS, parameters.max_accumulator)


class VolatilityFees(NamedTuple):
    """The fees of a swap that starts with `volatility`, for `swap_through_bins`."""

    parameters: FeeParameters
    volatility: Volatility
    bin_step: int

    def fee_of_bin(self, bin_id: int) -> int:
        """Return the fee in a bin, scaled by `WAD`."""
        return self.parameters.fee(self.bin_step, self.volatility.accumulator_in(bin_id, self.parameters))

    def protocol_part(self, fee_amount: int) -> int:
        """Return the protocol's share of a fee, rounded down."""
        return fee_amount * self.parameters.protocol_share // BPS


def read_fee_parameters(fields: StateFields, bin_step: int) -> FeeParameters:
    """Parse the `fee_parameters` object. Raises `InvalidPoolState`."""
    nested = fields.nested("fee_parameters")
    parameters = FeeParameters(
        nested.uint("base_factor", 16),
        nested.uint("filter_period", 12),
        nested.uint("decay_period", 12),
        nested.integer("reduction_factor", 0, BPS),
        nested.uint("variable_fee_control", 24),
        nested.integer("protocol_share", 0, _MAX_PROTOCOL_SHARE),
        nested.uint("max_volatility_accumulator", 20),
    )
    if parameters.filter_period_s > parameters.decay_period_s:
        raise InvalidPoolState(nested.path_of("filter_period"), "longer than the decay period")
    if parameters.fee(bin_step, parameters.max_accumulator) > _MAX_FEE:
        raise InvalidPoolState("fee_parameters", "they allow fees above the contract's limit of 10%")
    return parameters


def read_volatility(fields: StateFields, timestamp: int) -> Volatility:
    """Parse the `volatility` object. Raises `InvalidPoolState`."""
    nested = fields.nested("volatility")
    volatility = Volatility(
        nested.uint("accumulator", 20),
        nested.uint("reference", 20),
        nested.integer("id_reference", 0, MAX_ID),
        nested.uint("updated_at", 40),
    )
    if volatility.updated_at > timestamp:
        raise InvalidPoolState(nested.path_of("updated_at"), f"{volatility.updated_at} is after the state's own time")
    return volatility


def fee_parameters_state(parameters: FeeParameters) -> dict[str, int]:
    """Return the fields that `read_fee_parameters` reads."""
    names = (
        "base_factor",
        "filter_period",
        "decay_period",
        "reduction_factor",
        "variable_fee_control",
        "protocol_share",
        "max_volatility_accumulator",
    )
    return dict(zip(names, parameters, strict=True))
