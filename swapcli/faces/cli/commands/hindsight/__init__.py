"""`swapcli hindsight`: what mined swaps got, beside the best routes of their time."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import re
from collections.abc import Iterator
from typing import Annotated

from swapcli import InvalidInput
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.files import STDIN, read_lines, shown_name, write_text_file
from swapcli.faces.cli.options import OUTPUT, OutputOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.picture_options import SvgWidth
from swapcli.faces.cli.session import open_session
from swapcli.quoting.pictures.picture_width import parse_width

PUBLIC = ()

app = CommandApp()

_SPACES = str.maketrans(",;", "  ")
_is_like_hash = re.compile(r"0[xX].*|[0-9a-fA-F]{20,}").fullmatch


@app.command(formats=LIST_FORMATS)
def hindsight(
    network: options.NetworkName,
    transactions: Annotated[
        list[str] | None, argument("TX...", "Hashes of mined transactions, or a file with one on each line.")
    ] = None,
    *,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    no_cache: options.NoCache = False,
    timeout: options.Timeout = None,
    svg: Annotated[
        str | None, option("--svg", "Also draw a chart to this file; - draws to stdout only.", OUTPUT, "FILE")
    ] = None,
    svg_width: SvgWidth = None,
    output: OutputOptions,
) -> int:
    """Compare mined swaps with the best routes of their time.

    \b
    Examples:
      swapcli hindsight base transactions.txt
      swapcli hindsight base transactions.txt -o hindsight.svg

    For each transaction: the amounts sold and bought, what the best route would have paid at the parent block, and the
    difference in basis points before and after the gas of each, in total and by protocol. A transaction that cannot be
    compared is listed with the reason; if that is true of all, the exit status is 5. Blocks older than some minutes
    need an archive node. Data of final blocks is cached, so a second run needs no node (swapcli help history).
    """
    width = parse_width("--svg-width", svg_width)
    if svg is not None or output.output_file is not None:
        from swapcli.faces.cli.output_file import check_svg_file, picture_of_file

        check_svg_file(svg)
        if svg is None and picture_of_file(output.output_file) == "svg":
            svg = STDIN
    if svg is None and svg_width is not None:
        raise UsageError("--svg-width needs --svg")
    flags = settings_of(store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url, formats=LIST_FORMATS, pictures=("svg",))
    if svg == STDIN and session.output.format in (OutputFormat.JSON, OutputFormat.CSV):
        raise UsageError(f"--svg - cannot be combined with --{session.output.format}")
    hashes = list(dict.fromkeys(_read_hashes(transactions or ())))
    if not hashes:
        raise UsageError("no transaction given: name hashes, or a file with one on each line")
    from swapcli.faces.garbage_collection import enable_garbage_collection

    enable_garbage_collection()
    with session.open_known_market(network) as market:
        found = market.hindsight(hashes, use_cache=not no_cache)
    drawn = None
    if svg is not None:
        drawn = found.svg(width)
        if svg != STDIN:
            write_text_file(svg, drawn)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    elif session.output.format is OutputFormat.CSV:
        session.output.print_rows(found.rows())
    elif svg == STDIN:
        print(drawn, end="")
    else:
        from swapcli.faces.cli.commands.hindsight.view import build_hindsight_view

        session.output.print_details(build_hindsight_view(found))
    found.check()
    return exit_codes.OK


def _read_hashes(words: "tuple[str, ...] | list[str]") -> Iterator[str]:
    """Yield the hashes among words, and those of files: the first word of each line that is not a comment.

    Raises `InvalidInput` for a malformed hash, with the number of its line.
    """
    from swapcli.quoting.verification.transaction_verification import check_transaction_hash

    for word in words:
        if word != STDIN and _is_like_hash(word):
            check_transaction_hash(word)
            yield word.lower()
            continue
        for number, line in enumerate(read_lines(word), start=1):
            words_of_line = line.decode(errors="replace").partition("#")[0].translate(_SPACES).split()
            if not words_of_line:
                continue
            try:
                check_transaction_hash(words_of_line[0])
            except InvalidInput as error:
                error.place = f"line {number} of {shown_name(word)}"
                raise
            yield words_of_line[0].lower()
