"""`--simulate` and `--from`: check a transaction on a node before it is printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from swapcli.api.route_result import RouteResult
from swapcli.cli.account_options import SENDER, parse_account_option
from swapcli.cli.options import PayloadOptions
from swapcli.cli.session import Session
from swapcli.encoding.text import printable
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.dialects import router_dialect
from swapcli.engine.quote_results import QuoteResult, RemoteQuote
from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.errors import InvalidOption
from swapcli.model.network import Kind, Network
from swapcli.model.state_source import StateSource
from swapcli.model.token import Token, in_tokens
from swapcli.model.transaction import UnsignedTransaction
from swapcli.model.warning import QuoteWarning, WarningCode

if TYPE_CHECKING:
    from swapcli.chain.rpc_node import RpcNode
    from swapcli.engine.payloads_by_reading import RoutePayloads
    from swapcli.engine.presign_checks import CheckOptions, PayloadCheck
    from swapcli.engine.reading_memory import ReadingMemory
    from swapcli.engine.signing_fields import SigningPlan


class PayloadChecker(NamedTuple):
    """The requested checks, and the node for them."""

    requested: CheckOptions
    node: RpcNode
    network: Network
    memory: ReadingMemory

    def check_quoted(
        self, answer: QuoteResult, payload: UnsignedTransaction, readings: RoutePayloads | None
    ) -> PayloadCheck:
        """Check the transaction of a quote; `readings` builds it for other readings. Raises as `check_payload`."""
        order = answer.order
        tokens = order.token_in, order.token_out
        from swapcli.engine.transfer_rules import is_rounded

        if isinstance(answer, RemoteQuote):
            return self._check(payload, answer.state_source, tokens, None, rounded=False)
        rounded, gas_wei = is_rounded(answer), answer.quote.gas_wei
        return self._check(payload, answer.state_source, tokens, gas_wei, rounded=rounded, readings=readings)

    def check_built(
        self,
        fresh_source: QuoteSource,
        result: RouteResult,
        payload: UnsignedTransaction,
        readings: RoutePayloads | None,
    ) -> PayloadCheck:
        """Check the transaction that `fresh_source` built from a route. Raises as `check_quoted`."""
        from swapcli.cli.render.payload_view import traded_tokens

        tokens = traded_tokens(result, payload, fresh_source.network)
        return self._check(payload, fresh_source.state_source, tokens, None, readings=readings)

    def _check(
        self,
        payload: UnsignedTransaction,
        origin: StateSource,
        tokens: tuple[Token, Token],
        gas_wei: int | None,
        *,
        rounded: bool = False,
        readings: RoutePayloads | None = None,
    ) -> PayloadCheck:
        from swapcli.engine.presign_checks import TradedTokens, check_payload

        with closing(self.node):
            ends = TradedTokens(*tokens, self.network.native)
            checked = check_payload(
                self.node, self.requested, payload, origin, ends, gas_wei, is_rounded=rounded, readings=readings
            )
            if readings is not None and self.requested.simulate:
                self.memory.learn(self.node, readings, checked, int(SYSTEM_CLOCK.now_s()))
            elif readings is not None:
                checked = checked._replace(read_payload=self.memory.without_stale(self.node, readings))
            payload = checked.read_payload.payload if checked.read_payload else payload
            return checked._replace(signing=self._plan_signing(payload, checked))

    def _plan_signing(self, payload: UnsignedTransaction, checked: PayloadCheck) -> SigningPlan | None:
        """Read the nonce, gas and fees of the transactions; None without a sender."""
        from swapcli.engine.signing_fields import read_signing_plan
        from swapcli.routing.gas import before_refunds

        sender = self.requested.sender
        if sender is None:
            return None
        transactions = router_dialect(self.network).build_transactions(payload, checked.allowances)
        if checked.simulation:
            swap_peak: int | None = checked.simulation.gas_used
        else:
            swap_peak = None if payload.gas_units is None else before_refunds(payload.gas_units)
        return read_signing_plan(self.node, sender, transactions, self.network, swap_peak)


def open_checker(session: Session, network: Network, options: PayloadOptions) -> PayloadChecker | None:
    """Return the checker, or None without the options. Raises `InvalidOption` without a node, `InvalidAddress`."""
    if not options.simulate and options.sender is None:
        return None
    flag = "--simulate" if options.simulate else "--from"
    if network.kind is not Kind.EVM:
        raise InvalidOption(f"{flag} works on EVM networks only, not on {network.name}")
    sender = None if options.sender is None else parse_account_option(options.sender, network, session, SENDER)
    node = session.node(network)
    if node is None:
        problem = "--offline excludes it" if session.is_offline else "none is set"
        hint = f"set networks.{network.name}.rpc_url"
        raise InvalidOption(f"{flag} needs a node of {network.name}, but {problem}", hint=hint)
    from swapcli.engine.presign_checks import CheckOptions
    from swapcli.engine.reading_memory import ReadingMemory

    memory = ReadingMemory(session.router_findings_file())
    return PayloadChecker(CheckOptions(options.simulate, sender), node, network, memory)


def check_warnings(
    checked: PayloadCheck, payload: UnsignedTransaction, *, with_approval: bool
) -> Iterator[QuoteWarning]:
    """Yield the warnings on the results of the checks."""
    token_in, token_out, native = checked.tokens
    simulation, holdings, needed = checked.simulation, checked.holdings, payload.call.route.amount_in
    if simulation and not simulation.matches:
        pays, due = (_format_amount(amount, token_out) for amount in (simulation.received, simulation.expected))
        reason = "the quote uses other state"
        if checked.is_rounded or checked.proven:
            reason = "the quote is not exact"
        yield QuoteWarning(
            WarningCode.SIMULATION_DIFFERS,
            f"{reason}: it promises {due}, but at block {simulation.block} the swap pays {pays}",
        )
    if holdings is None:
        return
    if holdings.allowance is not None and holdings.allowance < needed and not with_approval:
        allowed, sold = _format_amount(holdings.allowance, token_in), _format_amount(needed, token_in)
        yield QuoteWarning(
            WarningCode.ALLOWANCE_TOO_LOW,
            f"the sender has approved {allowed}, but the swap spends {sold}: add --with-approval",
        )
    if checked.signing and checked.signing.failure:
        yield QuoteWarning(
            WarningCode.GAS_NOT_ESTIMATED,
            "the node cannot estimate the gas, and the transaction may fail: " + printable(checked.signing.failure),
        )
    upfront_wei = sum(fields.max_cost_wei for fields in checked.signing.fields) if checked.signing else 0
    gas_wei = max(checked.gas_wei or 0, upfront_wei)
    if holdings.account.balance_wei < payload.value + gas_wei:
        balance, gas = (_format_amount(wei, native) for wei in (holdings.account.balance_wei, gas_wei))
        extra = " on top of the amount sold" if payload.value else ""
        yield QuoteWarning(
            WarningCode.GAS_BALANCE_TOO_LOW, f"the sender has {balance}, too little for gas of about {gas}{extra}"
        )


def _format_amount(amount: int, token: Token) -> str:
    return printable(in_tokens(amount, token))
