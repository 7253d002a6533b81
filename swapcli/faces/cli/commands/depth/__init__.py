"""`swapcli depth`: price impact over a ladder of amounts, and the amounts at which the impact reaches certain
levels."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.options import (
    ROUTING,
    LimitOptions,
    LocalSourceOptions,
    OutputOptions,
    option,
    settings_of,
    split_lists,
)
from swapcli.faces.cli.output import CHART_FORMATS, Output, OutputFormat
from swapcli.faces.cli.quote_context import show_example, split_words
from swapcli.faces.cli.session import open_session
from swapcli.quoting.amounts import read_amount

if TYPE_CHECKING:
    from swapcli import Depth

PUBLIC = ()

app = CommandApp()


@app.command(formats=CHART_FORMATS)
def depth(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    *,
    amounts: Annotated[
        list[str] | None,
        option("--amounts", "Amounts to quote: 1,50,2k.", ROUTING, "LIST"),
    ] = None,
    limits: LimitOptions,
    source: LocalSourceOptions,
    output: OutputOptions,
) -> int:
    """Show the price impact of increasingly large trades.

    \b
    Examples:
      swapcli depth base ETH USDC
      swapcli depth base ETH USDC --amounts 1,10,100 -o depth.svg

    Without --amounts, the amounts rise in steps of 1, 2 and 5 from about $10, until the impact is above 20% or the
    liquidity runs out. The first lines show the largest amounts (to four digits) whose impact is below 0.1%, 0.5%, 1%
    and 5%. Each figure comes from a quote for exactly that amount.
    """
    session = open_session(
        output,
        settings_of(limits, source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        quotes_past_blocks=True,
        formats=CHART_FORMATS,
    )
    network, words = split_words(session, (network, token_in, token_out), has_amount=False)
    if len(words) != 2:
        raise UsageError(f"TOKEN_IN and TOKEN_OUT are required, as in {show_example(words, 'depth', network, '')}")
    written = None if amounts is None else [read_amount(text, raw=limits.raw) for text in split_lists(amounts)]
    market = session.open_local_market(network)
    if written == []:
        raise InvalidOption("--amounts needs at least one amount", hint="for example --amounts 1,10,100")
    if part := next((each for each in written or () if each.is_balance_part), None):
        raise InvalidOption(
            f"--amounts: {part.text} is a share of a balance, not an amount", hint="write amounts, such as 1,10,100"
        )
    from swapcli.faces.garbage_collection import enable_garbage_collection

    enable_garbage_collection()
    measured = market.depth(words[0], words[1], written or ())
    for note in measured.notes:
        session.output.note(printable(note))
    _print(session.output, measured)
    return exit_codes.OK


def _print(output: Output, measured: "Depth") -> None:
    from swapcli.faces.cli.commands.depth.view import build_depth_details
    from swapcli.faces.cli.render.state_wording import state_columns
    from swapcli.faces.cli.terminal import terminal_width

    if output.format is OutputFormat.JSON:
        output.print_document(measured)
        return
    output.warn(measured.figures.warnings, is_labelled=output.is_for_people)
    if output.format is OutputFormat.SVG:
        from swapcli.quoting.pictures.depth_chart import render_depth_chart

        output.print_picture(render_depth_chart(measured))
    elif output.format is OutputFormat.CSV:
        from swapcli.faces.cli.render.csv_order import order_columns

        first = order_columns(measured.network, measured.token_in, measured.token_out)
        last = state_columns(measured.figures.state, measured.figures.warnings)
        output.print_rows([{**first, **row, **last} for row in measured.rows()])
    else:
        is_table = output.format is OutputFormat.TABLE
        output.print_details(build_depth_details(measured, terminal_width(sys.stdout) if is_table else None))
