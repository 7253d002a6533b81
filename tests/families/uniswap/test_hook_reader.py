"""Pools whose hooks have a rule, read from the real pool manager, with hooks and quoter in a local EVM."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

import pytest
from Crypto.Hash import keccak

from swapcli.core.encoding.abi import encode_word
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Deployment, ProtocolInfo
from swapcli.core.networks.catalogue import find_network
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.families.sampled.rows import SampledConstants
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.families.uniswap.uniswap_v4_reader import load, read_created
from swapcli.state.rpc.node import BlockId, block_number
from swapcli.state.snapshot_reader import BlockSnapshot
from tests.chain.node.evm_node import BLOCK, EvmNode, multicall_of, packed_reader
from tests.families.uniswap.hooked_pools import FEE_HOOK, HookedPool, backward, forward
from tests.support.outside_ids import topic_of

PPM: Final = 10**12
"""A millionth of 10^18."""
READS: Final = [
    {
        "name": f"{name}{direction}", "contract": "$hooks", "call": "feesOf(bytes32,uint256)",
        "arguments": ["$pool_id", direction], "word": word,
    }
    for direction in (0, 1)
    for word, name in enumerate(("lp", "input", "output"))
]  # fmt: skip
RULE: Final[Mapping[str, Any]] = {
    "rule": "fees",
    "values": [*READS, {"name": "paused", "contract": "$hooks", "call": "paused()"}],
    "requires": [["$paused", 0]],
    "fees": [{name: f"${name}{direction}" for name in ("lp", "input", "output")} for direction in (0, 1)],
    "gas": 50_000,
}
RATES: Final = [[3_000, 20_000, 0], [10_000, 0, 1_500]]
V4: Final = ProtocolInfo(25, "test", "Test", "concentrated", ("poolId",), contracts=("uniswap_v4",))
BASE: Final = find_network("base")
FEES: Final = HookFees(DirectionFees(3_000, 20_000 * PPM), DirectionFees(10_000, 0, 1_500 * PPM))


@pytest.fixture
def real() -> HookedPool:
    pool = HookedPool(Random("reader"), "FeeHook", FEE_HOOK, is_dynamic=True, price=3 * Q96)
    tick = pool.position()[1] // pool.tick_spacing * pool.tick_spacing
    pool.mint(tick - 50 * pool.tick_spacing, tick + 50 * pool.tick_spacing, 10**22)
    pool.set_fees(RATES)
    return pool


def test_the_fees_of_a_rule_are_read_and_confirmed_by_the_quoter(real: HookedPool) -> None:
    pool = real.load_hooked(real.ref(RULE))
    assert (pool.fees, pool.hook_gas) == (FEES, 50_000)
    for down in (True, False):
        tokens = forward(pool) if down else backward(pool)
        for amount_in in (10**9, 10**15):
            amount_out = pool.swap(*tokens, amount_in)[0]
            with real.world.chain.revert_after():
                assert real.swap(down, amount_in).got == amount_out


def test_a_known_pool_keeps_its_rule_and_takes_no_more_rounds(real: HookedPool) -> None:
    network = BASE._replace(hook_rules=({**RULE, "hooks": [real.hooks]},), protocols=(V4,), quoters=())
    pool = real.load_hooked(real.ref(RULE))
    again = ref_of_pool(pool, network)
    assert again is not None
    key = again.constants_as(V4Constants)
    assert (json.loads(key.hook_rule)["hooks"], key.quoter, key.is_quoted) == ([real.hooks], "", False)
    node = EvmNode(real.world.chain)
    constants = key._replace(quoter=real.quoter.address)
    (read,) = run_batched([("", load(again._replace(constants=constants)))], packed_reader(node).call)
    assert read == pool
    assert len(node.batch_sizes) == 4, "the price and its ticks, the time, the values, the quoter"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fees": {"lp": "$lp0", "input": "$input0"}}, "the quoter contradicts the rule"),
        ({"fees": RULE["fees"], "requires": [["$paused", 1]]}, "needs $paused to be 1"),
        ({"opens_at": "0xffffffff"}, "rejects swaps until 4294967295"),
        ({"fees": {"lp": 2_000_000}}, "lp_fees_ppm"),
        ({"fees": {"output": 1}, "fee_unit": 3}, "more than 18 decimals"),
        ({"code_hash": "0x" + "ab" * 32}, "does not cover its code"),
        ({"fees": {"lp": {"decay": [1, 2, 0, 60]}}}, "falls from 1 to 2"),
        (
            {"values": [{"name": "x", "contract": f"0x{'99' * 20}", "call": "unknown()"}], "fees": {}, "requires": []},
            "unknown()",
        ),
    ],
)
def test_a_rule_that_does_not_hold_is_refused_with_the_reason(
    real: HookedPool, changes: Mapping[str, object], reason: str
) -> None:
    skipped = real.load(real.ref({**RULE, **changes}))
    assert isinstance(skipped, SkippedItem)
    assert reason in skipped.reason


@pytest.mark.parametrize("changes", [{"requires": [["$paused", 1]]}, {"fees": {"lp": "$lp0"}}])
def test_where_a_rule_fails_the_network_samples_the_pool(real: HookedPool, changes: Mapping[str, object]) -> None:
    pool = real.load(real.ref({**RULE, **changes}, is_quoted=True))
    assert isinstance(pool, Sampled)
    assert (pool.pool_id, pool.has_samples) == (real.pool_id, False)
    assert dict(pool.constants)["hooks"] == real.hooks
    assert pool.decimals == (18, 6)


def test_a_rule_needs_its_code_or_a_quoter(real: HookedPool) -> None:
    unconfirmed = real.load(real.ref(RULE, has_quoter=False))
    assert isinstance(unconfirmed, SkippedItem)
    assert "neither its code's hash nor a quoter" in unconfirmed.reason
    code = real.world.chain.code(real.hooks)
    code_hash = f"0x{keccak.new(digest_bits=256, data=code).hexdigest()}"
    assert real.load_hooked(real.ref({**RULE, "code_hash": code_hash}, has_quoter=False)).fees == FEES


def test_without_a_rule_or_a_swap_nothing_confirms_it(real: HookedPool) -> None:
    skipped = real.load(real.ref(None))
    assert isinstance(skipped, SkippedItem)
    assert "has no rule for" in skipped.reason
    empty = HookedPool(Random("empty"), "FeeHook", FEE_HOOK, is_dynamic=True)
    skipped = empty.load(empty.ref(RULE))
    assert isinstance(skipped, SkippedItem)
    assert "no swap by which a quoter could confirm" in skipped.reason


def test_a_key_that_is_not_the_pools_is_refused(real: HookedPool) -> None:
    ref = real.ref(RULE)
    skipped = real.load(ref._replace(constants=ref.constants_as(V4Constants)._replace(tick_spacing=7)))
    assert isinstance(skipped, SkippedItem)
    assert "not the hash of the pool's key" in skipped.reason


@pytest.mark.parametrize("is_first", [True, False])
def test_directions_change_places_by_a_value(real: HookedPool, is_first: bool) -> None:
    fees = RULE["fees"] if is_first else RULE["fees"][::-1]
    token = real.world.tokens[0 if is_first else 1]
    rule = {**RULE, "fees": fees, "exchanged_unless": ["$token0", token]}
    assert real.load_hooked(real.ref(rule)).fees == FEES


@pytest.mark.parametrize(
    ("elapsed_s", "fee_ppm"), [(-5, 50_000), (0, 50_000), (1, 49_334), (30, 30_000), (60, 10_000), (99, 10_000)]
)
def test_a_fee_that_decays_is_that_of_the_blocks_time(real: HookedPool, elapsed_s: int, fee_ppm: int) -> None:
    """From 50,000 to 10,000 in a minute: what has fallen is rounded down."""
    real.world.chain.set_time(1_700_000_000 + elapsed_s)
    real.set_fees([[fee_ppm, 0, 0]] * 2)
    rule = {"rule": "fees", "fees": {"lp": {"decay": [50_000, 10_000, 1_700_000_000, 60]}}}
    assert real.load_hooked(real.ref(rule)).fees == HookFees(DirectionFees(fee_ppm), DirectionFees(fee_ppm))


def test_a_fee_of_several_parties_is_their_sum(real: HookedPool) -> None:
    fees = [{**RULE["fees"][0], "input": {"sum": ["$input0", 0]}}, {**RULE["fees"][1], "output": {"sum": [1_400, 100]}}]
    assert real.load_hooked(real.ref({**RULE, "fees": fees})).fees == FEES


def created(real: HookedPool, rules: Mapping[str, str], quoted: frozenset[str]) -> PoolRef:
    """Decode the event of the pool's creation."""
    factory = Factory(
        real.manager.address, ContractKind.UNISWAP_V4, (V4,), quoted_protocols=quoted, hook_rules=rules,
        swap_quoter=real.quoter.address,
    )  # fmt: skip
    price, tick, _ = real.position()
    values = (DYNAMIC_FEE, real.tick_spacing, real.hooks, price, tick)
    data = b"".join(encode_word(value) for value in values)
    topics = (
        topic_of(KINDS[ContractKind.UNISWAP_V4].created[0]),
        real.pool_id,
        *(_topic(each) for each in real.world.tokens),
    )
    read = read_created(factory, Log(real.manager.address, topics, data, 1, 0), None)
    with pytest.raises(StopIteration) as end:
        next(read)
    ref = end.value.value
    assert isinstance(ref, PoolRef)
    return ref


def _topic(address: str) -> str:
    return f"0x{address[2:]:0>64}"


def test_the_event_of_a_known_hook_makes_an_exact_pool(real: HookedPool) -> None:
    text = real.ref(RULE).constants_as(V4Constants).hook_rule
    ref = created(real, {real.hooks: text}, frozenset())
    assert ref.family == UniswapV4Hooked.family
    assert parse_pool_ref(format_pool_ref(ref)) == ref._replace(last_read=None)
    assert real.load_hooked(ref._replace(decimals=(18, 6))).fees == FEES
    sampled = created(real, {}, frozenset({"test"}))
    assert isinstance(sampled.constants, SampledConstants)


class LatestNode(EvmNode):
    """Has no state of earlier blocks, as nodes without an archive."""

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        return super().call_many(calls, at) if block_number(at) == BLOCK else [None] * len(calls)


@pytest.mark.parametrize("holds", [True, False])
def test_a_snapshot_computes_a_sampled_pool_if_its_rule_holds(real: HookedPool, holds: bool) -> None:
    """It was found while the rule did not hold, or before there was one."""
    (row,) = (each for each in BASE.quoters if isinstance(each, dict) and "uniswapV4" in each["protocols"])
    quote = {**row["quote"], "contract": real.quoter.address}
    network = BASE._replace(
        protocols=(V4,),
        deployments=(Deployment((V4.amm_name,), "V4", {"quoter": real.quoter.address}),),
        hook_rules=({**RULE, "hooks": [real.hooks], "requires": [["$paused", int(not holds)]]},),
        quoters=({**row, "protocols": [V4.amm_name], "quote": quote},),
        multicall=multicall_of(real.world.chain),
        l1_fee_oracle=None,
    )
    sampled = real.load(real.ref({**RULE, "requires": [["$paused", 1]]}, is_quoted=True))
    assert isinstance(sampled, Sampled)
    node = LatestNode(real.world.chain)
    snapshot = BlockSnapshot(node, network, node.read_head(), 0.0)
    snapshot.read([sampled])
    pool = snapshot.pools[sampled.key]
    assert pool is not None, snapshot.reasons
    assert isinstance(pool, UniswapV4Hooked) if holds else pool.has_samples
    assert snapshot.reasons == {}
