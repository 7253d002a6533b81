"""Accounts that users name by an address or a name, and recipients that would lose what they are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.networks.address import display_address, is_name
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_options import parse_account, parse_address_option

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.quoting.sources.quote_source import QuoteSource


class NamedAccount(NamedTuple):
    """The canonical address of an account. If it was given by its `name`, `note` says whose address it is."""

    address: str
    name: str = ""
    note: str = ""


def find_account(sources: SourceChooser, text: str, network: Network, label: str) -> NamedAccount:
    """Return the account with an address or a name, which a node resolves.

    Raises `InvalidInput` with `label` in front of its message, `UpstreamError`.
    """
    if not is_name(text):
        try:
            return NamedAccount(parse_account(text, network, label))
        except InvalidAddress as error:
            error.hint = error.hint or "copy the whole address, or give a name that a node can look up, such as me.eth"
            raise
    from swapcli.quoting.openers.account_names import resolve_account_name

    try:
        found = resolve_account_name(sources.nodes, sources.networks, text, network)
    except InvalidInput as error:
        message = f"{label}: {printable(error.message)}"
        raise type(error)(message, hint=error.hint, details=error.details) from None
    origin = f"its address on Ethereum, as it has none for {network.name}" if found.is_of_ethereum else ""
    service = ", ".join(filter(None, [found.service.title, origin]))
    address = display_address(found.address, network.kind)
    return NamedAccount(found.address, found.name, f"{printable(found.name)} is {address} ({service})")


def check_allowed_recipient(source: QuoteSource, recipient: str, allowed: str | None, label: str) -> None:
    """Raise `UnsafeRecipient` for a recipient that loses what it is sent and is not the one that `label` allows."""
    from swapcli.payload.checks.recipients import check_recipient
    from swapcli.quoting.sources.quote_source import known_contract

    addresses = () if allowed is None else (parse_address_option(allowed, source.network, label),)
    check_recipient(recipient, known_contract(source, recipient), source.network, addresses, label)
