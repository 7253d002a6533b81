"""Options that take the address of an account, or its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli import InvalidAddress, InvalidInput, Network
from swapcli.core.encoding.text import printable
from swapcli.core.networks.address import display_address, is_name
from swapcli.faces.cli.options import ALLOW_RECIPIENT
from swapcli.faces.cli.session import Session
from swapcli.quoting.quote_options import parse_account, parse_address_option

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource

RECIPIENT, SENDER = "--destination", "--from"
_FIELDS = {RECIPIENT: "recipient_name", SENDER: "sender_name"}


def parse_account_option(text: str, network: Network, session: Session, label: str) -> str:
    """Return the canonical address of an account; a name is resolved by a node, and a note shows its address.

    Raises `InvalidInput` with `label` in front of its message, `UpstreamError`.
    """
    if not is_name(text):
        try:
            return parse_account(text, network, label)
        except InvalidAddress as error:
            error.hint = error.hint or "copy the whole address, or give a name that a node can look up, such as me.eth"
            raise
    from swapcli.quoting.openers.account_names import resolve_account_name

    try:
        found = resolve_account_name(session.nodes, session.networks, text, network)
    except InvalidInput as error:
        message = f"{label}: {printable(error.message)}"
        raise type(error)(message, hint=error.hint, details=error.details) from None
    origin = f"its address on Ethereum, as it has none for {network.name}" if found.is_of_ethereum else ""
    service = ", ".join(filter(None, [found.service.title, origin]))
    address = display_address(found.address, network.kind)
    session.output.note(f"{printable(found.name)} is {address} ({service})")
    session.account_names[label] = found.name
    return found.address


def check_recipient_option(
    recipient: str, allowed: str | None, source: QuoteSource, label: str = ALLOW_RECIPIENT
) -> None:
    """Raise `UnsafeRecipient` for a recipient that loses what it is sent and is not the `allowed` one."""
    from swapcli.payload.checks.recipients import check_recipient
    from swapcli.quoting.sources.quote_source import known_contract

    addresses = () if allowed is None else (parse_address_option(allowed, source.network, label),)
    check_recipient(recipient, known_contract(source, recipient), source.network, addresses, label)


def name_fields(session: Session) -> dict[str, str]:
    """Return the names that were resolved, by their fields of the JSON."""
    return {_FIELDS[label]: name for label, name in session.account_names.items()}
