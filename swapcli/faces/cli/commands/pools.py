"""`swapcli pools`: the pools of a network, deepest first."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli import InvalidOption
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.options import OUTPUT, OutputOptions, SourceOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import split_network
from swapcli.faces.cli.session import open_session

DEFAULT_LIMIT, MAX_LIMIT = 20, 1_000_000
MAX_TOKENS = 2

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def pools(
    network: options.NetworkNameOrDefault = None,
    token: Annotated[str | None, argument("[TOKEN]", "Token that the pools must trade: symbol or address.")] = None,
    other: Annotated[str | None, argument("[TOKEN]", "Second token that the pools must trade.")] = None,
    *,
    limit: Annotated[
        str | None, option("--limit", f"Maximum number of pools; 0 for all.  [default: {DEFAULT_LIMIT}]", OUTPUT, "N")
    ] = None,
    verbose: options.Verbose = False,
    router_dialect: options.RouterDialect = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """List a network's pools with liquidity and price, deepest first.

    \b
    Examples:
      swapcli pools base ETH USDC
      swapcli pools base cbBTC --limit 5 --json

    Liquidity is roughly the USD value that orders could trade in the pool. If quotes skip a pool, the list shows why.

    See also: swapcli help pools.
    """
    flags = settings_of(source, router_dialect=router_dialect)
    session = open_session(
        output, flags, rpc_url=source.rpc_url, offline=source.offline, quotes_past_blocks=True, formats=LIST_FORMATS
    )
    network_name, names = split_network(session, [network, token, other])
    if len(names) > MAX_TOKENS:
        raise UsageError("too many tokens: give at most two")
    count = _parse_limit(limit)
    market = session.open_market(network_name)
    found = market.pool_list(*names, limit=count)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
        return
    session.output.warn(found.warnings, is_labelled=session.output.is_for_people)
    from swapcli.faces.cli.render.pool_and_price_views import build_pools_view
    from swapcli.faces.cli.render.state_wording import state_columns

    if session.output.format is OutputFormat.CSV:
        columns = state_columns(found.state, found.warnings)
        session.output.print_rows([{**row, **columns} for row in found.rows()])
    else:
        is_brief = session.output.format is OutputFormat.TABLE and not verbose
        session.output.print_details(build_pools_view(found, names, is_brief=is_brief, verbose=verbose))


def _parse_limit(text: str | None) -> int | None:
    """Return the limit; None for all. Raises `InvalidOption`."""
    if text is None:
        return DEFAULT_LIMIT
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_LIMIT)) and int(text) <= MAX_LIMIT):
        raise InvalidOption(f"--limit: expected a whole number from 0 to {MAX_LIMIT:,}")
    return int(text) or None
