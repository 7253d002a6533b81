"""`swapcli prove`: check quotes, swaps and proofs on this machine, and write a report."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.core.validation.values import parse_duration_s
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, option, settings_of
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import ProofItem
    from swapcli.faces.cli.progress import ProgressLine

PUBLIC = ()

app = CommandApp()

_REPORT, _LIMITS = "Report", "Limits"


@app.command()
def prove(
    network: options.NetworkName,
    *,
    folder: Annotated[
        str | None,
        option(
            "--folder",
            "Folder for the report.  [default: ./swapcli-proof-NETWORK]",
            _REPORT,
            "DIR",
        ),
    ] = None,
    fresh: Annotated[bool, option("--fresh", "Delete earlier results in the folder.", _REPORT)] = False,
    orders: Annotated[
        str | None, option("--orders", "Number of orders to quote and simulate.  [default: 20]", _LIMITS, "N")
    ] = None,
    recent: Annotated[
        str | None, option("--recent", "Latest swaps to verify per protocol.  [default: 2]", _LIMITS, "N")
    ] = None,
    no_aggregators: Annotated[bool, option("--no-aggregators", "Do not contact aggregators.", _LIMITS)] = False,
    time: Annotated[
        str | None, option("--time", "Time limit, such as 90 (seconds) or 5m.  [default: 2m]", _LIMITS, "TIME")
    ] = None,
    max_requests: Annotated[
        str | None, option("--max-requests", "Maximum number of requests to nodes.  [default: 800]", _LIMITS, "N")
    ] = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Check quotes, swaps and proofs on your machine, and write a report.

    \b
    Examples:
      swapcli prove base
      swapcli prove base --rpc-url http://localhost:8545 --no-aggregators

    Tests the nodes, quotes sample orders live, simulates each payload, and verifies the latest swaps of each protocol.
    Simulates offers from aggregators that need no key. Checks each quote's proof with a separate program. The folder
    receives report.html, report.json and the proofs. They contain none of your keys, accounts or nodes.

    Ctrl-C writes a report on the completed checks; run the command again to continue. The exit status is 7 if anything
    differs, and 5 if nothing could be checked.

    See also: swapcli help proof.
    """
    flags = settings_of(store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url)
    from swapcli import prove as run_prove
    from swapcli.faces.cli.progress import ProgressLine
    from swapcli.faces.cli.signals import graceful_interrupts
    from swapcli.faces.garbage_collection import enable_garbage_collection
    from swapcli.state.clock import SYSTEM_CLOCK

    enable_garbage_collection()
    limits = {
        name: number
        for name, text in (("orders", orders), ("recent", recent), ("time_s", time), ("max_requests", max_requests))
        if (number := _parse_number(name, text)) is not None
    }
    stream = sys.stderr if sys.stderr.isatty() and not session.output.is_quiet else None
    progress = ProgressLine(SYSTEM_CLOCK, stream, "checks", None)
    with closing(progress), graceful_interrupts():
        report = run_prove(
            network,
            folder,
            fresh=fresh,
            aggregators=not no_aggregators,
            settings=session.sources,
            report=_count_on(progress),
            **limits,  # type: ignore[arg-type]  # each option is a number
        )
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(report)
    else:
        from swapcli.faces.cli.commands.prove.view import build_report_view

        session.output.print_details(build_report_view(report))
    report.check()
    return exit_codes.OK


def _count_on(progress: "ProgressLine"):  # type: ignore[no-untyped-def]
    def count(item: "ProofItem") -> None:
        del item
        progress.add()

    return count


def _parse_number(name: str, text: str | None) -> int | None:
    """Return an integer, or the seconds of a duration; None if there is none. Raises `InvalidOption`."""
    if text is None:
        return None
    plain = text.strip().replace(",", "").replace("_", "")
    duration_s = parse_duration_s(plain) if name == "time_s" else None
    if duration_s is not None:
        return int(duration_s)
    if not (plain.isascii() and plain.isdecimal() and len(plain) <= 9):
        flag = "--" + name.removesuffix("_s").replace("_", "-")
        expected = "a whole number of seconds, or a duration such as 5m" if name == "time_s" else "a whole number"
        raise InvalidOption(f'{flag}: expected {expected}, not "{printable(text[:40])}"')
    return int(plain)
