"""The `network` object in a market file: a name in the catalogue, a full description, or both.

Fields in the file override the catalogue's fields, so a file can have its own router or list of protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swapcli.core.errors import UnknownNetwork
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.networks.definition import override_network, parse_kind
from swapcli.state.markets.fields import MarketFields

_MAX_SAFE_NUMBER = 2**53 - 1  # JavaScript reads larger numbers inexactly
_DESCRIPTION = ("chain_id", "native", "wrapped_native", "router", "protocols")


def parse_partial_network(fields: MarketFields, networks: Callable[[str], Network]) -> Network:
    """Return the network without the file's `wrapped_native`, which the caller must look up among the file's tokens.

    Until then, `wrapped_native` has the catalogue's value, or None. Raises `MarketError` if the name is unknown and the
    description is incomplete.
    """
    name = fields.text("name")
    if not name:
        raise fields.failure("network.name", "empty")
    try:
        known = networks(name)
    except UnknownNetwork:
        known = _undescribed(fields, name)
    return override_network(known, fields)


def with_wrapped_native(network: Network, fields: MarketFields, tokens: Mapping[str, Token]) -> Network:
    """Return `network` with the file's `wrapped_native`, which must be one of the file's tokens or the catalogue's
    wrapped token."""
    if "wrapped_native" not in fields.values:
        return network
    address = fields.optional_address("wrapped_native", network.kind)
    if address is None:
        return network._replace(wrapped_native=None)
    if network.wrapped_native_address == address:
        return network
    if address not in tokens:
        raise fields.failure("network.wrapped_native", f"{address} is not among the tokens")
    return network._replace(wrapped_native=tokens[address])


def network_to_json(network: Network) -> dict[str, object]:
    """Return the full description of a network, ready for JSON."""
    native, wrapped = network.native, network.wrapped_native
    entry: dict[str, object] = {"name": network.name}
    if network.kind is not Kind.EVM:
        entry["kind"] = network.kind.value
    entry["chain_id"] = network.chain_id if network.chain_id <= _MAX_SAFE_NUMBER else str(network.chain_id)
    entry["native"] = {"symbol": native.symbol, "name": native.name, "decimals": native.decimals}
    entry["wrapped_native"] = wrapped.address if wrapped else None
    entry["router"] = network.router
    entry["protocols"] = [
        {"id": protocol.id, "amm_name": protocol.amm_name, "display_name": protocol.display_name}
        for protocol in network.protocols
    ]
    return entry


def _undescribed(fields: MarketFields, name: str) -> Network:
    missing = [key for key in _DESCRIPTION if key not in fields.values]
    if missing:
        raise fields.failure(
            "network.name",
            f'unknown network "{name}", and the file does not describe it: {", ".join(missing)} missing',
            hint="describe the network in the file, or add it to the settings",
        )
    blank = Token(ZERO_ADDRESS, "", "", 0)
    return Network(name, parse_kind(fields), 0, native=blank, wrapped_native=None, tokens=(), protocols=())
