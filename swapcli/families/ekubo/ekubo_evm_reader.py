"""Read pools of Ekubo's EVM contracts: price, liquidity and nearby ticks, through the lens QuoteDataFetcher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from swapcli.core.encoding.abi import WORD, to_signed
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.networks.pool_addresses import ekubo_evm_pool_id
from swapcli.core.records import NamedTuple
from swapcli.families.ekubo.ekubo_evm import (
    CENTER_TICK_STEP,
    CORE,
    EXACT_EXTENSIONS,
    MAX_TICK,
    MEV_CAPTURE,
    EkuboEvm,
    config_of,
    fee_ppm_of,
    may_change_amounts,
    pool_config,
)
from swapcli.families.ekubo.ekubo_tick_math import REACH, expand_ratio, is_compact_ratio
from swapcli.families.ekubo.rows import EkuboEvmConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_words, to_address
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import close_between

MAX_WORDS: Final = 1_000
"""The number of bitmap words on either side, which limits the reach of small tick spacings; each costs the node 4,000
gas."""
RECORDED_FEES_X64: Final = (
    0,
    0x10C6F7A0B5EE,  # 0.0001%
    0x1A36E2EB1C432,  # 0.0025%
    0x346DC5D638866,  # 0.005%
    0x68DB8BAC710CB,  # 0.01%
    0xD1B71758E2196,  # 0.02%
    0x13A92A30553261,  # 0.03%
    0x20C49BA5E353F7,  # 0.05%
    0x4189374BC6A7F0,  # 0.1%
    0x83126E978D4FDF,  # 0.2%
    0xC49BA5E353F7CE,  # 0.3%
    0x28F5C28F5C28F5C,  # 1%
)
RECORDED_SPACINGS: Final = (0, 10, 20, 50, 100, 200, 500, 1_000, 4_988, 4_990, 5_982, 9_950, 19_802)
"""The fees and tick spacings in pool keys on Ethereum, 0 for the full range: kyberswap-dex-lib @ae6a99aa, the file
pool_keys.json of liquidity-source/ekubo. Two thirds of the pools in it have one of these fees and spacings."""
_FETCH: Final = "getQuoteData((address,address,bytes32)[],uint32)"
_SLOAD: Final = "sload()"
"""Takes any number of slots and returns as many words."""
_INITIALIZED: Final = "PoolInitialized"
_CONCENTRATED: Final = 1 << 31
_HEAD_WORDS: Final = 10
_FIRST_FIELD: Final = 3
_Pair = tuple[str, str]


class _Config(NamedTuple):
    """The members of a PoolConfig, as `pool_config` packs them."""

    fee_x64: int
    tick_spacing: int
    amplification: int
    center_tick: int
    extension: str

    @property
    def words_to_read(self) -> int:
        """The number of bitmap words on either side that cover `REACH`; 0 without a bitmap."""
        spacing = self.tick_spacing
        return min(REACH // (CORE.word_bits * spacing) + 1, MAX_WORDS) if spacing else 0


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls. Its key must hash to its ID, because swaps identify it by that key."""
    key = ref.constants_as(EkuboEvmConstants)
    if not key.lens:
        raise invalid_response(_FETCH, "the catalogue has no contract that reads its ticks")
    token0 = ZERO_ADDRESS if key.is_native else ref.tokens[0]
    if ekubo_evm_pool_id(token0, ref.tokens[1], key.config) != key.pool_id:
        raise InvalidPoolState("pool_id", "not the hash of the pool's key")
    config = _decode_config(int(key.config, 16))
    # An array of one key: its offset, the other argument, its length, and the three words of the key.
    calldata = encode_call(_FETCH, 2 * WORD, config.words_to_read, 1, token0, ref.tokens[1], key.config)
    (answer,) = yield [ContractCall(key.lens, calldata)]
    state: dict[str, object] = {
        "pool_id": key.pool_id,
        "fee_x64": config.fee_x64,
        "extension": config.extension,
        "native": key.is_native,
        **_read_position(answer, config),
    }
    return build_pool(ref, fee_ppm_of(config.fee_x64), state)


def _read_position(answer: ReturnData, config: _Config) -> dict[str, object]:
    """Return the fields of a market file that come from the lens."""
    head = read_words(answer, _HEAD_WORDS, _FETCH)
    tick_word, compact, liquidity, low_word, high_word, _, count = head[_FIRST_FIELD:]
    if not compact:
        raise InvalidPoolState("sqrt_ratio", "the pool is not initialized")
    if not is_compact_ratio(compact):
        raise invalid_response(_FETCH, f"the square-root ratio {compact}")
    tick = to_signed(tick_word)
    position: dict[str, object] = {"sqrt_ratio": expand_ratio(compact), "tick": tick, "liquidity": liquidity}
    spacing = config.tick_spacing
    if not spacing:
        return {**position, "amplification": config.amplification, "center_tick": config.center_tick}
    if count > 2 * MAX_WORDS * CORE.word_bits:
        raise invalid_response(_FETCH, f"{count} ticks")
    words = read_words(answer, _HEAD_WORDS + 2 * count, _FETCH)[_HEAD_WORDS:]
    nets = {to_signed(each): to_signed(net) for each, net in zip(words[::2], words[1::2], strict=True)}
    low, high = to_signed(low_word), to_signed(high_word)
    ladder = close_between(
        nets,
        tick,
        liquidity,
        None if low <= -MAX_TICK else -(-low // spacing) * spacing,
        None if high >= MAX_TICK else high // spacing * spacing,
    )
    return {**position, "tick_spacing": spacing, "ticks": [[each, ladder[each]] for each in sorted(ladder)]}


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool initialisation event, which takes no call. Reject extensions that may change a swap."""
    yield from ()
    _, *tokens, packed, _, _ = read_words(log.data, 6, _INITIALIZED)
    token0, token1 = (to_address(word, "token") for word in tokens)
    is_native = token0 == ZERO_ADDRESS
    if is_native and wrapped_native is None:
        raise invalid_response("token0", "the network has no wrapped form of the native token")
    config = _decode_config(packed)
    if may_change_amounts(config.extension):
        raise InvalidPoolState("extension", f"{config.extension} runs on each swap and may change its amounts")
    pair = (wrapped_native if is_native and wrapped_native else token0, token1)
    key = f"0x{packed:064x}"
    ref = factory.new_ref(factory.address, pair)
    return ref._replace(
        fee_ppm=fee_ppm_of(config.fee_x64),
        constants=EkuboEvmConstants(factory.lens, ekubo_evm_pool_id(token0, token1, key), key, is_native),
    )


def find_by_tokens(
    factory: Factory, currencies: tuple[str, str], pair: tuple[str, str]
) -> BatchRead[Sequence[PoolRef]]:
    """Read the pools of two tokens whose fee, spacing and extension are recorded, in one round of calls.

    The core has no list of pools by token: a key whose state is 0 has no pool. The native token is the zero address in
    `currencies`, and its wrapped form in `pair`.
    """
    refs = [_ref_of_key(factory, currencies, pair, config) for config in _recorded_configs()]
    (answer,) = yield [state_call(factory.address, [int(ref.pool_id, 16) for ref in refs])]
    return [ref for ref, word in zip(refs, read_words(answer, len(refs), _SLOAD), strict=True) if word]


def state_call(core: str, slots: Sequence[int]) -> ContractCall:
    """Return the call that reads words of the core's storage. The slot of a pool's state is its ID."""
    return ContractCall(core, encode_call(_SLOAD, *slots))


def _recorded_configs() -> Iterator[str]:
    """Yield all combinations, for each extension that allows them."""
    for fee_x64, spacing in product(RECORDED_FEES_X64, RECORDED_SPACINGS):
        extensions = [ZERO_ADDRESS, *sorted(EXACT_EXTENSIONS)]
        if fee_x64 and spacing:
            extensions.append(MEV_CAPTURE)
        yield from (pool_config(fee_x64, spacing, 0, 0, extension) for extension in extensions)


def _ref_of_key(factory: Factory, currencies: _Pair, pair: _Pair, config: str) -> PoolRef:
    pool_id = ekubo_evm_pool_id(*currencies, config)
    constants = EkuboEvmConstants(factory.lens, pool_id, config, currencies != pair)
    fee_ppm = fee_ppm_of(_decode_config(int(config, 16)).fee_x64)
    return factory.new_ref(factory.address, pair)._replace(fee_ppm=fee_ppm, constants=constants)


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the PoolKey of a known pool."""
    assert isinstance(pool, EkuboEvm)
    key = pool.pool_key
    lens = ref.constants_as(EkuboEvmConstants).lens
    return ref._replace(constants=EkuboEvmConstants(lens, key.pool_id, config_of(key), key.is_native))


def _decode_config(packed: int) -> _Config:
    extension, fee_x64, shape = f"0x{packed >> 96:040x}", packed >> 32 & (1 << 64) - 1, packed & (1 << 32) - 1
    if shape & _CONCENTRATED:
        return _Config(fee_x64, shape ^ _CONCENTRATED, 0, 0, extension)
    center = shape & 0xFFFFFF
    return _Config(fee_x64, 0, shape >> 24, (center - (center >> 23 << 24)) * CENTER_TICK_STEP, extension)
