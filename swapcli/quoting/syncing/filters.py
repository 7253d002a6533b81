"""Parse the filter of a sync: tokens (also from token lists), protocols, depth and the first block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from swapcli.core.encoding.http_body import MAX_BODY_BYTES
from swapcli.core.encoding.text import printable
from swapcli.core.encoding.url import is_http_url, redact_url
from swapcli.core.errors import InvalidInput, InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.networks.address import is_native, parse_address, without_chain
from swapcli.core.networks.token_list_file import TokenListFile, parse_token_list
from swapcli.core.records import NamedTuple
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.quoting.openers.user_setup import read_file
from swapcli.quoting.resolve import find_protocols, find_token
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import Node
from swapcli.state.sync import SyncFilter
from swapcli.state.tokens import load_tokens

TokenListReader = Callable[[str, int], bytes]
"""Reads a file, up to a maximum number of bytes."""

_LIST_MARK = "@"
_MAX_LIST_BYTES = MAX_BODY_BYTES
_MAX_NOTES = 3  # notes on bad entries; the others are counted
_DOLLARS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII).fullmatch
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII).fullmatch


def parse_sync_filter(
    network: Network,
    protocols: Sequence[str] | None,
    tokens: Sequence[str] | None,
    min_liquidity: str | None,
    from_block: str | None,
    *,
    extended: bool = False,
    stored: Mapping[str, Token] = MappingProxyType({}),
) -> SyncFilter:
    """Parse the filter of a sync. `extended` adds protocols that the Fibrous API does not list. `stored` are the tokens
    in the network's store, which symbols may also name.

    Raises `UnknownProtocol`, `UnknownToken`, `InvalidAddress`, `InvalidOption`.
    """
    return SyncFilter(
        protocols=_parse_protocols(network, protocols, extended=extended),
        tokens=None if tokens is None else _parse_tokens(network, tokens, stored),
        min_liquidity_usd=_parse_usd(min_liquidity),
        from_block=_parse_block(from_block),
    )


def _all_protocols(network: Network) -> frozenset[str] | None:
    """Return the names of all protocols; None, which means the Fibrous API's list, if there are no others."""
    is_longer = network.extended_protocols
    return frozenset(protocol.amm_name for protocol in network.protocols) if is_longer else None


def _parse_protocols(network: Network, names: Sequence[str] | None, *, extended: bool) -> frozenset[str] | None:
    selected = _all_protocols(network) if extended else None
    if names is not None:
        selected = find_protocols(split_lists(names), network)
        if names and not selected:
            raise InvalidOption(f'--protocols: expected a list of names, not "{printable(names[0])}"')
    found, skipped = find_factories(network, None if selected is None else sorted(selected))
    if found:
        return selected
    which = "pools" if selected is None else f"pools of {', '.join(sorted(selected)) or 'no protocols'}"
    raise InvalidOption(
        f"swapcli sync does not support {which} on {network.name}",
        hint=f"{skipped[0].key}: {skipped[0].reason}" if skipped else f"swapcli protocols {network.name} lists them",
        details={"network": network.name, "protocols": sorted(selected or ())},
    )


class ListedTokens(NamedTuple):
    """The values of `--tokens` after replacing each token list with its tokens. Also has the decimals from the lists by
    address, and notes."""

    names: list[str]
    decimals: dict[str, int]
    notes: list[str]


def read_token_lists(
    values: Sequence[str], network: Network, timeout_s: float, read: TokenListReader | None = None
) -> ListedTokens:
    """Read the token lists given as `@FILE` or `@URL`. `read` reads the file of a list.

    Invalid entries are omitted, with a note. Raises `InvalidInput` or `UpstreamError` if a list is unusable.
    """
    listed = ListedTokens([], {}, [])
    # The name of a list may contain commas.
    given = [each for value in values for each in ([value] if value.startswith(_LIST_MARK) else split_lists([value]))]
    for value in given:
        if not value.startswith(_LIST_MARK):
            listed.names.append(value)
            continue
        found = _read_token_list(value.removeprefix(_LIST_MARK), network, timeout_s, read or _read_file)
        bad_entries, good = [*found.bad_entries], 0
        for token in found.tokens:
            try:
                address = _parse_token(network, token.name)
            except InvalidInput as error:
                error.place = token.place
                bad_entries.append(error)
                continue
            good += 1
            listed.names.append(address)
            if token.decimals is not None:
                listed.decimals[address] = token.decimals
        if bad_entries and not good:
            raise bad_entries[0]
        listed.notes.extend(_notes_on(bad_entries))
    return listed


def _notes_on(bad_entries: Sequence[InvalidInput]) -> list[str]:
    """Return notes on the omitted entries of a list: the first few, and how many more there are."""
    notes = [f"skipped in the token list: {printable(error.message)}" for error in bad_entries[:_MAX_NOTES]]
    if len(bad_entries) > _MAX_NOTES:
        notes.append(f"skipped in the token list: {len(bad_entries) - _MAX_NOTES:,} more entries")
    return notes


def _read_file(name: str, max_bytes: int) -> bytes:
    content = read_file(name)
    if len(content) > max_bytes:
        raise InvalidInput(f"{name} is larger than {max_bytes // 2**20} MiB", details={"file": name})
    return content


def _read_token_list(name: str, network: Network, timeout_s: float, read: TokenListReader) -> TokenListFile:
    if not is_http_url(name):
        return parse_token_list(read(name, _MAX_LIST_BYTES), network, name)
    from swapcli.quoting.remote.url_document import download

    return parse_token_list(
        download(name, timeout_s=timeout_s, max_bytes=_MAX_LIST_BYTES), network, f"the token list of {redact_url(name)}"
    )


def compare_decimals(node: Node, network: Network, decimals: Mapping[str, int]) -> list[str]:
    """Return a sentence for each kind of difference between the decimals in token lists and those on the chain.

    Raises `UpstreamError`.
    """
    reader = MulticallReader(node, node.read_head().block, network.multicall)
    loaded = list(load_tokens(reader, list(decimals)))
    wrong = [each for each in loaded if isinstance(each, Token) and each.decimals != decimals[each.address]]
    unreadable = [each for each in loaded if isinstance(each, SkippedItem)]
    notes = [
        f"in the token list, {printable(each.symbol)} ({each.address}) has {decimals[each.address]} decimals; "
        f"swapcli uses the chain's value, {each.decimals}"
        for each in wrong[:_MAX_NOTES]
    ]
    if len(wrong) > _MAX_NOTES:
        notes.append(f"the token list has wrong decimals for {len(wrong) - _MAX_NOTES} more tokens")
    if unreadable:
        notes.append(
            f"{len(unreadable)} of the listed tokens cannot be read on the chain, for example {unreadable[0].key}"
        )
    return notes


def _parse_tokens(network: Network, names: Sequence[str], stored: Mapping[str, Token]) -> frozenset[str]:
    found = frozenset(_parse_token(network, name, stored) for name in split_lists(names))
    if len(found) < 2:
        raise InvalidOption("--tokens: name at least two tokens; a pool is synced if all its tokens are named")
    return found


def _parse_token(network: Network, name: str, stored: Mapping[str, Token] = MappingProxyType({})) -> str:
    """Return the address of a token, from the catalogue, the `stored` tokens or any address; the native token becomes
    its wrapped form."""
    name = without_chain(name, network)
    if name[:2].lower() == "0x" and not is_native(name):
        return parse_address(name, network.kind)
    token = find_token(name, network, stored)
    return network.to_wrapped(token.address)


def _parse_usd(text: str | None) -> float:
    if text is not None and not _DOLLARS(text):
        raise InvalidOption("--min-liquidity: expected an amount in USD, such as 1000")
    return float(text or 0)


def _parse_block(text: str | None) -> int:
    if text is not None and not _NUMBER(text):
        raise InvalidOption("--from-block: expected a block number")
    return int(text or 0)


def split_lists(values: Iterable[str]) -> list[str]:
    """Split the values of an option that takes comma-separated lists and may be repeated."""
    return [name.strip() for each in values for name in each.split(",") if name.strip()]
