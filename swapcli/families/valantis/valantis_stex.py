"""Valantis STEX: a pool of a staking token and the wrapped native token, at the rate of the staking protocol.

The first token is the staking token. Selling it costs a fee on the whole amount, which a module of the pool derives
from the reserves after the sale (`stex_fee`); the wrapped native token is sold without a fee. Part of the fee leaves
the pool for its manager. The sovereign pool of ValantisLabs/valantis-core (commit 18ee8bb) rounds down the amount after
the fee, and its value.

The balance of stHYPE is a number of shares times their price, so that its reserve after a swap may differ by some
units.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import BPS, PPM_PER_BPS, WAD
from swapcli.core.validation.values import parse_integer
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.hull_curve import concave_hull
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import div_up, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.valantis.stex_fee import (
    MAX_FEE_BPS,
    StexFee,
    StexRatioFee,
    StexReserves,
    StexStepwiseFee,
    fee_on_net_bps,
)

_RATIO: Final = "ratio"
_STEPWISE: Final = "stepwise"
_MAX_STEPS: Final = 256
"""The maximum number of steps: far above the five of the deployed pool."""
_RATIO_BITS: Final = 32  # thresholds of the ratio are uint32
_AMOUNT_BITS: Final = 192
"""The maximum number of bits: far above any supply; no sum of such amounts, times the basis points, exceeds a word."""
_RATE_BITS: Final = 128  # a 10^18 fraction, far above any rate


@dataclass(frozen=True, slots=True)
class ValantisStex(Pool):
    """A Valantis STEX pool. `rate_wad` is the value of one staking token in the wrapped native token, with 18 decimals.

    `lent` (of the wrapped native token), `unstaking` and `owed` (of the staking token) are amounts in base units that
    the withdrawal module reports and that count for the fee. `manager_fee_bps` is the manager's part of the fee.
    """

    reserves: tuple[int, int]
    rate_wad: int
    lent: int
    unstaking: int
    owed: int
    manager_fee_bps: int
    fee_module: StexFee

    family: ClassVar[str] = "valantis_stex"
    swap_gas: ClassVar[int] = 110_000
    """60,300 in a local EVM, with a model of the withdrawal module.

    The deployed modules call a lending pool and the staking protocol, which is estimated at 50,000.
    """
    changes_without_events: ClassVar[bool] = True
    """Rewards of the staking protocol, interest on loans, and tokens that finish unstaking change the state."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`. Raises the same errors as `Pool.swap`."""
        staked, wrapped = self.reserves
        if is_forward(self, token_in, token_out):
            amount_out, fee = self._sell_staked(amount_in)
            staked += amount_in - fee * self.manager_fee_bps // BPS
            wrapped -= amount_out
        else:
            amount_out = require_uint256(amount_in * WAD // self.rate_wad)
            wrapped += amount_in
            staked -= amount_out
        if staked < 0 or wrapped < 0:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of {token_out}")
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        if (staked | wrapped) >> _AMOUNT_BITS:
            raise SwapReverts(f"pool {self.key}: a reserve would exceed 2^{_AMOUNT_BITS} - 1 after {amount_in}")
        after: Self = _replace_reserves(self, (staked, wrapped))
        return amount_out, after

    def fee_on_net_bps(self, amount_in: int) -> int:
        """Return the fee for selling the staking token, in basis points of the input after the fee."""
        return fee_on_net_bps(self.fee_module.fee_bps(self._fee_reserves, amount_in))

    def _sell_staked(self, amount_in: int) -> tuple[int, int]:
        """Return the output and the fee for selling the staking token."""
        net = amount_in * BPS // (BPS + self.fee_on_net_bps(amount_in))
        return require_uint256(net * self.rate_wad // WAD), amount_in - net

    @property
    def _fee_reserves(self) -> StexReserves:
        staked, wrapped = self.reserves
        return StexReserves(staked + self.unstaking, self.owed, wrapped + self.lent, self.rate_wad)

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: the concave hull of the largest sales
        at each level of the fee.

        Between two of these sales, the contract pays one rate for the whole amount, so no amount pays more than the
        hull, and the corners are exact.
        """
        if not is_forward(self, token_in, token_out):
            return fixed_rate_curve(WAD / self.rate_wad, self.reserves[0])
        corners = [(0, 0)]
        for amount_in in sorted(self._largest_sales()):
            try:
                amount_out, _ = self._sell_staked(amount_in)
            except PoolError:
                continue
            if corners[-1][1] < amount_out <= self.reserves[1]:
                corners.append((amount_in, amount_out))
        hull = concave_hull(corners)
        return BinCurve(
            (((more[1] - less[1]) / (more[0] - less[0]), more[1] - less[1]) for less, more in pairwise(hull)),
            hull[-1][0],
        )

    def _largest_sales(self) -> set[int]:
        """Return the largest sales before each rise of the fee, and those that the reserve could pay for at each
        fee."""
        reserves = self._fee_reserves
        net = reserves.max_amount_worth(self.reserves[1])
        paid = {div_up((net + 1) * (BPS + fee_on_net_bps(fee)), BPS) - 1 for fee in self.fee_module.levels_bps}
        return paid.union(sale for sale in self.fee_module.largest_sales(reserves) if sale > 0)

    def state(self) -> dict[str, object]:
        """Return `reserves`, the fields of the class by name, and the module's thresholds and fees."""
        module = self.fee_module
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rate": str(self.rate_wad),
            "lent": str(self.lent),
            "manager_fee_bps": self.manager_fee_bps,
        }
        if isinstance(module, StexStepwiseFee):
            thresholds = [str(module.min_reserve), str(module.max_reserve)]
            return state | {"fee_by": _STEPWISE, "thresholds": thresholds, "fees_bps": list(module.levels_bps)}
        return state | {
            "fee_by": _RATIO,
            "thresholds": [module.min_ratio_bps, module.max_ratio_bps],
            "fees_bps": [module.min_fee_bps, module.max_fee_bps],
            "unstaking": str(self.unstaking),
            "owed": str(self.owed),
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`.

        The identity's `fee_ppm` is the lowest fee; `owed` and `unstaking` may be absent if the fee does not depend on
        them.
        """
        check_pair(identity)
        fields = StateFields(state)
        module = _read_fee_module(fields)
        lowest_ppm = module.levels_bps[0] * PPM_PER_BPS
        if identity.fee_ppm != lowest_ppm:
            raise InvalidPoolState("fee_ppm", f"{identity.fee_ppm} differs from {lowest_ppm}, the lowest of fees_bps")
        staked, wrapped = fields.uints("reserves", 2, _AMOUNT_BITS)
        rate_wad = fields.integer("rate", 1, (1 << _RATE_BITS) - 1)
        lent = fields.uint("lent", _AMOUNT_BITS)
        unstaking, owed = (fields.uint(name, _AMOUNT_BITS) if fields.has(name) else 0 for name in ("unstaking", "owed"))
        manager_fee_bps = fields.integer("manager_fee_bps", 0, BPS)
        return cls(*identity, (staked, wrapped), rate_wad, lent, unstaking, owed, manager_fee_bps, module)


def _read_fee_module(fields: StateFields) -> StexFee:
    fees_bps = tuple(
        fields.parse(path, entry, parse_integer, 0, MAX_FEE_BPS)
        for path, entry in fields.items("fees_bps", 1, _MAX_STEPS)
    )
    if any(more < less for less, more in pairwise(fees_bps)):
        raise InvalidPoolState("fees_bps", "a fee is below the one before it")
    if fields.choice("fee_by", (_RATIO, _STEPWISE)) == _STEPWISE:
        low, high = fields.uints("thresholds", 2, _AMOUNT_BITS)
        module: StexFee = StexStepwiseFee(low, high, fees_bps)
    elif len(fees_bps) == 2:
        low, high = fields.uints("thresholds", 2, _RATIO_BITS)
        module = StexRatioFee(low, high, *fees_bps)
    else:
        raise InvalidPoolState("fees_bps", f"expected the lowest and the highest fee, not {len(fees_bps)} fees")
    if low >= high:
        raise InvalidPoolState("thresholds", f"{low} is not below {high}")
    return module


_replace_reserves = fast_replace(ValantisStex, "reserves")
