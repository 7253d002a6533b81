"""`swapcli calldata`: find the best route for an order and build its transaction."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import (
    ROUTING,
    OrderOptions,
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    option,
    settings_of,
)
from swapcli.faces.cli.output import TRANSACTION_FORMATS
from swapcli.faces.cli.quote_context import open_quote_context, read_order, split_words
from swapcli.faces.cli.session import open_session
from swapcli.faces.cli.swap_payload import build_swap, print_swap


class OrderFileOptions(NamedTuple):
    """Options for building an order from a file instead of an order from the command line."""

    order: Annotated[str | None, option("--order", "Build one of the orders in this batch file.", ROUTING, "FILE")] = (
        None
    )
    id: Annotated[str | None, option("--id", "Id of the order, if the file has several.", ROUTING, "ID")] = None


app = CommandApp()


@app.command(formats=TRANSACTION_FORMATS)
def calldata(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    chosen: OrderFileOptions,
    order: OrderOptions,
    payload: PayloadOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Find the best route and build its transaction.

    \b
    Examples:
      swapcli calldata base ETH USDC 1.5 --offline \\
        --destination 0x1111111111111111111111111111111111111111
      swapcli calldata base ETH USDC 1.5 --offline --get calldata \\
        --destination 0x1111111111111111111111111111111111111111

    Sign the JSON's `to`, `calldata` and `value` unchanged. The command exits with status 7 if signing would be
    dangerous, for example if the impact is above --max-impact.

    See also: swapcli help transactions, swapcli help signing, swapcli help checks.
    """
    flags = settings_of(order, payload, source)
    session = open_session(
        output,
        flags,
        rpc_url=source.rpc_url,
        offline=source.offline,
        formats=TRANSACTION_FORMATS,
        price_use=payload.price_use,
    )
    network, words = split_words(session, (network, token_in, token_out, amount))
    if chosen.order is not None or chosen.id is not None:
        from swapcli.faces.cli.commands.route.order_file import read_order_of_file

        context = open_quote_context(session, network, order)
        written = read_order_of_file(chosen.order, chosen.id, words, is_reverse=context.options.reverse)
    else:
        written = read_order(words, "calldata", network, raw=order.raw)
        context = open_quote_context(session, network, order)
    built = build_swap(context, written, order, payload)
    if payload.permit:
        from swapcli.faces.cli.permits import print_permit

        print_permit(session, built.quote.network, (built.quote.route, built.terms), built.transaction.to, built.sender)
        return exit_codes.OK
    print_swap(context, built.prepare(), payload)
    return exit_codes.OK
