"""The call that reads the block's time, on which some pools' fees and prices depend."""

from __future__ import annotations

from typing import Final

from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word
from swapcli.families.reading.calls import MULTICALL3, ContractCall, ReturnData
from swapcli.families.reading.views import View

_TIME: Final = "getCurrentBlockTimestamp()"
BLOCK_TIME: Final = ContractCall(MULTICALL3, encode_call(_TIME), may_revert=True)
"""Reads the block's time. A `BlockReader` sends it to the network's own Multicall3."""


def read_block_time(answer: ReturnData, use: str) -> int:
    """Return the block's time.

    Raises `InvalidUpstreamResponse` if it is missing; `use` names the data that depends on it.
    """
    if not answer:
        raise invalid_response(_TIME, f"the block's time, {use}, cannot be read")
    return read_word(answer, _TIME)


def time_view(use: str) -> View:
    """Return the view `timestamp` of the block's time, decoded by `read_block_time`."""
    return View("timestamp", BLOCK_TIME, lambda answer, _: read_block_time(answer, use), _TIME)


def undecoded_time_view() -> View:
    """Return the view `time` of the block's time, undecoded: `read_block_time` decodes it for the pools that need
    it."""
    return View("time", BLOCK_TIME, lambda answer, _: answer, _TIME)
