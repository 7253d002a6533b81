"""`swapcli verify`: compare the swaps of a mined transaction with their quotes."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.session import open_session

PUBLIC = ()

app = CommandApp()


@app.command()
def verify(
    network: options.NetworkName,
    transaction: Annotated[str, argument("TX", "Hash of a mined transaction.")],
    *,
    store: options.StoreDir = None,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Compare the swaps of a mined transaction with their quotes.

    \b
    Example:
      swapcli verify base \\
        0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060

    Every swap whose pool is known is quoted on the state just before it: the parent block and the earlier events of the
    block. The output must equal the event's to the unit. It also quotes what the best route would have paid at the
    parent block. Blocks older than some minutes need an archive node. If an output differs, the exit status is 7. If no
    swap could be quoted, or the transaction is not mined yet, it is 5. swapcli protocols shows when quotes of a
    protocol were last found to be equal.
    """
    flags = settings_of(store=store, timeout=timeout)
    session = open_session(output, flags, rpc_url=rpc_url)
    with session.open_known_market(network) as market:
        found = market.verify(transaction)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        from swapcli.faces.cli.commands.verify.view import build_verification_view

        session.output.print_details(build_verification_view(found))
    found.check()
    return exit_codes.OK
