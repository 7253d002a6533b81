"""Decide whether findings allow a payload, and raise the error if they do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from swapcli.core.errors import (
    PriceImpactTooHigh,
    SlippageTooHigh,
    UnreadGainTooHigh,
    UnsafeSwap,
    UnusualFees,
    VerdictBlocks,
)
from swapcli.core.model.finding import Finding, FindingCode, Level, at_level
from swapcli.core.records import NamedTuple


class _Refusal(NamedTuple):
    """The error for a finding that blocks, and the setting with which the user can allow it.

    The templates can use the finding's `message` and `hint`, the `count` of other findings, and the `setting`.
    """

    error: type[UnsafeSwap]
    setting: str
    hint: str = "{hint}, or allow it with {setting}"
    message: str = "{message}"
    more: str = ""


_REFUSALS: Final = {
    FindingCode.PRICE_IMPACT_HIGH: _Refusal(PriceImpactTooHigh, "max_impact"),
    FindingCode.SEARCH_UNREAD: _Refusal(UnreadGainTooHigh, "max_impact"),
    FindingCode.SLIPPAGE_HIGH: _Refusal(SlippageTooHigh, "max_slippage"),
    FindingCode.FEES_UNUSUAL: _Refusal(
        UnusualFees,
        "allow_fees",
        "use a different node, or allow them with --allow-fees (allow_fees in Python)",
        "check the node's figures before you sign them: {message}",
        ", and {count} more",
    ),
}
_VERDICT: Final = _Refusal(
    VerdictBlocks,
    "check",
    "{hint}; to build the transaction anyway, set {setting} to never",
    more="; and {count} more",
)
"""The refusal for findings on a simulated swap, which share one setting."""


def settle(
    findings: Iterable[Finding],
    allowed: Collection[str] = (),
    *,
    name_setting: Callable[[str], str] = str,
    details: Mapping[str, object] | None = None,
) -> tuple[Finding, ...]:
    """Return the findings. Those with an `allowed` code become warnings.

    If other findings block, raises the error of the first of them. `name_setting` returns the caller's name for a
    setting, such as its option. The error has the finding's facts, or `details` if given.
    """
    settled = tuple(each._replace(level=Level.WARN) if each.code in allowed else each for each in findings)
    blocking = at_level(settled, Level.BLOCK)
    if not blocking:
        return settled
    first, *others = blocking
    refusal = _REFUSALS.get(FindingCode(first.code), _VERDICT)
    words = {
        "message": first.message,
        "hint": first.hint,
        "setting": name_setting(refusal.setting),
        "count": len(others),
    }
    message = refusal.message.format_map(words) + (refusal.more.format_map(words) if others else "")
    raise refusal.error(message, hint=refusal.hint.format_map(words), details=dict(details or first.facts))
