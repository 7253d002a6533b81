"""Test on a node whether a token rejects changes of a nonzero allowance, as USDT on Ethereum does."""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import WORD, encode_address, encode_uint
from swapcli.core.errors import UpstreamRejected
from swapcli.families.reading.calls import ContractCall
from swapcli.payload.evm.transactions import APPROVE
from swapcli.state.rpc.node import BlockId, Node

_SPENDER: Final = "0x000000000000000000000000000000000000dead"
_APPROVE_BYTES: Final = 4 + 2 * WORD
_FIRST_RESULT: Final = 0x80  # its place in memory
_CALL_CODE_BYTES: Final = 49  # of the code that makes one call
_END_CODE: Final = f"608060{_FIRST_RESULT:02x}f3"
"""EVM code that returns two results of two words each."""
_CODE_BYTES: Final = 2 * _CALL_CODE_BYTES + len(_END_CODE) // 2


def must_be_revoked_first(node: Node, at: BlockId, token: str) -> bool:
    """Return whether a token accepts an approval of one unit but then rejects an approval of two. The result is False
    if the node cannot test this.

    One `eth_call` runs code that approves as a separate contract. Raises `UpstreamError`.
    """
    try:
        (answer,) = node.call_many([ContractCall("", _code(token))], at)
    except UpstreamRejected:
        return False  # it runs contracts only
    if answer is None or len(answer) != 4 * WORD:
        return False
    words = [int.from_bytes(answer[start : start + WORD]) for start in range(0, len(answer), WORD)]
    first, second = (bool(value) and bool(is_done) for value, is_done in (words[:2], words[2:]))
    return first and not second


def _code(token: str) -> bytes:
    """Return EVM code that approves one unit, then two, and returns for each the token's result and the call's
    success."""
    calls = (_call_code(token, number) for number in range(2))
    contents = (
        f"{APPROVE}{encode_address(_SPENDER, 'spender')}{encode_uint(amount, 256, 'amount')}" for amount in (1, 2)
    )
    return bytes.fromhex("".join((*calls, _END_CODE, *contents)))


def _call_code(token: str, number: int) -> str:
    """Return EVM code in hex that approves once, and stores the token's result and whether its call succeeded.

    `number` is the position of the approval: its calldata follows the code, and its results occupy two words of memory.
    """
    result, content = _FIRST_RESULT + 2 * WORD * number, _CODE_BYTES + _APPROVE_BYTES * number
    return "".join(
        (
            f"600160{result:02x}52",  # MSTORE of true, which stays if the token returns nothing and so does not reject
            f"60{_APPROVE_BYTES:02x}61{content:04x}600039",  # CODECOPY of the calldata
            f"602060{result:02x}60{_APPROVE_BYTES:02x}6000600073{token[2:]}5af1",  # CALL with all gas
            f"60{result + WORD:02x}52",  # MSTORE of its success
        )
    )
