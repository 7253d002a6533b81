"""`swapcli protocols`: what can be named in --exclude-protocols."""

from __future__ import annotations

from swapcli.cli import options
from swapcli.cli.options import FormOptions, with_options
from swapcli.cli.render.listing import Listing
from swapcli.cli.render.words import clean
from swapcli.cli.session import open_session
from swapcli.cli.tree import GroupedCommand, new_app
from swapcli.model.network import ProtocolInfo

app = new_app()


@app.command(cls=GroupedCommand)
@with_options
def protocols(network: options.NetworkNameOrDefault = None, *, form: FormOptions) -> None:
    """List the protocols of a network. The family is the pool maths that quotes them.

    \b
    Example: swapcli protocols base
    """
    session = open_session(form)
    found = session.network(session.network_name(network)).protocols
    session.output.listing(
        Listing(
            columns=("id", "name", "display name", "family"),
            rows=tuple(_row(protocol) for protocol in found),
            documents=tuple(_document(protocol) for protocol in found),
        )
    )


def _row(protocol: ProtocolInfo) -> tuple[str, ...]:
    family = protocol.family or "not supported"
    return str(protocol.id), clean(protocol.amm_name), clean(protocol.display_name), family


def _document(protocol: ProtocolInfo) -> dict[str, object]:
    return {
        "protocol": protocol.id,
        "amm_name": protocol.amm_name,
        "display_name": protocol.display_name,
        "family": protocol.family,
        "confirmed": protocol.confirmed,
    }
