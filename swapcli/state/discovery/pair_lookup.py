"""Find the pools that trade given tokens by querying factories for each pair of tokens. A few tokens take few round
trips.

Factory lists and events (`pool_discovery`) cover every pool, but public nodes limit both. They are still needed for
pools that cannot be looked up by their tokens: Balancer, Curve, DODO, RingSwap, Valantis and PancakeSwap Infinity
pools, Uniswap V3 and V4 pools with unusual fees, V4 pools with a hook that is not in the catalogue, and Ekubo pools
whose fee or tick spacing has not been recorded. On Starknet, they are needed for such Ekubo pools, and for pair
contracts, whose factories have short lists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from types import MappingProxyType
from typing import Final

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.hook_rules import CLANKER_DYNAMIC, CLANKER_STATIC, FLAUNCH, parse_hook_rule
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.core.records import NamedTuple
from swapcli.families.ekubo import ekubo_evm_reader as ekubo_evm
from swapcli.families.ekubo import ekubo_reader as ekubo
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_list, read_word
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.manager_storage import extsload_call, price_and_tick, read_extsload, slot_of_id
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.starknet_calls import class_hash_call, read_felts
from swapcli.families.uniswap import jediswap_cl_reader as jediswap_cl
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.uniswap_v4_reader import POOLS_SLOT, with_hook_rule
from swapcli.families.uniswap.v4_hooks import may_change_amounts
from swapcli.state.rpc.multicall import MulticallReader

USUAL_FEES: Final = (
    *(10, 20, 50, 80, 100, 200, 250, 300, 400, 450, 500, 750, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 6_000),
    *(8_000, 10_000, 15_000, 20_000, 30_000, 50_000),
)
"""Fees in ppm for Uniswap V3 and V4 contracts: tiers that governance has added on some network, and round numbers."""
USUAL_SPACINGS: Final = (1, 10, 50, 100, 200, 2_000)
"""Tick spacings for Slipstream contracts whose factory does not list its own."""
_V4_TIERS: Final = ((100, 1), (500, 10), (3_000, 60), (10_000, 200))
"""Fees and tick spacings that Uniswap's interface offers for V4."""
_CLANKER_KEY: Final = (DYNAMIC_FEE, 200)
"""The fee and the tick spacing of Clanker pools, as its SDK deploys them."""
_LAUNCH_KEYS: Final = {CLANKER_STATIC: _CLANKER_KEY, CLANKER_DYNAMIC: _CLANKER_KEY, FLAUNCH: (0, 60)}
"""The fee and the tick spacing for launchers with a separate rule."""
COMMON_FEES: Final = (100, 500, 2_500, 3_000, 10_000)
"""Fees in ppm for Uniswap V3 contracts if neither the factory nor the catalogue lists them."""

_SOLIDLY_KINDS: Final = (ContractKind.SOLIDLY, ContractKind.SOLIDLY_V1)
_V3_KINDS: Final = (ContractKind.UNISWAP_V3, ContractKind.SOLIDLY_V3, ContractKind.RAMSES_V3)
_STARKNET_KINDS: Final = (ContractKind.EKUBO, ContractKind.JEDISWAP_CL)
_OTHERS_BY_TOKENS: Final = (ContractKind.UNISWAP_V4, ContractKind.EKUBO_EVM, *_STARKNET_KINDS)
"""The kinds whose pools are looked up by their ids, or by other means than the functions in `_NAMES`."""
_CURVE_LIST: Final = ("pool_count()", "pool_list(uint256)")
_CURVE_SEARCH: Final = "find_pool_for_coins(address,address,uint256)"
_CURVE_POOLS: Final = 4
"""Pools of one pair in one factory; chosen. The first are the oldest, and usually the deepest."""
_BY_SPACING: Final = "getPool(address,address,int24)"
_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys((ContractKind.UNISWAP_V2, ContractKind.SMARDEX), ("getPair(address,address)",)),
        **dict.fromkeys(_SOLIDLY_KINDS, ("getPool(address,address,bool)", "getPair(address,address,bool)")),
        **dict.fromkeys(_V3_KINDS, ("getPool(address,address,uint24)", _BY_SPACING)),
        ContractKind.ALGEBRA: ("poolByPair(address,address)",),
        ContractKind.IZISWAP: ("pool(address,address,uint24)",),
    }
)
"""The functions with which a factory may return the pool of two tokens."""
_SPACING_OF: Final = "feeAmountTickSpacing(uint24)"
_SPACINGS: Final = "tickSpacings()"
_SPACING_KEY: Final = "tickSpacing"
_MAX_SPACING: Final = 16_383  # of `UniswapV3Factory.enableFeeAmount`
_MAX_SPACINGS: Final = 32  # a bound against hostile input; chosen
_BATCH_SIZE: Final = 2_000  # concurrent lookups; chosen
_QUERY_COUNTS: Final[Mapping[str, int]] = {
    ContractKind.UNISWAP_V2: 1,
    ContractKind.SMARDEX: 1,
    **dict.fromkeys(_SOLIDLY_KINDS, 2),
    ContractKind.ALGEBRA: 1,
    ContractKind.UNISWAP_V4: 1,
    ContractKind.EKUBO_EVM: 1,
}
"""Calls per pair; for Uniswap V3 contracts and Ekubo, the number depends on the fees."""

Pair = tuple[str, str]
PairPools = BatchRead[Sequence[PoolRef]]
"""The read of the pools that one query finds for a pair."""


class PairQuery(NamedTuple):
    """A query for a pair's pool: the factory, the signature of its function, and the arguments after the two tokens."""

    factory: Factory
    name: str = ""
    key: tuple[int, ...] = ()


def count_pairs(tokens: Collection[str], wrapped_native: str | None) -> int:
    """Return the number of pairs to query for `tokens`, including pairs with native currency."""
    count = len({*tokens} - {ZERO_ADDRESS})
    return count * (count - 1) // 2 + (count - 1 if wrapped_native in tokens else 0)


def count_queries(factories: Iterable[Factory]) -> int:
    """Return the approximate number of calls needed to look up one pair."""
    return sum(_query_count(factory) for factory in factories)


def _query_count(factory: Factory) -> int:
    if factory.kind == ContractKind.EKUBO:
        return ekubo.key_count(factory)
    return _QUERY_COUNTS.get(factory.kind) or len(factory.fee_tiers) or len(COMMON_FEES)


def find_pair_pools(
    reader: MulticallReader,
    factories: Sequence[Factory],
    tokens: Collection[str],
    wrapped_native: str | None,
    first: int = 0,
    last: int | None = None,
) -> Iterator[PoolRef | SkippedItem]:
    """Yield each pool of `factories` that trades two of `tokens` (canonical addresses), once.

    The pairs are ordered by their tokens, and the pairs at positions `first` to `last - 1` are looked up.

    Native currency counts as its wrapped form. References have the same form as in `pool_discovery`, with the ticks of
    Uniswap V4 pools at the reader's block. A factory that cannot be queried by pair is skipped, and its address is
    listed. Raises `UpstreamError`.
    """
    ordered = sorted({*tokens} - {ZERO_ADDRESS})
    if len(ordered) < 2:
        return
    factory_queries = run_batched(
        [(factory.address, read_queries(factory, (ordered[0], ordered[1]))) for factory in factories], reader.call
    )
    yield from (each for each in factory_queries if isinstance(each, SkippedItem))
    queries = [query for each in factory_queries if not isinstance(each, SkippedItem) for query in each]
    pairs = list(islice(currencies_of(list(combinations(ordered, 2)), wrapped_native), first, last))
    pending = pair_reads(queries, pairs)
    seen: set[str] = set()
    while batch := list(islice(pending, _BATCH_SIZE * reader.width)):
        for refs_or_skipped in run_batched(batch, reader.call):
            if isinstance(refs_or_skipped, SkippedItem):
                yield refs_or_skipped
                continue
            yield from (ref for ref in refs_or_skipped if ref.key not in seen)
            seen.update(ref.key for ref in refs_or_skipped)


def pair_reads(queries: Sequence[PairQuery], pairs: Sequence[tuple[Pair, Pair]]) -> Iterator[tuple[str, PairPools]]:
    """Yield one named read for each combination of a query and a pair from `currencies_of`."""
    for query in queries:
        address = query.factory.address
        if query.factory.kind == ContractKind.UNISWAP_V4:
            for currencies, pair in pairs:
                yield f"{address} {' '.join(currencies)}", _read_v4_pools(query.factory, currencies, pair)
        elif query.factory.kind == ContractKind.EKUBO_EVM:
            for currencies, pair in pairs:
                read = ekubo_evm.find_by_tokens(query.factory, currencies, pair)
                yield f"{address} {' '.join(currencies)}", read
        elif query.factory.kind in _STARKNET_KINDS:
            for _, pair in pairs:
                yield f"{address} {' '.join(pair)}", _read_starknet_pools(query, pair)
        else:
            # These pools have no native currency: pairs that only differ in it would be looked up twice.
            for pair in (pair for currencies, pair in pairs if currencies == pair):
                yield f"{address} {' '.join(pair)}", _read_pair(query, pair)


def currencies_of(pairs: Sequence[Pair], wrapped_native: str | None) -> Iterator[tuple[Pair, Pair]]:
    """Yield each pair of currencies, and the pair of tokens that represents it. Native currency sorts before all
    others."""
    yield from ((pair, pair) for pair in pairs)
    for pair in pairs if wrapped_native else ():
        if wrapped_native in pair:
            other = pair[pair[0] == wrapped_native]
            yield (ZERO_ADDRESS, other), (wrapped_native, other)


def _read_pair(query: PairQuery, pair: Pair) -> PairPools:
    """Read the pool of a pair in two rounds, or in one if there is no pool."""
    (answer,) = yield [_pair_call(query, pair)]
    address = read_address(answer, query.name)
    if address == ZERO_ADDRESS:
        return ()
    ref = yield from pool_reader(query.factory.kind).read_constants(query.factory, address)
    if ref.tokens != pair:
        raise invalid_response(address, "a pool of different tokens than requested")
    return (ref,)


def _pair_call(query: PairQuery, pair: Pair) -> ContractCall:
    return ContractCall(query.factory.address, encode_call(query.name, *pair, *query.key))


def _read_v4_pools(factory: Factory, currencies: Pair, pair: Pair) -> PairPools:
    """Return the pools of two currencies that have a price, in one round: those with usual fees and no hook, those with
    the catalogue's fees and hooks, and those opened by launchers."""
    is_native = currencies != pair
    refs = [
        factory.new_ref(factory.address, pair, protocol=factory.protocols_by_hook.get(hooks))._replace(
            fee_ppm=fee,
            constants=V4Constants(v4_pool_id(*currencies, fee, spacing, hooks), spacing, hooks, is_native),
        )
        for fee, spacing, hooks in _usual_keys(factory)
    ]
    for fee, spacing, hooks in _launch_keys(factory):
        pool_id = v4_pool_id(*currencies, fee, spacing, hooks)
        constants = V4Constants(pool_id, spacing, hooks, is_native, has_dynamic_fee=fee == DYNAMIC_FEE)
        ref = factory.new_ref(factory.address, pair, protocol=factory.protocols_by_hook.get(hooks))
        refs.append(with_hook_rule(factory, ref._replace(constants=constants)))
    (answer,) = yield [extsload_call(factory.address, [slot_of_id(ref.pool_id, POOLS_SLOT) for ref in refs])]
    positions = map(price_and_tick, read_extsload(answer, len(refs)))
    return [
        ref._replace(last_read=LastTicks(tick)) for ref, (price, tick) in zip(refs, positions, strict=True) if price
    ]


def _read_starknet_pools(query: PairQuery, pair: Pair) -> PairPools:
    """Return a pair's pools on Starknet."""
    if query.factory.kind == ContractKind.EKUBO:
        return (yield from ekubo.find_by_tokens(query.factory, pair))
    return (yield from jediswap_cl.find_by_tokens(query.factory, pair, query.key))


def _launch_keys(factory: Factory) -> Iterator[tuple[int, int, str]]:
    """Yield the fee, tick spacing and hook of pools opened by launchers."""
    for hooks, text in factory.hook_rules.items():
        key = _LAUNCH_KEYS.get(parse_hook_rule(text).rule)
        if key:
            yield (*key, hooks)


def _usual_keys(factory: Factory) -> Sequence[tuple[int, int, str]]:
    """Return usual fees, tick spacings and Uniswap V4 hooks. For most, the spacing is a fiftieth of the fee.

    Pools with a hook have the catalogue's fees, or the most usual ones if it lists none.
    """
    tiers = [(fee, spacing) for fee, spacing in factory.fee_tiers.items() if spacing]
    usual = sorted({(100, 1), *tiers, *((fee, max(1, (fee + 25) // 50)) for fee in USUAL_FEES)})
    hooks = [each for each in factory.protocols_by_hook if not may_change_amounts(each)]
    return [(*each, ZERO_ADDRESS) for each in usual] + [(*tier, hook) for hook in hooks for tier in tiers or _V4_TIERS]


def can_be_queried(factory: Factory) -> bool:
    """Return whether a factory's pools can be looked up by their tokens."""
    return factory.kind in _NAMES or factory.kind in _OTHERS_BY_TOKENS


def can_be_searched(factory: Factory) -> bool:
    """Return whether a factory that lists its pools can also search them by two tokens, as Curve's factories can."""
    return _CURVE_LIST in KINDS[factory.kind].list_functions


def read_pools_in_list(factory: Factory, pair: Pair) -> BatchRead[tuple[str, ...]]:
    """Return the addresses of the first pools in a Curve factory that trade both tokens of `pair`, in one round.

    Some Curve factories revert past the last pool, and others return zero (`find_pool_for_coins` in Curve's factories).
    """
    answers = yield [
        ContractCall(factory.address, encode_call(_CURVE_SEARCH, *pair, n), may_revert=True, group=factory.address)
        for n in range(_CURVE_POOLS)
    ]
    found = (read_address(answer, _CURVE_SEARCH) for answer in answers if answer)
    return tuple(dict.fromkeys(address for address in found if address != ZERO_ADDRESS))


def read_queries(factory: Factory, pair: Pair) -> BatchRead[Sequence[PairQuery]]:
    """Return the queries that a factory supports. Each is tested with `pair`, in one round."""
    if factory.kind == ContractKind.UNISWAP_V4:
        (answer,) = yield [extsload_call(factory.address, [0])]
        read_extsload(answer, 1)
        return [PairQuery(factory)]
    if factory.kind == ContractKind.EKUBO_EVM:
        (answer,) = yield [ekubo_evm.state_call(factory.address, [0])]
        read_word(answer, "the core's storage")
        return [PairQuery(factory)]
    if factory.kind == ContractKind.EKUBO:
        (answer,) = yield [class_hash_call(factory.address)]
        read_felts(answer, 1, "the class of the core")
        return [PairQuery(factory)]
    if factory.kind == ContractKind.JEDISWAP_CL:
        fees = sorted({*factory.fee_tiers, *USUAL_FEES})
        enabled = yield from jediswap_cl.read_fees(factory, fees)
        return [PairQuery(factory, key=tuple(enabled or COMMON_FEES))]
    if factory.kind in _V3_KINDS:
        return (yield from _read_v3_queries(factory, pair))
    if factory.kind not in _NAMES:
        raise invalid_response(factory.kind, "its pools cannot be looked up by token")
    keys: list[tuple[int, ...]] = [()]
    if factory.kind == ContractKind.IZISWAP:
        keys = [(fee,) for fee in factory.fee_tiers or COMMON_FEES]
    if factory.kind in _SOLIDLY_KINDS:
        # The kinds name volatile pairs first, which is the factory's flag: 0 volatile, 1 stable.
        families = KINDS[factory.kind].families
        keys = [(stable,) for stable, family in enumerate(families) if factory.protocol_of(family)]
    candidates = [PairQuery(factory, name, keys[0]) for name in _NAMES[factory.kind]]
    name = _first_supported(candidates, (yield _trial_calls(candidates, pair)))
    return [PairQuery(factory, name, key) for key in keys]


def _read_v3_queries(factory: Factory, pair: Pair) -> BatchRead[Sequence[PairQuery]]:
    """Return one query for each fee or each tick spacing, by which of the two the factory selects pools.

    The fees are requested immediately unless the definition lists tick spacings, so either case takes one round.
    """
    candidates = [PairQuery(factory, name, (COMMON_FEES[0],)) for name in _NAMES[factory.kind]]
    fees = sorted({*factory.fee_tiers, *USUAL_FEES})
    if any(_SPACING_KEY in protocol.extra_keys for protocol in factory.protocols):
        candidates.reverse()
        fees = []
    calls = [*_trial_calls(candidates, pair), ContractCall(factory.address, encode_call(_SPACINGS), may_revert=True)]
    found = yield [*calls, *(ContractCall(factory.address, encode_call(_SPACING_OF, fee)) for fee in fees)]
    answers, listed, results = found[: len(candidates)], found[len(candidates)], found[len(calls) :]
    name = _first_supported(candidates, answers)
    if name == _BY_SPACING:
        return [PairQuery(factory, name, (spacing,)) for spacing in _spacings(listed)]
    if not fees:
        fees = sorted({*factory.fee_tiers, *USUAL_FEES})
        results = yield [ContractCall(factory.address, encode_call(_SPACING_OF, fee)) for fee in fees]
    enabled = [fee for fee, answer in zip(fees, results, strict=True) if answer and any(answer)]
    return [
        PairQuery(factory._replace(fee_ppm=fee), name, (fee,)) for fee in enabled or factory.fee_tiers or COMMON_FEES
    ]


def _trial_calls(candidates: Sequence[PairQuery], pair: Pair) -> Sequence[ContractCall]:
    return [_pair_call(query, pair)._replace(may_revert=len(candidates) > 1) for query in candidates]


def _first_supported(candidates: Sequence[PairQuery], answers: Sequence[ReturnData]) -> str:
    """Return the first function to which the factory responds. Raises `InvalidUpstreamResponse`."""
    for query, answer in zip(candidates, answers, strict=True):
        if answer:
            read_address(answer, query.name)
            return query.name
    raise invalid_response(candidates[0].name, "the factory does not respond")


def _spacings(answer: ReturnData) -> Sequence[int]:
    """Return the tick spacings that a Slipstream factory lists, without impossible values."""
    try:
        listed = read_list(answer, _SPACINGS)
    except InvalidUpstreamResponse:
        listed = ()
    usable = [spacing for spacing in dict.fromkeys(listed) if 0 < spacing <= _MAX_SPACING]
    return usable[:_MAX_SPACINGS] or USUAL_SPACINGS
