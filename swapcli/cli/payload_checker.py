"""`--simulate` and `--from`: check a transaction on a node before it is printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from swapcli.cli.account_options import SENDER, parse_account_option
from swapcli.cli.options import PayloadOptions
from swapcli.cli.session import Session
from swapcli.encoding.text import printable
from swapcli.engine.payload_checker import PayloadChecker, new_checker
from swapcli.errors import InvalidOption
from swapcli.model.network import Kind, Network
from swapcli.model.token import Token, in_tokens
from swapcli.model.transaction import UnsignedTransaction
from swapcli.model.warning import QuoteWarning, WarningCode

if TYPE_CHECKING:
    from swapcli.engine.presign_checks import PayloadCheck


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

    return new_checker(session, network, node, CheckOptions(options.simulate, sender))


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
            f"the sender has approved {allowed}, but the swap spends {sold}: send the approval first, which is in"
            " transactions of the JSON, and which --with-approval shows",
        )
    if checked.signing and checked.signing.failure:
        yield QuoteWarning(
            WarningCode.GAS_NOT_ESTIMATED,
            "the node cannot estimate the gas, and the transaction may fail: " + printable(checked.signing.failure),
        )
    upfront_wei = sum(fields.max_cost_wei for fields in checked.signing.fields) if checked.signing else 0
    gas_wei = upfront_wei or checked.gas_wei or 0  # a node requires what the transactions' own fields may cost
    if holdings.account.balance_wei < payload.value + gas_wei:
        balance, gas = (_format_amount(wei, native) for wei in (holdings.account.balance_wei, gas_wei))
        extra = " on top of the amount sold" if payload.value else ""
        yield QuoteWarning(
            WarningCode.GAS_BALANCE_TOO_LOW, f"the sender has {balance}, too little for gas of about {gas}{extra}"
        )


def _format_amount(amount: int, token: Token) -> str:
    return printable(in_tokens(amount, token))
