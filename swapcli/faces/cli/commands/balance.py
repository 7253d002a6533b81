"""`swapcli balance`: the balances of an account."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_short_amount
from swapcli.core.model.token import whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.faces.cli import options
from swapcli.faces.cli.account_options import parse_account_option
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OUTPUT, OutputOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import missing_words, split_network
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import Holdings
    from swapcli.faces.cli.render.detail_view import DetailView

COLUMNS = (Column("balance", readable_width=20), Column("token"), Column("address", is_whole=True))

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def balance(
    network: options.NetworkNameOrDefault = None,
    account: Annotated[str | None, argument("ADDRESS", "Address of the account.")] = None,
    tokens: Annotated[list[str] | None, argument("[TOKEN]...", "Tokens: symbols or addresses.  [default: all]")] = None,
    *,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    verbose: Annotated[bool, option("--verbose", "Show exact balances.", OUTPUT, short="-v")] = False,
    output: OutputOptions,
) -> None:
    """Show an account's balances.

    \b
    Examples:
      swapcli balance base 0x2222222222222222222222222222222222222222
      swapcli balance base 0x2222222222222222222222222222222222222222 ETH USDC

    Balances are read at a node's latest block. If you name no tokens, the command checks all of the network's tokens.
    """
    session = open_session(output, settings_of(timeout=timeout), rpc_url=rpc_url, formats=LIST_FORMATS)
    name, words = split_network(session, [network, account, *(tokens or [])])
    if not words:
        example = "swapcli balance base 0x2222222222222222222222222222222222222222"
        raise missing_words(session, name, "no account given", example)
    market = session.open_local_market(name)
    owner = parse_account_option(words[0], market.network, session, "ADDRESS")
    found = market.balance(owner, *words[1:])
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    elif session.output.format is OutputFormat.CSV:
        from swapcli.interface.document_types import BalanceJson

        session.output.print_rows(found.document().get("balances", []), list(BalanceJson.__annotations__))
    else:
        session.output.print_details(_view(found, verbose=verbose))


def _view(found: "Holdings", *, verbose: bool) -> "DetailView":
    """Build the view of balances, rounded down to a few digits unless `verbose`."""
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.quote_facts import Fact
    from swapcli.faces.cli.render.state_wording import describe_newest

    kind, shown = found.network.kind, whole_tokens if verbose else format_short_amount
    rows = tuple(
        (
            "unknown" if each.amount is None else shown(each.amount, each.token.decimals),
            printable(each.token.symbol),
            display_address(each.token.address, kind),
        )
        for each in found.balances
    )
    facts = (Fact("State", describe_newest(found.block)),)
    none = "" if rows else " holds none of the known tokens"
    title = f"{display_address(found.owner, kind)}{none} on {found.network.name}"
    return DetailView(title, facts, lists=(ListView(COLUMNS, rows),) if rows else ())
