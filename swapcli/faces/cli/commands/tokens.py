"""`swapcli tokens`: list the tokens of a network, in the form that TOKEN_IN and TOKEN_OUT accept."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.quote_context import split_network
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import ListedToken, TokenList

COLUMNS = (
    Column("symbol"),
    Column("name", drop_order=3),
    Column("decimals", is_whole=True, drop_order=1),
    Column("pools", is_whole=True, drop_order=2),
    Column("address", is_whole=True),
    Column("transfers"),
)

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def tokens(
    network: options.NetworkNameOrDefault = None,
    pattern: Annotated[
        str | None, argument("[PATTERN]", "Part of a symbol or name, or the start of an address.")
    ] = None,
    *,
    market: options.MarketFile = None,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """List a network's tokens; those in the most pools come first.

    \b
    Examples:
      swapcli tokens base
      swapcli tokens base usd

    The tokens come from the first source that exists: --market, the network's store, the embedded market, or the
    network's definition. Tokens that you add to a network are listed too.
    """
    session = open_session(output, settings_of(market=market, store=store), formats=LIST_FORMATS)
    from swapcli import tokens as list_tokens

    name, patterns = split_network(session, (network, pattern))
    if len(patterns) > 1:  # the settings name a network, and neither word is one
        name, patterns = patterns[0], patterns[1:]
    session.output.print_list(list_tokens(name, *patterns, settings=session.sources), _view)


def _view(found: "TokenList") -> ListView:
    """Build the list; transfers are shown if any token restricts them."""
    shown = len(COLUMNS) - (not any(each.transfers for each in found.tokens))
    pages = [each.page for each in found.tokens]
    return ListView(
        columns=COLUMNS[:shown],
        rows=tuple(_row(each)[:shown] for each in found.tokens),
        links=tuple({"symbol": page, "address": page} if page else {} for page in pages),
    )


def _row(listed: "ListedToken") -> tuple[str, ...]:
    token = listed.token
    symbol, name = printable(token.symbol), printable(token.name)
    return symbol, name, str(token.decimals), str(listed.pools), listed.address, listed.transfers
