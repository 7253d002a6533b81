"""Find the pools of a network in the lists that factories keep, or in creation events.

Results are `PoolRef`s whose tokens' decimals are missing. `with_decimals` adds the decimals once the tokens are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Deployment, Network, ProtocolInfo
from swapcli.core.model.quoter import Quoter
from swapcli.core.networks.hook_rules import hook_rule_texts
from swapcli.core.networks.quoter_definitions import parse_quoters, quoted_protocols
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word
from swapcli.families.reading.calls import ContractCall, Log
from swapcli.families.reading.contract_kinds import KINDS, contract_kinds, topic_of
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import LENS, PoolRef, network_quoter
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import LogFilter

_BATCH_SIZE: Final = 500  # pools read together; chosen


def find_factories(network: Network, protocols: Sequence[str] | None = None) -> tuple[list[Factory], list[SkippedItem]]:
    """Return the factories of `protocols` (all protocols if None), and the protocols whose factory is unknown.

    Raises `ConfigError` for an invalid definition.
    """
    quoters = parse_quoters(network)
    factories: dict[str, Factory] = {}
    skipped: list[SkippedItem] = []
    for protocol in network.protocols:
        if protocols is not None and protocol.amm_name not in protocols:
            continue
        kinds = contract_kinds(protocol, network)
        # These have separate quoters that list pools of other protocols.
        kinds = tuple(kind for kind in kinds if KINDS[kind].roles)
        problems = [_add_factories(factories, protocol, kind, network) for kind in kinds]
        if problems and all(problems):
            skipped.append(SkippedItem(protocol.amm_name, problems[0]))
        quoter = quoters.get(protocol.amm_name)
        problem = _add_announcer(factories, protocol, quoter, network) if quoter else ""
        if problem:
            skipped.append(SkippedItem(protocol.amm_name, problem))
    quoted = frozenset(quoted_protocols(network))
    return [factory._replace(quoted_protocols=quoted) for factory in factories.values()], skipped


def _add_factories(factories: dict[str, Factory], protocol: ProtocolInfo, kind: str, network: Network) -> str:
    """Add the factories of a protocol's pools of one kind. Return why there are none; empty if there are some."""
    problem = "the catalogue has no contract that lists its pools"
    for deployment in network.deployments:
        if protocol.amm_name not in deployment.protocols:
            continue
        for role in KINDS[kind].roles:
            address = deployment.addresses.get(role)
            fee_ppm = _only_fee(deployment) if KINDS[kind].has_constant_fee else 0
            if address is None:
                continue
            if fee_ppm is None:
                return "its fee is not in the catalogue"
            factory = factories.get(address) or Factory(
                address, kind, (), fee_ppm, deployment.fee_tiers, wrapped_native=network.wrapped_native_address
            )
            if kind in {ContractKind.ALGEBRA, ContractKind.UNISWAP_V4}:
                factory = factory._replace(swap_quoter=network_quoter(protocol.amm_name, network))
            if KINDS[kind].needs_lens:
                factory = factory._replace(lens=deployment.addresses.get(LENS, ""))
            if kind == ContractKind.UNISWAP_V4:
                factory = factory._replace(hook_rules=hook_rule_texts(network))
            factories[address] = _with_protocol(factory, protocol, deployment)
            problem = ""
    return problem


def _add_announcer(factories: dict[str, Factory], protocol: ProtocolInfo, quoter: Quoter, network: Network) -> str:
    """Add the contract that announces a quoter's pools. Return why it cannot be added.

    Return "" if it was added or if the quoter announces no pools.
    """
    if quoter.created is None or quoter.protocols[0] != protocol.amm_name:
        return ""
    address = quoter.created.contract
    if address in factories:
        return f"the events of {address} already announce pools of {factories[address].all_protocols[0].amm_name}"
    wrapped = network.wrapped_native_address
    factories[address] = Factory(address, ContractKind.SAMPLED, (protocol,), wrapped_native=wrapped, quoter=quoter)
    return ""


def _with_protocol(factory: Factory, protocol: ProtocolInfo, deployment: Deployment) -> Factory:
    hooks = deployment.hooks.get(protocol.amm_name)
    if hooks:
        return factory._replace(protocols_by_hook={**factory.protocols_by_hook, **dict.fromkeys(hooks, protocol)})
    return factory._replace(protocols=(*factory.protocols, protocol))


def _only_fee(deployment: Deployment) -> int | None:
    return next(iter(deployment.fee_tiers)) if len(deployment.fee_tiers) == 1 else None


class FactoryPools(NamedTuple):
    """A factory's list of pools. The list is read entry by entry with `entry_function`, or is already complete in
    `addresses`."""

    factory: Factory
    length: int
    entry_function: str = ""
    addresses: tuple[str, ...] = ()


def read_pool_lists(reader: MulticallReader, factories: Sequence[Factory]) -> list[FactoryPools | SkippedItem]:
    """Return the pool lists of `factories` in one round, or the reason why a list cannot be read. Raises
    `UpstreamError`."""
    return run_batched([(factory.address, read_list_length(factory)) for factory in factories], reader.call)


def read_listed_pools(
    reader: MulticallReader, listing: FactoryPools, first: int, last: int
) -> Iterator[PoolRef | SkippedItem]:
    """Yield the pools in a factory's list from index `first` to `last - 1`, in order. Raises `UpstreamError`."""
    factory, last = listing.factory, min(last, listing.length)
    size = _BATCH_SIZE * reader.width
    for start in range(first, last, size):
        numbers = range(start, min(start + size, last))
        yield from run_batched([(f"{factory.address} {n}", read_list_entry(listing, n)) for n in numbers], reader.call)


def read_list_length(factory: Factory) -> BatchRead[FactoryPools]:
    """Read the length of a factory's list in one round, or the complete list if the factory returns it at once."""
    if KINDS[factory.kind].is_pool_itself:
        # The chain may not have the catalogue's contract; then this fails.
        ref = yield from pool_reader(factory.kind).read_constants(factory, factory.address)
        return FactoryPools(factory, 1, addresses=(ref.address,))
    if KINDS[factory.kind].has_whole_list:
        addresses = yield from pool_reader(factory.kind).read_list(factory)
        return FactoryPools(factory, len(addresses), addresses=addresses)
    functions = KINDS[factory.kind].list_functions
    answers = yield [ContractCall(factory.address, encode_call(length)) for length, _ in functions]
    for answer, (length, entry) in zip(answers, functions, strict=True):
        if answer:
            return FactoryPools(factory, read_word(answer, length), entry)
    raise invalid_response(factory.address, "the factory keeps no list of its pools")


def read_list_entry(listing: FactoryPools, number: int) -> BatchRead[PoolRef]:
    """Read an entry of a list: first the pool's address, unless it is known, and then the pool's constants."""
    factory, entry = listing.factory, listing.entry_function
    if listing.addresses:
        address = listing.addresses[number]
    else:
        (answer,) = yield [ContractCall(factory.address, encode_call(entry, number))]
        address = read_address(answer, entry)
    return (yield from pool_reader(factory.kind).read_constants(factory, address))


def creation_filter(factories: Iterable[Factory], first: int, last: int) -> LogFilter | None:
    """Return the filter for creation events from all factories without a list; None if every factory has a list."""
    without_list = [factory for factory in factories if not factory.is_enumerable]
    topics = dict.fromkeys(topic_of(signature) for factory in without_list for signature in factory.creation_events)
    addresses = tuple(factory.address for factory in without_list)
    return LogFilter(addresses, tuple(topics), first, last) if addresses else None


def read_created_pools(
    reader: MulticallReader, factories: Mapping[str, Factory], logs: Sequence[Log], wrapped_native: str | None
) -> Iterator[PoolRef | SkippedItem]:
    """Yield the pools announced by creation events, in order. `factories` are by address. Raises `UpstreamError`."""
    size = _BATCH_SIZE * reader.width
    for start in range(0, len(logs), size):
        batch = [log for log in logs[start : start + size] if log.address in factories]
        reads = [(_event_key(log), read_created_pool(factories[log.address], log, wrapped_native)) for log in batch]
        yield from run_batched(reads, reader.call)


def read_created_pool(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    if not log.topics or log.topics[0] not in map(topic_of, factory.creation_events):
        raise invalid_response(factory.address, "an event of a different kind")
    return (yield from pool_reader(factory.kind).read_created(factory, log, wrapped_native))


def _event_key(log: Log) -> str:
    """Return the key of a created pool: its id, its address, otherwise the position of the event."""
    if len(log.topics) > 1 and log.topics[0] in _id_events(len(KINDS)):
        return log.topics[1]
    last = log.data[-WORD:]
    is_address = len(last) == WORD and any(last) and not any(last[:-20])
    return f"0x{last[-20:].hex()}" if is_address else f"event {log.log_index} of block {log.block_number}"


@lru_cache(1)
def _id_events(count: int) -> frozenset[str]:
    """Return the topics of creation events whose first value is the pool id, from the first `count` kinds."""
    del count
    created = (signature for traits in KINDS.values() for signature in traits.created)
    return frozenset(topic_of(signature) for signature in created if "(bytes32" in signature)
