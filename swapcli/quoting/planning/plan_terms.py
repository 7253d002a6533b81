"""The terms of a plan as users write them, with the same texts and errors on the command line and in programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption
from swapcli.core.execution.schedule import MAX_PARTS, RISK_LEVELS
from swapcli.core.model.units import DAY_S, PPM
from swapcli.core.records import NamedTuple
from swapcli.interface.value_types import PERCENTAGE, ValueType, choice, whole_number, whole_seconds

MIN_HORIZON_S, MAX_HORIZON_S = 60, 30 * DAY_S
"""Shorter plans leave no time between blocks. A volatility measured over hours does not predict longer plans.
Chosen."""
AUTO: Final = "auto"
_SHOWN_CHARACTERS: Final = 40


class PlanTerms(NamedTuple):
    """The terms on which to plan an order: within `horizon_s` seconds from `start_s` (Unix), in `parts` parts.

    If `start_s` is None, the plan starts now, and if `parts` is None, the planner chooses their number. `max_impact`
    limits the price impact of each part, and `band` how far a part's price may be from the planned prices. Both are
    fractions. `max_impact` None means no limit, and `band` None the default band. `risk` is a name in `RISK_LEVELS`.
    """

    horizon_s: int
    start_s: int | None = None
    parts: int | None = None
    max_impact: float | None = None
    risk: str = "none"
    band: float | None = None


def parse_plan_terms(values: Mapping[str, object], now_s: float, name_option: Callable[[str], str] = str) -> PlanTerms:
    """Return the terms in `values`: `over`, `start`, `parts`, `max_impact`, `risk` and `band`. Values that are None are
    omitted.

    Raises `InvalidOption` and `InvalidDeadline`, in which `name_option` names the options.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if "over" not in given:
        over = name_option("over")
        raise InvalidOption(f"a plan needs a duration: {over} is missing", hint=f"add {over} with a value, such as 4h")
    parsed: dict[str, Any] = {
        field: _parse(name_option(name), kind, given[name]) for name, (field, kind) in _TYPES.items() if name in given
    }
    if "start" in given:
        from swapcli.payload.signing.deadlines import parse_deadline_s

        parsed["start_s"] = parse_deadline_s(str(given["start"]), now_s, name_option("start"))
    for field in ("max_impact", "band"):
        if field in parsed:
            parsed[field] /= PPM
    return PlanTerms(**parsed)


def _parse(label: str, kind: ValueType[Any], value: object) -> Any:
    try:
        return kind.parse(value)
    except ValueError:
        shown = printable(truncate(str(value), _SHOWN_CHARACTERS))
        raise InvalidOption(f'{label}: expected {kind.expected}, not "{shown}"') from None


def _parse_parts(value: object) -> int | None:
    return None if value == AUTO else whole_number(1, MAX_PARTS).parse(value)


def _parse_positive(value: object) -> int:
    ppm = PERCENTAGE.parse(value)
    if not ppm:
        raise ValueError
    return ppm


_FRACTION: Final = PERCENTAGE._replace(expected="a percentage above 0, as in 0.5 or 50bps", parse=_parse_positive)
_TYPES: Final[Mapping[str, tuple[str, ValueType[Any]]]] = {
    "over": (
        "horizon_s",
        whole_seconds(MIN_HORIZON_S, MAX_HORIZON_S)._replace(
            expected=f"a duration from {MIN_HORIZON_S}s to {MAX_HORIZON_S // DAY_S}d, such as 4h"
        ),
    ),
    "parts": ("parts", ValueType(f"{AUTO} or a whole number from 1 to {MAX_PARTS}", _parse_parts)),
    "max_impact": ("max_impact", _FRACTION),
    "band": ("band", _FRACTION),
    "risk": ("risk", choice(tuple(RISK_LEVELS))),
}
"""The field of each option, and its type."""
