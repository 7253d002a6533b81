"""How an error is told: to people in one sentence with a hint, to programs as one JSON object. Always on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from swapcli.cli import exits
from swapcli.errors import SwapcliError


@dataclass(frozen=True, slots=True)
class Fault:
    """What is told about an error, whoever raised it."""

    code: str
    message: str
    exit_code: int
    hint: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


def fault_of(error: Exception, *, debug: bool = False) -> Fault:
    """The fault of an error: what it says of itself if it was raised on purpose, else a defect in one sentence.

    `debug` adds to a defect where it arose.
    """
    if isinstance(error, SwapcliError):
        return Fault(error.code, error.message, exits.status_of(error), error.hint, error.details)
    said = " ".join(str(error).split())
    message = f"internal error: {type(error).__name__}{': ' if said else ''}{said}"
    if not debug:
        return Fault("INTERNAL", message, exits.INTERNAL, "this is a defect; swapcli --debug shows where")
    import traceback

    return Fault("INTERNAL", message, exits.INTERNAL, details={"traceback": traceback.format_exception(error)})


def tell(fault: Fault, *, as_json: bool) -> int:
    """Writes `fault` to stderr and returns its exit status."""
    print(_json(fault) if as_json else _sentence(fault), file=sys.stderr)
    return fault.exit_code


def _json(fault: Fault) -> str:
    document = {
        "code": fault.code,
        "message": fault.message,
        "details": dict(fault.details),
        "hint": fault.hint,
        "exit_code": fault.exit_code,
    }
    return json.dumps(document, default=str)


def _sentence(fault: Fault) -> str:
    lines = [f"error: {fault.message}"]
    if fault.hint:
        lines.append(f"hint:  {fault.hint}")
    trace = fault.details.get("traceback")
    return "".join(map(str, trace)) + "\n".join(lines) if isinstance(trace, list) else "\n".join(lines)
