"""`swapcli decode`: show the effect of a payload, and warn about differences from a fresh quote."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import re
from typing import Annotated

from swapcli import DecodedPayload, InvalidOption
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.account_options import RECIPIENT, SENDER
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.files import STDIN, is_regular, is_stdin_terminal, read_bounded_file
from swapcli.faces.cli.options import (
    OUTPUT,
    ROUTING,
    OutputOptions,
    Slippage,
    SourceOptions,
    argument,
    option,
    settings_of,
)
from swapcli.faces.cli.output import Output, OutputFormat
from swapcli.faces.cli.session import Session, open_session
from swapcli.payload.decode.given_transaction import MAX_BYTES
from swapcli.quoting.review.decode import PayloadDecoder, PayloadFacts
from swapcli.quoting.review.unread_payload import unread_payload

PUBLIC = ()

app = CommandApp()


_LABELS = {"to": "--to", "value": "--value", "sender": SENDER, "destination": RECIPIENT}


def _refuse_unread(error: Exception, *, output: OutputOptions, **_: object) -> int:
    """Print the danger of a payload that swapcli cannot show because of a defect, and return the exit status."""
    return _print(open_session(output), unread_payload(error), is_strict=False)


@app.command(on_defect=_refuse_unread)
def decode(
    calldata: Annotated[
        str,
        argument("[CALLDATA]", "Calldata, felts, transactions or a file.  [default: stdin]"),
    ] = STDIN,
    *,
    network: Annotated[
        str | None, option("--network", "Network of the transaction.  [default: guessed]", ROUTING, "NETWORK")
    ] = None,
    to: Annotated[str | None, option("--to", "Contract that the transaction calls.", ROUTING, "ADDRESS")] = None,
    value: Annotated[str | None, option("--value", "Transaction value in wei.", ROUTING, "WEI")] = None,
    sender: Annotated[str | None, option("--from", "Sender: address or ENS name.", ROUTING, "ADDRESS")] = None,
    destination: Annotated[
        str | None, option("--destination", "Recipient of the output.  [default: --from]", ROUTING, "ADDRESS")
    ] = None,
    slippage: Slippage = None,
    strict: Annotated[bool, option("--strict", "Also exit with status 7 if the verdict is unknown.", OUTPUT)] = False,
    verbose: Annotated[bool, option("--verbose", "Also show amounts in base units.", OUTPUT, short="-v")] = False,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Check a payload before you sign it.

    \b
    Example:
      swapcli calldata base ETH USDC 1 --offline --json \\
        --destination 0x1111111111111111111111111111111111111111 \\
        | swapcli decode -

    Reads approvals, permits, and swaps on all supported routers. The payload may come from swapcli, a node or a wallet.
    swapcli compares it with a fresh quote for the same order, and warns you about each difference.

    The first line is the verdict: DANGER (exit status 7), Unknown, or No danger found. If the verdict is Unknown, the
    output lists the missing facts. For a complete check, add --from and a node.

    See also: swapcli help decoding.
    """
    flags = settings_of(source, slippage=slippage)
    session = open_session(output, flags, rpc_url=source.rpc_url, offline=source.offline)
    if calldata == STDIN:
        if is_stdin_terminal():
            raise UsageError("no calldata given: add it, or pipe it in")
        if str(session.settings.market) == STDIN:
            raise InvalidOption("calldata and --market cannot both be read from stdin")
        calldata = read_bounded_file(STDIN, 4 * MAX_BYTES).decode(errors="replace")
    elif is_regular(calldata) or (_is_like_path(calldata) and not calldata.startswith("0x")):
        calldata = read_bounded_file(calldata, 4 * MAX_BYTES).decode(errors="replace")
    decoder = PayloadDecoder(session.sources, _LABELS, session.start_waiting)
    decoded = decoder.decode(calldata, PayloadFacts(network, to, value, sender, destination))
    return _print(session, decoded, is_strict=strict, verbose=verbose)


_is_like_path = re.compile(r"[^\s\[{\"]*(/[^\s\[{\"]*|\.[A-Za-z]{2,5})").fullmatch


def _print(session: Session, decoded: DecodedPayload, *, is_strict: bool, verbose: bool = False) -> int:
    """Print a payload and the codes that forbid signing, and return the exit status. Doubts count if `is_strict`."""
    output = session.output
    status = exit_codes.UNSAFE if decoded.dangers or (is_strict and decoded.doubts) else exit_codes.OK
    try:
        _print_review(output, decoded, verbose=verbose)
    except BrokenPipeError:  # A reader that leaves early, as in `swapcli decode ... | head -1`, changes no verdict.
        return status
    if decoded.dangers:
        output.note(f"do not sign this: {', '.join(decoded.dangers)}")
    elif status:
        output.note(f"exit status 7 because of --strict: {', '.join(decoded.doubts)}")
    if status:
        output.flush_notes()
    return status


def _print_review(output: Output, decoded: DecodedPayload, *, verbose: bool) -> None:
    if output.format is OutputFormat.JSON:
        output.print_document(decoded)
    else:
        from swapcli.faces.cli.commands.decode.view import build_decode_view

        output.warn(each for each in decoded.warnings if each.message not in decoded.verdict.message)
        output.print_details(build_decode_view(decoded, verbose=verbose))
