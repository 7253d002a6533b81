"""Public nodes of one chain, of which some lie: each answers calls on a state that the chain does not have."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from time import sleep
from typing import Any

from swapcli.core.model.order import Order
from tests.chain.node.server import Failure, Handler, RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.trader import Trader

Overrides = dict[str, dict[str, Any]]
"""The third parameter of `eth_call`: other code and other storage of accounts."""
Rewrite = Callable[[list[RpcRequest], Proxy], list[RpcAnswer]]


def storage_after(trader: Trader, act: Callable[[], object]) -> Overrides:
    """Return what an act changes in the storage of contracts; it is undone."""
    node = trader.chain.node
    before, snapshot = _dump(trader), node.ask("evm_snapshot")
    nonce, market = trader.nonce, trader.market
    act()
    after = _dump(trader)
    assert node.ask("evm_revert", snapshot)
    trader.nonce, trader.market = nonce, market
    changed: Overrides = {}
    for address, account in after.items():
        earlier = before.get(address, {}).get("storage", {})
        slots = {slot: word for slot, word in account["storage"].items() if earlier.get(slot) != word}
        if slots and address in before:
            changed[address] = {"stateDiff": {_word(slot): _word(word) for slot, word in slots.items()}}
    return changed


def _dump(trader: Trader) -> Mapping[str, Any]:
    content = bytes.fromhex(trader.chain.node.ask("anvil_dumpState")[2:])
    found: Mapping[str, Any] = json.loads(gzip.decompress(content))["accounts"]
    return found


def _word(text: str) -> str:
    return f"0x{int(text, 16):064x}"


def moved_by(trader: Trader, sold: str, bought: str, whole: int) -> Overrides:
    """Return the state after somebody has sold so many whole tokens."""
    tokens = trader.world.tokens
    order = Order(tokens[sold], tokens[bought], whole * 10 ** tokens[sold].decimals)
    return storage_after(trader, lambda: trader.execute(trader.quote_trade(order)))


def on_state(overrides: Overrides) -> Rewrite:
    """Answer every call on a state with these overrides."""

    def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        return proxy.answer([_overridden(each, overrides) for each in requests])

    return rewrite


def _overridden(request: RpcRequest, overrides: Overrides) -> RpcRequest:
    if request["method"] != "eth_call":
        return request
    call, tag, *given = request["params"]
    own: Overrides = given[0] if given else {}
    return request | {"params": [call, tag, _merged(overrides, own)]}


def in_simulations(overrides: Overrides) -> Rewrite:
    """Simulate on a state with these overrides, and answer all other calls truly."""

    def simulated(request: RpcRequest) -> RpcRequest:
        if request["method"] == "eth_call" and len(request["params"]) > 2:
            return _overridden(request, overrides)
        if request["method"] != "eth_simulateV1":
            return request
        given, *others = request["params"]
        blocks = [
            block | {"stateOverrides": _merged(overrides, block.get("stateOverrides", {}))}
            for block in given["blockStateCalls"]
        ]
        return request | {"params": [given | {"blockStateCalls": blocks}, *others]}

    def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        return proxy.answer([simulated(each) for each in requests])

    return rewrite


def _merged(overrides: Overrides, own: Overrides) -> Overrides:
    return {**overrides, **{k: {**overrides.get(k, {}), **v} for k, v in own.items()}}


def in_results(method: str, change: Callable[[Any], Any]) -> Rewrite:
    """Change the results of a method."""

    def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        for request, answer in zip(requests, answers, strict=True):
            if request["method"] == method and answer.get("result") is not None:
                answer["result"] = change(answer["result"])
        return answers

    return rewrite


def refuses_old_state() -> Failure:
    """Answer calls on the latest block only, as nodes that keep no other state."""

    def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        head = hex(proxy.head())
        answers = proxy.answer(requests)
        return [
            refusal(request, -32_000, "missing trie node")
            if request["method"] == "eth_call" and request["params"][1] not in (head, "latest")
            else answer
            for request, answer in zip(requests, answers, strict=True)
        ]

    return behaving(rewrite)


def behaving(rewrite: Rewrite | None, delay_s: float = 0.0) -> Failure:
    """Answer so, after a delay."""

    def failure(handler: Handler) -> bool:
        if delay_s:
            sleep(delay_s)
        if rewrite is None:
            return False
        assert isinstance(handler.server, Proxy)
        handler.answer_all(rewrite(handler.requests, handler.server))
        return True

    return failure


def with_time(seconds: int) -> Rewrite:
    """Report another time of every block."""

    def change(block: Any) -> Any:
        return {**block, "timestamp": hex(int(block["timestamp"], 16) + seconds)}

    return in_results("eth_getBlockByNumber", change)


def ahead(blocks: int) -> Rewrite:
    """Report newer blocks than there are, with the state of the newest one."""

    def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        head, answers = proxy.head(), []
        for request in requests:
            method, params = request["method"], list(request["params"])
            place = {"eth_getBlockByNumber": 0, "eth_call": 1, "eth_getCode": 1}.get(method)
            if place is None:
                answers += proxy.answer([request])
                continue
            number = head + blocks if params[place] == "latest" else int(params[place], 16)
            params[place] = hex(min(number, head))
            (answer,) = proxy.answer([request | {"params": params}])
            if method == "eth_getBlockByNumber" and number > head and answer.get("result"):
                made_up = {"number": hex(number), "hash": f"0x{number:064x}", "parentHash": f"0x{number - 1:064x}"}
                answer["result"] = answer["result"] | made_up
            answers.append(answer)
        return answers

    return rewrite


@contextmanager
def public_nodes(port: int, count: int) -> Iterator[list[Proxy]]:
    """Open so many public nodes of the chain whose node is at `port`."""
    with ExitStack() as stack:
        yield [stack.enter_context(open_proxy(port)) for _ in range(count)]


def set_behaviours(nodes: Sequence[Proxy], behaviours: Mapping[int, Rewrite], rng: Random) -> None:
    """Let nodes lie, by their index; any of them may be the fastest."""
    for index, node in enumerate(nodes):
        node.failures = []
        node.always = behaving(behaviours.get(index), rng.choice([0.0, 0.0, 0.02]))
