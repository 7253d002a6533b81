"""`swapcli depth`: price impact over a ladder of amounts, and the amounts at which it reaches some levels."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.files import STDIN as STDOUT
from swapcli.faces.cli.files import write_text_file
from swapcli.faces.cli.options import (
    OUTPUT,
    ROUTING,
    LimitOptions,
    LocalSourceOptions,
    OutputOptions,
    option,
    settings_of,
    split_lists,
)
from swapcli.faces.cli.output import LIST_FORMATS, Output, OutputFormat
from swapcli.faces.cli.picture_options import SvgWidth
from swapcli.faces.cli.quote_context import show_example, split_words
from swapcli.faces.cli.session import open_session
from swapcli.quoting.amounts import read_amount
from swapcli.quoting.pictures.picture_width import parse_width

if TYPE_CHECKING:
    from swapcli import Depth

PUBLIC = ()

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def depth(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    *,
    amounts: Annotated[
        list[str] | None,
        option("--amounts", "Amounts to quote: comma-separated, such as 1,50,2k.", ROUTING, "LIST"),
    ] = None,
    limits: LimitOptions,
    source: LocalSourceOptions,
    block: options.Block = None,
    svg: Annotated[
        str | None, option("--svg", "Also draw a chart to this file; - draws to stdout only.", OUTPUT, "FILE")
    ] = None,
    svg_width: SvgWidth = None,
    csv: Annotated[bool, option("--csv", "The quotes as CSV; short for --format csv.", OUTPUT)] = False,
    output: OutputOptions,
) -> int:
    """Show price impact over a range of amounts.

    \b
    Examples:
      swapcli depth base ETH USDC
      swapcli depth base ETH USDC --amounts 1,10,100 --svg depth.svg

    Amounts of TOKEN_IN rise in steps of 1, 2 and 5 from about $10 until the price impact is above 20% or the liquidity
    ends. The price impact reaches 0.1%, 0.5%, 1% and 5% at the amounts listed first: each is quoted, and so is the next
    larger amount of four digits, which exceeds the level. Every figure is that of a quote for exactly its amount, and
    the price impact is the one of a route: pool fees count where it is measured in USD, and do not where it is
    compared with a small order in the same pools. The larger one is shown.
    """
    width = parse_width("--svg-width", svg_width)
    if svg is not None or output.output_file is not None:
        from swapcli.faces.cli.output_file import check_svg_file, picture_of_file

        check_svg_file(svg)
        if svg is None and picture_of_file(output.output_file) == "svg":
            svg = STDOUT
    if svg is None and svg_width is not None:
        raise UsageError("--svg-width needs --svg")
    if csv and output.format is not None:
        raise UsageError("--csv cannot be combined with --format")
    session = open_session(
        output._replace(format="csv" if csv else output.format),
        settings_of(limits, source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        block=block,
        formats=LIST_FORMATS,
        pictures=("svg",),
    )
    printed = session.output.format
    if svg == STDOUT and printed in (OutputFormat.JSON, OutputFormat.CSV):
        raise UsageError(f"--svg - cannot be combined with --{printed}")
    network, words = split_words(session, (network, token_in, token_out), has_amount=False)
    if len(words) != 2:
        raise UsageError(f"TOKEN_IN and TOKEN_OUT are required, as in {show_example(words, 'depth', network, '')}")
    written = None if amounts is None else [read_amount(text, raw=limits.raw) for text in split_lists(amounts)]
    market = session.open_local_market(network, skip_bad_pools=source.skip_bad_pools)
    if written == []:
        raise InvalidOption("--amounts needs at least one amount", hint="for example --amounts 1,10,100")
    if part := next((each for each in written or () if each.is_balance_part), None):
        raise InvalidOption(f"--amounts: {part.text} is a part of a balance", hint="write amounts, such as 1,10,100")
    from swapcli.faces.garbage_collection import enable_garbage_collection

    enable_garbage_collection()
    measured = market.depth(words[0], words[1], written or ())
    for note in measured.notes:
        session.output.note(printable(note))
    if svg is not None and svg != STDOUT:
        write_text_file(svg, _draw(measured, width))
    _print(session.output, measured, _draw(measured, width) if svg == STDOUT else None)
    return exit_codes.OK


def _draw(measured: "Depth", width: int) -> str:
    from swapcli.quoting.pictures.depth_chart import render_depth_chart

    return render_depth_chart(measured, width)


def _print(output: Output, measured: "Depth", drawn: str | None) -> None:
    from swapcli.faces.cli.commands.depth.view import build_depth_details
    from swapcli.faces.cli.render.state_wording import state_columns
    from swapcli.faces.cli.terminal import terminal_width

    if output.format is OutputFormat.JSON:
        output.print_document(measured)
        return
    output.warn(measured.figures.warnings, is_labelled=output.is_for_people)
    if drawn is not None:
        print(drawn, end="")
    elif output.format is OutputFormat.CSV:
        columns = state_columns(measured.figures.state, measured.figures.warnings)
        output.print_rows([{**row, **columns} for row in measured.rows()])
    else:
        is_table = output.format is OutputFormat.TABLE
        output.print_details(build_depth_details(measured, terminal_width(sys.stdout) if is_table else None))
