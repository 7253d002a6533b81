"""The verdict on a swap before it is signed: whether it is fine, to be thought over, or not to be signed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.payload.evm.token_powers import TokenPowers


class VerdictStatus(StrEnum):
    """From the best to the worst."""

    OK = "ok"
    WARN = "warn"
    BLOCK = "block"


SEVERITY: Final = tuple(VerdictStatus)
"""The statuses, the worst one last."""


class ReasonCode(StrEnum):
    """The codes of reasons. They are stable, and meant for programs."""

    SWAP_REVERTS = "SWAP_REVERTS"
    PAYS_TOO_LITTLE = "PAYS_TOO_LITTLE"
    CANNOT_BE_SOLD = "CANNOT_BE_SOLD"
    TAXED_ON_SALE = "TAXED_ON_SALE"
    TRANSFERS_PAUSED = "TRANSFERS_PAUSED"
    ACCOUNT_BLOCKED = "ACCOUNT_BLOCKED"
    TRANSFERS_REFUSED = "TRANSFERS_REFUSED"
    TAXED_ON_TRANSFER = "TAXED_ON_TRANSFER"
    BALANCE_IRREGULAR = "BALANCE_IRREGULAR"
    OWNER_POWERS = "OWNER_POWERS"
    PRICE_BELOW_REFERENCES = "PRICE_BELOW_REFERENCES"
    SIMULATIONS_DIFFER = "SIMULATIONS_DIFFER"
    NOT_SIMULATED = "NOT_SIMULATED"


class Reason(NamedTuple):
    """Why a verdict is not ok: a `message` without its full stop, and what to do about it.

    Example: `Reason(ReasonCode.CANNOT_BE_SOLD, VerdictStatus.BLOCK, "TRAP cannot be sold again", "do not buy it")`.
    """

    code: ReasonCode
    status: VerdictStatus
    message: str
    hint: str


def worst_first(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return the reasons with those that block a swap first; those of one status keep their order."""
    return tuple(sorted(reasons, key=lambda reason: -SEVERITY.index(reason.status)))


class TriedSale(NamedTuple):
    """A sale of part of what was bought, in the pool that had sold it. Amounts are in base units.

    `received` of `token_out` was paid, None where the sale failed; `expected` is what the pool's state says, None where
    that was not the state of the simulation.
    """

    pool: str
    amount_in: int
    token_out: str
    received: int | None
    expected: int | None


class PriceKind(StrEnum):
    """Where a price outside the route comes from."""

    AVERAGE = "average"
    """Of a pool over time."""
    ORACLE = "oracle"
    FEED = "feed"


class PriceReference(NamedTuple):
    """A price outside the route: of its `source`, what the input is worth in base units of the output, and by how many
    ppm of that the quote is below it; negative where it is above."""

    kind: PriceKind
    source: str
    amount_out: int
    loss_ppm: int


class VerdictFacts(NamedTuple):
    """What the verdict rests on: the block and the sender of the simulation, what the swap paid, None where it failed,
    the sales that were tried, what the owners of the tokens can do, and the prices outside the route."""

    block: int | None = None
    sender: str | None = None
    received: int | None = None
    sales: tuple[TriedSale, ...] = ()
    powers: tuple[TokenPowers, ...] = ()
    references: tuple[PriceReference, ...] = ()


class Verdict(NamedTuple):
    """A verdict with its reasons and the facts behind them; it is ok without any reason."""

    reasons: tuple[Reason, ...]
    facts: VerdictFacts

    @property
    def status(self) -> VerdictStatus:
        """The worst status of all reasons."""
        return max((reason.status for reason in self.reasons), key=SEVERITY.index, default=VerdictStatus.OK)

    def of_status(self, status: VerdictStatus) -> tuple[Reason, ...]:
        """Return the reasons with this status."""
        return tuple(reason for reason in self.reasons if reason.status is status)
