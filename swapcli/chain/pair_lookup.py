"""Finds the pools among given tokens by asking factories for each pair of them, in few round trips for few tokens.

Lists and events (`discovery`) tell of every pool, but public nodes allow neither at length. What cannot be asked for by
its tokens is left to them: Balancer's and Curve's pools, and those of Uniswap V3 and V4 with unusual fees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from types import MappingProxyType
from typing import Final, NamedTuple

from swapcli.chain.batch_read import BatchRead, SkippedItem, run_batched
from swapcli.chain.contract_functions import encode_call, invalid_response, read_address, read_list
from swapcli.chain.loaders.uniswap_v4 import extsload_call, pool_slot, price_and_tick, read_extsload
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ContractCall, ReturnData
from swapcli.chain.pool_discovery import Factory, read_pool_ref
from swapcli.chain.pool_ref import ContractKind, PoolRef
from swapcli.errors import InvalidUpstreamResponse
from swapcli.model.order import ZERO_ADDRESS
from swapcli.networks.address import v4_pool_id

USUAL_FEES: Final = (
    *(10, 20, 50, 80, 100, 200, 250, 300, 400, 450, 500, 750, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 6_000),
    *(8_000, 10_000, 15_000, 20_000, 30_000, 50_000),
)
"""In ppm, of Uniswap V4 and V3's kind: what governance has added somewhere, and round numbers."""
USUAL_SPACINGS: Final = (1, 10, 50, 100, 200, 2_000)
"""Of Slipstream's kind, where the factory does not say which it has."""
COMMON_FEES: Final = (100, 500, 2_500, 3_000, 10_000)
"""In ppm, of Uniswap V3's kind, where neither the factory nor the catalogue says which it has."""

_BY_SPACING: Final = "getPool(address,address,int24)"
_NAMES: Final[Mapping[ContractKind, tuple[str, ...]]] = MappingProxyType(
    {
        ContractKind.UNISWAP_V2: ("getPair(address,address)",),
        ContractKind.SOLIDLY: ("getPool(address,address,bool)", "getPair(address,address,bool)"),
        ContractKind.UNISWAP_V3: ("getPool(address,address,uint24)", _BY_SPACING),
        ContractKind.ALGEBRA: ("poolByPair(address,address)",),
    }
)
"""How a factory may be asked for the pool of two tokens."""
_SPACING_OF: Final = "feeAmountTickSpacing(uint24)"
_SPACINGS: Final = "tickSpacings()"
_SPACING_KEY: Final = "tickSpacing"
_MOST_SPACING: Final = 16_383
_MOST_SPACINGS: Final = 32
_PORTION: Final = 2_000

_Pair = tuple[str, str]
_Found = Sequence[PoolRef]


class _Way(NamedTuple):
    """A question that a home answers for any two tokens: its name, and what it takes besides them."""

    home: Factory
    name: str = ""
    key: tuple[int, ...] = ()


def find_pair_pools(
    view: BlockReader, homes: Sequence[Factory], tokens: Sequence[str], wrapped_native: str | None
) -> Iterator[PoolRef | SkippedItem]:
    """The pools of these homes both of whose tokens are among `tokens`, canonical addresses; each pool once.

    Native currency counts as its wrapped form. Places are as those of `discovery`, the tick of Uniswap V4's being that
    of the view's block. A home that cannot be asked is skipped as a whole, by its address. Raises `UpstreamError`.
    """
    ordered = sorted({*tokens} - {ZERO_ADDRESS})
    if len(ordered) < 2:
        return
    opened = run_batched([(home.address, _ways(home, (ordered[0], ordered[1]))) for home in homes], view.call)
    yield from (each for each in opened if isinstance(each, SkippedItem))
    ways = [way for each in opened if not isinstance(each, SkippedItem) for way in each]
    waiting = _questions(ways, ordered, wrapped_native)
    known: set[str] = set()
    while portion := list(islice(waiting, _PORTION)):
        for found in run_batched(portion, view.call):
            if isinstance(found, SkippedItem):
                yield found
                continue
            yield from (place for place in found if place.key not in known)
            known.update(place.key for place in found)


def _questions(
    ways: Sequence[_Way], tokens: Sequence[str], wrapped_native: str | None
) -> Iterator[tuple[str, BatchRead[_Found]]]:
    """One for each way and pair, named by both."""
    for way in ways:
        address = way.home.address
        if way.home.kind is ContractKind.UNISWAP_V4:
            for currencies, pair in _currencies(tokens, wrapped_native):
                yield f"{address} {' '.join(currencies)}", _in_manager(way.home, currencies, pair)
        else:
            for pair in combinations(tokens, 2):
                yield f"{address} {' '.join(pair)}", _of_pair(way, pair)


def _currencies(tokens: Sequence[str], wrapped_native: str | None) -> Iterator[tuple[_Pair, _Pair]]:
    """Each pair of currencies with the tokens that stand for them; native currency sorts before all others."""
    yield from ((pair, pair) for pair in combinations(tokens, 2))
    if wrapped_native and wrapped_native in tokens:
        yield from (((ZERO_ADDRESS, each), (wrapped_native, each)) for each in tokens if each != wrapped_native)


def _of_pair(way: _Way, pair: _Pair) -> BatchRead[_Found]:
    """Two rounds; one where there is no pool."""
    (answer,) = yield [_asked(way, pair)]
    address = read_address(answer, way.name)
    if address == ZERO_ADDRESS:
        return ()
    place = yield from read_pool_ref(way.home, address)
    if place.tokens != pair:
        raise invalid_response(address, "a pool of other tokens than those that were asked for")
    return (place,)


def _asked(way: _Way, pair: _Pair) -> ContractCall:
    return ContractCall(way.home.address, encode_call(way.name, *pair, *way.key))


def _in_manager(home: Factory, currencies: _Pair, pair: _Pair) -> BatchRead[_Found]:
    """One round: of the pools that two currencies usually have, those that have a price."""
    assert home.protocol
    native = currencies != pair
    place = PoolRef(
        home.address, home.protocol.amm_name, home.protocol.family or "", home.kind, pair, (), native=native
    )
    places = [
        place._replace(fee_ppm=fee, tick_spacing=spacing, pool_id=v4_pool_id(*currencies, fee, spacing))
        for fee, spacing in _usual_keys(home)
    ]
    (answer,) = yield [extsload_call(home.address, [pool_slot(place.pool_id) for place in places])]
    positions = map(price_and_tick, read_extsload(answer, len(places)))
    return [place._replace(last_tick=tick) for place, (price, tick) in zip(places, positions, strict=True) if price]


def _usual_keys(home: Factory) -> list[tuple[int, int]]:
    """Fees of Uniswap V4 and their tick spacings, which anybody may choose: most take a fiftieth of the fee."""
    known = [(fee, spacing) for fee, spacing in home.fee_tiers.items() if spacing]
    return sorted({(100, 1), *known, *((fee, max(1, (fee + 25) // 50)) for fee in USUAL_FEES)})


def _ways(home: Factory, pair: _Pair) -> BatchRead[Sequence[_Way]]:
    """All that there is to ask of a home. With the first pair it is tried whether it answers at all.

    One round; two for Uniswap V3's kind.
    """
    if home.kind is ContractKind.UNISWAP_V4:
        (answer,) = yield [extsload_call(home.address, [0])]
        read_extsload(answer, 1)
        return [_Way(home)]
    if home.kind is ContractKind.UNISWAP_V3:
        return (yield from _concentrated_ways(home, pair))
    if home.kind not in _NAMES:
        raise invalid_response(home.kind, "such pools cannot be asked for by their tokens")
    keys: list[tuple[int, ...]] = [()]
    if home.kind is ContractKind.SOLIDLY:
        keys = [(stable,) for stable, protocol in enumerate((home.protocol, home.stable_protocol)) if protocol]
    tried = [_Way(home, name, keys[0]) for name in _NAMES[home.kind]]
    name = _first_answered(tried, (yield _trials(tried, pair)))
    return [_Way(home, name, key) for key in keys]


def _concentrated_ways(home: Factory, pair: _Pair) -> BatchRead[Sequence[_Way]]:
    """By each fee or each tick spacing that the factory says it has; which of both is for it to answer too."""
    tried = [_Way(home, name, (COMMON_FEES[0],)) for name in _NAMES[home.kind]]
    if home.protocol and _SPACING_KEY in home.protocol.extra_keys:
        tried.reverse()
    *answers, listed = yield [
        *_trials(tried, pair),
        ContractCall(home.address, encode_call(_SPACINGS), may_revert=True),
    ]
    name = _first_answered(tried, answers)
    if name == _BY_SPACING:
        return [_Way(home, name, (spacing,)) for spacing in _spacings(listed)]
    fees = sorted({*home.fee_tiers, *USUAL_FEES})
    told = yield [ContractCall(home.address, encode_call(_SPACING_OF, fee)) for fee in fees]
    enabled = [fee for fee, answer in zip(fees, told, strict=True) if answer and any(answer)]
    return [_Way(home._replace(fee_ppm=fee), name, (fee,)) for fee in enabled or home.fee_tiers or COMMON_FEES]


def _trials(tried: Sequence[_Way], pair: _Pair) -> Sequence[ContractCall]:
    return [_asked(way, pair)._replace(may_revert=len(tried) > 1) for way in tried]


def _first_answered(tried: Sequence[_Way], answers: Sequence[ReturnData]) -> str:
    """Its name. Raises `InvalidUpstreamResponse`."""
    for way, answer in zip(tried, answers, strict=True):
        if answer:
            read_address(answer, way.name)
            return way.name
    raise invalid_response(tried[0].name, "the factory does not answer")


def _spacings(answer: ReturnData) -> Sequence[int]:
    """Of Slipstream's kind, as the factory lists them; what cannot be one is left out."""
    try:
        listed = read_list(answer, _SPACINGS)
    except InvalidUpstreamResponse:
        listed = ()
    usable = [spacing for spacing in dict.fromkeys(listed) if 0 < spacing <= _MOST_SPACING]
    return usable[:_MOST_SPACINGS] or USUAL_SPACINGS
