"""Clients: some send random orders and record every response; one sends as much as it can against its rate limit."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from bench.scale.chain import TradingChain
from bench.scale.cluster import CLIENT_HEADER
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.interface.state_headers import STATE_HEADER, parse_state
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.trader import USER, random_amount

LIMITED_CLIENT = "203.0.113.7"
_TIMEOUT_S = 15.0
_PAUSE_S, _PAUSE_AFTER_FAILURE_S = 0.05, 0.2


class Answer(NamedTuple):
    """A good response: its quoted block, amount and call, and when it was requested and received.

    `requested_s` is Unix time, like block times; `answered_s` is monotonic time.
    """

    block: int
    amount_out: int
    to: str
    calldata: str
    value: int
    requested_s: float
    answered_s: float


class LimitedRequest(NamedTuple):
    """A request of the limited client, in monotonic time."""

    at_s: float
    is_allowed: bool


@dataclass
class Traffic:
    """Everything that clients have seen. `statuses` counts responses by status; 0 is a failed connection."""

    answers: list[Answer] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    limited: list[LimitedRequest] = field(default_factory=list)
    pause_s: float = _PAUSE_S
    """Average pause of a client between two orders, which sets the load."""
    keep_every: int = 1
    """One in this many good responses is kept and checked."""
    lock: Lock = field(default_factory=Lock)


class _Client:
    """A connection to nginx that reopens after a failure."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: http.client.HTTPConnection | None = None

    def request(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, str | None]:
        """Return the status, the document and the state header; status 0 if the connection failed."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        try:
            data = None if body is None else json.dumps(body)
            self._connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            self._connection = None
            return 0, None, None
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(text) if is_json else None, response.getheader(STATE_HEADER)


@contextmanager
def load(scene: TradingChain, port: int, clients: int, limited_per_s: float, rng: Random) -> Iterator[Traffic]:
    """Send orders from `clients` threads, and `limited_per_s` cheap requests per second from one limited client."""
    traffic, ended = Traffic(), Event()
    threads = [
        Thread(target=_send_orders, args=(scene, port, traffic, ended, Random(rng.getrandbits(64))))
        for _ in range(clients)
    ]
    threads.append(Thread(target=_send_limited, args=(scene.network, port, traffic, ended, limited_per_s)))
    for thread in threads:
        thread.start()
    try:
        yield traffic
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _send_orders(scene: TradingChain, port: int, traffic: Traffic, ended: Event, rng: Random) -> None:
    client, tokens = _Client(port), scene.fixture.tokens
    pause_s = traffic.pause_s
    while not ended.wait(rng.uniform(0.5, 1.5) * pause_s):
        sold, bought = rng.sample(sorted(DECIMALS), 2)
        ends = [
            ZERO_ADDRESS if symbol == WETH and rng.random() < 0.5 else tokens[symbol].address
            for symbol in (sold, bought)
        ]
        amount = random_amount(rng, tokens[sold])
        order = {
            "amount": str(amount),
            "tokenInAddress": ends[0],
            "tokenOutAddress": ends[1],
            "slippage": 0.1,
            "destination": USER,
        }
        requested_s, started_s = time.time(), time.monotonic()
        status, document, header = client.request("POST", f"/{scene.network}/calldata", order)
        answered_s = time.monotonic()
        pause_s = traffic.pause_s if status == 200 else _PAUSE_AFTER_FAILURE_S
        with traffic.lock:
            traffic.statuses[status] += 1
            if status != 200:
                if status not in (0, 404, 502, 503, 504):
                    traffic.unexpected.append(f"{status}: {json.dumps(document)[:300]}")
                continue
            state = parse_state(header)
            if state is None or state.block is None:
                traffic.unexpected.append(f"a response without a block: {header}")
                continue
            if traffic.statuses[200] % traffic.keep_every:
                continue
            traffic.times_s.append(answered_s - started_s)
            amount_out = int(document["route"]["outputAmount"])
            call = document["to"], document["calldata"], int(document["value"])
            traffic.answers.append(Answer(state.block, amount_out, *call, requested_s, answered_s))


def _send_limited(network: str, port: int, traffic: Traffic, ended: Event, per_s: float) -> None:
    client, next_s = _Client(port), time.monotonic()
    while not ended.wait(max(next_s - time.monotonic(), 0.0)):
        next_s = max(next_s + 1.0 / per_s, time.monotonic() - 1.0)
        status, _, _ = client.request("GET", f"/{network}/tokens", headers={CLIENT_HEADER: LIMITED_CLIENT})
        if status in (200, 429):
            traffic.limited.append(LimitedRequest(time.monotonic(), status == 200))
