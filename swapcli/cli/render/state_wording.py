"""The state that a quote was computed on, in words: its kind, age, block and service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.encoding.text import printable
from swapcli.engine.warnings import NOT_LIVE, format_age
from swapcli.model.block_tag import BlockTag
from swapcli.model.state_source import StateSource

_TAGS: Final[Mapping[BlockTag | None, str]] = {
    BlockTag.PENDING: " (pending: preconfirmed, may still change)",
    BlockTag.SAFE: " (safe)",
    BlockTag.FINALIZED: " (finalized)",
}


def describe_origin(state_source: StateSource) -> str:
    """Describe the state briefly: kind, age, whether its prices are live, and the service."""
    quoted_by = f"quoted by {printable(state_source.service_url)}" if state_source.service_url else ""
    if state_source.provenance is None:
        return quoted_by or printable(state_source.description)
    age = format_age(state_source.age_s) if state_source.age_s is not None else ""
    parts = [f"{state_source.provenance.value} state", age if state_source.is_live else NOT_LIVE, quoted_by]
    return ", ".join(filter(None, parts))


def describe_block(state_source: StateSource) -> str:
    """Describe the block and any uncertainty about it; empty without a block."""
    if state_source.block is None:
        return ""
    tag = _TAGS.get(state_source.tag, "")
    proposed = " (proposed, not yet final)" if state_source.is_proposed else ""
    unpinned = " (not proven by the node)" if state_source.pinned is False else ""
    return f"block {state_source.block}{tag}{proposed}{unpinned}"
