"""`swapcli record`: record mined swaps with their pools' state at the parent block, for others to replay."""

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

_DEFAULT_SWAPS = 20


@app.command()
def record(
    network: options.NetworkName,
    transaction: Annotated[str | None, argument("[TX]", "Hash of a mined transaction.")] = None,
    *,
    pool: Annotated[
        str | None, option("--pool", "Record the last swaps in this pool (address or id).", options.RECENT, "POOL")
    ] = None,
    recent: Annotated[
        str | None,
        option(
            "--recent",
            f"Record the last N swaps.  [default with --pool: {_DEFAULT_SWAPS}]",
            options.RECENT,
            "N",
        ),
    ] = None,
    max_requests: options.RecentRequests = None,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Record mined swaps with the state of their pools.

    \b
    Examples:
      swapcli record base \\
        0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 \\
        --output swap.json
      swapcli record base --pool 0x6c561b446416e1a00e8e93e221854d6ea4171372
      swapcli record base --recent 5 --json

    Reads each pool's state at the parent block, and its swaps from the events of the next block. A swap is skipped,
    with the reason, if something else changed the pool earlier in the block. Old blocks need an archive node. The JSON
    is a list of pools that other programs can replay. It identifies neither you nor your node. If no swap could be
    recorded, the exit status is 5.

    See also: swapcli help history.
    """
    if transaction is not None and (pool is not None or recent is not None):
        raise UsageError("--pool and --recent find the swaps themselves, so they cannot be combined with a transaction")
    if transaction is None and pool is None and recent is None:
        raise UsageError("give a transaction hash, --pool POOL, or --recent 3")
    if transaction is not None and max_requests is not None:
        raise UsageError("--max-requests needs --pool or --recent")
    count = parse_number("--recent", recent, options.MAX_RECENT_SWAPS) or _DEFAULT_SWAPS
    requests = parse_number("--max-requests", max_requests, options.MAX_RECENT_REQUESTS) or options.RECENT_REQUESTS
    flags = settings_of(store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url)
    with session.open_known_market(network) as market:
        found = (
            market.record_recent(count, pool=pool, max_requests=requests)
            if transaction is None
            else market.record(transaction_of_link(transaction))
        )
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        from swapcli.faces.cli.commands.record.view import build_recording_view

        session.output.print_details(build_recording_view(found))
    found.check()
    return exit_codes.OK
