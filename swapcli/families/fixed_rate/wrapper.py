"""The wrapped native token's own contract as a pool: it swaps the native token for the wrapped one and back, 1:1.

`address` is the wrapped token; `tokens` are the zero address of the native token and the wrapped token. Routing uses
the wrapped form throughout, so this pool serves only orders that wrap or unwrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.identity_checks import check_no_fee
from swapcli.families.token_positions import token_indices

UNBOUNDED_AMOUNT: Final = 1e30
"""Far above any token's supply in base units (about 1e27 for a billion tokens of 18 decimals)."""


@dataclass(frozen=True, slots=True)
class WrappedNative(Pool):
    """A wrapper contract without limits: it unwraps any amount that it has wrapped."""

    family: ClassVar[str] = "wrapper"
    swap_gas: ClassVar[int] = 11_000
    is_wrapper: ClassVar[bool] = True

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Return `amount_in` as the output, and the same pool."""
        token_indices(self, token_in, token_out)
        return amount_in, self

    def curve(self, token_in: str, token_out: str) -> OneToOneCurve:
        """Return a curve with a rate of one for every amount."""
        token_indices(self, token_in, token_out)
        return OneToOneCurve()

    def state(self) -> dict[str, object]:
        """Return an empty object: a wrapper has no state."""
        return {}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Check that the identity is a wrapper's; there is no state to read."""
        del state
        if identity.tokens != (ZERO_ADDRESS, identity.address.lower()):
            raise InvalidPoolState("tokens", "expected the native zero address and the pool's own")
        if len(set(identity.decimals)) != 1:
            raise InvalidPoolState("decimals", "the native and the wrapped token must have the same")
        check_no_fee(identity)
        return cls(*identity)


class OneToOneCurve:
    """The curve out = in. The rate is one for every amount. Since no trade lowers it, a large finite amount stands for
    the trade to a lower rate."""

    __slots__ = ("capacity", "start_rate")

    def __init__(self) -> None:
        self.capacity: float = inf
        self.start_rate: float = 1.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        return (0.0, 0.0, 0.0) if rate >= 1.0 else (UNBOUNDED_AMOUNT, UNBOUNDED_AMOUNT, 0.0)

    def amount_out(self, amount_in: float) -> float:
        """Return `amount_in`."""
        return max(amount_in, 0.0)

    def rate(self, amount_in: float) -> float:
        """Return one."""
        del amount_in
        return 1.0
