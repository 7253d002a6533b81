"""Lists of the networks, tokens and protocols that a service supports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import MAX_AMOUNT, Fields, require_entries
from swapcli.interface.route import format_decimal

if TYPE_CHECKING:
    from swapcli.interface.json_types import ListedProtocolJson, ListedTokenJson, SupportedChainJson

MAX_ENTRIES = 100_000  # a bound against hostile input; chosen


class SupportedChain(NamedTuple):
    """A network that a service supports; `router` is the address as the service writes it, None if there is none."""

    name: str
    chain_id: int
    router: str | None = None


class InterfaceToken(NamedTuple):
    """A token. It is `verified` if it is on the network's own list and not only in the market."""

    token: Token
    is_verified: bool


def render_chains(networks: Iterable[Network]) -> list[SupportedChainJson]:
    """Render `/supported-chains`."""
    return [
        {
            "chain_id": network.chain_id,
            "chain_name": network.name,
            "router_address": display_address(network.router, network.kind) if network.router else None,
        }
        for network in networks
    ]


def parse_chains(document: object) -> tuple[SupportedChain, ...]:
    """Parse `/supported-chains`. A chain id may be a number or a decimal string."""
    return tuple(map(_parse_chain, _objects(document)))


def _parse_chain(fields: Fields) -> SupportedChain:
    return SupportedChain(
        name=fields.text("chain_name"),
        chain_id=fields.integer("chain_id", 0, MAX_AMOUNT),
        router=fields.text("router_address") if fields.has("router_address") else None,
    )


def render_tokens(tokens: Iterable[InterfaceToken], network: Network) -> list[ListedTokenJson]:
    """Render `/{network}/tokens`."""
    return [render_token(token, network) for token in tokens]


def render_token(listed: InterfaceToken, network: Network) -> ListedTokenJson:
    """Render `/{network}/tokens/{address}`."""
    token = listed.token
    return {
        "address": display_address(token.address, network.kind),
        "name": token.name,
        "symbol": token.symbol,
        "decimals": str(token.decimals),
        "price": None if token.price_usd is None else format_decimal(token.price_usd),
        "verified": listed.is_verified,
    }


def parse_tokens(document: object, network: Network) -> tuple[InterfaceToken, ...]:
    """Parse `/{network}/tokens`."""
    return tuple(_parse_token(fields, network) for fields in _objects(document))


def parse_token(document: object, network: Network) -> InterfaceToken:
    """Parse `/{network}/tokens/{address}`."""
    return _parse_token(Fields(document), network)


def _parse_token(fields: Fields, network: Network) -> InterfaceToken:
    token = Token(
        address=fields.address("address", network.kind),
        symbol=fields.text("symbol"),
        name=fields.text("name"),
        decimals=fields.integer("decimals", 0, 255),
        price_usd=fields.number("price") if fields.has("price") else None,
    )
    return InterfaceToken(token, fields.boolean("verified", default=False))


def render_protocols(protocols: Iterable[ProtocolInfo]) -> list[ListedProtocolJson]:
    """Render `/{network}/protocols`."""
    return [{"amm_name": protocol.amm_name, "protocol": protocol.id} for protocol in protocols]


def _objects(document: object) -> Iterator[Fields]:
    """Yield the objects of an array, which may be empty."""
    if document == []:
        return iter(())
    return (Fields(entry, path) for path, entry in require_entries(document, "document", MAX_ENTRIES))
