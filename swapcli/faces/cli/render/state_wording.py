"""Describe the state behind a quote in words: its kind, age, block and service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from swapcli import BlockTag, Finding, StateSource
from swapcli.core.encoding.text import printable
from swapcli.core.model.market import Provenance
from swapcli.core.model.number_format import ROUGH_DIGITS, SHORT_DIGITS
from swapcli.quoting.warnings import NOT_LIVE
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.state.rpc.node import BlockHeader

_TAGS: Final[Mapping[BlockTag | None, str]] = {
    BlockTag.PENDING: " (pending: preconfirmed, may still change)",
    BlockTag.SAFE: " (safe)",
    BlockTag.FINALIZED: " (finalized)",
}


def describe_origin(state_source: StateSource) -> str:
    """Describe the state in a few words: its block and age, or that its prices are not live, and the service."""
    quoted_by = f"quoted by {printable(state_source.service_url)}" if state_source.service_url else ""
    if state_source.kind is None:
        return quoted_by or printable(state_source.description)
    if not state_source.is_live:
        parts = [state_source.kind, NOT_LIVE]
    else:
        parts = [brief_origin(state_source)]
        parts += ["may still change"] * (state_source.tag is BlockTag.PENDING)
        parts += ["proposed, not yet final"] * state_source.is_proposed
        parts += ["not proven by the node"] * (state_source.pinned is False)
    return ", ".join(filter(None, [*parts, quoted_by]))


def brief_origin(state_source: StateSource) -> str:
    """Return the state in short, for a cell of a list: its block and age if it is real, otherwise its kind."""
    if state_source.kind is None:
        return "unknown"
    if not state_source.is_live:
        return state_source.kind
    return ", ".join(filter(None, [_named_block(state_source), short_age(state_source.age_s)]))


def _named_block(state_source: StateSource) -> str:
    """Return the name of a real state's block: "block 1,234" if a node has just called it the latest, otherwise with
    its kind."""
    is_latest = state_source.provenance is Provenance.LIVE and not state_source.is_past
    tag = state_source.tag
    word = (tag.value if tag and tag is not BlockTag.LATEST else "") if is_latest else state_source.kind or ""
    if state_source.block is None:
        return f"{word or 'live'} state"
    return f"{word} block {state_source.block:,}".lstrip()


def short_age(seconds: int | None) -> str:
    """Return an age in short form: "2 s", "5 min", "3 h", "2 d", or empty if it is unknown."""
    if seconds is None:
        return ""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:,} {unit}"
    return f"{seconds} s"


def unreal_label(state_source: StateSource) -> str:
    """Return the label for the first line of a screen if the state's prices are not real, otherwise an empty text."""
    return describe_origin(state_source) if state_source.provenance is not None and not state_source.is_live else ""


def describe_block(state_source: StateSource) -> str:
    """Describe the block and any uncertainty about it, or return an empty text without a block."""
    if state_source.block is None:
        return ""
    tag = _TAGS.get(state_source.tag, "")
    proposed = " (proposed, not yet final)" if state_source.is_proposed else ""
    unpinned = " (not proven by the node)" if state_source.pinned is False else ""
    return f"block {state_source.block:,}{tag}{proposed}{unpinned}"


def describe_newest(block: BlockHeader) -> str:
    """Describe the latest block of a node, just read. A block with a time in the future counts as new."""
    return f"block {block.number:,}, {short_age(max(0, int(SYSTEM_CLOCK.now_s()) - block.timestamp))}"


def shown_digits(state: StateSource) -> int:
    """Return how many significant digits of a rate to show: few if it is modelled, because more would suggest false
    precision."""
    return SHORT_DIGITS if state.provenance is None or state.is_live else ROUGH_DIGITS


def state_columns(state: StateSource | None, warnings: Iterable[Finding]) -> dict[str, object]:
    """Return CSV columns with the kind of the state, empty if it is unknown, and the warning codes."""
    return {"state": state.kind if state else None, "warnings": warning_codes(each.code for each in warnings)}


def warning_codes(codes: Iterable[str]) -> str:
    """Return the warning codes for one cell of a CSV."""
    return ";".join(codes)
