"""Open the market of a network: from a file, else the embedded one."""

from __future__ import annotations

from collections.abc import Callable

from swapcli.errors import InvalidInput
from swapcli.markets.embedded import checksummed_addresses, embedded_market
from swapcli.markets.format import ParsedMarket, parse_market
from swapcli.model.network import Network
from swapcli.networks.address import cache_checksums


def open_market(
    name: str,
    networks: Callable[[str], Network],
    *,
    document: bytes | None = None,
    skip_bad_pools: bool = False,
) -> ParsedMarket:
    """Return the market of the network called `name`: parsed from `document`, a market file, else the embedded one.

    Raise `UnknownNetwork`, `MarketError` with the invalid pool or field, or `InvalidInput` for the file of another
    network.
    """
    if document is None:
        embedded = embedded_market(networks(name).name)
        cache_checksums(checksummed_addresses(embedded))
        return parse_market(embedded, networks=networks)
    parsed = parse_market(document, networks=networks, skip_bad_pools=skip_bad_pools)
    market_network = parsed.market.network.name
    if name.lower() not in (market_network.lower(), str(parsed.market.network.chain_id)):
        raise InvalidInput(
            f'the market file is of "{market_network}", not of "{name}"',
            hint=f"give {market_network} as the network",
            details={"network": name, "market_network": market_network},
        )
    return parsed
