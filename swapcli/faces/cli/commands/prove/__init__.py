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
            "Folder of the report; a second run continues it.  [default: ./swapcli-proof-NETWORK]",
            _REPORT,
            "DIR",
        ),
    ] = None,
    fresh: Annotated[bool, option("--fresh", "Start anew: forget what the folder has.", _REPORT)] = False,
    orders: Annotated[
        str | None, option("--orders", "Orders to quote and simulate.  [default: 20]", _LIMITS, "N")
    ] = None,
    recent: Annotated[
        str | None, option("--recent", "Newest swaps to verify for each venue.  [default: 2]", _LIMITS, "N")
    ] = None,
    no_aggregators: Annotated[bool, option("--no-aggregators", "Ask no aggregator.", _LIMITS)] = False,
    time: Annotated[
        str | None, option("--time", "Time for all of it, such as 90 (seconds) or 5m.  [default: 2m]", _LIMITS, "TIME")
    ] = None,
    max_requests: Annotated[
        str | None, option("--max-requests", "Requests to nodes, at most.  [default: 800]", _LIMITS, "N")
    ] = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Check quotes, swaps and proofs on your machine; write a report.

    \b
    Examples:
      swapcli prove base
      swapcli prove base --rpc-url http://localhost:8545 --no-aggregators

    Probes the nodes, quotes sample orders live and simulates each payload, verifies the newest swaps of each venue,
    asks aggregators that need no key and simulates their offers, and has the proof of each quote checked by a program
    that shares no code with swapcli. The folder gets report.html, one page to read or print, report.json, and the
    proofs. Nothing secret is in them: no key, and no address of yours or of your node.

    Ctrl-C writes a report of what is done; the same command continues. If anything differs, the exit status is 7; if
    nothing could be checked, it is 5. See swapcli help proof.
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
    """Return a whole number, or the seconds of a duration; None without one. Raises `InvalidOption`."""
    if text is None:
        return None
    plain = text.strip().replace(",", "").replace("_", "")
    duration_s = parse_duration_s(plain) if name == "time_s" else None
    if duration_s is not None:
        return int(duration_s)
    if not (plain.isascii() and plain.isdecimal() and len(plain) <= 9):
        flag = "--" + name.removesuffix("_s").replace("_", "-")
        raise InvalidOption(f'{flag}: "{printable(text[:40])}" is not a whole number')
    return int(plain)
