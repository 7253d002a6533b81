"""What stands at a path, as ASGI applications: the endpoints of networks, health, and pages that are the same for all.

The work of endpoints runs off the event loop; a client that leaves ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from swapcli.api.slippage import Generation
from swapcli.errors import Cancelled, Overloaded, SwapcliError
from swapcli.model.network import Network
from swapcli.service.balance_check import Checker, Outcome
from swapcli.service.endpoint_table import Endpoint
from swapcli.service.error_responses import Reply, in_v2, refusal, reply_to, style_on
from swapcli.service.health_checks import HealthDesk
from swapcli.service.market_registry import Desk
from swapcli.service.metrics import Metrics
from swapcli.service.pages import PageMaker
from swapcli.service.refusal_pacing import RefusalPacer
from swapcli.service.request import Asked
from swapcli.service.request_context import JSON, header, left, read_body, send_body, send_reply, visit_of
from swapcli.service.worker import Solver, unless_left

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

OK = 200
NO_PATH = refusal(404, "there is nothing at this path")
NO_NETWORK = refusal(404, "there is no such network here")


class Workshop(NamedTuple):
    """What endpoints work with."""

    desk: Desk
    solver: Solver
    metrics: Metrics
    checker: Checker
    pacer: RefusalPacer


class Resource:
    """The endpoints of one path; which of them there are depends on the network."""

    def __init__(self, path: str, endpoints: Sequence[Endpoint], workshop: Workshop) -> None:
        self._path = path
        self._endpoints = tuple(endpoints)
        self._workshop = workshop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Finds the endpoint of a request and lets it answer."""
        network = self._workshop.desk.networks.get(scope["path_params"]["network"])
        if network is None:
            return await send_reply(send, NO_NETWORK)
        here = {each.method: each for each in self._endpoints if each.where(network)}
        refused = _enter(scope, self._path, network, here)
        if refused is not None:
            return await send_reply(send, refused)
        endpoint = here[_method(scope)]
        body = await read_body(scope, receive)
        try:
            asked = _asked(scope, network, body)
            content, outcome = await self._work(endpoint, asked, visit_of(scope).client, receive)
            if outcome.check is not None:
                await self._workshop.checker.run(network.name, outcome.check)
        except SwapcliError as error:
            reply = reply_to(error, style_on(endpoint.style, network.name))
            if reply is None:
                raise
            is_v2 = endpoint.generation is Generation.V2
            return await send_reply(send, in_v2(reply, self._workshop.desk.now_ms()) if is_v2 else reply)
        return await send_body(send, OK, JSON, content, outcome.headers)

    async def _work(self, endpoint: Endpoint, asked: Asked, client: str, receive: Receive) -> tuple[bytes, Outcome]:
        solver, metrics = self._workshop.solver, self._workshop.metrics
        loop = asyncio.get_running_loop()
        try:
            solver.check_room(client)
            work = solver.run(
                lambda is_cancelled: self._run(endpoint, asked._replace(is_cancelled=is_cancelled)), client=client
            )
            return await unless_left(loop.create_task(work), loop.create_task(left(receive)))
        except Overloaded:
            metrics.overloaded()
            await self._workshop.pacer.wait()
            raise
        except Cancelled:
            metrics.cancelled(asked.network.name)
            raise

    def _run(self, endpoint: Endpoint, asked: Asked) -> tuple[bytes, Outcome]:
        """The document as it is sent, and the outcome that it is of."""
        started_s = perf_counter()
        try:
            answer = endpoint.run(self._workshop.desk, asked)
            outcome = answer if isinstance(answer, Outcome) else Outcome(answer)
            return msgspec.json.encode(outcome.document), outcome
        finally:
            self._workshop.metrics.solved(asked.network.name, perf_counter() - started_s)


class HealthResource:
    """The health check of a generation."""

    def __init__(
        self, path: str, generation: Generation, where: Callable[[Network], bool], desk: Desk, health: HealthDesk
    ) -> None:
        self._path = path
        self._generation = generation
        self._where = where
        self._desk = desk
        self._health = health

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers without waiting for orders."""
        network = self._desk.networks.get(scope["path_params"]["network"])
        if network is None:
            return await send_reply(send, NO_NETWORK)
        refused = _enter(scope, self._path, network, ("GET",) if self._where(network) else ())
        await read_body(scope, receive)
        return await send_reply(send, refused or await self._health.check(network, self._generation))


class PageResource:
    """A page; a slow one is made ahead of all orders."""

    def __init__(self, path: str, maker: PageMaker, solver: Solver) -> None:
        self._path = path
        self._maker = maker
        self._solver = solver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Makes the page anew."""
        refused = _enter(scope, self._path, None, ("GET",))
        await read_body(scope, receive)
        if refused is not None:
            return await send_reply(send, refused)
        (make, is_slow), query = self._maker, scope["query_string"]
        page = await self._solver.run(lambda _: make(query), is_urgent=True) if is_slow else make(query)
        return await send_body(send, page.status, page.content_type.encode(), page.body)


async def nothing(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Where no path fits."""
    await send_reply(send, NO_PATH)


def _enter(scope: Scope, path: str, network: Network | None, methods: Collection[str]) -> Reply | None:
    """Notes where a request has come to; the answer where its method is not among those of the path."""
    if not methods:
        return NO_PATH
    visit = visit_of(scope)
    visit.pattern, visit.network = path, network.name if network else None
    if _method(scope) in methods:
        return None
    allowed = [*methods, "HEAD"] if "GET" in methods else methods
    return refusal(405, "this path does not take that method", (("Allow", ", ".join(sorted(allowed))),))


def _method(scope: Mapping[str, object]) -> str:
    """The method, HEAD being a GET of which only the headers are sent."""
    method = str(scope["method"])
    return "GET" if method == "HEAD" else method


def _asked(scope: Scope, network: Network, body: bytes) -> Asked:
    visit = visit_of(scope)
    return Asked(
        network=network,
        query=scope["query_string"],
        body=body,
        content_type=header(scope, b"content-type") or "",
        rest=visit.path.rpartition("/")[2],
        key=visit.key,
        is_cancelled=_never,
    )


def _never() -> bool:
    return False
