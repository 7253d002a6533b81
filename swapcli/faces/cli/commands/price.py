"""`swapcli price`: the prices of tokens, from the mid prices of the pools."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from math import isfinite
from typing import TYPE_CHECKING, Annotated

from swapcli.core.model.network import Network
from swapcli.core.networks.address import display_address
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import ROUTING, OutputOptions, SourceOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import missing_words, split_network
from swapcli.faces.cli.session import open_session
from swapcli.interface.quote_fields import render_state_source, render_warning_list
from swapcli.quoting.token_prices import PriceList, TokenPrice
from swapcli.quoting.warnings import state_warnings

if TYPE_CHECKING:
    from swapcli.interface.document_types import PriceDocumentJson

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def price(
    network: options.NetworkNameOrDefault = None,
    tokens: Annotated[list[str] | None, argument("TOKEN...", "Tokens to price: symbols or addresses.")] = None,
    *,
    unit: Annotated[
        str | None, option("--in", "Also price in this token.  [default: the native token]", ROUTING, "TOKEN")
    ] = None,
    source: SourceOptions,
    block: options.Block = None,
    output: OutputOptions,
) -> None:
    """Show the prices of tokens in USD and in the native token.

    \b
    Examples:
      swapcli price base ETH cbBTC
      swapcli price base AERO --in USDC --get prices.0.price

    Prices are the mid prices of the pools along the path with the deepest pools to a dollar stablecoin, as quotes value
    their amounts. An order gets less: `swapcli route` shows how much. A token that no pool prices has no price.
    """
    session = open_session(
        output,
        settings_of(source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        block=block,
        formats=LIST_FORMATS,
    )
    network_name, names = split_network(session, [network, *(tokens or [])])
    if not names:
        raise missing_words(session, network_name, "no token given: name one or more", "swapcli price base ETH")
    market = session.open_market(network_name, skip_bad_pools=source.skip_bad_pools)
    found = market.prices(*names, unit=unit)
    documents = [_document(each, found, market.network) for each in found.prices]
    warnings = state_warnings(market.state, found.state, session.settings.route_ttl_s)
    if session.output.format is OutputFormat.JSON:
        state, listed = render_state_source(found.state), render_warning_list(warnings)
        session.output.print_document(
            {"network": market.network.name, "state": state, "warnings": listed, "prices": documents}
        )
        return
    session.output.warn(warnings, is_labelled=session.output.is_for_people)
    from swapcli.faces.cli.render.pool_and_price_views import build_price_view
    from swapcli.faces.cli.render.state_wording import state_columns

    view = build_price_view(found, market.network, documents)
    if session.output.format is OutputFormat.CSV:
        session.output.print_rows([{**each, **state_columns(found.state, warnings)} for each in documents])
    else:
        session.output.print_details(view)


def _document(found: TokenPrice, prices: PriceList, network: Network) -> "PriceDocumentJson":
    basis = found.basis
    return {
        "symbol": found.token.symbol,
        "address": display_address(found.token.address, network.kind),
        "priceUsd": found.price_usd,
        "price": found.price,
        "in": prices.unit.symbol,
        "depthUsd": basis.depth_usd if basis and isfinite(basis.depth_usd) else None,
        "path": [token.symbol for token in found.path],
        "pools": [display_address(key, network.kind) for hop in basis.pools for key in hop] if basis else [],
    }
