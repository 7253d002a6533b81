"""The call that reads the time of the block, on which some pools' fees and prices depend."""

from __future__ import annotations

from typing import Final

from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import MULTICALL3, ContractCall

BLOCK_TIME: Final = ContractCall(MULTICALL3, encode_call("getCurrentBlockTimestamp()"), may_revert=True)
"""Reads the block's time. A `BlockReader` sends it to the network's own Multicall3."""
