"""`swapcli router`: deploy your own router contract."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys

from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.payload_view import shorten_calldata
from swapcli.faces.cli.session import open_session

app = CommandApp("Deploy your own router contract.")


@app.command("deploy-payload")
def deploy_payload(network: options.NetworkName, *, verbose: options.Verbose = False, output: OutputOptions) -> None:
    """Print the transaction that deploys your own router contract.

    \b
    Example: swapcli router deploy-payload base --json

    The transaction has no recipient because it creates a contract. To use the contract after the transaction is mined,
    set networks.NETWORK.router to its address. The contract has no owner and cannot be changed.

    See also: swapcli help routers.
    """
    from swapcli import router_deployment

    session = open_session(output)
    found = router_deployment(network, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
        return
    is_shortened = not verbose and session.output.format is OutputFormat.TABLE and sys.stdout.isatty()
    document = found.document()
    texts = {"to": "none", "value": str(document["value"]), "calldata": found.transaction.calldata}
    if is_shortened:
        texts["calldata"] = shorten_calldata(found.transaction.calldata, "-v")
    title = f"Deployment of the router contract on {found.network}, chain {document['chainId']}"
    session.output.print_details(DetailView(title, facts=(), copyable=tuple(texts.items())))
