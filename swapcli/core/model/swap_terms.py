"""The terms of a swap besides its route: slippage, recipient and integrator, and the amounts that follow from them.

Slippage is in parts per million of the output, which represents four decimals of a percent exactly.
"""

from __future__ import annotations

from swapcli.core.errors import IntegratorError, InvalidOption
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import BPS, PPM
from swapcli.core.records import NamedTuple

PPM_PER_PERCENT = PPM // 100
MAX_FEE_BPS = 500
MAX_SURPLUS_BPS = 5_000
DEFAULT_SLIPPAGE_PPM = PPM_PER_PERCENT // 2
DEFAULT_ROUTE_TTL_S = 60
DEFAULT_IMPACT_WARNING_PPM = 5 * PPM_PER_PERCENT
"""The price impact above which exchange interfaces usually warn."""
DEFAULT_MAX_IMPACT_PPM = 15 * PPM_PER_PERCENT
"""The price impact above which they usually require an explicit confirmation."""
DEFAULT_SLIPPAGE_WARNING_PPM = 3 * PPM_PER_PERCENT
"""The slippage above which exchange interfaces usually warn: those who order other traders' swaps can take most of
it."""
DEFAULT_PRICE_GUARD_PPM = 50_000
DEFAULT_MAX_PRICE_LOSS_PPM = 200_000
"""A TWAP of half an hour is off by 5% on volatile days; the market alone never causes a loss of a fifth."""
DEFAULT_MAX_SLIPPAGE_PPM = 20 * PPM_PER_PERCENT
"""The slippage above which a number is more likely to be in basis points, without the unit, than in percent."""

DEFAULT_MAX_FEE_USD = 50.0
"""The gas cost above which a swap needs permission: a thousand times the cost on the networks of the catalogue, and on
most days several times the cost of a swap on Ethereum."""

DEFAULT_DEADLINE_S = 20 * 60
"""Seconds after which a swap that still waits to be mined fails, as in the interface."""
HANDOFF_LIFETIME_S = 24 * 3_600
"""How long a swap must stay valid if others sign it: the owners of a Safe sign one after another."""
HANDOFF_DEADLINE_S = HANDOFF_LIFETIME_S + 3_600
"""The default deadline of such a swap: one hour longer, for the time until the first owner sees it and for clocks that
differ."""
NO_DEADLINE_S = 2**256 - 1
"""The deadline for router calls that need one, if a swap has no deadline."""

BOTH_FEE_AND_SURPLUS = "Integrator fee and integrator surplus percentage cannot be provided together"


@dataclass(frozen=True, slots=True)
class Integrator:
    """The integrator of a swap, who earns a fee on the output or a share of the surplus, never both."""

    address: str
    fee_bps: int = 0
    surplus_bps: int = 0
    name: str | None = None

    def __post_init__(self) -> None:
        check_shares(self.fee_bps, self.surplus_bps)


class SignedPermit(NamedTuple):
    """The signature of a permit (the 65 bytes r, s, v), and its nonce. The swap provides the other terms."""

    signature: bytes
    nonce: int


class SwapTerms(NamedTuple):
    """The terms of a swap besides its route.

    `recipient` is the address that receives the output; a transaction needs one, a quote does not. Routes older than
    `ttl_s` have expired; a price impact above `impact_warning_ppm`, and a slippage above `slippage_warning_ppm`, cause
    a warning. `deadline_s` (Unix) is enforced by routers whose calls have a deadline. `permit` replaces an approval
    until the deadline. With `deadline_in_s`, the deadline counts from the time of the latest block if a node is known,
    and `deadline_s` from this machine's time. `sender` signs the transaction, None if unknown. `lifetime_s` is how long
    the transaction must stay valid; 0 means that it does not matter. With `needs_permit`, only routers that take a
    permit may be chosen.
    """

    slippage_ppm: int
    recipient: str | None = None
    integrator: Integrator | None = None
    ttl_s: int = DEFAULT_ROUTE_TTL_S
    impact_warning_ppm: int = DEFAULT_IMPACT_WARNING_PPM
    deadline_s: int | None = None
    permit: SignedPermit | None = None
    slippage_warning_ppm: int = DEFAULT_SLIPPAGE_WARNING_PPM
    deadline_in_s: int | None = None
    sender: str | None = None
    lifetime_s: int = 0
    needs_permit: bool = False

    @property
    def required_recipient(self) -> str:
        """The recipient. Raises `InvalidOption` if there is none."""
        if self.recipient is None:
            raise InvalidOption("a transaction needs a recipient", hint="add --destination ADDRESS")
        return self.recipient


def check_shares(fee_bps: int, surplus_bps: int) -> None:
    """Raise `IntegratorError` if fee and surplus are both set, `InvalidOption` if either is out of range."""
    if fee_bps and surplus_bps:
        raise IntegratorError(BOTH_FEE_AND_SURPLUS, hint="give only one of them (0 means not given)")
    _check_bps("integrator fee", fee_bps, MAX_FEE_BPS)
    _check_bps("integrator surplus", surplus_bps, MAX_SURPLUS_BPS)


def _check_bps(what: str, bps: int, most: int) -> None:
    if not 0 <= bps <= most:
        raise InvalidOption(f"{what} must be between 0 and {most} basis points, not {bps}")


def min_received(amount_out: int, slippage_ppm: int) -> int:
    """Return `out - floor(out * slippage)`, the minimum output of a swap. `amount_out` is after an integrator's fee."""
    return amount_out - amount_out * slippage_ppm // PPM


def after_fee(amount_out: int, fee_bps: int) -> int:
    """Return `out - floor(out * bps / 10_000)`, the output after an integrator's fee."""
    return amount_out - amount_out * fee_bps // BPS
