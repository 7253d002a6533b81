"""Pools of PancakeSwap Infinity are found by events and read from the storage of their managers.

No registry has the managers' bytecode, so the storage is built here, in the layout of the contracts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import pytest
from eth_abi.abi import decode, encode

from swapcli.core.errors import InvalidPoolState, InvalidUpstreamResponse
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.bins.infinity_bin import InfinityBin
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.calls import ContractCall, Log
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_readers import pool_reader, ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import InfinityConstants
from swapcli.families.uniswap.concentrated import Concentrated
from tests.families.bins.test_infinity_bin_vectors import bin_steps
from tests.families.uniswap.test_infinity_vectors import concentrated_steps
from tests.support.outside_ids import infinity_id, keccak256, topic_of

BASE = find_network("base")
INFINITY = next(each for each in BASE.protocols if each.amm_name == "PancakeSwapV4")
MANAGERS = {"infinity_cl": "0x" + "c1" * 20, "infinity_bin": "0x" + "b1" * 20}
WETH, OTHER, HOOK = "0x" + "ee" * 20, "0x" + "fe" * 20, "0x" + "42" * 20
_STEP: Final = 10
_PAUSED: Final = 1
_T = TypeVar("_T")


class Storage(dict[int, int]):
    """Words of a manager by slot, as `extsload(bytes32[])` returns them."""

    def answer(self, call: ContractCall) -> bytes:
        (slots,) = decode(["bytes32[]"], call.calldata[4:])
        return encode(["bytes32[]"], [[self.get(int.from_bytes(slot), 0).to_bytes(32) for slot in slots]])


def run(read: BatchRead[_T], storage: Storage) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send([storage.answer(call) for call in calls])
    except StopIteration as end:
        return end.value, rounds


def slot(key: int, mapping: int) -> int:
    return int.from_bytes(keccak256(key.to_bytes(32, signed=key < 0) + mapping.to_bytes(32)))


def fees(pool: Pool, protocol_fees: tuple[int, int]) -> int:
    return protocol_fees[0] | protocol_fees[1] << 12 | pool.fee_ppm << 24


def store_concentrated(pool: Concentrated, pool_id: str) -> Storage:
    base, words, gross = slot(int(pool_id, 16), 4), Storage(), 1
    packed = fees(pool, pool.tick_list.protocol_fees_ppm) << 184 | (pool.tick % (1 << 24)) << 160
    words |= {base: packed | pool.sqrt_price_x96, base + 3: pool.liquidity}
    for tick, net in zip(pool.tick_list.ticks, pool.tick_list.liquidity_nets, strict=True):
        words[slot(tick, base + 4)] = net % (1 << 128) << 128 | gross
        word, bit = divmod(tick // pool.tick_list.tick_spacing, 256)
        words[slot(word, base + 5)] = words.get(slot(word, base + 5), 0) | 1 << bit
    return words


def store_bins(pool: InfinityBin, pool_id: str) -> Storage:
    base, words = slot(int(pool_id, 16), 5), Storage()
    words[base] = fees(pool, pool.protocol_fees_ppm) << 24 | pool.active_id
    for bin_id, x, y in zip(*pool.bins, strict=True):
        words[slot(bin_id, base + 1)] = y << 128 | x
        if bin_id != pool.active_id or pool.is_active_bin_listed:
            leaves = slot(bin_id // 256, base + 6)
            words[leaves] = words.get(leaves, 0) | 1 << bin_id % 256
    return words


def created(kind: str, fee: int, parameters: int, hooks: str = ZERO_ADDRESS, first: str = OTHER) -> PoolRef:
    """Return the reference that the event of a pool's creation gives."""
    manager = MANAGERS[kind]
    second = "0x" + "ff" * 20
    pool_id = infinity_id(first, second, hooks, manager, fee, parameters)
    rest = {"infinity_cl": (2**96, 0), "infinity_bin": (2**23,)}[kind]
    content = encode(["address", "uint24", "uint256", *["uint256"] * len(rest)], [hooks, fee, parameters, *rest])
    topics = (topic_of(KINDS[kind].created[0]), pool_id, *(f"0x{address[2:]:0>64}" for address in (first, second)))
    factory = Factory(manager, kind, (INFINITY,))
    ref, rounds = run(pool_reader(kind).read_created(factory, Log(manager, topics, content, 1, 0), WETH), Storage())
    assert rounds == 0
    return ref._replace(decimals=(18, 18))


def parameters_of(pool: Pool) -> tuple[int, int, str]:
    """Return (fee of the key, parameters, hook) of a recorded pool."""
    traits = pool.api_extra_data()
    return int(traits["fee"]), int(str(traits["parameters"]), 16), str(traits["hooks"])


def test_recorded_concentrated_pools_are_read_from_storage() -> None:
    checked = 0
    for _, pool in list(concentrated_steps("in"))[::97]:
        fee, parameters, hooks = parameters_of(pool)
        ref = created("infinity_cl", fee, parameters, hooks)
        read, rounds = run(pool_reader(ref.kind).load(ref), store_concentrated(pool, ref.pool_id))
        assert (read.family, read.key, read.fee_ppm) == ("concentrated", ref.pool_id, pool.fee_ppm)
        assert rounds <= 3
        assert isinstance(read, Concentrated)
        position = (read.sqrt_price_x96, read.tick, read.liquidity, read.tick_list.protocol_fees_ppm)
        assert position == (pool.sqrt_price_x96, pool.tick, pool.liquidity, pool.tick_list.protocol_fees_ppm)
        near = {tick for tick in pool.tick_list.ticks if abs(tick - pool.tick) < 256 * pool.tick_list.tick_spacing}
        assert near <= set(read.tick_list.ticks)
        checked += 1
    assert checked >= 9


def test_recorded_pools_of_bins_are_read_from_storage() -> None:
    checked = 0
    for _, pool in list(bin_steps("in"))[::97]:
        if pool.bins.ids and max(pool.bins.ids) - min(pool.bins.ids) > 1_000:
            continue
        fee, parameters, hooks = parameters_of(pool)
        ref = created("infinity_bin", fee, parameters, hooks)
        storage = store_bins(pool, ref.pool_id)
        read, rounds = run(pool_reader(ref.kind).load(ref), storage)
        assert (read.family, read.key, rounds) == ("infinity_bin", ref.pool_id, 3)
        assert {**read.state(), "pool_id": ""} == {**pool.state(), "pool_id": ""}
        assert run(pool_reader(ref.kind).load(reference(read)), storage) == (read, 1)
        checked += 1
    assert checked >= 5


def reference(pool: Pool) -> PoolRef:
    ref = ref_of_pool(pool, BASE)
    assert ref is not None
    return ref


@pytest.mark.parametrize("kind", MANAGERS)
def test_a_native_currency_is_listed_in_its_wrapped_form(kind: str) -> None:
    ref = created(kind, 3000, _STEP << 16, first=ZERO_ADDRESS)
    constants = ref.constants_as(InfinityConstants)
    assert (ref.tokens[0], constants.is_native, ref.fee_ppm, constants.step) == (WETH, True, 3000, _STEP)
    assert ref.key == infinity_id(ZERO_ADDRESS, ref.tokens[1], ZERO_ADDRESS, ref.address, 3000, _STEP << 16)


@pytest.mark.parametrize("kind", MANAGERS)
@pytest.mark.parametrize(
    ("bits", "reason"),
    [
        (1 << 6, "beforeSwap (bit 6)"),
        (1 << 6 | 1 << 10, "beforeSwap (bit 6), beforeSwapReturnsDelta (bit 10)"),
        (1 << 7 | 1 << 11, "afterSwapReturnsDelta (bit 11)"),
    ],
)
def test_a_hook_that_can_change_amounts_is_named(kind: str, bits: int, reason: str) -> None:
    with pytest.raises(InvalidPoolState, match="let it change the amounts") as caught:
        created(kind, DYNAMIC_FEE, _STEP << 16 | bits, HOOK)
    assert f"has permissions ({reason}) that" in caught.value.message


@pytest.mark.parametrize("kind", MANAGERS)
def test_a_hook_that_only_watches_is_accepted(kind: str) -> None:
    ref = created(kind, DYNAMIC_FEE, _STEP << 16 | 0b1010_0011, HOOK)
    constants = ref.constants_as(InfinityConstants)
    assert (constants.hooks, constants.has_dynamic_fee, ref.fee_ppm) == (HOOK, True, 0)


@pytest.mark.parametrize("kind", MANAGERS)
def test_an_id_that_is_not_the_hash_of_the_key_is_refused(kind: str) -> None:
    ref = created(kind, 3000, _STEP << 16)
    key = ref.constants_as(InfinityConstants)
    other_keys = (key._replace(hooks=HOOK), key._replace(pool_id="0x" + "11" * 32), key._replace(parameters=0), None)
    for wrong in (ref._replace(fee_ppm=500), *(ref._replace(constants=other) for other in other_keys)):
        with pytest.raises(InvalidPoolState, match="hash"):
            run(pool_reader(kind).load(wrong), Storage())


@pytest.mark.parametrize("kind", MANAGERS)
def test_a_paused_manager_or_a_missing_pool_is_skipped(kind: str) -> None:
    ref = created(kind, 3000, _STEP << 16)
    with pytest.raises(InvalidUpstreamResponse, match="paused"):
        run(pool_reader(kind).load(ref), Storage({_PAUSED: 1}))
    with pytest.raises(InvalidPoolState):
        run(pool_reader(kind).load(ref), Storage())


def test_an_unlisted_active_bin_is_read_with_its_rest() -> None:
    _, pool = next(iter(bin_steps("in")))
    fee, parameters, hooks = parameters_of(pool)
    ref = created("infinity_bin", fee, parameters, hooks)
    for amounts, is_listed in (((1, 1), False), ((0, 0), True)):
        storage = store_bins(pool, ref.pool_id)
        base = slot(int(ref.pool_id, 16), 5)
        storage[slot(pool.active_id // 256, base + 6)] = 0
        storage[slot(pool.active_id, base + 1)] = amounts[1] << 128 | amounts[0]
        read, _ = run(pool_reader(ref.kind).load(ref), storage)
        assert isinstance(read, InfinityBin)
        assert read.is_active_bin_listed is is_listed
        assert (pool.active_id in read.bins.ids) is any(amounts)


def test_every_event_of_a_change_names_the_pool() -> None:
    pool_id = "0x" + "11" * 32
    for kind in MANAGERS:
        events: Mapping[str, object] = KINDS[kind].events
        assert all(signature.split("(")[1].startswith("bytes32,") for signature in events)
        assert all(key(Log("0x", ("", pool_id), b"", 1, 0)) == pool_id for key in KINDS[kind].events.values())
