"""A proxy on a socket between us and a real node, which behaves as badly as it is told, from one exchange to the next.

A fault is done to one exchange. Those that hang up, say a status or stay silent are of `node.server`; here are those
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

from tests.chain.node.server import SECRET, Asked, Fault, Handler, Server, Told, hangs_up, refusal

UNKNOWN_BLOCK: Final = "header not found"
_BLOCK: Final = "eth_getBlockByNumber"
_TIMEOUT_S: Final = 30.0
_TAG_AT: Final = {"eth_call": 1, _BLOCK: 0}

Change = Callable[[list[Asked], "Proxy"], list[Told]]


class Proxy(Server):
    """Stands before the node at `port`. `asked` has the method of every request that came."""

    def __init__(self, port: int) -> None:
        super().__init__(lambda _: None)
        self._port = port
        self._lock = Lock()
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """With a name, a password and keys in it, which nobody may ever see."""
        return f"http://user-{SECRET}:{SECRET}@127.0.0.1:{self.server_port}/v2/{SECRET}?key={SECRET}"

    def tell(self, asked: Sequence[Asked]) -> list[Told]:
        """What the node answers, in the order of the requests."""
        self.asked += [request["method"] for request in asked]
        if not asked:
            return []
        # The node answers the requests of a batch side by side; one of several that came at once is enough.
        with self._lock:
            told = {each["id"]: each for each in self._posted(list(asked))}
        return [told[request["id"]] for request in asked]

    def head(self) -> int:
        """The number of the node's newest block."""
        (told,) = self._posted([{"jsonrpc": "2.0", "id": 0, "method": "eth_blockNumber", "params": []}])
        return int(told["result"], 16)

    def _posted(self, body: list[Asked]) -> list[Told]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
            return cast(list[Told], json.loads(connection.getresponse().read()))
        finally:
            connection.close()


@contextmanager
def proxying(port: int) -> Iterator[Proxy]:
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
    """As if nothing was."""
    return False


def late(seconds: float) -> Fault:
    """Answers, but so late."""

    def fault(_: Handler) -> bool:
        sleep(seconds)
        return False

    return fault


def breaks_off_midway(handler: Handler) -> bool:
    """Sends half of the true answer and hangs up."""
    body = _whole(handler)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    return hangs_up(handler)


def cuts_off(handler: Handler) -> bool:
    """Sends half of the true answer as if it were whole."""
    body = _whole(handler)
    handler.send(body[: len(body) // 2])
    return True


def rewrites(change: Change) -> Fault:
    """Answers all at once what `change` makes of the requests."""

    def fault(handler: Handler) -> bool:
        handler.answer_all(change(handler.asked, _proxy(handler)))
        return True

    return fault


def stale(behind: int) -> Fault:
    """Knows nothing of the newest blocks, and says of events in them that there are none, as nodes behind do."""
    return rewrites(lambda asked, proxy: _told_at(asked, proxy, proxy.head() - behind))


def refuses_some(rng: Random, share: float, code: int, message: str) -> Fault:
    """Answers some requests with an error of their own."""

    def change(asked: list[Asked], proxy: Proxy) -> list[Told]:
        told = proxy.tell(asked)
        return [refusal(a, code, message) if rng.random() < share else t for a, t in zip(asked, told, strict=True)]

    return rewrites(change)


def nulls_some(rng: Random, share: float) -> Fault:
    """Answers some requests with null."""
    return rewrites(
        lambda asked, proxy: [each | {"result": None} if rng.random() < share else each for each in proxy.tell(asked)]
    )


def drops_some(rng: Random, share: float) -> Fault:
    """Leaves some requests unanswered."""
    return rewrites(lambda asked, proxy: [each for each in proxy.tell(asked) if rng.random() >= share])


def reorders(rng: Random) -> Fault:
    """Answers a batch in any order, which is its right."""
    return rewrites(lambda asked, proxy: rng.sample(told := proxy.tell(asked), len(told)))


def duplicates(rng: Random) -> Fault:
    """Answers some requests of a batch twice."""
    return rewrites(lambda asked, proxy: [each for told in proxy.tell(asked) for each in [told] * rng.randint(1, 2)])


def moves_to(chain_id: int) -> Fault:
    """Says that it is of another chain."""
    return _instead("eth_chainId", lambda request: {"jsonrpc": "2.0", "id": request["id"], "result": hex(chain_id)})


def without(method: str) -> Fault:
    """Has no such method."""
    message = f"the method {method} does not exist/is not available"
    return _instead(method, lambda request: refusal(request, -32_601, message))


def empties_calls(rng: Random, share: float = 1.0) -> Fault:
    """Answers a share of the calls as if no contract were there."""

    def told(request: Asked) -> Told | None:
        return {"jsonrpc": "2.0", "id": request["id"], "result": "0x"} if rng.random() < share else None

    return _instead("eth_call", told)


def withholds_logs(rng: Random, share: float) -> Fault:
    """Leaves a share of the events out, without a word."""

    def change(asked: list[Asked], proxy: Proxy) -> list[Told]:
        told = proxy.tell(asked)
        for request, each in zip(asked, told, strict=True):
            if request["method"] == "eth_getLogs" and "result" in each:
                each["result"] = [log for log in each["result"] if rng.random() >= share]
        return told

    return rewrites(change)


def ignores_block_numbers(happen: Callable[[], object] | None = None) -> Fault:
    """Answers every call from its newest block, and lets something happen before each exchange."""

    def change(asked: list[Asked], proxy: Proxy) -> list[Told]:
        if happen:
            happen()
        return proxy.tell([_at_latest(request) for request in asked])

    return rewrites(change)


def limits_logs(most_blocks: int) -> Fault:
    """Refuses events of more blocks than so many."""

    def told(request: Asked) -> Told | None:
        (wanted,) = request["params"]
        length = int(wanted["toBlock"], 16) - int(wanted["fromBlock"], 16) + 1
        if length <= most_blocks:
            return None
        return refusal(request, -32_602, f"eth_getLogs is limited to a {most_blocks} block range")

    return _instead("eth_getLogs", told)


def first(action: Callable[[], object]) -> Fault:
    """Does something to the chain before it passes a request on."""

    def fault(_: Handler) -> bool:
        action()
        return False

    return fault


def meanwhile(action: Callable[[], object], rng: Random) -> Fault:
    """Does something to the chain while it is answering a batch: before some of it, after the rest."""

    def change(asked: list[Asked], proxy: Proxy) -> list[Told]:
        turn = rng.randint(0, len(asked))
        before = proxy.tell(asked[:turn])
        action()
        return before + proxy.tell(asked[turn:])

    return rewrites(change)


def amid(action: Callable[[], object], rng: Random) -> Fault:
    """The same with a node that answers the requests of a batch side by side: any of them before, the others after."""

    def change(asked: list[Asked], proxy: Proxy) -> list[Told]:
        early = [request for request in asked if rng.random() < 0.5]
        told = proxy.tell(early)
        action()
        return told + proxy.tell([request for request in asked if request not in early])

    return rewrites(change)


def any_of(rng: Random, faults: Sequence[Fault], share: float) -> Fault:
    """One of these does something to a share of the exchanges."""

    def fault(handler: Handler) -> bool:
        return rng.random() < share and rng.choice(faults)(handler)

    return fault


def every(count: int, fault: Fault) -> Fault:
    """Does it to one exchange in so many, beginning with the first."""
    turn = iter(range(1 << 62))
    return lambda handler: next(turn) % count == 0 and fault(handler)


def _instead(method: str, answer: Callable[[Asked], Told | None]) -> Fault:
    """Answers requests of one method itself, but for those where `answer` gives None."""

    def change(asked: list[Asked], proxy: Proxy) -> list[Told]:
        told = [answer(each) if each["method"] == method else None for each in asked]
        passed = iter(proxy.tell([each for each, own in zip(asked, told, strict=True) if own is None]))
        return [own or next(passed) for own in told]

    return rewrites(change)


def _at_latest(request: Asked) -> Asked:
    if request["method"] != "eth_call":
        return request
    call, _, *more = request["params"]
    return request | {"params": [call, "latest", *more]}


def _told_at(asked: list[Asked], proxy: Proxy, head: int) -> list[Told]:
    changed = [_changed(each, head) for each in asked]
    passed = iter(proxy.tell([each for each in changed if "method" in each]))
    return [next(passed) if "method" in each else each for each in changed]


def _changed(request: Asked, head: int) -> Asked | Told:
    """The request as it must be for a node that has got to `head`, or what is told instead."""
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
    told = _proxy(handler).tell(handler.asked)
    return json.dumps(told if isinstance(handler.content, list) else told[0]).encode()


def _proxy(handler: Handler) -> Proxy:
    assert isinstance(handler.server, Proxy)
    return handler.server
