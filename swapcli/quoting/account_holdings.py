"""What an account holds, and what others may take of it, at one block: what `all`, `50%` and approvals rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.state.rpc.node import BlockHeader, ReturnData
    from swapcli.state.rpc.rpc_node import RpcNode


class TokenBalance(NamedTuple):
    """What an account holds of a token in base units; None if the token does not say."""

    token: Token
    amount: int | None


class Holdings(NamedTuple):
    """The balances of an account after a block."""

    block: BlockHeader
    balances: tuple[TokenBalance, ...]


class Allowance(NamedTuple):
    """What a spender may take of a token of its owner after a block, in base units."""

    block: BlockHeader
    token: Token
    amount: int


def read_holdings(node: RpcNode, owner: str, tokens: Sequence[Token]) -> Holdings:
    """Read the balances of an account on the newest block, in a few round trips. Raises `UpstreamError`."""
    from swapcli.state.rpc.call_encoding import encode_call
    from swapcli.state.rpc.node import ContractCall
    from swapcli.state.transfers.erc20_calls import BALANCE

    block = node.read_head().block
    native_wei = node.read_account(owner, block).balance_wei
    contracts = [token for token in tokens if token.address != ZERO_ADDRESS]
    answers = node.call_many([ContractCall(token.address, encode_call(BALANCE, owner)) for token in contracts], block)
    found = {token.address: _word(answer, BALANCE) for token, answer in zip(contracts, answers, strict=True)}
    found[ZERO_ADDRESS] = native_wei
    return Holdings(block, tuple(TokenBalance(token, found[token.address]) for token in tokens))


def read_allowance(node: RpcNode, owner: str, token: Token, spender: str) -> Allowance:
    """Read an allowance on the newest block. Raises `UpstreamError`, even for a token that does not answer."""
    from swapcli.state.rpc.call_encoding import encode_call, read_word
    from swapcli.state.transfers.erc20_calls import ALLOWANCE

    block = node.read_head().block
    answer = node.call(token.address, encode_call(ALLOWANCE, owner, spender), block)
    return Allowance(block, token, read_word(answer, ALLOWANCE))


def _word(answer: ReturnData, function: str) -> int | None:
    from swapcli.state.rpc.call_encoding import read_word

    try:
        return read_word(answer, function)
    except InvalidUpstreamResponse:
        return None
