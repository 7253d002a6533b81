"""`swapcli price`: the prices of tokens, from the mid prices of pools."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import ROUTING, OutputOptions, SourceOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import missing_words, split_network
from swapcli.faces.cli.session import open_session

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def price(
    network: options.NetworkNameOrDefault = None,
    tokens: Annotated[list[str] | None, argument("TOKEN...", "Tokens to price: symbols or addresses.")] = None,
    *,
    unit: Annotated[
        str | None, option("--in", "Also show prices in this token.  [default: the native token]", ROUTING, "TOKEN")
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show token prices in USD and in the native token.

    \b
    Examples:
      swapcli price base ETH cbBTC
      swapcli price base AERO --in USDC --get prices.0.price

    These are mid prices along the deepest pools to a dollar stablecoin. An order gets less; swapcli route shows how
    much.
    """
    session = open_session(
        output,
        settings_of(source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        quotes_past_blocks=True,
        formats=LIST_FORMATS,
    )
    network_name, names = split_network(session, [network, *(tokens or [])])
    if not names:
        raise missing_words(session, network_name, "no token given: add one or more", "swapcli price base ETH")
    market = session.open_market(network_name)
    found = market.prices(*names, unit=unit)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
        return
    session.output.warn(found.warnings, is_labelled=session.output.is_for_people)
    from swapcli.faces.cli.render.pool_and_price_views import build_price_view
    from swapcli.faces.cli.render.state_wording import state_columns

    if session.output.format is OutputFormat.CSV:
        from swapcli.interface.document_types import PriceDocumentJson

        columns = state_columns(found.state, found.warnings)
        rows = [{**row, **columns} for row in found.document().get("prices", ())]
        session.output.print_rows(rows, list(PriceDocumentJson.__annotations__))
    else:
        session.output.print_details(build_price_view(found))
