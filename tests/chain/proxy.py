"""A proxy on a socket between us and a real node, which injects failures into single exchanges.

A failure is done to one exchange. Those that hang up, say a status or stay silent are of `node.server`; here are those
that need a node behind them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from random import Random
from threading import Lock, Thread
from time import sleep
from typing import Final, cast

from tests.chain.node.server import SECRET, Failure, Handler, RpcAnswer, RpcRequest, Server, hangs_up, refusal

UNKNOWN_BLOCK: Final = "header not found"
_BLOCK: Final = "eth_getBlockByNumber"
_TIMEOUT_S: Final = 30.0
_TAG_AT: Final = {"eth_call": 1, "eth_simulateV1": 1, _BLOCK: 0}

Change = Callable[[list[RpcRequest], "Proxy"], list[RpcAnswer]]


class Proxy(Server):
    """Stands before the node at `port`. `methods` has the method of every request."""

    def __init__(self, port: int) -> None:
        super().__init__(lambda _: None)
        self._port = port
        self._lock = Lock()
        self.methods: list[str] = []

    @property
    def url(self) -> str:
        """A URL with a name, a password and keys, which must never be shown."""
        return f"http://user-{SECRET}:{SECRET}@127.0.0.1:{self.server_port}/v2/{SECRET}?key={SECRET}"

    def answer(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """What the node answers, in the order of the requests."""
        self.methods += [request["method"] for request in requests]
        if not requests:
            return []
        # The node answers the requests of a batch side by side; one of several that came at once is enough.
        with self._lock:
            answers = {each["id"]: each for each in self._posted(list(requests))}
        return [answers[request["id"]] for request in requests]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pass nothing on meanwhile. While anvil mines, it may answer calls for its latest block from the next one."""
        with self._lock:
            yield

    def head(self) -> int:
        """The number of the node's latest block."""
        (answers,) = self._posted([{"jsonrpc": "2.0", "id": 0, "method": "eth_blockNumber", "params": []}])
        return int(answers["result"], 16)

    def _posted(self, body: list[RpcRequest]) -> list[RpcAnswer]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
            return cast(list[RpcAnswer], json.loads(connection.getresponse().read()))
        finally:
            connection.close()


@contextmanager
def open_proxy(port: int) -> Iterator[Proxy]:
    """A proxy before the node at `port`, which ends with the block."""
    with Proxy(port) as proxy:
        thread = Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()


def passes_on(_: Handler) -> bool:
    """Pass the request on."""
    return False


def late(seconds: float) -> Failure:
    """Answer after a delay."""

    def failure(_: Handler) -> bool:
        sleep(seconds)
        return False

    return failure


def breaks_off_midway(handler: Handler) -> bool:
    """Send half of the correct answer and hang up."""
    body = _whole(handler)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    return hangs_up(handler)


def cuts_off(handler: Handler) -> bool:
    """Send half of the correct answer as if it were complete."""
    body = _whole(handler)
    handler.send(body[: len(body) // 2])
    return True


def rewrites(change: Change) -> Failure:
    """Answer with the result of `change`."""

    def failure(handler: Handler) -> bool:
        handler.answer_all(change(handler.requests, _proxy(handler)))
        return True

    return failure


def stale(behind: int) -> Failure:
    """Ignore the latest blocks and report no events of them, as lagging nodes do."""
    return rewrites(lambda requests, proxy: _answer_at(requests, proxy, proxy.head() - behind))


def refuses_some(rng: Random, share: float, code: int, message: str) -> Failure:
    """Answer some requests with an error each."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        return [
            refusal(a, code, message) if rng.random() < share else t for a, t in zip(requests, answers, strict=True)
        ]

    return rewrites(change)


def nulls_some(rng: Random, share: float) -> Failure:
    """Answers some requests with null."""
    return rewrites(
        lambda requests, proxy: [
            each | {"result": None} if rng.random() < share else each for each in proxy.answer(requests)
        ]
    )


def drops_some(rng: Random, share: float) -> Failure:
    """Leave some requests unanswered."""
    return rewrites(lambda requests, proxy: [each for each in proxy.answer(requests) if rng.random() >= share])


def reorders(rng: Random) -> Failure:
    """Answer a batch in any order, as JSON-RPC allows."""
    return rewrites(lambda requests, proxy: rng.sample(answers := proxy.answer(requests), len(answers)))


def duplicates(rng: Random) -> Failure:
    """Answer some requests of a batch twice."""
    return rewrites(
        lambda requests, proxy: [each for answers in proxy.answer(requests) for each in [answers] * rng.randint(1, 2)]
    )


def moves_to(chain_id: int) -> Failure:
    """Report another chain id."""
    return _instead("eth_chainId", lambda request: {"jsonrpc": "2.0", "id": request["id"], "result": hex(chain_id)})


def without(method: str) -> Failure:
    """Reject a method as unknown."""
    message = f"the method {method} does not exist/is not available"
    return _instead(method, lambda request: refusal(request, -32_601, message))


def without_overrides() -> Failure:
    """Reject calls on hypothetical state."""
    return _on_overrides(lambda request: refusal(request, -32_602, "too many arguments, want at most 2"))


def ignores_overrides() -> Failure:
    """Answer calls on hypothetical state as if no contract were there."""
    return _on_overrides(lambda request: {"jsonrpc": "2.0", "id": request["id"], "result": "0x"})


def _on_overrides(answer: Callable[[RpcRequest], RpcAnswer]) -> Failure:
    return _instead("eth_call", lambda request: answer(request) if len(request["params"]) > 2 else None)


def empties_calls(rng: Random, share: float = 1.0) -> Failure:
    """Answers a share of the calls as if no contract were there."""

    def answers(request: RpcRequest) -> RpcAnswer | None:
        return {"jsonrpc": "2.0", "id": request["id"], "result": "0x"} if rng.random() < share else None

    return _instead("eth_call", answers)


def withholds_logs(rng: Random, share: float) -> Failure:
    """Leave out a share of the events silently."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        for request, each in zip(requests, answers, strict=True):
            if request["method"] == "eth_getLogs" and "result" in each:
                each["result"] = [log for log in each["result"] if rng.random() >= share]
        return answers

    return rewrites(change)


def ignores_block_numbers(happen: Callable[[], object] | None = None) -> Failure:
    """Answers every call from its latest block, and lets something happen before each exchange."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        if happen:
            happen()
        return proxy.answer([_at_latest(request) for request in requests])

    return rewrites(change)


def limits_logs(max_blocks: int) -> Failure:
    """Refuse events of more than `max_blocks` blocks."""

    def answers(request: RpcRequest) -> RpcAnswer | None:
        (log_filter,) = request["params"]
        length = int(log_filter["toBlock"], 16) - int(log_filter["fromBlock"], 16) + 1
        if length <= max_blocks:
            return None
        return refusal(request, -32_602, f"eth_getLogs is limited to a {max_blocks} block range")

    return _instead("eth_getLogs", answers)


def first(action: Callable[[], object]) -> Failure:
    """Does something to the chain before it passes a request on."""

    def failure(_: Handler) -> bool:
        action()
        return False

    return failure


def meanwhile(action: Callable[[], object], rng: Random) -> Failure:
    """Does something to the chain while it is answering a batch: before some of it, after the rest."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        turn = rng.randint(0, len(requests))
        before = proxy.answer(requests[:turn])
        action()
        return before + proxy.answer(requests[turn:])

    return rewrites(change)


def amid(action: Callable[[], object], rng: Random) -> Failure:
    """The same with a node that answers the requests of a batch side by side: any of them before, the others after."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        early = [request for request in requests if rng.random() < 0.5]
        answers = proxy.answer(early)
        action()
        return answers + proxy.answer([request for request in requests if request not in early])

    return rewrites(change)


def any_of(rng: Random, failures: Sequence[Failure], share: float) -> Failure:
    """Apply a random failure to a share of the exchanges."""

    def failure(handler: Handler) -> bool:
        return rng.random() < share and rng.choice(failures)(handler)

    return failure


def every(count: int, failure: Failure) -> Failure:
    """Apply a failure to one exchange in `count`, beginning with the first."""
    turn = iter(range(1 << 62))
    return lambda handler: next(turn) % count == 0 and failure(handler)


def _instead(method: str, answer: Callable[[RpcRequest], RpcAnswer | None]) -> Failure:
    """Answers requests of one method itself, but for those where `answer` gives None."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = [answer(each) if each["method"] == method else None for each in requests]
        passed = iter(proxy.answer([each for each, own in zip(requests, answers, strict=True) if own is None]))
        return [own or next(passed) for own in answers]

    return rewrites(change)


def _at_latest(request: RpcRequest) -> RpcRequest:
    if request["method"] not in ("eth_call", "eth_simulateV1"):
        return request
    call, _, *more = request["params"]
    return request | {"params": [call, "latest", *more]}


def _answer_at(requests: list[RpcRequest], proxy: Proxy, head: int) -> list[RpcAnswer]:
    changed = [_changed(each, head) for each in requests]
    passed = iter(proxy.answer([each for each in changed if "method" in each]))
    return [next(passed) if "method" in each else each for each in changed]


def _changed(request: RpcRequest, head: int) -> RpcRequest | RpcAnswer:
    """Return the request for a node whose latest block is `head`, or the answer that it would give."""
    method, params = request["method"], list(request["params"])
    if method == "eth_blockNumber":
        return {"jsonrpc": "2.0", "id": request["id"], "result": hex(head)}
    if method == "eth_getLogs":
        last = min(int(params[0]["toBlock"], 16), head)
        if int(params[0]["fromBlock"], 16) > head:
            return {"jsonrpc": "2.0", "id": request["id"], "result": []}
        return request | {"params": [params[0] | {"toBlock": hex(last)}]}
    place = _TAG_AT.get(method)
    if place is None:
        return request
    if params[place] == "latest":
        params[place] = hex(head)
    if int(params[place], 16) <= head:
        return request | {"params": params}
    if method == _BLOCK:
        return {"jsonrpc": "2.0", "id": request["id"], "result": None}
    return refusal(request, -32_000, UNKNOWN_BLOCK)


def _whole(handler: Handler) -> bytes:
    answers = _proxy(handler).answer(handler.requests)
    return json.dumps(answers if isinstance(handler.content, list) else answers[0]).encode()


def _proxy(handler: Handler) -> Proxy:
    assert isinstance(handler.server, Proxy)
    return handler.server
