"""Parse the fees in consecutive blocks, as returned by `eth_feeHistory`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.state.rpc.json_rpc_client import RpcRequest, RpcResult
from swapcli.state.rpc.node import BlockHeader

_BLOCKS: Final = 20
"""The number of blocks whose fees are read: as many as in go-ethereum's own suggestion (`eth/gasprice`)."""
_MEDIAN: Final = 50  # percentile of the priority fees in a block
_is_quantity = re.compile(r"0x[0-9a-fA-F]{1,64}").fullmatch


class FeeHistory(NamedTuple):
    """The fees in recent blocks, in wei: the base fee of each block and of the next one, and the median priority fee of
    each block with transactions. `last_block` is the number of the last of these blocks, None if the node omits it."""

    next_base_fee_wei: int
    priority_fees_wei: tuple[int, ...]
    base_fees_wei: tuple[int, ...] = ()
    last_block: int | None = None

    @property
    def median_priority_fee_wei(self) -> int:
        """Return the median of the priority fees; 0 if no recent block has transactions."""
        return _lower_median(self.priority_fees_wei or (0,))

    @property
    def usual_price_wei(self) -> int:
        """Return the median base fee plus the median priority fee."""
        return _lower_median(self.base_fees_wei or (self.next_base_fee_wei,)) + self.median_priority_fee_wei

    def price_wei(self, block: BlockHeader) -> int | None:
        """Return the gas price at `block`, the last block of the history: its base fee plus the median priority fee.
        Return None if the history ends at a different block, or has no fees.

        go-ethereum computes `eth_gasPrice` in the same way. The next block's base fee is not used, because some nodes
        return the base fee after their latest block, not after the last requested one.
        """
        is_priced = self.priority_fees_wei or block.base_fee_wei
        if self.last_block != block.number or self.base_fees_wei[-1:] != (block.base_fee_wei,) or not is_priced:
            return None
        return block.base_fee_wei + self.median_priority_fee_wei


def fee_history_request(last_block: int | str) -> RpcRequest:
    """Return the request for the fees in the 20 blocks up to `last_block`, a number or tag. The request is optional."""
    name = hex(last_block) if isinstance(last_block, int) else last_block
    return RpcRequest("eth_feeHistory", (hex(_BLOCKS), name, (_MEDIAN,)), may_be_null=True, is_optional=True)


def parse_fee_history(result: RpcResult) -> FeeHistory | None:
    """Return the fees in a result; None if the node rejected the request, or if the result is malformed."""
    if not isinstance(result, dict):
        return None
    base_fees, rewards, ratios = (result.get(name) for name in ("baseFeePerGas", "reward", "gasUsedRatio"))
    if not (isinstance(base_fees, list) and isinstance(rewards, list) and isinstance(ratios, list)) or not base_fees:
        return None
    next_base_fee, recent = _quantity(base_fees[-1]), [_quantity(each) for each in base_fees[:-1]]
    medians = [
        _quantity(reward[0]) if isinstance(reward, list) and reward else None
        for reward, ratio in zip(rewards, ratios, strict=False)
        if ratio
    ]
    if next_base_fee is None or None in medians or None in recent:
        return None
    priority_fees, recent_fees = (tuple(each for each in values if each is not None) for values in (medians, recent))
    oldest = _quantity(result.get("oldestBlock"))
    return FeeHistory(next_base_fee, priority_fees, recent_fees, None if oldest is None else oldest + len(recent) - 1)


def _lower_median(values: Sequence[int]) -> int:
    return sorted(values)[(len(values) - 1) // 2]


def _quantity(value: object) -> int | None:
    return int(value, 16) if isinstance(value, str) and _is_quantity(value) else None
