"""Read Ekubo on Starknet: pools of the core contract, with the initialised ticks around the price.

The core returns the first initialised tick above or below another one, but has no list of ticks. So the range of ticks
is searched from many places at once. With the ticks known from the last read, a single round can confirm that nothing
has changed. The table of ticks is closed at both ends of the range, as in `tick_bitmap`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.core.networks.pool_addresses import ekubo_pool_id, hash_ekubo_key
from swapcli.families.ekubo.core_calls import (
    DELTA,
    LIQUIDITY,
    NEXT,
    PRICE,
    EkuboPoolCalls,
    Gap,
    MarkSearch,
    read_price,
    read_version,
)
from swapcli.families.ekubo.ekubo import MAX_TICK_SPACING, Ekubo, fee_ppm_of
from swapcli.families.ekubo.ekubo_tick_math import REACH, STARKNET_TICKS
from swapcli.families.ekubo.ekubo_twamm import EkuboTwamm
from swapcli.families.ekubo.rows import EkuboConstants
from swapcli.families.ekubo.twamm_reader import TWAMM_EXTENSION, read_twamm
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.starknet_calls import join_signed, read_felts, starknet_call, to_starknet_address
from swapcli.families.reading.tick_bitmap import close_between

_GRID: Final = 200_000
"""The range begins and ends at multiples of this, so that small price moves do not change it."""
_PLACES: Final = 16
"""How many starting positions a search probes in its range, and again in each gap that the previous round left."""
_CALL_POINTS: Final = "get_call_points"
_BEFORE_SWAP, _AFTER_SWAP = 2, 3
_CALL_POINT_COUNT: Final = 8
_INITIALIZED_FELTS: Final = 9
_EXACT_EXTENSIONS: Final = frozenset(
    {
        "0x005e470ff654d834983a46b8f29dfa99963d5044b993cb7b9c92243a69dab38f",
        "0x050ed6ab03aef492cd062e25facf40ceef63294c53d12b514226f8fb4753266e",
    }
)
"""Ekubo's own oracle and limit orders, which run with each swap and do not change its amounts (same source)."""
RECORDED_FEES_X128: Final = (
    0,
    0x1EABBCB1CC964691EB851EB851EB8,  # 0.002925%
    0x53E2D6238DA3C4000000000000000,  # 0.008%
    0x68DB8BAC710CB4000000000000000,  # 0.01%
    0x20C49BA5E353F80000000000000000,  # 0.05%
    0xC49BA5E353F7D00000000000000000,  # 0.3%
    0x28F5C28F5C28F5C28F5C28F5C28F5C2,  # 1%
)
"""Fees in pool keys on mainnet. Most come from a double, so they follow no rule and can only be recorded.

They come from swaps in block 329,525 and pool creations in blocks 615,710 and 16,119,134; oracle and limit orders take
no fee.
"""
RECORDED_SPACINGS: Final = (10, 25, 200, 1_000, 5_982, 19_802, MAX_TICK_SPACING)
"""The tick spacings of the same pools, and one that is deduced: 19,802 ticks of 0.0001% make a step of 2%, as the
recorded 5,982 make one of 0.6%."""
_ORDERS_SPACING: Final = 128
"""The spacing that the extension for limit orders requires; the oracle requires the largest one."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in a few rounds of calls, or in one if price and ticks are close to the known ones."""
    if ref.family == EkuboTwamm.family:
        return (yield from read_twamm(ref))
    return (yield from with_prefetch(_read(ref), _guess_calls(ref)))


def _read(ref: PoolRef) -> BatchRead[Pool]:
    key = EkuboPoolCalls(ref)
    calls = key.state_calls()
    if key.extension not in ("0x0", *_EXACT_EXTENSIONS):
        calls.append(_call_points_call(ref.address, key.extension))
    class_hash, price, liquidity_felt, *points = yield calls
    version = read_version(class_hash, ref.address)
    if points:
        _check_call_points(points[0], key.extension)
    sqrt_ratio, tick = read_price(price)
    (liquidity,) = read_felts(liquidity_felt, 1, LIQUIDITY)
    low, high = _range_around(tick, key.tick_spacing)
    known = ref.last_ticks.initialized if ref.last_ticks else ()
    search = MarkSearch(key.next_call, _read_next, _PLACES, NEXT, "ticks")
    ticks = yield from search.find(_first_gaps(low, high, known))
    answers: Sequence[ReturnData] = ()
    if ticks:
        answers = yield key.delta_calls(ticks)
    nets = {each: join_signed(read_felts(answer, 2, DELTA), DELTA) for each, answer in zip(ticks, answers, strict=True)}
    limit = _last_tick(key.tick_spacing)
    table = close_between(nets, tick, liquidity, None if low <= -limit else low, None if high >= limit else high)
    state: dict[str, object] = {
        "pool_id": ref.pool_id,
        "fee_x128": key.fee_x128,
        "tick_spacing": key.tick_spacing,
        "extension": key.extension,
        "version": version,
        "sqrt_ratio": sqrt_ratio,
        "tick": tick,
        "liquidity": liquidity,
        "ticks": [[each, table[each]] for each in sorted(table)],
    }
    return build_pool(ref, fee_ppm_of(key.fee_x128), state)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool initialisation event, and read the properties of the pool's extension unless it is a known one.

    Extensions that run before or after a swap are rejected, because they may change it.
    """
    del wrapped_native
    felts = read_felts(log.data, _INITIALIZED_FELTS, "PoolInitialized")
    first, second = (to_starknet_address(felt, "PoolInitialized") for felt in felts[:2])
    fee_x128, spacing = felts[2:4]
    extension = to_starknet_address(felts[4], "PoolInitialized") if felts[4] else ""
    protocol = factory.protocols_by_hook.get(extension)
    if extension and extension not in (*_EXACT_EXTENSIONS, TWAMM_EXTENSION):
        (points,) = yield [_call_points_call(factory.address, extension)]
        _check_call_points(points, extension)
    family = protocol.family if protocol else None
    ref = factory.new_ref(factory.address, (first, second), family, protocol)
    return ref._replace(
        fee_ppm=fee_ppm_of(fee_x128),
        constants=EkuboConstants(hash_ekubo_key(log.data[: 5 * WORD]), spacing, fee_x128, extension),
        last_read=LastTicks(join_signed(felts[5:7], "PoolInitialized")),
    )


def key_count(factory: Factory) -> int:
    """Return the number of keys that `find_by_tokens` tries."""
    return sum(1 for _ in _recorded_keys(factory))


def find_by_tokens(factory: Factory, pair: tuple[str, str]) -> BatchRead[Sequence[PoolRef]]:
    """Read the pools of two tokens whose fee, spacing and extension are recorded, in one round of calls.

    The core has no list of pools by token: a key whose price is 0 has no pool.
    """
    refs = [_ref_of_key(factory, pair, *key) for key in _recorded_keys(factory)]
    answers = yield [EkuboPoolCalls(ref).price_call() for ref in refs]
    found: list[PoolRef] = []
    for ref, answer in zip(refs, answers, strict=True):
        low, high, *tick = read_felts(answer, 4, PRICE)
        if low or high:
            found.append(ref._replace(last_read=LastTicks(join_signed(tuple(tick), PRICE))))
    return found


def _recorded_keys(factory: Factory) -> Iterator[tuple[int, int, str]]:
    """Yield fee, tick spacing and extension: all combinations without an extension, and those that each extension
    allows."""
    known = factory.protocols_by_hook
    extensions = [each for each in known if each in _EXACT_EXTENSIONS]
    for fee_x128 in RECORDED_FEES_X128:
        if factory.protocols:
            yield from ((fee_x128, spacing, "") for spacing in RECORDED_SPACINGS)
        for spacing in (MAX_TICK_SPACING, _ORDERS_SPACING):
            yield from ((fee_x128, spacing, extension) for extension in extensions)
        if TWAMM_EXTENSION in known:
            yield fee_x128, MAX_TICK_SPACING, TWAMM_EXTENSION


def _ref_of_key(factory: Factory, pair: tuple[str, str], fee_x128: int, spacing: int, extension: str) -> PoolRef:
    pool_id = ekubo_pool_id(*pair, fee_x128, spacing, extension or "0x0")
    protocol = factory.protocols_by_hook.get(extension)
    ref = factory.new_ref(factory.address, pair, protocol.family if protocol else None, protocol)
    return ref._replace(fee_ppm=fee_ppm_of(fee_x128), constants=EkuboConstants(pool_id, spacing, fee_x128, extension))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the PoolKey, the tick and the listed ticks of a known pool."""
    stored = pool.core_pool if isinstance(pool, EkuboTwamm) else pool
    assert isinstance(stored, Ekubo)
    key = stored.pool_key
    extension = "" if key.extension == "0x0" else key.extension
    return ref._replace(
        constants=EkuboConstants(key.pool_id, key.tick_spacing, key.fee, extension),
        last_read=LastTicks(stored.tick, key.ticks),
    )


def _read_next(gap: Gap, answer: ReturnData) -> tuple[int, bool]:
    magnitude, sign, is_initialized = read_felts(answer, 3, NEXT)
    tick = join_signed((magnitude, sign), NEXT)
    if tick <= gap.start:
        raise invalid_response(NEXT, f"the tick {tick}, which is not above {gap.start}")
    return tick, bool(is_initialized)


def _first_gaps(low: int, high: int, known_ticks: Sequence[int]) -> list[Gap]:
    """Return the gaps between the known ticks in a range or, without known ticks, equal parts of the range."""
    inside = [tick for tick in known_ticks if low <= tick <= high]
    if not inside:
        step = (high - low) // _PLACES + 1
        inside = list(range(low + step, high, step))
    starts = [low - 1, *inside]
    ends = [*inside, high]
    return [Gap(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _guess_calls(ref: PoolRef) -> Sequence[ContractCall]:
    """Return the calls that confirm that nothing has changed: from tick to tick, and for the ticks that do not just
    close the range."""
    last = ref.last_ticks
    if not last or not last.initialized:
        return ()
    key = EkuboPoolCalls(ref)
    low, high = _range_around(last.tick, key.tick_spacing)
    inside = [tick for tick in last.initialized if low <= tick <= high]
    return [*(key.next_call(*gap) for gap in _first_gaps(low, high, inside)), *key.delta_calls(inside)]


def _range_around(tick: int, spacing: int) -> tuple[int, int]:
    """Return the ends of the range around a tick, multiples of the spacing."""
    limit = _last_tick(spacing)
    low, high = (tick - REACH) // _GRID * _GRID, -((-tick - REACH) // _GRID) * _GRID
    return max(low // spacing * spacing, -limit), min(-(-high // spacing) * spacing, limit)


def _last_tick(spacing: int) -> int:
    """Return the largest tick that can be initialised."""
    return STARKNET_TICKS.max_tick // spacing * spacing


def _call_points_call(core: str, extension: str) -> ContractCall:
    return starknet_call(core, _CALL_POINTS, int(extension, 16))


def _check_call_points(answer: ReturnData, extension: str) -> None:
    """Raise `InvalidPoolState` if an extension runs before or after a swap."""
    points = read_felts(answer, _CALL_POINT_COUNT, _CALL_POINTS)
    if points[_BEFORE_SWAP] or points[_AFTER_SWAP]:
        raise InvalidPoolState("extension", f"the extension {extension} runs on each swap and may change its amounts")
