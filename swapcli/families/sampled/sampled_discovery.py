"""Find the pools that a protocol quotes itself, as the network's definition describes: in its list, or one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_word
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.quoter import ContractFunction, PoolEnumeration, Quoter
from swapcli.core.networks.quoter_definitions import parse_quoters
from swapcli.families.reading.call_encoding import invalid_response, read_list, read_word, read_words, to_address
from swapcli.families.reading.calls import BlockReader, Log, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.families.sampled.rows import SampledConstants
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.sampled.sampled_pools_reader import PoolValues, function_call, with_value

_MAX_LISTED: Final = 5_000
"""The maximum number of entries in a protocol's list: more than any has."""


def find_sampled_pools(
    reader: BlockReader, network: Network, protocols: Iterable[str] | None = None
) -> Iterator[PoolRef | SkippedItem]:
    """Yield the pools that a network's quoters have for `protocols` (None for all), or a `SkippedItem` for a pool that
    is skipped.

    Raises `UpstreamError`, and `ConfigError` for an invalid definition.
    """
    quoters = parse_quoters(network)
    requested = None if protocols is None else set(protocols)
    own = {quoter.protocols[0]: quoter for quoter in quoters.values()}
    selected = {name: quoter for name, quoter in own.items() if requested is None or name in requested}
    listed = run_batched([(name, _read_entries(quoter)) for name, quoter in selected.items()], reader.call)
    for (protocol, quoter), entries in zip(selected.items(), listed, strict=True):
        if isinstance(entries, SkippedItem):
            yield entries
        found = [] if isinstance(entries, SkippedItem) else entries
        found += [dict(each) for each in quoter.pools]
        completed = run_batched([(_shown(values), _complete(values, quoter)) for values in found], reader.call)
        for values in completed:
            if isinstance(values, SkippedItem):
                yield values
            else:
                yield _new_ref(protocol, _in_text(values), quoter, network.wrapped_native_address)


def read_announced_pool(quoter: Quoter, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Read the reference of a pool announced by a quoter's creation event, with one round for each value to read."""
    created = quoter.created
    assert created, "only protocols with creation events are scanned for them"
    data = b"".join(bytes.fromhex(topic[2:]) for topic in log.topics[1:]) + log.data
    if len(data) != len(created.entry) * WORD:
        raise invalid_response(created.signature, f"{len(data)} bytes for {len(created.entry)} values")
    words = read_words(data, len(created.entry), created.signature)
    named = {name: word for name, word in zip(created.entry, words, strict=True) if name != "-"}
    values = yield from _complete(named, quoter)
    if values["token0"] == values["token1"]:
        raise invalid_response(created.signature, "a pool of a token with itself")
    return _new_ref(quoter.protocols[0], _in_text(values), quoter, wrapped_native)


def listed_sampled_pools(market: MarketState) -> Iterator[Sampled]:
    """Yield the pools, without samples, that the network's definition lists in full, between tokens of the market.

    Raises `ConfigError` for an invalid definition.
    """
    for ref in _listed_in_definition(market.network):
        completed = with_decimals(ref, market.tokens)
        if isinstance(completed, PoolRef):
            identity = PoolIdentity(completed.address, completed.protocol, completed.tokens, completed.decimals, 0)
            constants = completed.constants_as(SampledConstants)
            yield Sampled(*identity, constants=constants.values, pool_id=constants.pool_id)


def _listed_in_definition(network: Network) -> Iterator[PoolRef]:
    for protocol, quoter in parse_quoters(network).items():
        for pool in quoter.pools if protocol == quoter.protocols[0] else ():
            values = dict(pool)
            if not quoter.reads and values.keys() >= {"token0", "token1", *quoter.constants}:
                yield _new_ref(protocol, _in_text(values), quoter, network.wrapped_native_address)


def _new_ref(protocol: str, values: Mapping[str, str], quoter: Quoter, wrapped_native: str | None) -> PoolRef:
    """Return the reference of a pool from its values, without decimals."""
    tokens = tuple(_wrapped(values[name], wrapped_native) for name in ("token0", "token1"))
    address, pool_id = values.get("pool", quoter.quotes[0].function.contract).lower(), values.get("pool_id", "")
    if quoter.has_pool_ids and not pool_id:
        tokens = tuple(sorted(tokens))  # both orders of a pair are the same pool
        pool_id = f"0x{keccak256(b''.join(bytes.fromhex(each[2:]) for each in (address, *tokens))).hex()}"
    constants = SampledConstants(pool_id, tuple((name, values[name]) for name in sorted(quoter.constants)))
    return PoolRef(address, protocol, Sampled.family, ContractKind.SAMPLED, tokens, (), constants=constants)


def _read_entries(quoter: Quoter) -> BatchRead[list[PoolValues]]:
    """Read the list of a protocol in one or two rounds; a pair listed in both orders counts once."""
    listing = quoter.enumeration
    if listing is None:
        return []
    if listing.length:
        rows = yield from _read_rows(listing, listing.length)
    else:
        (answer,) = yield [function_call(listing.function, {})]
        rows = _nested_rows(answer, listing) if listing.is_nested else _split_rows(answer, listing)
    if listing.lists_tokens_of_pairs:
        return [{"token0": first, "token1": second} for (first,), (second,) in combinations(dict.fromkeys(rows), 2)]
    found: dict[frozenset[int | tuple[str, int]], PoolValues] = {}
    for row in rows:
        values = {name: word for name, word in zip(listing.entry, row, strict=True) if name != "-"}
        pair = frozenset(values[name] for name in ("token0", "token1") if name in values)
        others = frozenset((name, word) for name, word in values.items() if name not in ("token0", "token1"))
        found.setdefault(pair | others, values)
    return list(found.values())


def _read_rows(listing: PoolEnumeration, length: ContractFunction) -> BatchRead[list[tuple[int, ...]]]:
    (answer,) = yield [function_call(length, {})]
    count = min(read_word(answer, length.signature), _MAX_LISTED)
    answers = yield [function_call(listing.function, {"index": number}) for number in range(count)]
    return [read_words(each, len(listing.entry), listing.function.signature) for each in answers]


def _split_rows(answer: ReturnData, listing: PoolEnumeration) -> list[tuple[int, ...]]:
    """Return the entries of a list whose items are tuples of words."""
    name, width = listing.function.signature, len(listing.entry)
    count = len(read_list(answer, name)) if answer else 0
    if not answer or count > _MAX_LISTED:
        raise invalid_response(name, f"a list of {count} entries")
    words = read_words(answer, len(answer) // WORD, name)
    first = words[0] // WORD + 1
    if len(words) < first + count * width:
        raise invalid_response(name, f"{count} entries in {len(words)} words")
    return [words[start : start + width] for start in range(first, first + count * width, width)]


def _nested_rows(answer: ReturnData, listing: PoolEnumeration) -> list[tuple[int, ...]]:
    """Return the entries of a list whose items are lists of words.

    Shorter entries, including empty ones, are omitted.
    """
    name, width = listing.function.signature, len(listing.entry)
    offsets = read_list(answer, name)
    if answer is None or len(offsets) > _MAX_LISTED:
        raise invalid_response(name, f"a list of {len(offsets)} entries")
    start = read_word(answer, name) + WORD
    # Each offset counts from the first entry; `read_list` counts from the start of the data.
    rows = [read_list(encode_word(start + offset) + answer[WORD:], name) for offset in offsets]
    return [row[:width] for row in rows if len(row) >= width]


def _complete(values: PoolValues, quoter: Quoter) -> BatchRead[PoolValues]:
    """Read the missing values, each in one round of calls."""
    for read in quoter.reads:
        values = yield from with_value(values, read)
    missing = [name for name in ("token0", "token1", *quoter.constants) if name not in values]
    if missing:
        raise invalid_response(quoter.protocols[0], f"the definition does not give {', '.join(missing)} for a pool")
    if values.get("pool") == 0:
        raise invalid_response(quoter.protocols[0], "an entry without a pool")
    return values


def _in_text(values: PoolValues) -> dict[str, str]:
    """Return the values in a store's form: addresses and IDs in hex."""
    return {name: _text(name, value) for name, value in values.items()}


def _text(name: str, value: int) -> str:
    if name == "pool_id":
        return f"0x{value:064x}"
    return to_address(value, name) if name in ("pool", "token0", "token1") else hex(value)


def _wrapped(token: str, wrapped_native: str | None) -> str:
    return wrapped_native if wrapped_native and token == ZERO_ADDRESS else token


def _shown(values: PoolValues) -> str:
    """Return the address of a pool if it has one, otherwise its tokens."""
    names = ("pool",) if "pool" in values else ("token0", "token1")
    return " ".join(f"0x{values[name]:040x}" for name in names if name in values)
