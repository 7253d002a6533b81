"""`swapcli allowance`: what a spender may take of an account's token."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from contextlib import closing
from typing import Annotated

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidOption
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.faces.cli import options
from swapcli.faces.cli.account_options import parse_account_option
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.quote_context import split_network
from swapcli.faces.cli.session import open_session

app = CommandApp()

UNLIMITED = 2**255
"""From half of all numbers on, as wallets write allowances without a limit."""


@app.command()
def allowance(
    network: options.NetworkNameOrDefault = None,
    account: Annotated[
        list[str] | None,
        argument("ADDRESS...", "Owner, token, and who may take it.  [default: the network's router]"),
    ] = None,
    *,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> None:
    """Show what a router may take of an account's token.

    \b
    Example:
      swapcli allowance base 0x2222222222222222222222222222222222222222 USDC

    It is read on the newest block of a node, for the network's router or the spender that is named.
    """
    session = open_session(output, settings_of(timeout=timeout), rpc_url=rpc_url)
    name, words = split_network(session, [network, *(account or [])])
    if len(words) not in (2, 3):
        raise UsageError("ADDRESS and TOKEN are required")
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.quote_facts import Fact
    from swapcli.quoting.account_holdings import read_allowance

    market = session.open_local_market(name)
    where = market.network
    owner = parse_account_option(words[0], where, session, "ADDRESS")
    token = market.token(words[1])
    spender = parse_account_option(words[2], where, session, "SPENDER") if len(words) == 3 else where.router
    if spender is None:
        raise InvalidOption(f"{where.name} has no router in the catalogue", hint="name the spender after the token")
    if token.address == ZERO_ADDRESS:
        raise InvalidOption(f"{token.symbol} needs no allowance: a transaction sends it along")
    with closing(session.nodes.require_node(where)) as node:
        found = read_allowance(node, owner, token, spender)
    shown_owner, shown_spender = (display_address(each, where.kind) for each in (owner, spender))
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(
            {
                "network": where.name,
                "address": shown_owner,
                "token": {"symbol": token.symbol, "address": display_address(token.address, where.kind)},
                "spender": shown_spender,
                "allowance": str(found.amount),
                "block": found.block.number,
                "timestamp": found.block.timestamp,
            }
        )
        return
    amount = "unlimited" if found.amount >= UNLIMITED else whole_tokens(found.amount, token.decimals)
    facts = (
        Fact("Allowance", f"{amount} {printable(token.symbol)}", ""),
        Fact("Block", f"{found.block.number:,}", ""),
    )
    parties = (("Owner", shown_owner), ("Spender", shown_spender))
    session.output.print_details(DetailView(f"{printable(token.symbol)} on {where.name}", facts, copyable=parties))
