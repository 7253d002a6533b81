"""Lasting connections over WebSocket and IPC, to a real node and to servers that fail."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from threading import enumerate as all_threads
from typing import Any

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.head_source import FollowMode, SubscribedHeads
from swapcli.state.rpc.node import BlockHeader, LogFilter
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.rpc.subscribed_connection import LiveConnection
from swapcli.testing.evm import DEPLOYER
from tests.chain.anvil import CHAIN_ID, AnvilChain, running_anvil
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import SECRET, SHOWN
from tests.chain.settings import websocket_url
from tests.support.chain import connected
from tests.support.loopback_server import server_tls
from tests.support.tcp_proxy import ProxyState, open_tcp_proxy
from tests.support.waiting import until

TIMEOUT_S = 2.0
CUTS = 10
CHAIN_ID_REQUEST = b'{"jsonrpc":"2.0","id":0,"method":"eth_chainId","params":[]}'

Respond = Callable[[ServerConnection, Any], object]
"""Handle a message of a client."""


@pytest.fixture(scope="module")
def ipc_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ipc") / "anvil.ipc"


@pytest.fixture(scope="module")
def chain(ipc_path: Path) -> Iterator[AnvilChain]:
    with running_anvil(ipc_path=ipc_path) as chain:
        yield chain


@pytest.fixture(params=["ws", "ipc"])
def url(request: pytest.FixtureRequest, chain: AnvilChain, ipc_path: Path) -> str:
    return websocket_url(chain.node.port) if request.param == "ws" else str(ipc_path)


@contextmanager
def connection_to(url: str, heads: SubscribedHeads | None = None, **options: Any) -> Iterator[LiveConnection]:
    options = {"chain_id": CHAIN_ID, "timeout_s": TIMEOUT_S, **options}
    with closing(LiveConnection(url, SHOWN, heads=heads, **options)) as connection:
        yield connection


@contextmanager
def node_over(connection: LiveConnection) -> Iterator[RpcNode]:
    yield RpcNode(
        [RpcEndpoint("", SHOWN, connection=connection)], CHAIN_ID, NodePolicy(timeout_s=TIMEOUT_S, pause=lambda _: None)
    )


@contextmanager
def websocket_server(respond: Respond, **options: Any) -> Iterator[str]:
    """Run a server that passes each message to `respond`. Yield its URL, which has secrets in it."""

    def handle(client: ServerConnection) -> None:
        try:
            for message in client:
                respond(client, json.loads(message))
        except ConnectionClosed:
            pass

    with serve(handle, "127.0.0.1", 0, **options) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = websocket_url(server.socket.getsockname()[1])
        try:
            yield f"{address.replace('ws:', 'wss:') if options.get('ssl') else address}/v2/{SECRET}?key={SECRET}"
        finally:
            server.shutdown()
            thread.join()


def answer(client: ServerConnection, request: Any, result: object) -> None:
    client.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


def mine_until_subscribed(chain: AnvilChain, heads: SubscribedHeads) -> None:
    def is_subscribed() -> bool:
        chain.node.ask("evm_mine")
        heads.wait(heads.poll_s)
        return heads.mode is FollowMode.SUBSCRIPTION

    until(is_subscribed)


def test_an_announced_header_is_that_of_the_block(chain: AnvilChain, url: str) -> None:
    heads = SubscribedHeads(0.2)
    with connection_to(url, heads), connected(chain) as http:
        assert heads.announced is None
        mine_until_subscribed(chain, heads)
        newest = http.read_head().block
        until(lambda: heads.announced == newest)


def test_reads_equal_those_over_http(chain: AnvilChain, url: str) -> None:
    call = ContractCall(DEPLOYER, b"\x12\x34")
    with connection_to(url) as connection, node_over(connection) as live, connected(chain) as http:
        head = http.read_head()
        assert live.read_head() == head
        assert live.call_many([call] * 450, head.block) == http.call_many([call] * 450, head.block)
        events = LogFilter((), (), 0, head.block.number)
        assert live.read_logs(events) == http.read_logs(events)
        assert live.read_block(head.block.number + 1) is None


class RecordingHeads(SubscribedHeads):
    """Heads that record the announced blocks."""

    def __init__(self, poll_s: float) -> None:
        super().__init__(poll_s)
        self.numbers: list[int] = []

    def record_head(self, number: int, header: BlockHeader | None = None) -> None:
        self.numbers.append(number)
        super().record_head(number, header)


def test_every_block_is_announced(chain: AnvilChain, url: str) -> None:
    heads = RecordingHeads(0.2)
    with connection_to(url, heads):
        mine_until_subscribed(chain, heads)
        chain.node.ask("anvil_mine", "0x14")
        head = int(chain.node.ask("eth_blockNumber"), 16)
        until(lambda: heads.numbers[-1] == head)
        assert heads.numbers == list(range(heads.numbers[0], head + 1))
        assert heads.problem is None


def test_exchanges_and_blocks_survive_cut_connections(chain: AnvilChain) -> None:
    heads = SubscribedHeads(0.2)
    with (
        open_tcp_proxy(chain.node.port) as proxy,
        connection_to(websocket_url(proxy.port), heads) as connection,
        node_over(connection) as node,
    ):
        for _ in range(CUTS):
            mine_until_subscribed(chain, heads)
            assert node.read_head().block.number == int(chain.node.ask("eth_blockNumber"), 16)
            assert proxy.cut() == 1
        mine_until_subscribed(chain, heads)
        assert proxy.accepted >= CUTS + 1


def test_a_node_that_comes_back_is_subscribed_to_again(chain: AnvilChain) -> None:
    heads = SubscribedHeads(0.05)
    with open_tcp_proxy(chain.node.port) as proxy, connection_to(websocket_url(proxy.port), heads) as connection:
        mine_until_subscribed(chain, heads)
        proxy.state = ProxyState.REFUSING
        proxy.cut()
        until(lambda: heads.problem)
        assert (heads.problem, heads.mode) == (f"no connection to {SHOWN}", FollowMode.POLLING)
        with pytest.raises(Unreachable):
            connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)
        proxy.state = ProxyState.FORWARDING
        mine_until_subscribed(chain, heads)
        assert heads.problem is None


def test_a_silent_node_times_out_and_recovers(chain: AnvilChain) -> None:
    with open_tcp_proxy(chain.node.port) as proxy, connection_to(websocket_url(proxy.port)) as connection:
        assert connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S).content
        proxy.state = ProxyState.SILENT
        started_s = time.monotonic()
        with pytest.raises(UpstreamTimeout, match=f"{SHOWN} did not respond in time"):
            connection.exchange(CHAIN_ID_REQUEST, 0.3)
        assert time.monotonic() - started_s < TIMEOUT_S
        proxy.state = ProxyState.FORWARDING
        response = connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)
        assert response.content == {"jsonrpc": "2.0", "id": 0, "result": hex(CHAIN_ID)}


def test_a_late_response_is_not_taken_for_the_next_one() -> None:
    def respond(client: ServerConnection, request: Any) -> None:
        time.sleep(request["params"][0])
        answer(client, request, request["method"])

    def ask(connection: LiveConnection, method: str, delay_s: float, timeout_s: float) -> Any:
        request = {"jsonrpc": "2.0", "id": 0, "method": method, "params": [delay_s]}
        return connection.exchange(json.dumps(request).encode(), timeout_s).content

    with websocket_server(respond) as url, connection_to(url) as connection:
        for _ in range(3):
            with pytest.raises(UpstreamTimeout):
                ask(connection, "late", 0.3, 0.1)
            assert ask(connection, "next", 0.0, TIMEOUT_S)["result"] == "next"


def reject_handshake(client: ServerConnection, request: Request) -> Response:
    del client, request
    return Response(401, "Unauthorized", Headers(), f"no key {SECRET}".encode())


@pytest.mark.parametrize(
    ("respond", "options", "kind", "message"),
    [
        (bool, {"process_request": reject_handshake}, UpstreamRejected, "responded with status 401"),
        (
            lambda client, _: client.send(f"{SECRET} is no JSON"),
            {},
            InvalidUpstreamResponse,
            "something other than JSON-RPC",
        ),
        (lambda client, _: client.close(1011, SECRET), {}, Unreachable, "no connection to"),
        (lambda client, _: client.close(1000, SECRET), {}, Unreachable, "no connection to"),
        (lambda client, _: client.socket.close(), {}, Unreachable, "no connection to"),
        (
            bool,
            {"ssl": server_tls("loopback.pem")},
            Unreachable,
            "the certificate of .* is not trusted: self-signed",
        ),
    ],
)
def test_failures_have_plain_errors_without_secrets(
    respond: Respond,
    options: dict[str, Any],
    kind: type[UpstreamError],
    message: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    heads = SubscribedHeads(0.05)
    headers = {"Authorization": f"Bearer {SECRET}"}
    with websocket_server(respond, **options) as url:
        for subscribed in (None, heads):
            with connection_to(url, subscribed, headers=headers) as connection:
                with pytest.raises(kind, match=message) as failed:
                    connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)
                check_secrets_hidden(str(failed.value))
    assert heads.problem
    check_secrets_hidden(heads.problem + caplog.text + "".join(capfd.readouterr()))


def test_nothing_listening_is_unreachable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for url in (websocket_url(port), str(tmp_path / "missing.ipc")):
        sentence = "no connection to" if url.endswith("ipc") else f"^{SHOWN} refuses connections$"
        with connection_to(url) as connection, pytest.raises(Unreachable, match=sentence):
            connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)


def test_a_host_name_that_cannot_be_encoded_is_named() -> None:
    with (
        connection_to(f"ws://{'a' * 64}.example") as connection,
        pytest.raises(Unreachable, match="cannot be resolved"),
    ):
        connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)


def test_a_server_that_never_answers_a_handshake_times_out() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        connection_to(websocket_url(listener.getsockname()[1]), timeout_s=0.3) as connection,
        pytest.raises(UpstreamTimeout),
    ):
        connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)


def test_batches_become_smaller_for_a_node_with_a_limit() -> None:
    def respond(client: ServerConnection, requests: Any) -> None:
        responses = [{"jsonrpc": "2.0", "id": each["id"], "result": "0x12"} for each in requests]
        client.send(json.dumps(responses))

    call = ContractCall(DEPLOYER, bytes(100))
    with websocket_server(respond, max_size=20_000) as url, connection_to(url) as connection:
        with node_over(connection) as node:
            assert node.call_many([call] * 200, 7) == [b"\x12"] * 200
        assert connection.exchange(b"[" + b" " * 30_000 + b"]", TIMEOUT_S).status == 413


def test_a_node_without_subscriptions_is_read_and_polled() -> None:
    def respond(client: ServerConnection, request: Any) -> None:
        if request["method"] == "eth_subscribe":
            error = {"code": -32601, "message": f"no method for {SECRET}"}
            client.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        else:
            answer(client, request, hex(CHAIN_ID))

    heads = SubscribedHeads(0.05)
    with websocket_server(respond) as url, connection_to(url, heads) as connection:
        assert connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S).content
        assert (heads.mode, heads.problem) == (
            FollowMode.POLLING,
            f"{SHOWN} does not support subscriptions to new blocks",
        )


def test_blocks_of_another_chain_are_not_followed(chain: AnvilChain) -> None:
    heads = SubscribedHeads(0.05)
    with connection_to(websocket_url(chain.node.port), heads, chain_id=1) as connection:
        with pytest.raises(InvalidUpstreamResponse, match="is a node of chain 31337, not of chain 1"):
            connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)
        chain.node.ask("evm_mine")
        heads.wait(0.05)
        assert heads.mode is FollowMode.POLLING


def test_headers_and_credentials_reach_the_node_as_text_frames() -> None:
    seen: list[tuple[Headers, str]] = []

    def respond(client: ServerConnection, request: Any) -> None:
        assert client.request
        seen.append((client.request.headers, client.request.path))
        answer(client, request, hex(CHAIN_ID))

    with (
        websocket_server(respond) as url,
        connection_to(url.replace("//", f"//user:{SECRET}@"), headers={"X-Key": SECRET}) as connection,
    ):
        connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)
    ((headers, path),) = seen
    assert (headers["X-Key"], path) == (SECRET, f"/v2/{SECRET}?key={SECRET}")
    assert headers["Authorization"].startswith("Basic ")


@pytest.mark.parametrize("state", ProxyState)
def test_closing_ends_the_thread_at_once(chain: AnvilChain, state: ProxyState) -> None:
    before, heads = set(all_threads()), SubscribedHeads(0.05)
    with open_tcp_proxy(chain.node.port) as proxy:
        proxy.state = state
        connection = LiveConnection(websocket_url(proxy.port), SHOWN, chain_id=CHAIN_ID, timeout_s=30.0, heads=heads)
        heads.wait(0.05)
        time.sleep(0.1)
        started_s = time.monotonic()
        connection.close()
        connection.close()
        assert time.monotonic() - started_s < 1.5
        with pytest.raises(Unreachable):
            connection.exchange(CHAIN_ID_REQUEST, TIMEOUT_S)
        connection.open()
    until(lambda: not any(thread.name.startswith("connection to") for thread in set(all_threads()) - before))


def test_an_exchange_ends_when_the_connection_is_closed(chain: AnvilChain) -> None:
    failures: list[UpstreamError] = []
    with open_tcp_proxy(chain.node.port) as proxy, connection_to(websocket_url(proxy.port)) as connection:

        def wait_long() -> None:
            try:
                connection.exchange(CHAIN_ID_REQUEST, 30.0)
            except UpstreamError as error:
                failures.append(error)

        proxy.state = ProxyState.SILENT
        thread = Thread(target=wait_long)
        thread.start()
        time.sleep(0.2)
        connection.close()
        thread.join(5)
        assert [type(each) for each in failures] == [Unreachable]
