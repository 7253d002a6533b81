"""Finds the pools that a protocol quotes by itself, as the network's definition says: in its list, or one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from swapcli.chain.call_encoding import invalid_response, read_list, read_word, read_words, to_address
from swapcli.chain.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ReturnData
from swapcli.chain.sampled_pools import Values, function_call, to_number, with_value
from swapcli.encoding.abi import WORD
from swapcli.model.network import Network
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.quoter import ContractFunction, PoolEnumeration, Quoter
from swapcli.networks.address import keccak256
from swapcli.pools.sampled import Sampled

_MAX_LISTED: Final = 5_000
"""Entries of a protocol's list: more than any has."""


def find_sampled_pools(
    reader: BlockReader, quoters: Mapping[str, Quoter], protocols: Iterable[str] | None = None
) -> Iterator[tuple[str, Mapping[str, str]] | SkippedItem]:
    """Yield protocol and values of each pool that quoters know of, or why one is skipped. Raises `UpstreamError`.

    Only quoters of `protocols` count, all if None.
    """
    requested = None if protocols is None else set(protocols)
    selected = [quoter for quoter in quoters.values() if requested is None or quoter.protocol in requested]
    listed = run_batched([(quoter.protocol, _read_entries(quoter)) for quoter in selected], reader.call)
    for quoter, entries in zip(selected, listed, strict=True):
        if isinstance(entries, SkippedItem):
            yield entries
        found: list[Values] = [*(() if isinstance(entries, SkippedItem) else entries), *map(dict, quoter.pools)]
        completed = run_batched([(_shown(values), _complete(values, quoter)) for values in found], reader.call)
        for values in completed:
            yield values if isinstance(values, SkippedItem) else (quoter.protocol, _in_text(values))


def new_sampled_pool(
    protocol: str, values: Mapping[str, str], quoter: Quoter, network: Network, decimals: Mapping[str, int]
) -> Sampled | SkippedItem:
    """Return a pool without samples from the values that were found; why not if a token is unknown."""
    tokens = tuple(_wrapped(values[name], network) for name in ("token0", "token1"))
    unknown = next((token for token in tokens if token not in decimals), None)
    if unknown:
        return SkippedItem(values.get("pool", _shown(values)), f"its token {unknown} is not known or was skipped")
    function = quoter.quotes[0].function
    address = values.get("pool", function.contract)
    constants = tuple((name, values[name]) for name in sorted(quoter.constants))
    pool_id = values.get("pool_id", "")
    if quoter.has_pool_ids and not pool_id:
        pool_id = f"0x{keccak256(bytes.fromhex(address[2:]) + b''.join(bytes.fromhex(t[2:]) for t in tokens)).hex()}"
    places = tuple(decimals[token] for token in tokens)
    return Sampled(address, protocol, tokens, places, 0, constants, pool_id)


def _read_entries(quoter: Quoter) -> BatchRead[list[Values]]:
    """Read the list of a protocol in one or two rounds; a pair that it has in both orders counts once."""
    listing = quoter.enumeration
    if listing is None:
        return []
    if listing.length:
        rows = yield from _read_rows(listing, listing.length)
    else:
        (answer,) = yield [function_call(listing.function, {})]
        rows = _split_rows(answer, listing)
    found: dict[frozenset[int | tuple[str, int]], Values] = {}
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
    """Return the entries of a list of tuples of words."""
    name, width = listing.function.signature, len(listing.entry)
    count = len(read_list(answer, name)) if answer else 0
    if not answer or count > _MAX_LISTED:
        raise invalid_response(name, f"a list of {count} entries")
    words = read_words(answer, len(answer) // WORD, name)
    first = words[0] // WORD + 1
    if len(words) < first + count * width:
        raise invalid_response(name, f"{count} entries in {len(words)} words")
    return [words[at : at + width] for at in range(first, first + count * width, width)]


def _complete(values: Values, quoter: Quoter) -> BatchRead[Values]:
    """Read the values that are missing, each in a round."""
    for read in quoter.reads:
        values = yield from with_value(values, read)
    missing = [name for name in ("token0", "token1", *quoter.constants) if name not in values]
    if missing:
        raise invalid_response(quoter.protocol, f"the definition does not say {', '.join(missing)} of a pool")
    if any(not to_number(value) for name, value in values.items() if name == "pool"):
        raise invalid_response(quoter.protocol, "an entry without a pool")
    return values


def _in_text(values: Values) -> dict[str, str]:
    """Return the values as a store keeps them: addresses and ids in hex."""
    return {name: _text(name, to_number(value)) for name, value in values.items()}


def _text(name: str, value: int) -> str:
    if name == "pool_id":
        return f"0x{value:064x}"
    return to_address(value, name) if name in ("pool", "token0", "token1") else hex(value)


def _wrapped(token: str, network: Network) -> str:
    wrapped = network.wrapped_native
    return wrapped.address if wrapped and token == ZERO_ADDRESS else token


def _shown(values: Mapping[str, int | str]) -> str:
    """Return the address of a pool, else its tokens."""
    shown = [values[name] for name in ("pool", "token0", "token1") if name in values]
    return " ".join(f"0x{to_number(value):040x}" for value in shown[:1] if "pool" in values) or " ".join(
        f"0x{to_number(value):040x}" for value in shown
    )
