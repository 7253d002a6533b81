"""Read and write `swap-market/1`: the pools of one network at one moment, as one JSON object.

Integers that can exceed 2^53 are decimal strings (numbers are read too), addresses hex in any letter case, unknown keys
are ignored. A pool with `address_modelled: true` stands under an address that is made up, because its own is not known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from swapcli.errors import InvalidPoolState
from swapcli.markets import network_field, pools_field, tokens_field
from swapcli.markets.document import list_in, load_object, member, object_in, refuse, text_in, uint_in
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.token import Token
from swapcli.model.transfer_behaviour import UNKNOWN
from swapcli.pools.state_fields import shown

FORMAT = "swap-market/1"

_MAX_MOMENT = 2**63 - 1
FILE_PROVENANCES = tuple(each for each in Provenance if each is not Provenance.LIVE)
"""The provenances that a file may state."""


class ParsedMarket(NamedTuple):
    """A market and the errors of the pools that were left out of it (none unless they may be skipped)."""

    market: Market
    skipped: tuple[InvalidPoolState, ...] = ()


def parse_market(
    document: bytes | str, *, networks: Callable[[str], Network], skip_bad_pools: bool = False
) -> ParsedMarket:
    """Check and read a market file.

    `networks` looks a name up, raising `UnknownNetwork`. Raises `InvalidPoolState`, naming pool and field, where a pool
    is wrong (with `skip_bad_pools` the pool is left out and its error returned), and `MarketError` for all else.
    """
    entry = load_object(document)
    if member(entry, "format") != FORMAT:
        refuse("format", f'expected "{FORMAT}", not {shown(entry["format"])}')
    network_entry = object_in(entry, "network")
    outline = network_field.outline(network_entry, networks)
    tokens = tokens_field.read_tokens(entry, outline.kind)
    network = network_field.with_wrapped_native(outline, network_entry, tokens)
    _check_wrapped_native(network, tokens)
    reader = pools_field.PoolParser(network, tokens)
    pools, skipped = reader.read(list_in(entry, "pools"), skip_bad_pools)
    market = Market(
        network=network,
        tokens=tokens,
        pools=pools,
        provenance=_read_provenance(entry),
        source=text_in(entry, "source"),
        gas_price_wei=uint_in(entry, "gas_price_wei"),
        block=_read_moment(entry, "block"),
        timestamp=_read_moment(entry, "timestamp"),
        placeholder_pools=frozenset(reader.placeholder_pools),
        transfers=tokens_field.read_transfers(entry, outline.kind),
    )
    return ParsedMarket(market, tuple(skipped))


def render_market(market: Market) -> str:
    """The market as compact ASCII JSON.

    `parse_market` gives an equal one back if its `networks` know the network, or if the network holds no more than the
    format does (name, chain id, native tokens, router, names of protocols).
    """
    entry = {
        "format": FORMAT,
        "network": network_field.network_to_json(market.network),
        "block": market.block,
        "timestamp": market.timestamp,
        "provenance": market.provenance.value,
        "source": market.source,
        "gas_price_wei": str(market.gas_price_wei),
        "tokens": [
            tokens_field.token_to_json(token, market.transfers.get(token.address, UNKNOWN))
            for token in market.tokens.values()
        ],
        "pools": [
            pools_field.pool_to_json(pool, key in market.placeholder_pools) for key, pool in market.pools.items()
        ],
    }
    return json.dumps(entry, separators=(",", ":"), allow_nan=False)


def _check_wrapped_native(network: Network, tokens: Mapping[str, Token]) -> None:
    """Amounts of the native token are counted in its wrapped form, so both need the same unit."""
    wrapped = network.wrapped_native
    token = tokens.get(wrapped.address) if wrapped else None
    if token and token.decimals != network.native.decimals:
        refuse(
            "network.wrapped_native",
            f"{token.address} has {token.decimals} decimals, the native token has {network.native.decimals}",
        )


def _read_provenance(entry: Mapping[str, object]) -> Provenance:
    provenance = text_in(entry, "provenance")
    if provenance not in FILE_PROVENANCES:
        refuse("provenance", f"expected one of {', '.join(FILE_PROVENANCES)}, not {shown(provenance)}")
    return Provenance(provenance)


def _read_moment(entry: Mapping[str, object], key: str) -> int | None:
    return None if member(entry, key) is None else uint_in(entry, key, maximum=_MAX_MOMENT)
