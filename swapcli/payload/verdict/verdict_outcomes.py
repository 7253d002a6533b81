"""What follows from a verdict: warnings, or an error where the swap must not be signed."""

from __future__ import annotations

from swapcli.core.errors import VerdictBlocks
from swapcli.core.model.warning import QuoteWarning
from swapcli.payload.verdict.verdict import Verdict, VerdictStatus
from swapcli.payload.verdict.verdict_document import render_verdict


def verdict_warnings(verdict: Verdict | None) -> tuple[QuoteWarning, ...]:
    """Return the reasons of a verdict as warnings."""
    reasons = verdict.reasons if verdict else ()
    return tuple(QuoteWarning(reason.code, f"{reason.message}; {reason.hint}") for reason in reasons)


def check_verdict(verdict: Verdict | None, option: str = "check") -> None:
    """Raise `VerdictBlocks` if the verdict says so."""
    blocking = verdict.of_status(VerdictStatus.BLOCK) if verdict else ()
    if verdict is None or not blocking:
        return
    first, *others = blocking
    more = f"; and {len(others)} more" if others else ""
    raise VerdictBlocks(
        f"{first.message}{more}",
        hint=f"{first.hint}; to build the transaction all the same, set {option} to never",
        details={"verdict": render_verdict(verdict)},
    )
