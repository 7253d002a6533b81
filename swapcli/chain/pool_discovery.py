"""Finds the pools of a network: in the lists that factories keep, or in creation events.

The result is a `PoolRef` without the decimals of its tokens; `with_decimals` adds them once the tokens are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from swapcli.chain.call_encoding import (
    encode_call,
    invalid_response,
    read_address,
    read_list,
    read_signed,
    read_word,
    read_words,
    to_address,
)
from swapcli.chain.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ContractCall, Log, LogFilter
from swapcli.chain.pool_ref import ContractKind, PoolRef, contract_kind
from swapcli.encoding.abi import WORD, to_signed
from swapcli.model.network import Deployment, Network, ProtocolInfo
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.token import Token
from swapcli.networks.pool_addresses import is_solidly_stable
from swapcli.pools.protocol_fees import DYNAMIC_FEE
from swapcli.pools.v4_hooks import check_hooks

POOL_CREATED: Final = "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118"
"""Uniswap V3: PoolCreated(address,address,uint24,int24,address), the first three indexed."""
POOL_CREATED_SLIPSTREAM: Final = "0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2"
"""Slipstream: PoolCreated(address,address,int24,address), the first three indexed."""
POOL: Final = "0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db"
"""Algebra: Pool(address,address,address), the first two indexed."""
INITIALIZE: Final = "0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438"
"""Uniswap V4: Initialize(bytes32,address,address,uint24,int24,address,uint160,int24), the first three indexed."""
POOL_REGISTERED: Final = "0x3c13bc30b8e878c53fd2a36b679409c073afd75950be43d8858768e956fbc20e"
"""Balancer V2: PoolRegistered(bytes32,address,uint8), the first two indexed."""

_ROLES: Final = {ContractKind.UNISWAP_V4: ("pool_manager",), ContractKind.WEIGHTED: ("vault",)}
_FACTORIES: Final = ("factory", "factory_2")
_ENUMERABLE: Final = (ContractKind.UNISWAP_V2, ContractKind.SOLIDLY)
_LIST_FUNCTIONS: Final = (("allPairsLength()", "allPairs(uint256)"), ("allPoolsLength()", "allPools(uint256)"))
_TOKENS: Final = ("token0()", "token1()")
_TRAITS: Final = {ContractKind.SOLIDLY: ("stable()",), ContractKind.UNISWAP_V3: ("tickSpacing()",)}
_POOL_TOKENS: Final = "getPoolTokens(bytes32)"
_WEIGHTS: Final = "getNormalizedWeights()"
_WEIGHT_UPDATE: Final = "getGradualWeightUpdateParams()"
_BATCH_SIZE: Final = 500


class Factory(NamedTuple):
    """A contract that creates or registers pools.

    `stable_protocol` is the protocol of the stable pairs of a Solidly factory, None for any other factory.
    `protocols_by_hook` are those of the pools of a Uniswap V4 manager with known hooks; `protocol` is that of all
    others. `fee_tiers` are those that the catalogue knows of, as in `Deployment`.
    """

    address: str
    kind: ContractKind
    protocol: ProtocolInfo | None
    stable_protocol: ProtocolInfo | None = None
    fee_ppm: int = 0
    fee_tiers: Mapping[int, int] = MappingProxyType({})
    protocols_by_hook: Mapping[str, ProtocolInfo] = MappingProxyType({})

    @property
    def protocols(self) -> tuple[ProtocolInfo, ...]:
        """The protocols of its pools, each once."""
        found = (self.protocol, self.stable_protocol, *self.protocols_by_hook.values())
        return tuple(dict.fromkeys(protocol for protocol in found if protocol))

    @property
    def is_enumerable(self) -> bool:
        """Whether it has a list of its pools. Other pools are found only by creation events."""
        return self.kind in _ENUMERABLE


def find_factories(network: Network, protocols: Sequence[str] | None = None) -> tuple[list[Factory], list[SkippedItem]]:
    """Return the factories of these protocols (all if None), and the protocols whose factory is unknown."""
    factories: dict[str, Factory] = {}
    skipped: list[SkippedItem] = []
    for protocol in network.protocols:
        kind = contract_kind(protocol, network)
        if kind is None or (protocols is not None and protocol.amm_name not in protocols):
            continue
        problem = _add_factories(factories, protocol, kind, network)
        if problem:
            skipped.append(SkippedItem(protocol.amm_name, problem))
    return list(factories.values()), skipped


def _add_factories(factories: dict[str, Factory], protocol: ProtocolInfo, kind: ContractKind, network: Network) -> str:
    """Add the factories of a protocol. Return why there are none; empty if there are."""
    problem = "the catalogue knows no contract that its pools come from"
    for deployment in network.deployments:
        if protocol.amm_name not in deployment.protocols:
            continue
        for role in _ROLES.get(kind, _FACTORIES):
            address = deployment.addresses.get(role)
            fee_ppm = _only_fee(deployment) if kind is ContractKind.UNISWAP_V2 else 0
            if address is None:
                continue
            if fee_ppm is None:
                return "the catalogue does not know its fee"
            factory = factories.get(address) or Factory(address, kind, None, None, fee_ppm, deployment.fee_tiers)
            factories[address] = _with_protocol(factory, protocol, deployment)
            problem = ""
    return problem


def _with_protocol(factory: Factory, protocol: ProtocolInfo, deployment: Deployment) -> Factory:
    hooks = deployment.hooks.get(protocol.amm_name)
    if hooks:
        return factory._replace(protocols_by_hook={**factory.protocols_by_hook, **dict.fromkeys(hooks, protocol)})
    if is_solidly_stable(protocol):
        return factory._replace(stable_protocol=protocol)
    return factory._replace(protocol=protocol)


def _only_fee(deployment: Deployment) -> int | None:
    return next(iter(deployment.fee_tiers)) if len(deployment.fee_tiers) == 1 else None


class PoolList(NamedTuple):
    """A factory's list: its length, and the function that returns an entry."""

    factory: Factory
    length: int
    entry_function: str


def read_pool_lists(reader: BlockReader, factories: Sequence[Factory]) -> list[PoolList | SkippedItem]:
    """Return the lists of these factories in one round, or why one cannot be read. Raises `UpstreamError`."""
    return run_batched([(factory.address, _read_list_length(factory)) for factory in factories], reader.call)


def read_listed_pools(reader: BlockReader, listing: PoolList, first: int, last: int) -> Iterator[PoolRef | SkippedItem]:
    """Yield the pools of a factory's list from `first` to `last - 1`, in order. Raises `UpstreamError`."""
    factory, length, entry = listing
    last = min(last, length)
    size = _BATCH_SIZE * reader.width
    for start in range(first, last, size):
        numbers = range(start, min(start + size, last))
        yield from run_batched(
            [(f"{factory.address} {n}", _read_entry(factory, entry, n)) for n in numbers], reader.call
        )


def _read_list_length(factory: Factory) -> BatchRead[PoolList]:
    """Read the length of a factory's list in one round."""
    answers = yield [ContractCall(factory.address, encode_call(length)) for length, _ in _LIST_FUNCTIONS]
    for answer, (length, entry) in zip(answers, _LIST_FUNCTIONS, strict=True):
        if answer:
            return PoolList(factory, read_word(answer, length), entry)
    raise invalid_response(factory.address, "the factory keeps no list of its pools")


def _read_entry(factory: Factory, entry: str, number: int) -> BatchRead[PoolRef]:
    """Read an entry in two rounds: the pool's address, then its constants."""
    (answer,) = yield [ContractCall(factory.address, encode_call(entry, number))]
    return (yield from read_pool_ref(factory, read_address(answer, entry)))


def read_pool_ref(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the constants of a factory's pool in one round."""
    results = yield [ContractCall(address, encode_call(name)) for name in (*_TOKENS, *_TRAITS.get(factory.kind, ()))]
    tokens = (read_address(results[0], _TOKENS[0]), read_address(results[1], _TOKENS[1]))
    trait = read_signed(results[2], _TRAITS[factory.kind][0]) if len(results) > len(_TOKENS) else 0
    protocol = factory.stable_protocol if factory.kind is ContractKind.SOLIDLY and trait else factory.protocol
    if protocol is None:
        raise invalid_response(address, "the catalogue has no protocol for it")
    ref = _make_ref(address, protocol, factory.kind, tokens)._replace(fee_ppm=factory.fee_ppm)
    if factory.kind is ContractKind.SOLIDLY:
        return ref._replace(factory=factory.address)
    return ref._replace(tick_spacing=trait)


def creation_filter(factories: Iterable[Factory], first: int, last: int) -> LogFilter | None:
    """Return the filter of the creation events of all factories without a list; None if there is no such factory."""
    addresses = tuple(factory.address for factory in factories if not factory.is_enumerable)
    topics = (POOL_CREATED, POOL_CREATED_SLIPSTREAM, POOL, INITIALIZE, POOL_REGISTERED)
    return LogFilter(addresses, topics, first, last) if addresses else None


def read_created_pools(
    reader: BlockReader, factories: Mapping[str, Factory], logs: Sequence[Log], wrapped_native: str | None
) -> Iterator[PoolRef | SkippedItem]:
    """Yield the pools of creation events, in order; `factories` are by address.

    Only Balancer's pools need more calls. Raises `UpstreamError`.
    """
    size = _BATCH_SIZE * reader.width
    for start in range(0, len(logs), size):
        batch = [log for log in logs[start : start + size] if log.address in factories]
        reads = [(_event_key(log), _read_created(factories[log.address], log, wrapped_native)) for log in batch]
        yield from run_batched(reads, reader.call)


def _read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    if len(log.topics) < 3:
        raise invalid_response(factory.address, "an event of another kind")
    if log.topics[0] == INITIALIZE and len(log.topics) == 4:
        return _ref_of_v4(factory, log, wrapped_native)
    if factory.protocol is None:
        raise invalid_response(factory.address, "an event of another kind")
    if factory.kind is ContractKind.WEIGHTED:
        return (yield from _read_balancer_ref(factory, factory.protocol, log))
    return _ref_from_event(factory, factory.protocol, log)


def _ref_from_event(factory: Factory, protocol: ProtocolInfo, log: Log) -> PoolRef:
    kind, values = log.topics[0], [int(topic, 16) for topic in log.topics[1:]]
    tokens = (to_address(values[0], "token0"), to_address(values[1], "token1"))
    if kind == POOL_CREATED and len(values) == 3:
        spacing, pool = read_words(log.data, 2, "PoolCreated")
        ref = _make_ref(to_address(pool, "PoolCreated"), protocol, factory.kind, tokens)
        return ref._replace(fee_ppm=values[2], tick_spacing=to_signed(spacing))
    pool = read_word(log.data, "the event of its creation")
    ref = _make_ref(to_address(pool, "the event of its creation"), protocol, factory.kind, tokens)
    if kind == POOL_CREATED_SLIPSTREAM and len(values) == 3:
        return ref._replace(tick_spacing=to_signed(values[2]))
    if kind == POOL and factory.kind is ContractKind.ALGEBRA:
        return ref
    raise invalid_response(factory.address, "an event of another kind")


def _ref_of_v4(factory: Factory, log: Log, wrapped_native: str | None) -> PoolRef:
    """Return a Uniswap V4 pool. Refuse hooks that may change the amounts of a swap."""
    ref = _ref_of_initialize(factory, log, wrapped_native)
    check_hooks(ref.hooks, has_dynamic_fee=ref.has_dynamic_fee)
    return ref


def _ref_of_initialize(factory: Factory, log: Log, wrapped_native: str | None) -> PoolRef:
    """Return a Uniswap V4 pool with any hook, as its only event that names its key describes it."""
    first, second = (to_address(int(topic, 16), "currency") for topic in log.topics[2:4])
    fee, spacing, hooks_word, _, tick = read_words(log.data, 5, "Initialize")
    hooks = to_address(hooks_word, "hooks")
    protocol = factory.protocols_by_hook.get(hooks, factory.protocol)
    if protocol is None:
        raise invalid_response(hooks, "the catalogue has no protocol for pools with this hook")
    native = first == ZERO_ADDRESS
    if native:
        if wrapped_native is None:
            raise invalid_response("currency0", "the network has no wrapped form of the native token")
        first = wrapped_native
    is_dynamic = fee == DYNAMIC_FEE
    return _make_ref(factory.address, protocol, factory.kind, (first, second))._replace(
        fee_ppm=0 if is_dynamic else fee,
        tick_spacing=to_signed(spacing),
        pool_id=log.topics[1],
        native=native,
        last_tick=to_signed(tick),
        hooks=hooks,
        has_dynamic_fee=is_dynamic,
    )


def _read_balancer_ref(factory: Factory, protocol: ProtocolInfo, log: Log) -> BatchRead[PoolRef]:
    """Read a weighted pool in one round. The vault registers all kinds; only pools with constant weights answer so."""
    pool_id, address = log.topics[1], to_address(int(log.topics[2], 16), "PoolRegistered")
    pool_tokens, weights, weight_update = yield [
        ContractCall(factory.address, encode_call(_POOL_TOKENS, pool_id)),
        ContractCall(address, encode_call(_WEIGHTS)),
        ContractCall(address, encode_call(_WEIGHT_UPDATE)),
    ]
    if not weights or weight_update:
        raise invalid_response(address, "its weights change" if weights else "no weighted pool")
    tokens = tuple(to_address(each, _POOL_TOKENS) for each in read_list(pool_tokens, _POOL_TOKENS))
    if len(read_list(weights, _WEIGHTS)) != len(tokens):
        raise invalid_response(address, "no weighted pool")
    return _make_ref(address, protocol, factory.kind, tokens)._replace(pool_id=pool_id, factory=factory.address)


def with_decimals(ref: PoolRef, tokens: Mapping[str, Token]) -> PoolRef | SkippedItem:
    """Return the reference with the decimals of its tokens, or a skipped item if a token is unknown."""
    missing = next((address for address in ref.tokens if address not in tokens), None)
    if missing:
        return SkippedItem(ref.key, f"its token {missing} is not known or was skipped")
    return ref._replace(decimals=tuple(tokens[address].decimals for address in ref.tokens))


def _make_ref(address: str, protocol: ProtocolInfo, kind: ContractKind, tokens: tuple[str, ...]) -> PoolRef:
    return PoolRef(address, protocol.amm_name, protocol.family or "", kind, tokens, ())


def _event_key(log: Log) -> str:
    """Return the key of a created pool: its id, its address, or else the position of the event."""
    if log.topics[0] in (INITIALIZE, POOL_REGISTERED) and len(log.topics) > 1:
        return log.topics[1]
    last = log.data[-WORD:]
    return f"0x{last[-20:].hex()}" if len(last) == WORD else f"event {log.log_index} of block {log.block_number}"
