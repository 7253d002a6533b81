"""Read an account's balances and allowances at one block, for amounts such as `all` and `50%`, and for approvals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, cast

from swapcli.core.errors import InvalidOption, InvalidUpstreamResponse
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.router_dialect import PermitKind
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.core.networks.permit2 import AMOUNT_BITS, PERMIT2, PERMIT2_ALLOWANCE
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.quoting.quote_options import parse_account

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState
    from swapcli.families.reading.calls import ReturnData
    from swapcli.interface.document_types import AllowanceJson, BalanceJson, HoldingsJson
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.sources.token_checks import TokenChecks
    from swapcli.state.rpc.node import BlockHeader
    from swapcli.state.rpc.rpc_node import RpcNode

UNLIMITED: Final = 2**255
"""Allowances of at least half the range of a 256-bit integer: wallets write an unlimited allowance this way."""


class TokenBalance(NamedTuple):
    """An account's balance of a token in base units; None if the token's contract does not return one."""

    token: Token
    amount: int | None

    @property
    def balance(self) -> str | None:
        """The balance in whole tokens, with commas as thousands separators; None if it is unknown."""
        return None if self.amount is None else whole_tokens(self.amount, self.token.decimals)


class Holdings(NamedTuple):
    """An account's balances at the end of a block."""

    network: Network
    owner: str
    block: BlockHeader
    balances: tuple[TokenBalance, ...]

    @own_document
    def document(self) -> HoldingsJson:
        """Return the JSON that `swapcli balance` prints."""
        return {
            "network": self.network.name,
            "address": display_address(self.owner, self.network.kind),
            "block": self.block.number,
            "timestamp": self.block.timestamp,
            "balances": [self._row(each) for each in self.balances],
        }

    def _row(self, held: TokenBalance) -> BalanceJson:
        return {
            "symbol": held.token.symbol,
            "address": display_address(held.token.address, self.network.kind),
            "amount": None if held.amount is None else str(held.amount),
            "balance": None if held.balance is None else held.balance.replace(",", ""),
        }


class Permit2Allowance(NamedTuple):
    """An allowance granted through Permit2: `amount` until `expiration_s` (Unix). `permit2_amount` is the owner's
    allowance to Permit2 in the token's contract."""

    amount: int
    expiration_s: int
    permit2_amount: int


class Allowance(NamedTuple):
    """The amount of a token that a spender may take from its owner at the end of a block, in base units.

    `permit2` is the allowance through Permit2; None if it was not read.
    """

    network: Network
    owner: str
    token: Token
    spender: str
    block: BlockHeader
    amount: int
    permit2: Permit2Allowance | None = None

    @staticmethod
    def is_unlimited(amount: int) -> bool:
        """Return whether an allowance has no limit: at least 2^255, or, in Permit2, all 160 bits."""
        return amount >= UNLIMITED or amount == 2**AMOUNT_BITS - 1

    @own_document
    def document(self) -> AllowanceJson:
        """Return the JSON that `swapcli allowance` prints."""
        kind, token, permit2 = self.network.kind, self.token, self.permit2
        document: dict[str, object] = {
            "network": self.network.name,
            "address": display_address(self.owner, kind),
            "token": {"symbol": token.symbol, "address": display_address(token.address, kind)},
            "spender": display_address(self.spender, kind),
            "allowance": str(self.amount),
            "permit2": permit2
            and {
                "allowance": str(permit2.permit2_amount),
                "spenderAllowance": str(permit2.amount),
                "expiration": permit2.expiration_s,
            },
            "block": self.block.number,
            "timestamp": self.block.timestamp,
        }
        return cast("AllowanceJson", document)


def find_holdings(
    nodes: NodeOpener, network: Network, owner: str, named: Sequence[Token], known_market: Callable[[], MarketState]
) -> Holdings:
    """Read the balances of the `named` tokens, or, without names, all balances above 0 of known tokens. Raises the same
    errors as `Market.balance`."""
    address = parse_account(owner, network, "owner")
    tokens = [*named]
    if not tokens:
        known = known_market().tokens.values()
        tokens = [network.native, *(token for token in known if token.address != ZERO_ADDRESS)]
    with closing(nodes.require_node(network)) as node:
        found = read_holdings(node, network, address, tokens, nodes.token_checks(network))
    return found._replace(balances=tuple(each for each in found.balances if named or each.amount))


def find_allowance(nodes: NodeOpener, network: Network, owner: str, token: Token, spender: str | None) -> Allowance:
    """Read the allowance of `spender`. The default is the contract that takes tokens for the network's router.

    If quotes choose between routers, the default belongs to the most trusted one. Raises the same errors as
    `Market.allowance`.
    """
    from swapcli.payload.dialects import router_dialect

    if network.chooses_router:
        from swapcli.payload.router_trust import known_dialects

        network = network.for_dialect(known_dialects(network)[0])
    address = parse_account(owner, network, "owner")
    default = network.dialect_router.spender or network.router
    taker = default if spender is None else parse_account(spender, network, "spender")
    if taker is None:
        raise InvalidOption(
            f"the catalogue has no router for {network.name}", hint="give the spender's address after the token"
        )
    if token.address == ZERO_ADDRESS:
        raise InvalidOption(f"{token.symbol} is native currency, which needs no allowance")
    through_permit2 = taker == network.router and router_dialect(network).permit_kind is PermitKind.PERMIT2
    with closing(nodes.require_node(network)) as node:
        return read_allowance(node, network, address, token, taker, through_permit2=through_permit2)


def read_holdings(
    node: RpcNode, network: Network, owner: str, tokens: Sequence[Token], checks: TokenChecks | None = None
) -> Holdings:
    """Read the balances of an account at the latest block, in a few round trips.

    `checks` compares the tokens with their contracts. Raises `UpstreamError`, and `ConfigError` for a token that does
    not match its contract.
    """
    from swapcli.families.reading.call_encoding import encode_call
    from swapcli.families.reading.calls import ContractCall
    from swapcli.state.tokens import parse_token_facts, token_fact_calls
    from swapcli.state.transfers.erc20_calls import BALANCE

    block = node.read_head().block
    native_wei = node.read_account(owner, block).balance_wei
    contracts = [token for token in tokens if token.address != ZERO_ADDRESS]
    by_address = {token.address: token for token in contracts}
    unconfirmed = checks.unconfirmed(by_address, by_address) if checks else []
    calls = [ContractCall(token.address, encode_call(BALANCE, owner)) for token in contracts]
    facts = [call for address in unconfirmed for call in token_fact_calls(address)]
    found_data = node.call_many([*calls, *facts], block)
    answers, said = found_data[: len(calls)], iter(found_data[len(calls) :])
    if checks and unconfirmed:
        of_contracts = {address: parse_token_facts(address, next(said), next(said)) for address in unconfirmed}
        checks.check(by_address, of_contracts, by_address)
    found = {token.address: _word(answer, BALANCE) for token, answer in zip(contracts, answers, strict=True)}
    found[ZERO_ADDRESS] = native_wei
    return Holdings(network, owner, block, tuple(TokenBalance(token, found[token.address]) for token in tokens))


def read_allowance(
    node: RpcNode, network: Network, owner: str, token: Token, spender: str, *, through_permit2: bool = False
) -> Allowance:
    """Read an allowance at the latest block. Also read the allowance in Permit2 if the spender may take tokens through
    it.

    Raises `UpstreamError`, also if a token's contract does not respond.
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
    return Allowance(network, owner, token, spender, block, read_word(answers[0], ALLOWANCE), permit2)


def _word(answer: ReturnData, function: str) -> int | None:
    from swapcli.families.reading.call_encoding import read_word

    try:
        return read_word(answer, function)
    except InvalidUpstreamResponse:
        return None
