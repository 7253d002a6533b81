"""What an account holds, and what others may take of it, at one block: what `all`, `50%` and approvals rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.networks.permit2 import PERMIT2, PERMIT2_ALLOWANCE
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.families.reading.calls import ReturnData
    from swapcli.state.rpc.node import BlockHeader
    from swapcli.state.rpc.rpc_node import RpcNode


class TokenBalance(NamedTuple):
    """What an account holds of a token in base units; None if the token does not say."""

    token: Token
    amount: int | None


class Holdings(NamedTuple):
    """The balances of an account after a block."""

    block: BlockHeader
    balances: tuple[TokenBalance, ...]


class Permit2Allowance(NamedTuple):
    """What a spender may take through Permit2, in base units, until a Unix time, and what Permit2 may take itself."""

    amount: int
    expiration_s: int
    permit2_amount: int


class Allowance(NamedTuple):
    """What a spender may take of a token of its owner after a block, in base units.

    `permit2` is what it may take through Permit2; None if that was not read.
    """

    block: BlockHeader
    token: Token
    amount: int
    permit2: Permit2Allowance | None = None


def read_holdings(node: RpcNode, owner: str, tokens: Sequence[Token]) -> Holdings:
    """Read the balances of an account on the newest block, in a few round trips. Raises `UpstreamError`."""
    from swapcli.families.reading.call_encoding import encode_call
    from swapcli.families.reading.calls import ContractCall
    from swapcli.state.transfers.erc20_calls import BALANCE

    block = node.read_head().block
    native_wei = node.read_account(owner, block).balance_wei
    contracts = [token for token in tokens if token.address != ZERO_ADDRESS]
    answers = node.call_many([ContractCall(token.address, encode_call(BALANCE, owner)) for token in contracts], block)
    found = {token.address: _word(answer, BALANCE) for token, answer in zip(contracts, answers, strict=True)}
    found[ZERO_ADDRESS] = native_wei
    return Holdings(block, tuple(TokenBalance(token, found[token.address]) for token in tokens))


def read_allowance(
    node: RpcNode, owner: str, token: Token, spender: str, *, through_permit2: bool = False
) -> Allowance:
    """Read an allowance on the newest block, and that in Permit2 if the spender may take tokens through it.

    Raises `UpstreamError`, even for a token that does not answer.
    """
    from swapcli.families.reading.call_encoding import encode_call, read_word, read_words
    from swapcli.families.reading.calls import ContractCall
    from swapcli.state.transfers.erc20_calls import ALLOWANCE

    block = node.read_head().block
    calls = [ContractCall(token.address, encode_call(ALLOWANCE, owner, spender))]
    if through_permit2:
        calls.append(ContractCall(token.address, encode_call(ALLOWANCE, owner, PERMIT2)))
        calls.append(ContractCall(PERMIT2, encode_call(PERMIT2_ALLOWANCE, owner, token.address, spender)))
    answers = node.call_many(calls, block)
    permit2 = None
    if through_permit2:
        amount, expiration_s, _nonce = read_words(answers[2], 3, PERMIT2_ALLOWANCE)
        permit2 = Permit2Allowance(amount, expiration_s, read_word(answers[1], ALLOWANCE))
    return Allowance(block, token, read_word(answers[0], ALLOWANCE), permit2)


def _word(answer: ReturnData, function: str) -> int | None:
    from swapcli.families.reading.call_encoding import read_word

    try:
        return read_word(answer, function)
    except InvalidUpstreamResponse:
        return None
