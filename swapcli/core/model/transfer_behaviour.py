"""The behaviour of a token's transfers: whether the sent amount arrives."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from swapcli.core.annotations import Final
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple


class TransferKind(StrEnum):
    """The known behaviour of a token's transfers, with the worst last."""

    UNKNOWN = "unknown"
    """Not tried yet, or no pool holds enough of the token for a trial."""
    ORDINARY = "ordinary"
    """The exact amount sent arrives."""
    SHARES = "shares"
    """Balances are computed from shares, as with stETH: up to two units of a transfer do not arrive."""
    REFUSED = "refused"
    """A trial transfer failed in at least one direction: a swap may fail, too."""
    FEE = "fee"
    """The token takes a fee from each transfer."""
    IRREGULAR = "irregular"
    """More arrives than was sent, or the sender loses more than the amount sent."""


class TransferBehaviour(NamedTuple):
    """The behaviour of a token's transfers. Fees are in parts per million: `buy_fee_ppm` of a pool's output,
    `sell_fee_ppm` of payments into a pool, and `transfer_fee_ppm` of transfers between other addresses. All are zero
    unless the kind is `TransferKind.FEE`.

    Example: `TransferBehaviour(TransferKind.FEE, buy_fee_ppm=0, sell_fee_ppm=20_000, transfer_fee_ppm=0)`
    """

    kind: TransferKind = TransferKind.UNKNOWN
    buy_fee_ppm: int = 0
    sell_fee_ppm: int = 0
    transfer_fee_ppm: int = 0

    @classmethod
    def with_fee(cls, fee_ppm: int) -> TransferBehaviour:
        """Return the behaviour of a token that takes the same fee on every transfer; for a fee of 0, the behaviour of
        an ordinary token."""
        return cls(TransferKind.FEE, fee_ppm, fee_ppm, fee_ppm) if fee_ppm else cls(TransferKind.ORDINARY)

    @property
    def is_routable(self) -> bool:
        """Return whether a route that starts or ends with the token pays its quote if it executes at all, except for
        the rounding of shares."""
        return self.kind not in (TransferKind.FEE, TransferKind.IRREGULAR)

    @property
    def is_passable(self) -> bool:
        """Return whether routes between other tokens may pass through the token."""
        return self.is_routable and self.kind is not TransferKind.REFUSED

    @property
    def is_limiting(self) -> bool:
        """Return whether the token's behaviour excludes at least some pools from routes."""
        return not self.is_passable or self.kind is TransferKind.SHARES

    @property
    def max_fee_ppm(self) -> int:
        """Return the highest of the three fees."""
        return max(self.buy_fee_ppm, self.sell_fee_ppm, self.transfer_fee_ppm)

    def described(self) -> str:
        """Return the behaviour, worded as the end of a sentence that begins with the token: "takes a fee of 2% ..."."""
        if self.kind is TransferKind.FEE:
            return f"takes a fee {self._fees()}"
        return {
            TransferKind.UNKNOWN: "has not been tested",
            TransferKind.ORDINARY: "transfers the exact amount sent",
            TransferKind.SHARES: "keeps balances as shares, so a transfer can lose up to 2 base units",
            TransferKind.REFUSED: "rejected a test transfer",
            TransferKind.IRREGULAR: "transfers different amounts than requested",
        }[self.kind]

    def _fees(self) -> str:
        fees = {
            "when it is bought": self.buy_fee_ppm,
            "when it is sold": self.sell_fee_ppm,
            "on other transfers": self.transfer_fee_ppm,
        }
        if len({*fees.values()}) == 1:
            return f"of {percent(self.max_fee_ppm)} on transfers"
        return ", ".join(f"of {percent(fee)} {when}" for when, fee in fees.items() if fee)


class ShareRounding(NamedTuple):
    """A route's possible loss to share-based tokens: the symbols of these tokens, and the base units that all
    their transfers together can lose.

    Each transfer can lose `MAX_ROUNDING` units of its token, and less or more can arrive than was quoted.
    """

    symbols: tuple[str, ...]
    units: int


MAX_ROUNDING: Final = 2
"""The number of units that a transfer of shares can lose: the router's own tolerance."""
UNKNOWN: Final = TransferBehaviour()
REFUSED: Final = TransferBehaviour(TransferKind.REFUSED)
ORDINARY: Final = TransferBehaviour(TransferKind.ORDINARY)
SHARES: Final = TransferBehaviour(TransferKind.SHARES)
IRREGULAR: Final = TransferBehaviour(TransferKind.IRREGULAR)


def worst_of(behaviours: Iterable[TransferBehaviour]) -> TransferBehaviour:
    """Return the overall behaviour from several observations of a token: the worst kind and the highest fees.

    The token may treat pools differently. Without observations, the result is `UNKNOWN`.
    """
    order = list(TransferKind)
    worst = UNKNOWN
    for each in behaviours:
        kind = max(worst.kind, each.kind, key=order.index)
        worst = TransferBehaviour(kind, *map(max, worst[1:], each[1:]))
    return worst if worst.kind is TransferKind.FEE else TransferBehaviour(worst.kind)


def behaviour_document(behaviour: TransferBehaviour) -> dict[str, object]:
    """Return the behaviour as JSON-ready data: `{"kind": ...}`, and the fees that are not 0."""
    fees = zip(TransferBehaviour._fields[1:], behaviour[1:], strict=True)
    return {"kind": behaviour.kind.value, **{name: fee for name, fee in fees if fee}}


def percent(ppm: int) -> str:
    """Return parts per million as a percentage without trailing zeros: 20_000 -> "2%"."""
    whole, rest = divmod(ppm, PPM // 100)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".") + "%"
