"""`swapcli balance`: what an account holds."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from contextlib import closing
from typing import Annotated

from swapcli.core.encoding.text import printable
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.faces.cli import options
from swapcli.faces.cli.account_options import parse_account_option
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import missing_words, split_network
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

COLUMNS = (Column("balance", readable_width=20), Column("token"), Column("address", is_whole=True))

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def balance(
    network: options.NetworkNameOrDefault = None,
    account: Annotated[str | None, argument("ADDRESS", "Account.")] = None,
    tokens: Annotated[list[str] | None, argument("[TOKEN]...", "Tokens: symbols or addresses.  [default: all]")] = None,
    *,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> None:
    """Show what an account holds.

    \b
    Examples:
      swapcli balance base 0x2222222222222222222222222222222222222222
      swapcli balance base 0x2222222222222222222222222222222222222222 ETH USDC

    It is read on the newest block of a node. Without tokens it looks for all tokens of the network, and shows those
    that the account has.
    """
    session = open_session(output, settings_of(timeout=timeout), rpc_url=rpc_url, formats=LIST_FORMATS)
    name, words = split_network(session, [network, account, *(tokens or [])])
    if not words:
        example = "swapcli balance base 0x2222222222222222222222222222222222222222"
        raise missing_words(session, name, "no account given: name it", example)
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.quote_facts import Fact
    from swapcli.faces.cli.render.state_wording import describe_newest
    from swapcli.quoting.account_holdings import read_holdings

    market = session.open_local_market(name)
    where = market.network
    owner = parse_account_option(words[0], where, session, "ADDRESS")
    named = [market.token(word) for word in words[1:]]
    listed = named or [where.native, *(token for token in market.tokens.values() if token.address != ZERO_ADDRESS)]
    with closing(session.nodes.require_node(where)) as node:
        found = read_holdings(node, owner, listed)
    shown = [each for each in found.balances if named or each.amount]
    documents = [
        {
            "symbol": each.token.symbol,
            "address": display_address(each.token.address, where.kind),
            "amount": None if each.amount is None else str(each.amount),
            "balance": None if each.amount is None else whole_tokens(each.amount, each.token.decimals).replace(",", ""),
        }
        for each in shown
    ]
    shown_owner = display_address(owner, where.kind)
    if session.output.format is OutputFormat.JSON:
        block = {"block": found.block.number, "timestamp": found.block.timestamp}
        session.output.print_document({"network": where.name, "address": shown_owner, **block, "balances": documents})
    elif session.output.format is OutputFormat.CSV:
        session.output.print_rows(documents)
    else:
        rows = tuple(
            (
                "unknown" if each.amount is None else whole_tokens(each.amount, each.token.decimals),
                printable(each.token.symbol),
                display_address(each.token.address, where.kind),
            )
            for each in shown
        )
        title = f"{shown_owner} on {where.name}"
        held = ListView(COLUMNS, rows, ()) if rows else None
        number, age = describe_newest(found.block)
        facts = (Fact("Block", number, age if held else f"{age}; it holds none of the known tokens"),)
        session.output.print_details(DetailView(title, facts, lists=(held,) if held else ()))
