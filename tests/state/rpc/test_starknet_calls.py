"""Recorded answers of real nodes, replayed over HTTP, and recorded events of Starknet's mainnet.

`recorded/README.md` says where they come from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import InvalidInput
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.ekubo.ekubo import Ekubo, fee_ppm_of
from swapcli.families.ekubo.rows import EkuboConstants
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import class_hash_call, join_signed, join_u256, read_felts
from swapcli.payload.starknet import deserialise_call
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint
from swapcli.state.rpc.starknet_node import StarknetNode
from tests.payload.starknet.fake_node import CHAIN_ID, name_hash
from tests.payload.starknet.pools_on_chain import CORE, STARKNET
from tests.support.loopback_server import FakeExchange, http_response, loopback_server
from tests.support.outside_ids import ekubo_id, topic_of

RECORDS: Final[list[dict[str, Any]]] = json.loads((Path(__file__).with_name("node_records.json")).read_text())
PARAMETERS: Final = {
    "starknet_getBlockWithTxHashes": ("block_id",),
    "starknet_getClassHashAt": ("block_id", "contract_address"),
}
"""The order of the parameters that records have by name."""
EVENTS_BLOCK: Final = 329_525


def records(method: str, *parameters: Any) -> list[dict[str, Any]]:
    """Return the answers to a request; each has the recorded `result`."""
    return [
        each["response"]
        for each in RECORDS
        if each["request"].get("method") == method and _in_order(each["request"]) == list(parameters)
    ]


def _in_order(request: Mapping[str, Any]) -> list[Any]:
    params = request["params"]
    return [params[name] for name in PARAMETERS.get(request["method"], params)] if isinstance(params, dict) else params


@contextmanager
def replayed(blocks: Mapping[str, Any]) -> Iterator[StarknetNode]:
    """Return a node of a server that answers with records; `blocks` are those of tags, and page size is two events."""

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        method, params = request["method"], request["params"]
        if method == "starknet_chainId":
            return {"result": hex(CHAIN_ID)}
        if method == "starknet_getBlockWithTxHashes" and params[0] in list(blocks):
            return {"result": blocks[params[0]]}
        if method == "starknet_getEvents":
            start = int(params[0].get("continuation_token", 0))
            events = recorded_events()
            page = {"events": events[start : start + 2]}
            return {"result": page | ({"continuation_token": str(start + 2)} if start + 2 < len(events) else {})}
        found = records(method, *params)
        if not found and method == "starknet_getBlockWithTxHashes":
            number = params[0]["block_number"] if isinstance(params[0], dict) else None
            if number != EVENTS_BLOCK:
                return {"error": {"code": -32602, "message": "Invalid params"}}
            return {"result": records(method, {"block_number": 800_000})[0]["result"] | {"block_number": number}}
        return {"result": found[0]["result"]}

    def respond(exchange: FakeExchange) -> None:
        content = json.loads(exchange.body)
        batch = content if isinstance(content, list) else [content]
        answers = [{"jsonrpc": "2.0", "id": each["id"], **answer(each)} for each in batch]
        text = json.dumps(answers if isinstance(content, list) else answers[0])
        exchange.send(http_response(200, text, "Content-Type: application/json"))

    with loopback_server(respond) as server:
        node = StarknetNode([RpcEndpoint(server.url, "the node")], CHAIN_ID, NodePolicy(pause=lambda _: None))
        try:
            yield node
        finally:
            node.close()


def recorded_events() -> list[dict[str, Any]]:
    (found,) = (each for each in RECORDS if each["request"].get("method") == "starknet_getEvents")
    events: list[dict[str, Any]] = found["response"]["result"]["events"]
    return events


def recorded_blocks(tag: str) -> list[dict[str, Any]]:
    return [each["result"] for each in records("starknet_getBlockWithTxHashes", tag)]


def swapped_logs() -> list[Log]:
    with replayed({}) as node:
        logs = node.read_logs(LogFilter((f"0x{CORE:064x}",), (topic_of("Swapped"),), EVENTS_BLOCK, EVENTS_BLOCK))
    return [log for log in logs if log.topics[0] == topic_of("Swapped")]


def test_blocks_of_several_versions_are_read() -> None:
    newest, oldest = recorded_blocks("latest")
    with replayed({"latest": newest}) as node:
        head = node.read_head()
        assert (head.block.number, head.block.hash) == (1_097_766, f"0x{int(newest['block_hash'], 16):064x}")
        assert (head.block.timestamp, head.gas_price_wei) == (1_772_050_195, 0x1DCD65000)
        block = node.read_block(800_000)
        assert block
        assert (block.number, block.timestamp) == (800_000, 1_728_897_868)
        classes = node.call_many(
            [
                class_hash_call("0x01176a1bd84444c89232ec27754698e5d2e7e1a7f1539f12027f28b23ec9f3d8"),
                class_hash_call("0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"),
            ],
            800_000,
        )
        assert [read_felts(each, 1, "class")[0] >> 240 for each in classes] == [0x6F5, 0x4AD]
    with replayed({"latest": oldest}) as node:
        head = node.read_head()
        assert (head.block.number, head.block.timestamp, head.gas_price_wei) == (2, 2, 0)


def test_a_pre_confirmed_block_is_the_pending_one() -> None:
    (built,) = recorded_blocks("pre_confirmed")
    with replayed({"latest": recorded_blocks("latest")[1], "pre_confirmed": built}) as node:
        head = node.read_head(BlockTag.PENDING)
    assert (head.block.number, head.block.timestamp, head.tag) == (3, 1_234_567, BlockTag.PENDING)
    assert int(head.block.parent_hash, 16) == int.from_bytes(b"latest")


def test_events_of_a_real_block_are_read_page_by_page() -> None:
    events = recorded_events()
    with replayed({}) as node:
        logs = node.read_logs(LogFilter((), (), EVENTS_BLOCK, EVENTS_BLOCK))
    assert len(logs) == len(events) == 17
    for log, event in zip(logs, events, strict=True):
        assert int(log.address, 16) == int(event["from_address"], 16)
        assert [int(topic, 16) for topic in log.topics] == [int(key, 16) for key in event["keys"]]
        assert read_felts(log.data, len(event["data"]), "") == tuple(int(felt, 16) for felt in event["data"])


def test_pools_in_a_real_block_are_followed_by_their_events() -> None:
    """Syncs of JediSwap, 10kSwap and SithSwap, and Ekubo's swaps, whose pool is in the data."""
    with replayed({}) as node:
        logs = node.read_logs(LogFilter((), (), EVENTS_BLOCK, EVENTS_BLOCK))
    pair_events = {topic_of(name): key_of for name, key_of in KINDS["jediswap"].events.items()}
    pairs = {pair_events[log.topics[0]](log) for log in logs if log.topics[0] in pair_events}
    assert len(pairs) == 3
    key_of = KINDS[ContractKind.EKUBO].events["Swapped"]
    for log in swapped_logs():
        felts = read_felts(log.data, 21, "Swapped")
        token0, token1, fee, spacing, extension = felts[1:6]
        expected = ekubo_id(hex(token0), hex(token1), fee, spacing, hex(extension))
        assert key_of(log) == expected


def test_recorded_swaps_of_ekubo_follow_from_the_one_before() -> None:
    """The state after a swap is in its event, so the next one in the same pool must give the recorded amounts."""
    last: dict[tuple[int, ...], tuple[int, ...]] = {}
    replays = 0
    for log in swapped_logs():
        felts = read_felts(log.data, 21, "Swapped")
        key, after = felts[1:6], felts[16:21]
        if key in last:
            pool = _pool_after(key, last[key])
            amount, is_token1 = join_signed(felts[6:8], "amount"), felts[8]
            delta0, delta1 = join_signed(felts[12:14], "delta"), join_signed(felts[14:16], "delta")
            token_in, token_out = pool.tokens[::-1] if is_token1 else pool.tokens
            if after[4] == pool.liquidity:
                amount_out, moved = pool.swap(token_in, token_out, amount)
                assert amount_out == -(delta0 if is_token1 else delta1)
                assert isinstance(moved, Ekubo)
                assert (moved.sqrt_ratio, moved.tick) == (join_u256(after[:2], ""), join_signed(after[2:4], ""))
                replays += 1
        last[key] = after
    assert replays == 3


def _pool_after(key: tuple[int, ...], after: tuple[int, ...]) -> Ekubo:
    """Return the pool in the state that an event has, with all its liquidity in one wide position."""
    token0, token1, fee, spacing, _ = key
    tick, liquidity = join_signed(after[2:4], "tick"), after[4]
    low = (tick - 100_000) // spacing * spacing
    high = (tick + 100_000) // spacing * spacing
    tokens = (f"0x{token0:064x}", f"0x{token1:064x}")
    identity = PoolIdentity(f"0x{CORE:064x}", "Ekubo", tokens, (18, 6), fee_ppm_of(fee))
    return Ekubo.from_state(
        identity,
        {
            "pool_id": ekubo_id(*tokens, fee, spacing, "0x0"),
            "fee_x128": str(fee),
            "tick_spacing": spacing,
            "extension": "0x0",
            "version": 4,
            "sqrt_ratio": str(join_u256(after[:2], "ratio")),
            "tick": tick,
            "liquidity": str(liquidity),
            "ticks": [[low, str(liquidity)], [high, str(-liquidity)]],
        },
    )


@pytest.mark.parametrize(
    ("block", "fee", "spacing", "tick"),
    [
        (16_119_134, 0x20C49BA5E353F80000000000000000, 354_892, 39_559_482),
        (615_710, 0x28F5C28F5C28F5C28F5C28F5C28F5C2, 5_982, -8_978_982),
    ],
)
def test_pools_of_recorded_receipts_are_read_from_events(block: int, fee: int, spacing: int, tick: int) -> None:
    """In 2026, and in 2024 with a tenth felt. A pool with TWAMM orders is refused once its call points are read."""
    (receipt,) = (each["response"] for each in RECORDS if (each["response"] or {}).get("block_number") == block)
    (event,) = receipt["events"]
    data = b"".join(int(felt, 16).to_bytes(WORD) for felt in event["data"])
    topics = tuple(f"0x{int(key, 16):064x}" for key in event["keys"])
    assert topics == (topic_of("PoolInitialized"),)
    (factory,) = (each for each in find_factories(STARKNET, ["Ekubo"])[0])
    log = Log(f"0x{int(event['from_address'], 16):064x}", topics, data, block, 0)
    read = pool_reader(ContractKind.EKUBO).read_created(factory, log, None)
    try:
        calls = next(read)
    except StopIteration as end:
        ref: PoolRef = end.value
    else:
        assert len(calls) == 1
        try:
            read.send([b"".join(bit.to_bytes(WORD) for bit in (0,) * 8)])
        except StopIteration as end:
            ref = end.value
    constants = ref.constants_as(EkuboConstants)
    assert (constants.fee_x128, constants.tick_spacing) == (fee, spacing)
    assert ref.last_ticks
    assert ref.last_ticks.tick == tick


def test_a_call_of_an_earlier_router_is_not_decoded() -> None:
    (old,) = (each for each in RECORDS if "calldata" in each["request"])
    felts = [int(felt, 16) for felt in old["request"]["calldata"]]
    assert felts[6] == name_hash("swap")
    with pytest.raises(InvalidInput):
        deserialise_call(felts[11:])
