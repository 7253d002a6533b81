"""Mento's fixed price market maker: a pair at an oracle's rate, less a fee, within limits on its net flows.

The pair sells at the rate whatever its balances are, down to one remaining unit. A swap must not lower the value of
both reserves at the rate, and must leave the fee in them; the protocol's part of the fee then leaves the pair. For each
token, a 5-minute limit and a daily limit bound how much more of it may flow in or out. Both have windows that restart
with the first swap after their end. FPMM.sol and TradingLimitsV2.sol of mento-protocol/mento-core@e7884d28.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import BPS, DAY_S, PPM_PER_BPS, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.identity_checks import check_multi_token, check_pair
from swapcli.families.reserves import to_18_decimals
from swapcli.families.rounding import require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

MAX_FEE_BPS: Final = 200
"""The pair accepts at most 2% for both parts of the fee."""
_RATE_BITS: Final = 128  # 18 decimals, far above any rate
_FLOW_BITS: Final = 95
"""Net flows are int96 with 15 decimals."""
_LIMIT_BITS: Final = 119
"""Limits are int120 with 15 decimals."""
_TIME_BITS: Final = 32
_FLOW_UNIT: Final = 10**15
"""The decimals of flows and limits."""
_WINDOWS_S: Final = (300, DAY_S)


class FlowLimit(NamedTuple):
    """A limit on the net flow of a token in a time window (0 for none), and the flow counted since `updated`."""

    limit: int
    netflow: int
    updated: int


class FlowLimits(NamedTuple):
    """The limits of a token: for 5 minutes, and for a day."""

    short: FlowLimit
    long: FlowLimit

    @property
    def exist(self) -> bool:
        """Whether at least one of the two windows has a limit."""
        return bool(self.short.limit or self.long.limit)


@dataclass(frozen=True, slots=True)
class MentoFpmm(Pool):
    """A Mento FPMM pair.

    `rate` is a numerator and a denominator: units of the second token for one of the first. `lp_fee_bps` is the part of
    the fee that stays in the pair, and `fee_ppm` the total fee. `limits` are the limits of both tokens at `timestamp`.
    """

    reserves: tuple[int, int]
    rate: tuple[int, int]
    lp_fee_bps: int
    limits: tuple[FlowLimits, FlowLimits]
    timestamp: int

    family: ClassVar[str] = "mento_fpmm"
    swap_gas: ClassVar[int] = 160_000
    """In a local EVM, 98,000 with limits on both tokens and a stub of the oracle, whose contracts are estimated to take
    the rest."""
    computes_output: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True
    """The oracle's rate changes and expires, and markets close."""

    @property
    def _fee_bps(self) -> int:
        return self.fee_ppm // PPM_PER_BPS

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` at the output of the contract's `getAmountOut`. Raises the same errors as `Pool.swap`."""
        i = 0 if is_forward(self, token_in, token_out) else 1
        amount_out = self.amount_out(i, amount_in)
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        if amount_out >= self.reserves[1 - i]:
            raise InsufficientLiquidity(f"pool {self.key} holds no more than {amount_out} of {token_out}")
        reserves = list(self.reserves)
        reserves[i] = require_uint256(reserves[i] + amount_in)
        reserves[1 - i] -= amount_out
        self._check_value(reserves, 1 - i, amount_out)
        reserves[i] -= require_uint256(amount_in * (self._fee_bps - self.lp_fee_bps)) // BPS
        limits = list(self.limits)
        limits[i] = self._count_flow(i, amount_in, 0)
        limits[1 - i] = self._count_flow(1 - i, 0, amount_out)
        after: Self = _after_swap(self, tuple(reserves), tuple(limits))
        return amount_out, after

    def _rate_of(self, i: int) -> tuple[int, int]:
        """Return the rate for selling the i-th token, as a fraction."""
        return self.rate if i == 0 else (self.rate[1], self.rate[0])

    def amount_out(self, i: int, amount_in: int) -> int:
        """Return the result of the contract's `getAmountOut` for a sale of the i-th token."""
        numerator, denominator = self._rate_of(i)
        unit_in: int = 10 ** self.decimals[i]
        unit_out: int = 10 ** self.decimals[1 - i]
        product = require_uint256(amount_in * numerator * unit_out * (BPS - self._fee_bps))
        return product // (denominator * unit_in * BPS)

    def _to_second(self, amount: int, unit_out: int) -> int:
        """Return the value of an amount of the first token in the second one, in the given unit."""
        numerator, denominator = self.rate
        unit: int = 10 ** self.decimals[0]
        return require_uint256(amount * numerator * unit_out) // (denominator * unit)

    def _check_value(self, reserves: list[int], out: int, amount_out: int) -> None:
        """Raise `SwapReverts` if the reserves are worth less after a swap than before it plus the fee."""
        scale = to_18_decimals(self.decimals[1])
        fee = require_uint256(amount_out * self._fee_bps) // (BPS - self._fee_bps)
        if out == 0:
            fee = self._to_second(fee, 10 ** self.decimals[1])
        before, after = (
            require_uint256(self._to_second(x, WAD) + require_uint256(y * scale)) for x, y in (self.reserves, reserves)
        )
        if after < require_uint256(before + fee * scale):
            raise SwapReverts(f"pool {self.key}: the swap would lower the value of the reserves")

    def _count_flow(self, i: int, amount_in: int, amount_out: int) -> FlowLimits:
        """Return the limits of a token with an additional flow. Raises `SwapReverts` if a limit is exceeded."""
        limits = self.limits[i]
        if not limits.exist:
            return limits
        unit = 10 ** self.decimals[i]
        received, paid = (require_uint256(amount * _FLOW_UNIT) // unit for amount in (amount_in, amount_out))
        flow = received - received * self._fee_bps // BPS - paid
        if not -(1 << _FLOW_BITS) <= flow < 1 << _FLOW_BITS:
            raise SwapReverts(f"pool {self.key}: a flow of {flow} cannot be stored")
        counted = FlowLimits(
            *(self._with_flow(limit, flow, window) for limit, window in zip(limits, _WINDOWS_S, strict=True))
        )
        for limit in counted:
            if limit.limit and abs(limit.netflow) > limit.limit:
                raise SwapReverts(f"pool {self.key} does not allow a net flow this large of {self.tokens[i]}")
        return counted

    def _with_flow(self, limit: FlowLimit, flow: int, window_s: int) -> FlowLimit:
        if not (limit.limit and flow):
            return limit
        if self.timestamp > limit.updated + window_s:
            limit = FlowLimit(limit.limit, 0, self.timestamp)
        netflow = limit.netflow + flow
        if not -(1 << _FLOW_BITS) <= netflow < 1 << _FLOW_BITS:
            raise SwapReverts(f"pool {self.key}: a net flow of {netflow} cannot be stored")
        return limit._replace(netflow=netflow)

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate, up to the pair's balance or
        a limit."""
        i = 0 if is_forward(self, token_in, token_out) else 1
        numerator, denominator = self._rate_of(i)
        part = (BPS - self._fee_bps) / BPS
        rate = numerator / denominator * 10.0 ** (self.decimals[1 - i] - self.decimals[i]) * part
        max_in, max_out = self._room(i, 1), min(self._room(1 - i, -1), self.reserves[1 - i] - 1)
        return fixed_rate_curve(rate, max(0, max_out), int(max_in / part))

    def _room(self, i: int, sign: int) -> int:
        """Return how much of a token may still flow in (sign 1) or out (sign -1), in base units."""
        room = 1 << 255
        for limit, window_s in zip(self.limits[i], _WINDOWS_S, strict=True):
            if limit.limit:
                counted = 0 if self.timestamp > limit.updated + window_s else limit.netflow
                room = min(room, max(0, limit.limit - sign * counted) * 10 ** self.decimals[i] // _FLOW_UNIT)
        return room

    def state(self) -> dict[str, object]:
        """Return `reserves`, `rate`, `lp_fee_bps`, `timestamp`, and the `limits` of tokens that have any."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rate": [str(each) for each in self.rate],
            "lp_fee_bps": self.lp_fee_bps,
            "timestamp": self.timestamp,
        }
        if any(limits.exist for limits in self.limits):
            state["limits"] = [_write_limits(limits) for limits in self.limits]
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`; without `limits`, no token is limited. `fee_ppm` is the total fee."""
        check_pair(identity)
        check_multi_token(identity)
        if identity.fee_ppm % PPM_PER_BPS or identity.fee_ppm > MAX_FEE_BPS * PPM_PER_BPS:
            raise InvalidPoolState("fee_ppm", f"expected whole basis points up to 20000 ppm, not {identity.fee_ppm}")
        fields = StateFields(state)
        reserves, rate = fields.uints("reserves", 2), fields.uints("rate", 2, _RATE_BITS)
        if not all(rate):
            raise InvalidPoolState("rate", "one of the two numbers is zero")
        lp_fee_bps = fields.integer("lp_fee_bps", 0, identity.fee_ppm // PPM_PER_BPS)
        timestamp = fields.uint("timestamp", _TIME_BITS)
        limits = _read_limits(fields) if fields.has("limits") else (_NO_LIMITS, _NO_LIMITS)
        return cls(*identity, (reserves[0], reserves[1]), (rate[0], rate[1]), lp_fee_bps, limits, timestamp)


def _write_limits(limits: FlowLimits) -> dict[str, object]:
    """Return the limits of a token, its net flows and the starts of their windows, with the 5-minute values first."""
    return {
        "limits": [str(each.limit) for each in limits],
        "netflows": [str(each.netflow) for each in limits],
        "updated": [each.updated for each in limits],
    }


def _read_limits(fields: StateFields) -> tuple[FlowLimits, FlowLimits]:
    """Read the limits of both tokens in the form of `_write_limits`."""
    tokens = list(fields.objects("limits"))
    if len(tokens) != 2:
        raise InvalidPoolState("limits", f"expected the limits of 2 tokens, not {len(tokens)}")
    bound = 1 << _FLOW_BITS
    parts = (
        (
            each.uints("limits", 2, _LIMIT_BITS),
            each.integers("netflows", 2, -bound, bound - 1),
            each.uints("updated", 2, _TIME_BITS),
        )
        for each in tokens
    )
    first, second = (FlowLimits(*map(FlowLimit, *part)) for part in parts)
    if not (first.exist or second.exist):
        return _NO_LIMITS, _NO_LIMITS
    return first, second


_NO_LIMITS: Final = FlowLimits(FlowLimit(0, 0, 0), FlowLimit(0, 0, 0))
_after_swap = fast_replace(MentoFpmm, "reserves", "limits")
