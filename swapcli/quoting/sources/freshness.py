"""Compare the age of the state behind quotes with `--max-age`."""

from __future__ import annotations

from swapcli.core.errors import MarketUnavailable
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.state_source import StateSource
from swapcli.quoting.live_choice import missing_node_hint


def is_fresh(state: StateSource, max_age_s: int) -> bool:
    """Return whether the state is known to be at most `max_age_s` old."""
    return state.age_s is not None and state.age_s <= max_age_s


def archive_hint(block: int | None) -> str:
    """Return the hint to use if a node does not have the state of a past block."""
    which = "that block" if block is None else f"block {block:,}"
    return f"the state of {which} may be too old for this node: set an archive node with --rpc-url"


def check_fresh(state: StateSource, network: Network, max_age_s: int | None, *, hint: str | None = None) -> None:
    """Raise `MarketUnavailable` if the state is older than `max_age_s`, or if its age is unknown.

    The default hint is for the user of a command.
    """
    if max_age_s is None or is_fresh(state, max_age_s):
        return
    if state.age_s is None:
        problem = f"{network.name} is quoted on {state.provenance} state, which has no timestamp"
    else:
        problem = f"the pool state of {network.name} is {state.age_s} seconds old"
    if hint is not None:
        pass
    elif state.tag in (BlockTag.SAFE, BlockTag.FINALIZED):
        hint = f"use the latest block instead of {state.tag}, or allow a greater age"
    elif state.provenance is Provenance.LIVE:
        hint = "the node is behind or the network has stopped: set a different node, or allow a greater age"
    else:
        hint = f"{missing_node_hint(network)}; or allow a greater age"
    raise MarketUnavailable(
        f"{problem}, so a maximum age of {max_age_s} seconds cannot be met",
        hint=hint,
        details={"age_s": state.age_s, "max_age_s": max_age_s, "block": state.block},
    )
