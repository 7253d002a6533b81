"""`--simulate` and `--from`: what is checked of a payload before it is printed, and what is warned of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from swapcli.api.route_result import RouteResult
from swapcli.cli.options import PayloadOptions
from swapcli.cli.quote_options import parse_address_option
from swapcli.cli.render.text import printable
from swapcli.cli.session import Session
from swapcli.engine.quote import QuoteResult, RemoteQuote
from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.errors import InvalidOption
from swapcli.model.network import Kind, Network
from swapcli.model.state_source import StateSource
from swapcli.model.token import Token, in_tokens
from swapcli.model.transaction import UnsignedTransaction
from swapcli.model.warning import QuoteWarning, WarningCode

if TYPE_CHECKING:
    from swapcli.chain.rpc_node import RpcNode
    from swapcli.engine.payload_checks import Checked, Wanted


class PayloadChecker(NamedTuple):
    """The checks that a command line asks for, and the node that they ask."""

    requested: Wanted
    node: RpcNode
    native: Token

    def check_quoted(self, answer: QuoteResult, payload: UnsignedTransaction) -> Checked:
        """Of an answer's own payload. Raises as `check_payload`."""
        order = answer.order
        tokens = order.token_in, order.token_out
        from swapcli.engine.tradable_tokens import is_rounded

        if isinstance(answer, RemoteQuote):
            return self._check(payload, answer.state_source, tokens, None, rounded=False)
        return self._check(payload, answer.state_source, tokens, answer.quote.gas_wei, rounded=is_rounded(answer))

    def check_built(self, fresh_source: QuoteSource, result: RouteResult, payload: UnsignedTransaction) -> Checked:
        """Of the payload that `fresh_source` has just built of a route. Raises as `check_payload`."""
        from swapcli.cli.render.payload_view import traded_tokens

        return self._check(
            payload, fresh_source.state_source, traded_tokens(result, payload, fresh_source.network), None
        )

    def _check(
        self,
        payload: UnsignedTransaction,
        origin: StateSource,
        tokens: tuple[Token, Token],
        gas_wei: int | None,
        *,
        rounded: bool = False,
    ) -> Checked:
        from swapcli.engine.payload_checks import Ends, check_payload

        with closing(self.node):
            ends = Ends(*tokens, self.native)
            return check_payload(self.node, self.requested, payload, origin, ends, gas_wei, rounded=rounded)


def open_checker(session: Session, network: Network, options: PayloadOptions) -> PayloadChecker | None:
    """None where no check is asked for. Raises `InvalidOption` where there is no node to ask, `InvalidAddress`."""
    if not options.simulate and options.sender is None:
        return None
    flag = "--simulate" if options.simulate else "--from"
    if network.kind is not Kind.EVM:
        raise InvalidOption(f"{flag} works on EVM networks only, and {network.name} is none")
    sender = None if options.sender is None else parse_address_option(options.sender, network, "--from")
    node = session.node(network)
    if node is None:
        problem = "--offline lets none be asked" if session.offline else "none is set"
        hint = f"set networks.{network.name}.rpc_url"
        raise InvalidOption(f"{flag} asks a node of {network.name}, and {problem}", hint=hint)
    from swapcli.engine.payload_checks import Wanted

    return PayloadChecker(Wanted(options.simulate, sender), node, network.native)


def check_warnings(checked: Checked, payload: UnsignedTransaction, *, with_approval: bool) -> Iterator[QuoteWarning]:
    """What is amiss, though it is no error."""
    token_in, token_out, native = checked.ends
    simulation, holdings, needed = checked.simulation, checked.holdings, payload.call.route.amount_in
    if simulation and not simulation.matches:
        pays, due = (_format_amount(amount, token_out) for amount in (simulation.received, simulation.expected))
        why = "the quote is not exact" if checked.is_rounded else "the quote rests on another state"
        yield QuoteWarning(
            WarningCode.SIMULATION_DIFFERS,
            f"{why}: it says {due}, and at block {simulation.block} the swap pays {pays}",
        )
    if holdings is None:
        return
    if holdings.allowance is not None and holdings.allowance < needed and not with_approval:
        allowed, sold = _format_amount(holdings.allowance, token_in), _format_amount(needed, token_in)
        yield QuoteWarning(
            WarningCode.ALLOWANCE_TOO_LOW,
            f"the router may take {allowed} from the sender, and the swap takes {sold}: add --with-approval",
        )
    if checked.gas_wei is not None and holdings.account.balance_wei < payload.value + checked.gas_wei:
        held, gas = (_format_amount(wei, native) for wei in (holdings.account.balance_wei, checked.gas_wei))
        beside = " beside what is sold" if payload.value else ""
        yield QuoteWarning(
            WarningCode.GAS_BALANCE_TOO_LOW, f"the sender holds {held}, too little for gas of about {gas}{beside}"
        )


def _format_amount(amount: int, token: Token) -> str:
    return printable(in_tokens(amount, token))
