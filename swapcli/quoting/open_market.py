"""Open the market of a network, from a file or, without one, the embedded market."""

from __future__ import annotations

from collections.abc import Callable

from swapcli.core.errors import InvalidInput
from swapcli.core.model.market import ParsedMarket
from swapcli.core.model.network import Network
from swapcli.core.networks.address import cache_checksums
from swapcli.state.markets.compiled import build_market, load_compiled
from swapcli.state.markets.embedded import checksummed_addresses, embedded_market, read_compiled


def open_market(
    name: str,
    networks: Callable[[str], Network],
    *,
    document: bytes | None = None,
    skip_bad_pools: bool = False,
) -> ParsedMarket:
    """Return the market of the network called `name`. It is parsed from the market file `document` if given; otherwise
    it is the embedded market.

    Raises `UnknownNetwork`, `MarketError` with the invalid pool or field, or `InvalidInput` if the file belongs to
    another network.
    """
    if document is None:
        return _open_embedded(networks(name), networks)
    parsed = _parse_market(document, networks, skip_bad_pools)
    market_network = parsed.market.network.name
    if name.lower() not in (market_network.lower(), str(parsed.market.network.chain_id)):
        raise InvalidInput(
            f'the market file is for "{market_network}", not for "{name}"',
            hint=f"give {market_network} as the network",
            details={"network": name, "market_network": market_network},
        )
    return parsed


def _open_embedded(network: Network, networks: Callable[[str], Network]) -> ParsedMarket:
    document, data = embedded_market(network.name), read_compiled(network.name)
    compiled = load_compiled(data, document) if data is not None else None
    market = compiled and build_market(compiled, network)
    if compiled and market:
        cache_checksums(compiled.checksummed_addresses)
        return ParsedMarket(market)
    cache_checksums(checksummed_addresses(document))
    return _parse_market(document, networks)


def _parse_market(document: bytes, networks: Callable[[str], Network], skip_bad_pools: bool = False) -> ParsedMarket:
    from swapcli.state.markets.format import (
        parse_market,  # a quote on an embedded market needs neither it nor the parsers
    )

    return parse_market(document, networks=networks, skip_bad_pools=skip_bad_pools)
