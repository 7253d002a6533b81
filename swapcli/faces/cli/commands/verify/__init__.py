"""`swapcli verify`: compare mined swaps with their quotes, for one transaction or for the latest swaps of each
protocol."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.core.networks.explorer import transaction_of_link
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.options import OutputOptions, argument, option, parse_number, settings_of
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.session import open_session

PUBLIC = ()

app = CommandApp()


@app.command()
def verify(
    network: options.NetworkName,
    transaction: Annotated[str | None, argument("[TX]", "Hash or explorer link of a mined transaction.")] = None,
    *,
    recent: Annotated[
        str | None, option("--recent", "Verify the last N swaps of each protocol.", options.RECENT, "N")
    ] = None,
    max_requests: options.RecentRequests = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Compare mined swaps with their quotes.

    \b
    Examples:
      swapcli verify base \\
        0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060
      swapcli verify base --recent 3

    Quotes each swap on the state just before it. The quoted output must equal the output in the swap event to the base
    unit. Also shows the output of the best route at the parent block. Old blocks need an archive node. If an output
    differs, the exit status is 7. If no swap could be quoted, the exit status is 5.

    --recent searches backwards from the latest block for the last N swaps of each protocol.

    See also: swapcli help history.
    """
    if transaction is not None and recent is not None:
        raise UsageError("--recent finds the swaps itself, so it cannot be combined with a transaction hash")
    if transaction is None and recent is None:
        raise UsageError("give a transaction hash, or --recent 3")
    if recent is None and max_requests is not None:
        raise UsageError("--max-requests needs --recent")
    count = parse_number("--recent", recent, options.MAX_RECENT_SWAPS) or 0
    requests = parse_number("--max-requests", max_requests, options.MAX_RECENT_REQUESTS)
    flags = settings_of(store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url)
    with session.open_known_market(network) as market:
        found = (
            market.verify_recent(count, max_requests=requests or options.RECENT_REQUESTS)
            if transaction is None
            else market.verify(transaction_of_link(transaction))
        )
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        from swapcli.faces.cli.commands.verify.view import build_view

        session.output.print_details(build_view(found))
    found.check()
    return exit_codes.OK
