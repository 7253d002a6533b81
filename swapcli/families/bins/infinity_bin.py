"""PancakeSwap Infinity's bin pools; `bin_swap` has the steps of a swap."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.bins.bin_math import MAX_BIN_STEP, MAX_ID, rate_of_bin
from swapcli.families.bins.bin_state import Bins, check_sides, read_bins
from swapcli.families.bins.bin_swap import positions_ahead, swap_through_bins
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.infinity_key import (
    MAX_INFINITY_PROTOCOL_FEE_PPM,
    InfinityKey,
    is_infinity_hook_called_after_swaps,
    read_infinity_key,
)
from swapcli.families.protocol_fees import NO_FEES, read_protocol_fees, with_protocol_fee
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

BIN_GAS: Final = 12_000
"""Gas units for each bin after the first, measured on the contract's bytecode in a local EVM: a swap took 119,000 gas
in one bin, 235,000 in 10 and 378,000 in 24."""
_MAX_LP_FEE_PPM: Final = 100_000
"""`LPFeeLibrary.TEN_PERCENT_FEE`."""
_FEE_UNITS_PER_PPM: Final = WAD // PPM
_AMOUNT_LIMIT: Final = 1 << 127
"""Amounts in a swap are signed 128-bit numbers."""


class _Fees(NamedTuple):
    """The fee of a direction, and the protocol's part of it, in ppm of the input."""

    total_ppm: int
    protocol_ppm: int

    def fee_of_bin(self, bin_id: int) -> int:
        """Return the fee, which all bins share."""
        del bin_id
        return self.total_ppm * _FEE_UNITS_PER_PPM

    def protocol_part(self, fee_amount: int) -> int:
        """Return the protocol's share of a fee, rounded down."""
        return fee_amount * self.protocol_ppm // self.total_ppm if self.total_ppm else 0


@dataclass(frozen=True, slots=True)
class InfinityBin(Pool):
    """A PancakeSwap Infinity bin pool. `fee_ppm` is the liquidity providers' fee; `protocol_fees_ppm`, for selling X
    and selling Y, are added to it.

    `bins` are the bins in the contract's tree. The active bin may be outside the tree, for example after almost all
    liquidity has been removed: `is_active_bin_listed` is then false, and a swap that leaves the bin does not find it
    again.
    """

    active_id: int
    bins: Bins
    protocol_fees_ppm: tuple[int, int]
    pool_key: InfinityKey
    is_active_bin_listed: bool = True

    family: ClassVar[str] = "infinity_bin"
    # 2,000 less than a concentrated pool: 119,000 and 121,000 gas through the same contract, measured on the bytecode.
    swap_gas: ClassVar[int] = 66_800
    requires_exact_payment: ClassVar[bool] = True
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The ID of the pool, because one contract holds all pools."""
        return self.pool_key.pool_id

    @property
    def is_single_use(self) -> bool:
        """Whether a hook is called after each swap. It may change the pool, which makes a second swap unpredictable."""
        return is_infinity_hook_called_after_swaps(self.pool_key.parameters)

    @property
    def bin_step(self) -> int:
        """The relative distance between the prices of two neighbouring bins, in basis points."""
        return self.pool_key.step

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises the same errors as `Pool.swap`; the contract has no partial fills."""
        swap_for_y = is_forward(self, token_in, token_out)
        if amount_in >= _AMOUNT_LIMIT:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^127 - 1")
        fees = _Fees(self.swap_fee_ppm(swap_for_y=swap_for_y), self.protocol_fees_ppm[not swap_for_y])
        result = swap_through_bins(self.bins, self.active_id, self.bin_step, swap_for_y, amount_in, fees)
        if result.amount_left:
            raise InsufficientLiquidity(f"pool {self.key} runs out of liquidity before the input is spent")
        if not result.amount_out:
            raise self.rounds_to_zero(amount_in)
        if result.amount_out >= _AMOUNT_LIMIT:
            raise SwapReverts(f"pool {self.key}: the output for {amount_in} exceeds 2^127 - 1")
        return result.amount_out, self._after(result.active_id, result.amounts)

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate per bin."""
        swap_for_y = is_forward(self, token_in, token_out)
        gamma = (PPM - self.swap_fee_ppm(swap_for_y=swap_for_y)) / PPM
        outputs = self.bins.amounts_y if swap_for_y else self.bins.amounts_x
        return BinCurve(
            (
                (gamma * rate_of_bin(self.bin_step, self.bins.ids[i], swap_for_y), outputs[i])
                for i in positions_ahead(self.bins, self.active_id, swap_for_y)
            ),
            _AMOUNT_LIMIT - 1,
        )

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        state: dict[str, object] = {"active_id": self.active_id, "bin_step": self.bin_step, "bins": self.bins.state()}
        if self.protocol_fees_ppm != NO_FEES:
            state["protocol_fees_ppm"] = list(self.protocol_fees_ppm)
        if not self.is_active_bin_listed:
            state["active_bin_listed"] = False
        return state | self.pool_key.state()

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `active_id`, `bin_step`, `bins: [[id, x, y], ...]`, `pool_id`, `hooks`, `parameters`.

        Optional: `protocol_fees_ppm` (for selling X and for selling Y), `dynamic_fee` (true if the hook sets the fee),
        `native` (true if X is the native token, listed as its wrapped form), `active_bin_listed`.
        """
        check_pair(identity)
        if identity.fee_ppm > _MAX_LP_FEE_PPM:
            raise InvalidPoolState("fee_ppm", f"expected at most {_MAX_LP_FEE_PPM}, not {identity.fee_ppm}")
        fields = StateFields(state)
        bin_step = fields.integer("bin_step", 1, MAX_BIN_STEP)
        pool_key = read_infinity_key(fields, identity.fee_ppm)
        if pool_key.step != bin_step:
            raise InvalidPoolState("bin_step", f"{bin_step} differs from {pool_key.step} in parameters")
        bins = read_bins(fields, bin_step)
        active_id = fields.integer("active_id", 1, MAX_ID)
        check_sides(bins, active_id)
        is_listed = fields.boolean("active_bin_listed", default=True)
        if not is_listed and bins.position(active_id) is None:
            raise InvalidPoolState("active_bin_listed", "the active bin is not among the bins")
        return cls(
            *identity,
            active_id,
            bins,
            read_protocol_fees(fields, identity.fee_ppm, MAX_INFINITY_PROTOCOL_FEE_PPM),
            pool_key,
            is_listed,
        )

    def swap_fee_ppm(self, *, swap_for_y: bool) -> int:
        """Return the total fee of a swap that sells X (`swap_for_y`) or Y."""
        return with_protocol_fee(self.fee_ppm, self.protocol_fees_ppm[not swap_for_y])

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the bins between this state and `after`."""
        assert isinstance(after, InfinityBin)
        ids = self.bins.ids
        return self.swap_gas + BIN_GAS * abs(bisect_left(ids, after.active_id) - bisect_left(ids, self.active_id))

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        swap_for_y = is_forward(self, token_in, token_out)
        gamma = (PPM - self.swap_fee_ppm(swap_for_y=swap_for_y)) / PPM
        count = -1
        for i in positions_ahead(self.bins, self.active_id, swap_for_y):
            if gamma * rate_of_bin(self.bin_step, self.bins.ids[i], swap_for_y) < rate:
                break
            count += 1
        return self.swap_gas + BIN_GAS * max(count, 0)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return `fee` (from the key), `binStep`, and the other fields of the pool's key."""
        return {"fee": self.pool_key.fee, "binStep": self.bin_step, **self.pool_key.api_extra_data(self.tokens)}

    def _after(self, active_id: int, amounts: Mapping[int, tuple[int, int]]) -> Self:
        """Return the pool with new amounts in some bins, by position.

        A swap never returns to an unlisted active bin.
        """
        bins, is_listed = self.bins.replace(amounts), self.is_active_bin_listed
        if not is_listed and active_id != self.active_id:
            bins, is_listed = bins.without(self.active_id), True
        after: Self = _replace_bins(self, active_id, bins, is_listed)
        return after


_replace_bins = fast_replace(InfinityBin, "active_id", "bins", "is_active_bin_listed")
