"""`swapcli hindsight`: compare mined swaps with the best routes at their parent blocks."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import re
from collections.abc import Iterator
from typing import Annotated

from swapcli import InvalidInput
from swapcli.core.networks.explorer import transaction_of_link
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.files import STDIN, read_lines, shown_name
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import CHART_FORMATS, OutputFormat
from swapcli.faces.cli.session import open_session

PUBLIC = ()

app = CommandApp()

_SPACES = str.maketrans(",;", "  ")
_is_like_hash = re.compile(r"0[xX].*|[0-9a-fA-F]{20,}").fullmatch


@app.command(formats=CHART_FORMATS)
def hindsight(
    network: options.NetworkName,
    transactions: Annotated[
        list[str] | None, argument("TX...", "Hashes or explorer links, or a file with one per line.")
    ] = None,
    *,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    no_cache: options.NoCache = False,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Compare mined swaps with the best routes at their blocks.

    \b
    Examples:
      swapcli hindsight base transactions.txt
      swapcli hindsight base transactions.txt -o hindsight.svg

    Shows the amounts of each transaction, the output of the best route at the parent block, and the difference in basis
    points before and after gas. A transaction that is not a single swap is listed with the reason; if no transaction
    can be compared, the exit status is 5. Old blocks need an archive node. Data from final blocks is cached, so a
    second run needs no node.

    See also: swapcli help history.
    """
    flags = settings_of(store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url, formats=CHART_FORMATS)
    hashes = list(dict.fromkeys(_read_hashes(transactions or ())))
    if not hashes:
        raise UsageError("no transaction given: add hashes, or a file with one per line")
    from swapcli.faces.garbage_collection import enable_garbage_collection

    enable_garbage_collection()
    with session.open_known_market(network) as market:
        found = market.hindsight(hashes, use_cache=not no_cache)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    elif session.output.format is OutputFormat.CSV:
        session.output.print_rows(found.rows())
    elif session.output.format is OutputFormat.SVG:
        session.output.print_picture(found.svg())
    else:
        from swapcli.faces.cli.commands.hindsight.view import build_hindsight_view

        session.output.print_details(build_hindsight_view(found))
    found.check()
    return exit_codes.OK


def _read_hashes(words: "tuple[str, ...] | list[str]") -> Iterator[str]:
    """Yield the hashes among words, and those in files: the first word of each line that is not a comment.

    Raises `InvalidInput` for a malformed hash, with the number of its line.
    """
    from swapcli.quoting.verification.transaction_verification import check_transaction_hash

    for word in map(transaction_of_link, words):
        if word != STDIN and _is_like_hash(word):
            check_transaction_hash(word)
            yield word.lower()
            continue
        for number, line in enumerate(read_lines(word), start=1):
            words_of_line = line.decode(errors="replace").partition("#")[0].translate(_SPACES).split()
            if not words_of_line:
                continue
            transaction = transaction_of_link(words_of_line[0])
            try:
                check_transaction_hash(transaction)
            except InvalidInput as error:
                error.place = f"line {number} of {shown_name(word)}"
                raise
            yield transaction.lower()
