"""Options that take an account's address or name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli import Network
from swapcli.faces.cli.options import ALLOW_RECIPIENT
from swapcli.faces.cli.session import Session

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource

RECIPIENT, SENDER = "--destination", "--from"
_FIELDS = {RECIPIENT: "recipientName", SENDER: "senderName"}


def parse_account_option(text: str, network: Network, session: Session, label: str) -> str:
    """Return the canonical address of the account in `text`. A node resolves a name, and a note shows its address.

    Raises `InvalidInput`, whose message begins with `label`, and `UpstreamError`.
    """
    from swapcli.quoting.quote_options import find_account

    found = find_account(session.sources, text, network, label)
    if found.name:
        session.output.note(found.note)
        session.account_names[label] = found.name
    return found.address


def check_recipient_option(
    recipient: str, allowed: str | None, source: QuoteSource, label: str = ALLOW_RECIPIENT
) -> None:
    """Raise `UnsafeRecipient` if tokens sent to `recipient` would be lost, unless it is the `allowed` one."""
    from swapcli.quoting.quote_options import check_allowed_recipient

    check_allowed_recipient(source, recipient, allowed, label)


def name_fields(session: Session) -> dict[str, str]:
    """Return the account names that were resolved, keyed by their JSON fields."""
    return {_FIELDS[label]: name for label, name in session.account_names.items()}
