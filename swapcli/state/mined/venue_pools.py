"""The pools in which to search for swaps: known pools, and pools listed by factories, up to a limit per protocol.

If no pool of a protocol is known, its factory is queried for pools of the network's main tokens, or for the first pools
in its list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.reading.contract_kinds import KINDS, contract_kinds
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pair_lookup import find_pair_pools
from swapcli.state.discovery.pool_discovery import find_factories, read_listed_pools, read_pool_lists
from swapcli.state.rpc.multicall import MulticallReader

MAX_POOLS: Final = 48
"""Pools of a protocol whose events are requested; chosen: the deepest pools trade most, and nodes limit addresses."""
_MAIN_TOKENS: Final = 6
"""Tokens whose pairs are looked up: 20 pairs, about 100 calls for a factory with five fees."""


class VenuePools(NamedTuple):
    """The pools of each protocol by `amm_name`, and the reason why each other protocol cannot be searched."""

    pools: Mapping[str, tuple[PoolRef, ...]]
    reasons: Mapping[str, str]


def find_venue_pools(
    reader: MulticallReader,
    network: Network,
    protocols: Sequence[ProtocolInfo],
    known: Iterable[Pool],
    *,
    asks_factories: bool = True,
) -> VenuePools:
    """Return pools that emit swap events, by protocol. `known` are pools in order of preference.

    For protocols without a known pool, factories are called. Raises `UpstreamError` if the node fails.
    """
    reasons = {each.amm_name: reason for each in protocols if (reason := _why_not_searched(each, network))}
    sought = [each.amm_name for each in protocols if each.amm_name not in reasons]
    found: dict[str, dict[str, PoolRef]] = {name: {} for name in sought}
    for pool in known:
        pools = found.get(pool.protocol)
        if pools is not None and len(pools) < MAX_POOLS:
            ref = ref_of_pool(pool, network)
            if ref is not None and KINDS[ref.kind].swaps:
                pools[ref.key] = ref._replace(last_read=None)
    without = [name for name in sought if not found[name]]
    factories, skipped = find_factories(network, without)
    for ref in _find_unknown(reader, network, factories) if without and asks_factories else ():
        pools = found.get(ref.protocol)
        if pools is not None and len(pools) < MAX_POOLS and KINDS[ref.kind].swaps:
            pools[ref.key] = ref._replace(last_read=None)
    missing = {item.key: item.reason for item in skipped}
    for name in without:
        if not found[name]:
            reason = missing.get(name, "its contracts list no pool with the main tokens")
            reasons[name] = f"none of its pools are known, and {reason}"
    return VenuePools({name: tuple(pools.values()) for name, pools in found.items() if pools}, reasons)


def _why_not_searched(protocol: ProtocolInfo, network: Network) -> str:
    """Return why a protocol's swaps cannot be searched; empty if they can."""
    if protocol.family is None:
        return "its pools are not supported"
    kinds = contract_kinds(protocol, network)
    if not any(KINDS[kind].swaps for kind in kinds):
        return "its swap events are unknown"
    return ""


def _find_unknown(reader: MulticallReader, network: Network, factories: Sequence[Factory]) -> Iterable[PoolRef]:
    """Yield pools from factories, first by the network's main tokens, then from the factories' lists."""
    wrapped = network.wrapped_native_address
    found: set[str] = set()
    for ref in find_pair_pools(reader, factories, _main_tokens(network), wrapped):
        if not isinstance(ref, SkippedItem):
            found.add(ref.protocol)
            yield ref
    listing = [each for each in factories if each.is_enumerable and not _protocols_of(each) <= found]
    for listed in read_pool_lists(reader, listing) if listing else ():
        if not isinstance(listed, SkippedItem):
            for ref in read_listed_pools(reader, listed, 0, MAX_POOLS):
                if not isinstance(ref, SkippedItem):
                    yield ref


def _protocols_of(factory: Factory) -> set[str]:
    return {protocol.amm_name for protocol in factory.all_protocols}


def _main_tokens(network: Network) -> list[str]:
    """Return the wrapped native token, a few stablecoins, and the first tokens of the definition."""
    wrapped = network.wrapped_native_address
    tokens = [*([wrapped] if wrapped else []), *network.stablecoins[:3], *(token.address for token in network.tokens)]
    return list(dict.fromkeys(tokens))[:_MAIN_TOKENS]
