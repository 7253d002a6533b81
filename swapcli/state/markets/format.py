"""Read and write `swap-market/1`, which describes the pools of one network at one time as a JSON object.

Integers that can exceed 2^53 are decimal strings (numbers are read too), addresses are hex in upper or lower case.
Unknown keys are ignored. A pool with `address_modelled: true` has a placeholder address, because its real address is
not known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from swapcli.core.model.market import MarketState, ParsedMarket, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import UNKNOWN
from swapcli.core.validation.values import MISSING, InvalidValue, parse_choice, parse_integer, parse_list
from swapcli.state.markets import network_field, pools_field, tokens_field
from swapcli.state.markets.fields import MarketFields, parse_document

FORMAT = "swap-market/1"

_MAX_BLOCK = 2**63 - 1  # a signed 64-bit integer
FILE_PROVENANCES = tuple(each for each in Provenance if each is not Provenance.LIVE)
"""The provenances that a file may state."""


def parse_market(
    document: bytes | str, *, networks: Callable[[str], Network], skip_bad_pools: bool = False
) -> ParsedMarket:
    """Parse and check a market file.

    `networks` looks up a name, and raises `UnknownNetwork`. If a pool is invalid, raises `InvalidPoolState`, which
    names the pool and the field. With `skip_bad_pools`, omits the pool and returns its error instead. Raises
    `MarketError` for any other problem.
    """
    fields = parse_document(document)
    fields.read("format", _parse_format)
    network_fields = fields.nested("network")
    partial_network = network_field.parse_partial_network(network_fields, networks)
    tokens = tokens_field.parse_tokens(fields, partial_network.kind)
    network = network_field.with_wrapped_native(partial_network, network_fields, tokens)
    _check_wrapped_native(network, tokens)
    reader = pools_field.PoolParser(network, tokens)
    pools, skipped = reader.read(fields.read("pools", parse_list), skip_bad_pools)
    market = MarketState(
        network=network,
        tokens=tokens,
        pools=pools,
        provenance=Provenance(fields.read("provenance", parse_choice, FILE_PROVENANCES)),
        source=fields.text("source"),
        gas_price_wei=fields.integer("gas_price_wei"),
        block=_parse_block_field(fields, "block"),
        timestamp=_parse_block_field(fields, "timestamp"),
        placeholder_pools=frozenset(reader.placeholder_pools),
        transfers=tokens_field.parse_transfers(fields, partial_network.kind),
    )
    return ParsedMarket(market, tuple(skipped))


def render_market(market: MarketState) -> str:
    """Return the market as compact ASCII JSON.

    `parse_market` returns an equal market if its `networks` knows the network, or if the network has only what the
    format can express (name, chain id, native tokens, router, protocol names).
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
    """Check that the native token and its wrapped form have the same unit: amounts of the former are counted in the
    latter."""
    wrapped = network.wrapped_native
    token = tokens.get(wrapped.address) if wrapped else None
    if token and token.decimals != network.native.decimals:
        raise MarketFields.failure(
            "network.wrapped_native",
            f"{token.address} has {token.decimals} decimals, the native token has {network.native.decimals}",
        )


def _parse_format(value: object) -> None:
    if value != FORMAT:
        raise InvalidValue(f'"{FORMAT}"', value)


def _parse_block_field(fields: MarketFields, key: str) -> int | None:
    """Read `block` or `timestamp`: null if unknown, but never absent."""
    return None if fields.values.get(key, MISSING) is None else fields.read(key, parse_integer, 0, _MAX_BLOCK)
