"""The filter options of `swapcli sync`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swapcli.chain.pool_discovery import find_factories
from swapcli.cli.options import split_lists
from swapcli.engine.resolve import find_protocols, find_token
from swapcli.engine.sync import SyncFilter
from swapcli.errors import InvalidOption
from swapcli.model.network import Network
from swapcli.networks.address import is_native, parse_address

_DOLLARS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII).fullmatch
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII).fullmatch


def parse_sync_filter(
    network: Network,
    protocols: Sequence[str] | None,
    tokens: Sequence[str] | None,
    min_liquidity: str | None,
    from_block: str | None,
) -> SyncFilter:
    """Parse the filter of a sync. Raises `UnknownProtocol`, `UnknownToken`, `InvalidAddress`, `InvalidOption`."""
    return SyncFilter(
        protocols=_parse_protocols(network, protocols),
        tokens=None if tokens is None else _parse_tokens(network, tokens),
        min_liquidity_usd=_parse_usd(min_liquidity),
        from_block=_parse_block(from_block),
    )


def _parse_protocols(network: Network, names: Sequence[str] | None) -> frozenset[str] | None:
    selected = None if names is None else find_protocols(split_lists(names), network)
    found, skipped = find_factories(network, None if selected is None else sorted(selected))
    if found:
        return selected
    which = "pools" if selected is None else f"pools of {', '.join(sorted(selected)) or 'no protocol'}"
    raise InvalidOption(
        f"no {which} can be read on {network.name}",
        hint=f"{skipped[0].key}: {skipped[0].reason}" if skipped else f"swapcli protocols {network.name} lists them",
        details={"network": network.name, "protocols": sorted(selected or ())},
    )


def _parse_tokens(network: Network, names: Sequence[str]) -> frozenset[str]:
    found = frozenset(_parse_token(network, name) for name in split_lists(names))
    if len(found) < 2:
        raise InvalidOption("--tokens: name at least two tokens; a pool is synced if all its tokens are named")
    return found


def _parse_token(network: Network, name: str) -> str:
    """Return the address of a token of the catalogue or of any address; the native token becomes its wrapped form."""
    if name[:2].lower() == "0x" and not is_native(name):
        return parse_address(name, network.kind)
    token = find_token(name, network, {})
    return network.to_wrapped(token.address)


def _parse_usd(text: str | None) -> float:
    if text is not None and not _DOLLARS(text):
        raise InvalidOption("--min-liquidity: expected an amount in USD, such as 1000")
    return float(text or 0)


def _parse_block(text: str | None) -> int:
    if text is not None and not _NUMBER(text):
        raise InvalidOption("--from-block: expected a block number")
    return int(text or 0)
