"""The answer of the tool check: the verdict and the figures of `swapcli calldata`, without the payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swapcli import VerdictBlocks

CHECK = "check"
_ORDER_FIELDS = ("inputToken", "inputAmount", "outputToken", "outputAmount")
_FIGURES = ("minReceived", "priceImpact", "slippage", "gasUnits")


def without_payload(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the check of a swap whose payload was built."""
    # A router that the interface does not describe has its route under another name.
    route = document["route"] if "route" in document else document["quote"]
    quote = {name: route[name] for name in _ORDER_FIELDS} | {name: document[name] for name in _FIGURES}
    return {
        "network": document["network"],
        "verdict": document.get("verdict"),
        "warnings": document["warnings"],
        "quote": quote,
        "state": document["state"],
    }


def blocked_check(error: Mapping[str, Any], network: str) -> dict[str, Any] | None:
    """Return the check of a swap that its verdict blocks: that is an answer, not a failure. None for other errors."""
    if error["code"] != VerdictBlocks.code or "verdict" not in error["details"]:
        return None
    verdict = error["details"]["verdict"]
    warnings = [{"code": each["code"], "message": each["message"]} for each in verdict["reasons"]]
    return {"network": network, "verdict": verdict, "warnings": warnings, "quote": None, "state": None}
