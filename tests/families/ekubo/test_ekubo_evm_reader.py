"""Pools of Ekubo's EVM contracts are found by the core's event and read by its lens in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.families.ekubo.ekubo_evm import (
    EXACT_EXTENSIONS,
    MAX_TICK,
    MEV_CAPTURE,
    EkuboEvm,
    pool_config,
    stableswap_range,
)
from swapcli.families.ekubo.ekubo_evm_reader import (
    MAX_WORDS,
    RECORDED_FEES_X64,
    find_by_tokens,
    load,
    read_created,
)
from swapcli.families.ekubo.ekubo_pool import EkuboKey
from swapcli.families.ekubo.ekubo_tick_math import EVM_TICKS, expand_ratio
from swapcli.families.ekubo.rows import EkuboEvmConstants
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pool_discovery import find_factories
from tests.support.outside_ids import ekubo_evm_id, keccak256, topic_of

BASE = find_network("base")
WETH = BASE.wrapped_native_address or ""
TOKENS = ("0x" + "11" * 20, "0x2229b2da4a3c11f28a88720490a21099f074ddb7")
ONE = (1 << 95) + (1 << 62)
"""The ratio 1 as the core stores it."""
RECORDED_CONFIG = f"0x{0:040x}ae7f66331b9c6d61800003e8"
RECORDED = (
    f"{32:064x}{1:064x}{32:064x}"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff5070"
    "00000000000000000000000000000000000000007e93eed9dbade9996f8576c8"
    "00000000000000000000000000000000000000000bc8aac42db0208000000000"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe7e070"
    "000000000000000000000000000000000000000000000000000000000016c070"
    f"{192:064x}{2:064x}"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff4c50"
    "00000000000000000000000000000000000000000bc8aac42db0208000000000"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff5420"
    "fffffffffffffffffffffffffffffffffffffffff437553bd24fdf8000000000"
)
"""What the deployed bytecode of the lens answered for a pool of these tokens that was written to the core's storage."""


def core() -> Any:
    (factory,) = find_factories(BASE, ["ekubo"])[0]
    return factory


def initialized(token0: str, token1: str, config: str, tick: int = 0) -> Log:
    """Return the event of a pool's initialisation."""
    pool_id = bytes.fromhex(ekubo_evm_id(token0, token1, config)[2:])
    types = ["bytes32", "(address,address,bytes32)", "int32", "uint96"]
    data = encode(types, [pool_id, (token0, token1, bytes.fromhex(config[2:])), tick, ONE])
    topics = (topic_of(KINDS[ContractKind.EKUBO_EVM].created[0]),)
    return Log(address=core().address, topics=topics, data=data, block_number=1, log_index=0)


def created(log: Log, wrapped: str | None = WETH) -> PoolRef:
    (ref,) = run_batched([("", read_created(core(), log, wrapped))], lambda _: [])
    if isinstance(ref, SkippedItem):
        raise InvalidUpstreamResponse(ref.reason)
    return ref._replace(decimals=(18, 6))


def answer_of(tick: int, compact: int, liquidity: int, ends: tuple[int, int], nets: Sequence[tuple[int, int]]) -> bytes:
    kinds = ["(int32,uint96,uint128,int32,int32,(int32,int128)[])[]"]
    return encode(kinds, [[(tick, compact, liquidity, *ends, list(nets))]])


def read(ref: PoolRef, answer: ReturnData) -> EkuboEvm | SkippedItem:
    def send(calls: Sequence[ContractCall]) -> list[ReturnData]:
        (call,) = calls
        assert call.to == core().lens
        return [answer]

    (pool,) = run_batched([(ref.key, load(ref))], send)
    assert isinstance(pool, EkuboEvm | SkippedItem)
    return pool


def words_asked(ref: PoolRef) -> int:
    (call,) = next(load(ref))
    return int.from_bytes(call.calldata[36:68])


def test_a_recorded_answer_is_read() -> None:
    ref = created(initialized(*TOKENS, RECORDED_CONFIG))
    pool = read(ref, bytes.fromhex(RECORDED))
    assert isinstance(pool, EkuboEvm)
    liquidity = 0xBC8AAC42DB0208000000000
    assert (pool.tick, pool.liquidity, pool.fee_ppm) == (-44_944, liquidity, 681_631)
    assert pool.sqrt_ratio == expand_ratio(0x7E93EED9DBADE9996F8576C8)
    assert pool.pool_key.ticks == (-46_000, -44_000)
    assert pool.pool_key.liquidity_nets == (liquidity, -liquidity)
    assert ref_of_pool(pool, BASE) == ref
    assert parse_pool_ref(format_pool_ref(ref)) == ref


@pytest.mark.parametrize("extension", [ZERO_ADDRESS, f"0x90{1:038x}", *sorted(EXACT_EXTENSIONS)])
def test_a_native_stableswap_pool_is_read(extension: str) -> None:
    config = pool_config(1 << 50, 0, 10, -160, extension)
    ref = created(initialized(ZERO_ADDRESS, TOKENS[0], config))
    assert ref.tokens == (WETH, TOKENS[0])
    assert words_asked(ref) == 0
    low, high = stableswap_range(10, -160)
    pool = read(ref, answer_of(0, ONE, 7, (-MAX_TICK, MAX_TICK), [(low, 7), (high, -7)]))
    assert isinstance(pool, EkuboEvm)
    key = EkuboKey(ref.pool_id, 1 << 50, 0, extension, (low, high), (7, -7))
    assert pool.pool_key == key._replace(amplification=10, center_tick=-160, is_native=True)
    assert ref_of_pool(pool, BASE) == ref


def test_mev_capture_counts_from_the_tick_that_a_pool_has() -> None:
    ref = created(initialized(*TOKENS, pool_config(1 << 50, 100, 0, 0, MEV_CAPTURE)))
    pool = read(ref, answer_of(3, ONE + (1 << 43), 9, (-MAX_TICK, MAX_TICK), [(-100, 9), (100, -9)]))
    assert isinstance(pool, EkuboEvm)
    assert pool.pool_key.first_tick == pool.tick == 3
    assert ref_of_pool(pool, BASE) == ref


def test_liquidity_beyond_the_words_that_were_read_ends_there() -> None:
    ref = created(initialized(*TOKENS, pool_config(0, 100, 0, 0, ZERO_ADDRESS)))
    assert words_asked(ref) == 55
    pool = read(ref, answer_of(0, ONE, 9, (-250, 250), [(100, -2)]))
    assert isinstance(pool, EkuboEvm)
    assert pool.pool_key.ticks == (-200, 100, 200)
    assert pool.pool_key.liquidity_nets == (9, -2, -7)
    whole = read(ref, answer_of(0, ONE, 9, (-MAX_TICK, MAX_TICK), [(100, -2)]))
    assert isinstance(whole, SkippedItem)
    assert "liquidity" in whole.reason


def test_a_small_spacing_is_read_as_far_as_the_limit_of_words() -> None:
    assert words_asked(created(initialized(*TOKENS, pool_config(0, 1, 0, 0, ZERO_ADDRESS)))) == MAX_WORDS


def test_pools_with_recorded_keys_are_found_by_their_tokens() -> None:
    pair, native_pair = (TOKENS[0], TOKENS[1]), (WETH, TOKENS[0])
    fee = RECORDED_FEES_X64[7]
    keys = {
        (pair, pair): [pool_config(fee, 1_000, 0, 0, ZERO_ADDRESS), pool_config(fee, 1_000, 0, 0, MEV_CAPTURE)],
        ((ZERO_ADDRESS, TOKENS[0]), native_pair): [pool_config(0, 0, 0, 0, min(EXACT_EXTENSIONS))],
    }
    for (currencies, tokens), configs in keys.items():
        states = {int(ekubo_evm_id(*currencies, config), 16): ONE << 160 for config in configs}

        def send(calls: Sequence[ContractCall], states: dict[int, int] = states) -> list[ReturnData]:
            (call,) = calls
            assert (call.to, call.calldata[:4]) == (core().address, keccak256(b"sload()")[:4])
            slots = [int.from_bytes(call.calldata[at : at + 32]) for at in range(4, len(call.calldata), 32)]
            return [encode(["uint256"] * len(slots), [states.get(slot, 0) for slot in slots])]

        (found,) = run_batched([("", find_by_tokens(core(), currencies, tokens))], send)
        assert not isinstance(found, SkippedItem)
        assert sorted(ref.constants_as(EkuboEvmConstants).config for ref in found) == sorted(configs)
        assert list(found) == [
            created(initialized(*currencies, ref.constants_as(EkuboEvmConstants).config))._replace(decimals=())
            for ref in found
        ]


@pytest.mark.parametrize(
    "log",
    [
        initialized(*TOKENS, pool_config(0, 1, 0, 0, f"0x40{1:038x}")),
        initialized(*TOKENS, pool_config(0, 1, 0, 0, f"0x20{1:038x}")),
        initialized(*TOKENS, RECORDED_CONFIG)._replace(data=b"\0" * 96),
    ],
)
def test_extensions_at_swaps_and_other_events_are_refused(log: Log) -> None:
    with pytest.raises(InvalidUpstreamResponse):
        created(log)


def test_a_native_pool_needs_a_wrapped_form() -> None:
    with pytest.raises(InvalidUpstreamResponse):
        created(initialized(ZERO_ADDRESS, TOKENS[0], RECORDED_CONFIG), None)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        encode(["uint256"] * 10, [32, 1, 32, 0, ONE, 1, 0, 0, 192, 5]),
        encode(["uint256"] * 10, [32, 1, 32, 0, ONE, 1, 0, 0, 192, 1 << 60]),
        answer_of(0, 0, 0, (-MAX_TICK, MAX_TICK), []),
        answer_of(1, ONE, 0, (-MAX_TICK, MAX_TICK), []),
        answer_of(0, ONE, 5, (-250, 250), [(99, -5)]),
        bytes.fromhex(RECORDED)[:128] + (1 << 96).to_bytes(32) + bytes.fromhex(RECORDED)[160:],
    ],
)
def test_answers_that_do_not_fit_are_refused(answer: ReturnData) -> None:
    assert isinstance(read(created(initialized(*TOKENS, RECORDED_CONFIG)), answer), SkippedItem)


def test_another_key_and_a_missing_lens_are_refused() -> None:
    ref = created(initialized(*TOKENS, RECORDED_CONFIG))
    constants = ref.constants_as(EkuboEvmConstants)
    for change in ({"lens": ""}, {"config": f"0x{1:064x}"}, {"is_native": True}):
        wrong = constants._replace(**change)
        (skipped,) = run_batched([(ref.key, load(ref._replace(constants=wrong)))], lambda _: [])
        assert isinstance(skipped, SkippedItem)


def test_its_pools_are_read_at_every_block() -> None:
    traits = KINDS[ContractKind.EKUBO_EVM]
    assert not traits.events
    assert traits.unannounced
    assert EVM_TICKS.ratio_at(0) == expand_ratio(ONE)
