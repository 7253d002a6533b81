"""`swapcli router`: a router contract of one's own."""

# Annotations are values here: they are what Typer reads.

from swapcli.cli import options
from swapcli.cli.lazy_group import GroupedCommand, new_app
from swapcli.cli.options import FormOptions, with_options
from swapcli.cli.output import Form
from swapcli.cli.render.listing import Listing
from swapcli.cli.session import open_session

app = new_app("Deploy a router for what swapcli calldata makes.")


@app.callback()
def router() -> None:
    """Deploy a router for what swapcli calldata makes."""


@app.command("deploy-payload", cls=GroupedCommand)
@with_options
def deploy_payload(network: options.NetworkName, *, form: FormOptions) -> None:
    """Print the transaction that deploys the router contract.

    \b
    Example: swapcli router deploy-payload base --json

    It has no receiver: it makes a contract. Once it is mined, set networks.NETWORK.router to the contract's address,
    and payloads are for it. The contract has no owner and no settings: nobody can change or stop it.
    """
    from swapcli.evm.router import build_deployment as payload_of

    session = open_session(form)
    where = session.network(network)
    payload = payload_of(where)
    document = {
        "network": where.name,
        "chainId": payload.chain_id,
        "to": None,
        "value": str(payload.value),
        "calldata": payload.calldata,
    }
    if session.output.form is Form.JSON:
        session.output.document(document)
        return
    rows = tuple((name, "none" if value is None else str(value)) for name, value in document.items())
    session.output.listing(Listing(columns=("field", "value"), rows=rows, documents=()))
