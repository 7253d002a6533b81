"""Read the pools in which a mined transaction swapped, at one block. They are known pools, or pools that name their
factory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, read_address
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_readers import load_pools, pool_reader, ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.families.reading.views import read_addresses
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import SwapEvent
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.tokens import load_tokens

_FACTORY: Final = "factory()"


class SwappedPool(NamedTuple):
    """A pool as it was at the parent block, with the kind of its contract.

    `emitters` are the contracts that may emit events about the pool.
    """

    pool: Pool
    kind: str
    emitters: frozenset[str]


class SwappedPools(NamedTuple):
    """The pools of some swaps by key, the reasons why other pools could not be read, and the pools' tokens by
    address."""

    pools: Mapping[str, SwappedPool]
    reasons: Mapping[str, str]
    tokens: Mapping[str, Token]


def read_swapped_pools(
    reader: MulticallReader,
    network: Network,
    known: Mapping[str, Pool],
    events: Sequence[SwapEvent],
    refs: Sequence[PoolRef] = (),
) -> SwappedPools:
    """Read the pools in which `events` happened, at the reader's block.

    `known` are pools that need not be looked up through their contracts. `refs` are references to more pools that are
    known.
    """
    return _PoolFinder(reader, network, known, refs).read(events)


def emitters_of(ref: PoolRef, network: Network) -> frozenset[str]:
    """Return the contracts that emit a pool's swap events: the called contract, or the protocol's vault."""
    found, row = {ref.address}, KINDS[ref.kind]
    if row.is_in_vault:
        for deployment in network.deployments:
            if ref.protocol in deployment.protocols:
                found |= {deployment.addresses[role] for role in row.roles if role in deployment.addresses}
    return frozenset(found)


def find_pool_ref(reader: MulticallReader, network: Network, address: str) -> PoolRef:
    """Return a reference to the pool at `address`, through the factory that the pool's contract names.

    Raises `InvalidInput` if the contract names no factory in the catalogue, and `UpstreamError`.
    """
    (found,) = run_batched([(address, _find_ref(address, _factories_by_address(network)))], reader.call)
    if isinstance(found, SkippedItem):
        raise InvalidInput(
            f"{address} is not a known pool: {found.reason}", hint=f"swapcli pools {network.name} lists pools"
        )
    if not KINDS[found.kind].swaps:
        raise InvalidInput(f"{address} emits no swap events, so swapcli cannot find its swaps")
    return found


def read_pair_tokens(reader: MulticallReader, events: Sequence[SwapEvent]) -> dict[str, tuple[str, str]]:
    """Return the tokens of the unknown pools among `events`, by pool key, as named by the pools' contracts."""
    keys = dict.fromkeys(event.key for event in events if event.key == event.emitter)
    found = run_batched([(key, _read_pair(key)) for key in keys], reader.call)
    return {key: each for key, each in zip(keys, found, strict=True) if not isinstance(each, SkippedItem)}


def read_missing_tokens(
    reader: MulticallReader, known: Mapping[str, Token], pairs: Mapping[str, tuple[str, str]]
) -> dict[str, Token]:
    """Return the tokens in `pairs` that are not in `known`, by address."""
    missing = dict.fromkeys(address for pair in pairs.values() for address in pair if address not in known)
    return {token.address: token for token in load_tokens(reader, [*missing]) if isinstance(token, Token)}


class _PoolFinder:
    """Finds and reads the pools of swaps: known pools, and pools whose contract names a factory in the catalogue."""

    def __init__(
        self, reader: MulticallReader, network: Network, known: Mapping[str, Pool], refs: Sequence[PoolRef]
    ) -> None:
        self._reader, self._network, self._known, self._refs = reader, network, known, refs
        self._reasons: dict[str, str] = {}

    def read(self, events: Sequence[SwapEvent]) -> SwappedPools:
        by_key = {event.key: event for event in events}
        refs = self._known_refs(by_key)
        refs += self._found_refs([event for key, event in by_key.items() if key not in {ref.key for ref in refs}])
        tokens = self._read_tokens(refs)
        completed = []
        for ref in refs:
            complete = with_decimals(ref, tokens)
            if isinstance(complete, SkippedItem):
                self._reasons[ref.key] = complete.reason
            else:
                completed.append(complete)
        pools = {}
        for ref, pool in zip(completed, load_pools(self._reader, completed), strict=True):
            if isinstance(pool, SkippedItem):
                self._reasons[ref.key] = f"its pool cannot be read at block {self._reader.block}: {pool.reason}"
            else:
                pools[ref.key] = SwappedPool(pool, ref.kind, self._emitters(pool, ref))
        self._reader.verify_block()
        return SwappedPools(pools, self._reasons, tokens)

    def _known_refs(self, events: Mapping[str, SwapEvent]) -> list[PoolRef]:
        """Return the references of known pools, without the results of their last read, which was at another block."""
        refs = [*(ref_of_pool(pool, self._network) for pool in self._known.values()), *self._refs]
        by_key = {ref.key: ref._replace(last_read=None) for ref in refs if ref and ref.key in events}
        return [*by_key.values()]

    def _found_refs(self, events: Sequence[SwapEvent]) -> list[PoolRef]:
        """Return references of pools that have separate contracts, through the factories they name."""
        factories = _factories_by_address(self._network)
        own = [event for event in events if event.key == event.emitter]
        for event in events:
            if event.key != event.emitter:
                self._reasons[event.key] = "its pool is unknown: neither the store nor the market contains it"
        found = run_batched(
            [(event.key, _find_ref(event.key, factories, event.kinds)) for event in own], self._reader.call
        )
        refs = []
        for ref in found:
            if isinstance(ref, SkippedItem):
                self._reasons[ref.key] = ref.reason
            else:
                refs.append(ref)
        return refs

    def _read_tokens(self, refs: Sequence[PoolRef]) -> dict[str, Token]:
        addresses = dict.fromkeys(address for ref in refs for address in ref.tokens)
        return {token.address: token for token in load_tokens(self._reader, [*addresses]) if isinstance(token, Token)}

    def _emitters(self, pool: Pool, ref: PoolRef) -> frozenset[str]:
        """Return the pool's contract, the vault that emits its events, and contracts that other pools share with it."""
        shared = {state.address for state in pool.shared_states}
        return emitters_of(ref, self._network) | {pool.address} | shared


def _factories_by_address(network: Network) -> dict[str, list[Factory]]:
    factories: dict[str, list[Factory]] = {}
    for factory in find_factories(network)[0]:
        factories.setdefault(factory.address, []).append(factory)
    return factories


def _find_ref(
    pool: str, factories: Mapping[str, Sequence[Factory]], kinds: Collection[str] | None = None
) -> BatchRead[PoolRef]:
    """Read the reference of a pool of one of these `kinds` in two rounds, through the factory that its contract
    names."""
    (answer,) = yield [ContractCall(pool, encode_call(_FACTORY), may_revert=True)]
    if not answer:
        raise InvalidInput("its pool is unknown and names no factory")
    address = read_address(answer, _FACTORY)
    fitting = [factory for factory in factories.get(address, ()) if kinds is None or factory.kind in kinds]
    if not fitting:
        raise InvalidInput(f"the factory {address} of its pool is not in the catalogue")
    return (yield from pool_reader(fitting[0].kind).read_constants(fitting[0], pool))


def _read_pair(pool: str) -> BatchRead[tuple[str, str]]:
    token0, token1 = yield from read_addresses(pool, may_revert=True)
    return token0, token1
