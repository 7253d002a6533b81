"""Response headers with the state behind a quote and its warnings. Bodies stay as in the published API.

X-Swap-State: synced;block=23456789;age=12;tag=latest
X-Swap-Warnings: PRICE_IMPACT_HIGH;impact=0.0731, STATE_MODELLED, PARAMETER_UNKNOWN;name=maxHop
X-Swap-Witnesses: 2
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import Provenance
from swapcli.core.model.state_source import ReportedWarnings
from swapcli.core.records import NamedTuple

STATE_HEADER = "X-Swap-State"
WARNINGS_HEADER = "X-Swap-Warnings"
WITNESSES_HEADER = "X-Swap-Witnesses"

MAX_CODES = 16  # a bound against hostile input; chosen

_STATE = re.compile(r"([a-z]{1,20})(?:;block=([0-9]{1,18}))?(?:;age=([0-9]{1,12}))?(?:;tag=([a-z]{1,20}))?")
_WARNING = re.compile(
    r"([A-Z][A-Z0-9_]{0,39})(?:;impact=(-?[0-9]{1,6}\.[0-9]{1,6}))?(?:;(?:name|closest)=[A-Za-z0-9_.-]{1,80}){0,2}"
)


class ReportedState(NamedTuple):
    """The pool state reported by a service; `age_s` is its age in seconds at the time of the response, `tag` the block
    tag of the service's node."""

    provenance: Provenance
    block: int | None = None
    age_s: int | None = None
    tag: BlockTag | None = None


def render_state(state: ReportedState) -> str:
    """Render the value of `X-Swap-State`."""
    block = "" if state.block is None else f";block={state.block}"
    age = "" if state.age_s is None else f";age={state.age_s}"
    tag = "" if state.tag is None else f";tag={state.tag}"
    return f"{state.provenance.value}{block}{age}{tag}"


def parse_state(text: str | None) -> ReportedState | None:
    """Parse the value of `X-Swap-State`; None if it is malformed."""
    match = _STATE.fullmatch(text or "")
    if match is None or match[1] not in _KINDS:
        return None
    block, age_s = (None if digits is None else int(digits) for digits in (match[2], match[3]))
    return ReportedState(_KINDS[match[1]], block, age_s, _TAGS.get(match[4]))


def render_warnings(codes: Iterable[str], impact_code: str, price_impact: float | None) -> str:
    """Render the value of `X-Swap-Warnings`, with the price impact after `impact_code`."""
    figure = "" if price_impact is None else f";impact={price_impact:.4f}"
    return ", ".join(f"{code}{figure if code == impact_code else ''}" for code in codes)


def parse_warnings(text: str | None) -> ReportedWarnings:
    """Parse the value of `X-Swap-Warnings`. Malformed words, and words after the 16th, are ignored."""
    matches = [match for word in (text or "").split(",")[:MAX_CODES] if (match := _WARNING.fullmatch(word.strip()))]
    figures = [float(match[2]) for match in matches if match[2] is not None]
    return ReportedWarnings(tuple(dict.fromkeys(match[1] for match in matches)), max(figures, default=None))


_KINDS = {each.value: each for each in Provenance}
_TAGS = {each.value: each for each in BlockTag}
