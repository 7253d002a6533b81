"""The embedded markets in a form that opens ten times faster: their parsed JSON, as plain tuples.

`make markets` writes both the JSON and the compiled form. The JSON is the source, and is parsed if the compiled form
cannot be used: if its file is missing or damaged, belongs to another JSON document or has records with different
fields, or if the settings change something on which the market depends. The form is that of `marshal`, which reads
tuples of numbers and texts faster than any other module; nothing in it is executed. Its version 2 is the same in all
versions of Python 3.
"""

from __future__ import annotations

import marshal
from binascii import crc32
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour, TransferKind
from swapcli.core.records import NamedTuple
from swapcli.families import family

_MARSHAL_VERSION = 2
"""The newest version without references: with them, the bytes would depend on how often Python uses a value."""

_CHECKSUM_BYTES = 4  # bytes of a CRC-32


class FamilyFields(NamedTuple):
    """The layout of a family's pools in the compiled form: the fields of its class, and the fields of the records that
    those values contain.

    A record of `records` is `(index in the state, module, class, fields)`.
    """

    family: str
    fields: tuple[str, ...]
    records: tuple[tuple[int, str, str, tuple[str, ...]], ...]


class CompiledMarket(NamedTuple):
    """A market as plain tuples. Its network is not included.

    `layout` has the fields of the written records, `document` the size and CRC-32 of the JSON. A pool is `(index in
    families, address, index in protocols, index in pool_tokens, fee_ppm, state)` with the other arguments of its
    constructor in `state`; an entry of `pool_tokens` has indices in `tokens`.
    """

    layout: tuple[tuple[str, ...], ...]
    document: tuple[int, int]
    network_name: str
    checksummed_addresses: tuple[str, ...]
    tokens: tuple[tuple[Any, ...], ...]
    transfers: tuple[tuple[Any, ...], ...]
    provenance: str
    source: str
    gas_price_wei: int
    block: int | None
    timestamp: int | None
    placeholder_pools: tuple[str, ...]
    protocols: tuple[str, ...]
    families: tuple[tuple[Any, ...], ...]
    pool_tokens: tuple[tuple[int, ...], ...]
    pools: tuple[tuple[Any, ...], ...]


_LAYOUT = tuple(each._fields for each in (CompiledMarket, FamilyFields, PoolIdentity, Token, TransferBehaviour))


def compile_market(market: MarketState, document: bytes, checksummed_addresses: Iterable[str]) -> bytes:
    """Return the compiled form of the market in a JSON document. The document may give its network only by name."""
    families: dict[str, FamilyFields] = {}
    protocols = sorted({pool.protocol for pool in market.pools.values()})
    token_indices = {address: index for index, address in enumerate(market.tokens)}
    pool_tokens: dict[tuple[int, ...], int] = {}
    pools = []
    for pool in market.pools.values():
        fields = _fields_of(pool)
        if families.setdefault(pool.family, fields) != fields:
            raise ValueError(f"the pools of {pool.family} have values of several types")
        tokens = pool_tokens.setdefault(tuple(token_indices[each] for each in pool.tokens), len(pool_tokens))
        state = [getattr(pool, name) for name in fields.fields[len(PoolIdentity._fields) :]]
        for index, *_ in fields.records:
            state[index] = tuple(state[index])
        index, protocol = list(families).index(pool.family), protocols.index(pool.protocol)
        pools.append((index, pool.address, protocol, tokens, pool.fee_ppm, tuple(state)))
    compiled = CompiledMarket(
        layout=_LAYOUT,
        document=_fingerprint(document),
        network_name=market.network.name,
        checksummed_addresses=tuple(sorted(checksummed_addresses)),
        tokens=tuple(tuple(token) for token in market.tokens.values()),
        transfers=tuple((address, each.kind.value, *each[1:]) for address, each in market.transfers.items()),
        provenance=market.provenance.value,
        source=market.source,
        gas_price_wei=market.gas_price_wei,
        block=market.block,
        timestamp=market.timestamp,
        placeholder_pools=tuple(sorted(market.placeholder_pools)),
        protocols=tuple(protocols),
        families=tuple(tuple(each) for each in families.values()),
        pool_tokens=tuple(pool_tokens),
        pools=tuple(pools),
    )
    return with_checksum(tuple(compiled))


def with_checksum(values: Any) -> bytes:
    """Return the content of a compiled file: the CRC-32 of the plain values' bytes, followed by those bytes."""
    content = marshal.dumps(values, _MARSHAL_VERSION)
    return crc32(content).to_bytes(_CHECKSUM_BYTES, "little") + content


def load_compiled(data: bytes, document: bytes) -> CompiledMarket | None:
    """Return the market in a compiled file; None if the file is damaged, or belongs to another layout or JSON
    document."""
    content = data[_CHECKSUM_BYTES:]
    if crc32(content) != int.from_bytes(data[:_CHECKSUM_BYTES], "little"):
        return None
    try:
        values = marshal.loads(content)
    except (EOFError, ValueError, TypeError):  # from a Python version that would write it differently
        return None
    is_current = isinstance(values, tuple) and values[:2] == (_LAYOUT, _fingerprint(document))
    return CompiledMarket(*values) if is_current else None


def build_market(compiled: CompiledMarket, network: Network) -> MarketState | None:
    """Return the market on `network`, which includes the user's settings; None if the JSON must be checked against
    those settings."""
    tokens = [Token(*row) for row in compiled.tokens]
    by_address = {token.address: token for token in tokens}
    wrapped = by_address.get(network.wrapped_native_address or "")
    constructors = [_constructor(FamilyFields(*each)) for each in compiled.families]
    if (
        compiled.network_name != network.name
        or not {protocol.amm_name for protocol in network.protocols}.issuperset(compiled.protocols)
        or (wrapped is not None and wrapped.decimals != network.native.decimals)
        or None in constructors
    ):
        return None
    protocols = compiled.protocols
    pool_tokens = [
        (tuple([tokens[each].address for each in indices]), tuple([tokens[each].decimals for each in indices]))
        for indices in compiled.pool_tokens
    ]
    pools: dict[str, Pool] = {}
    for index, address, protocol, pair, fee_ppm, state in compiled.pools:
        pool = constructors[index](address, protocols[protocol], *pool_tokens[pair], fee_ppm, *state)
        pools[pool.key] = pool
    return MarketState(
        network=network,
        tokens=by_address,
        pools=pools,
        provenance=Provenance(compiled.provenance),
        source=compiled.source,
        gas_price_wei=compiled.gas_price_wei,
        block=compiled.block,
        timestamp=compiled.timestamp,
        placeholder_pools=frozenset(compiled.placeholder_pools),
        transfers={
            address: TransferBehaviour(TransferKind(kind), *fees) for address, kind, *fees in compiled.transfers
        },
    )


def _fingerprint(document: bytes) -> tuple[int, int]:
    return len(document), crc32(document)


def _fields_of(pool: Pool) -> FamilyFields:
    names = _field_names(type(pool))
    state = (getattr(pool, name) for name in names[len(PoolIdentity._fields) :])
    records = tuple(
        (index, type(value).__module__, type(value).__name__, value._fields)
        for index, value in enumerate(state)
        if hasattr(value, "_fields")
    )
    return FamilyFields(pool.family, names, records)


def _constructor(fields: FamilyFields) -> Callable[..., Pool] | None:
    """Return a function that builds a pool from plain tuples; None if the program's records now have different
    fields."""
    try:
        pool_class = family(fields.family)
        records = [
            (len(PoolIdentity._fields) + index, getattr(import_module(module), name))
            for index, module, name, _ in fields.records
        ]
    except (KeyError, ImportError, AttributeError):
        return None
    record_fields = [names for *_, names in fields.records]
    if (_field_names(pool_class), [record._fields for _, record in records]) != (fields.fields, record_fields):
        return None
    return partial(_build_pool, pool_class, records) if records else pool_class


def _field_names(pool_class: type[Pool]) -> tuple[str, ...]:
    """Return the arguments of the class's constructor, in order."""
    names: tuple[str, ...] = pool_class.__match_args__
    return names


def _build_pool(pool_class: type[Pool], records: Iterable[tuple[int, type[Any]]], *values: Any) -> Pool:
    arguments = list(values)
    for index, record in records:
        arguments[index] = record(*arguments[index])
    return pool_class(*arguments)
