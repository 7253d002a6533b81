"""A persistent connection to a node over WebSocket or an IPC socket, which subscribes to new blocks.

The connection uses web3, in an event loop in a separate thread, and reconnects automatically. Importing web3 takes
about a second, so only long-running commands load this module, and only if a node has such a URL.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from asyncio import CancelledError, Future, Task
from collections.abc import Mapping
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import suppress
from threading import Event, Lock, Thread
from types import MappingProxyType
from typing import Any, Final, cast

from web3 import AsyncIPCProvider, AsyncWeb3, WebSocketProvider
from web3.exceptions import ReadBufferLimitReached, TimeExhausted, Web3RPCError
from web3.providers.persistent import PersistentConnectionProvider
from web3.types import RPCEndpoint, RPCRequest, RPCResponse
from web3.utils.subscriptions import NewHeadsSubscription, NewHeadsSubscriptionContext
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from swapcli.core.encoding.url import is_ipc_path, split_url
from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.state.backoff import backoff_s
from swapcli.state.connect_failure import USER_AGENT, explain_connect_failure
from swapcli.state.rpc.head_source import SubscribedHeads
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.rpc.refusals import Attempt, Refusal, classify_status, refused
from swapcli.state.rpc.rpc_connection import MAX_RESPONSE_BYTES, OK, TOO_LARGE, RpcResponse, find_secrets, redact
from swapcli.state.rpc.rpc_node import wrong_chain

_FIRST_PAUSE_S: Final = 0.1
_MAX_PAUSE_S: Final = 15.0
"""Maximum pause between attempts to connect. An exchange that needs the connection ends the pause."""
_PING_INTERVAL_S: Final = 10.0
"""Detects a peer that is gone without having closed the connection. By default, web3 takes five minutes for that."""
_CLOSE_TIMEOUT_S: Final = 0.5  # for the closing handshake, which nothing waits for
_JOIN_TIMEOUT_S: Final = 2.0  # for the connection's thread to respond or to end
_MESSAGE_TOO_BIG: Final = 1009
"""The WebSocket close code for a message that is too large for the peer (RFC 6455)."""
_HINT: Final = "check the node's URL, and that it is running"

# web3 and websockets log node URLs, which may contain keys, and failures that we report ourselves.
for _name in ("web3", "websockets"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class LiveConnection:
    """An `RpcConnection` to a WebSocket URL or the path of an IPC socket. It is opened when first used.

    If `heads` is given, it is notified of new blocks of the chain `chain_id`. `timeout_s` limits the time to connect.
    WebSocket requests carry `headers`, whose values errors never show; `proxy` is the URL of an HTTP proxy. Any thread
    may use it. Only one exchange runs at a time.
    """

    def __init__(
        self,
        url: str,
        redacted_url: str,
        *,
        chain_id: int,
        timeout_s: float,
        headers: Mapping[str, str] = MappingProxyType({}),
        proxy: str | None = None,
        heads: SubscribedHeads | None = None,
    ) -> None:
        self.redacted_url = redacted_url
        self._secrets = () if is_ipc_path(url) else find_secrets(split_url(url), headers.values())
        self._connector = _Connector(url, redacted_url, chain_id, timeout_s, headers, proxy, heads)
        self._lock, self._is_running = Lock(), Event()
        self._exchanging = Lock()
        self._thread: Thread | None = None
        self._is_closed = False
        if heads is not None:
            heads.attach(self)

    def open(self) -> None:
        """Start to connect, and return without waiting. Does nothing if the connection was closed."""
        with self._lock:
            if self._thread is None and not self._is_closed:
                self._thread = Thread(target=self._run, name=f"connection to {self.redacted_url}", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Close the connection, and end its thread."""
        with self._lock:
            self._is_closed = True
        if self._thread and self._thread.is_alive():
            self._is_running.wait()
            self._connector.cancel()
            self._thread.join(_JOIN_TIMEOUT_S)

    def restart(self) -> None:
        """Close the connection and start to open another one, and return without waiting."""
        if self._is_running.is_set():
            self._connector.restart()

    def redact(self, words: str) -> str:
        """Same as `RpcConnection.redact`."""
        return redact(words, self._secrets)

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        """Same as `RpcConnection.exchange`."""
        self.open()
        if self._is_closed:
            raise self._connector.unreachable()
        self._is_running.wait()
        if not self._exchanging.acquire(timeout=timeout_s):
            raise self._connector.late()
        try:
            return self._connector.exchange(body, timeout_s)
        finally:
            self._exchanging.release()

    def _run(self) -> None:
        with suppress(CancelledError):
            asyncio.run(self._connector.run(self._is_running))


class _Exchanging(PersistentConnectionProvider):
    """Adds exchanges of our own requests to a web3 provider.

    web3 waits for a response by polling, which takes a whole core. Here one request is in progress at a time, and the
    next message that is not an announcement ends it.
    """

    was_useful = False
    _response: Future[Any] | None = None

    async def exchange(self, body: bytes) -> object:
        """Send requests, and return the decoded response."""
        self._response = asyncio.get_running_loop().create_future()
        await self.socket_send(body)
        return await self._response

    async def send_request(self, method: RPCEndpoint, params: Any) -> RPCRequest:
        """Send one of web3's own requests."""
        self._response = asyncio.get_running_loop().create_future()
        return await super().send_request(method, params)

    async def recv_for_request(self, rpc_request: RPCRequest) -> RPCResponse:
        """Receive the response to one of web3's own requests."""
        del rpc_request
        assert self._response
        return cast(RPCResponse, await asyncio.wait_for(self._response, self.request_timeout))

    async def disconnect(self) -> None:
        """Disconnect as web3 does, but close a connection whose last message was invalid in the first call."""
        try:
            await super().disconnect()
        except Exception:
            await super().disconnect()

    async def socket_recv(self) -> RPCResponse:
        """Return the next announcement. Other messages are responses."""
        while True:
            try:
                message = await super().socket_recv()  # type: ignore[safe-super]
            except BaseException as error:
                if self._response and not self._response.done():
                    self._response.set_exception(error if isinstance(error, Exception) else ConnectionError())
                raise
            if isinstance(message, dict) and message.get("method") == "eth_subscription":
                return message
            if self._response and not self._response.done():
                self._response.set_result(message)


class _WebSocket(_Exchanging, WebSocketProvider):
    async def disconnect(self) -> None:
        """Same as `_Exchanging.disconnect`; web3 leaves the socket open if the peer is closing, or when cancelled."""
        try:
            await super().disconnect()
        finally:
            if self._ws is not None:
                self._ws.transport.abort()
            await asyncio.sleep(0)  # the loop's next round, perhaps its last, releases the socket


class _IpcSocket(_Exchanging, AsyncIPCProvider):
    pass


_Attempt = Future["_Exchanging | UpstreamError"]
"""An attempt to connect: the open connection, or the reason why there is none."""


class _Connector:
    """Keeps a connection open, in an event loop. Call `run` first; other threads may use the other public methods."""

    def __init__(
        self,
        url: str,
        redacted_url: str,
        chain_id: int,
        timeout_s: float,
        headers: Mapping[str, str],
        proxy: str | None,
        heads: SubscribedHeads | None,
    ) -> None:
        self._url, self._redacted_url, self._chain_id, self._timeout_s = url, redacted_url, chain_id, timeout_s
        self._headers, self._proxy, self._heads = headers, proxy, heads

    async def run(self, is_running: Event) -> None:
        """Connect again and again, with growing pauses while attempts fail. Sets `is_running` when it has begun."""
        self._loop = asyncio.get_running_loop()
        # We report what ends a connection; the loop would print tracebacks that contain its URL.
        self._loop.set_exception_handler(lambda *_: None)
        self._main = cast("Task[Any]", asyncio.current_task())
        self._is_needed = asyncio.Event()
        self._attempt: _Attempt = self._loop.create_future()
        failures = 0
        while True:
            provider, attempt = self._new_provider(), self._attempt
            self._session = self._loop.create_task(self._connect(provider, attempt))
            is_running.set()
            try:
                await asyncio.wait((self._session,))
            finally:  # also if `run` is cancelled: the session closes its connection
                self._session.cancel()
                await asyncio.wait((self._session,))
            self._end_attempt(attempt, None if self._session.cancelled() else self._session.exception())
            failures = 1 if provider.was_useful else failures + 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_needed.wait(), backoff_s(failures, _FIRST_PAUSE_S, _MAX_PAUSE_S))

    def cancel(self) -> None:
        """End `run`."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._main.cancel)

    def restart(self) -> None:
        """Close the connection; `run` then opens another one."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._session.cancel)

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        """Same as `RpcConnection.exchange`."""
        exchange = self._exchange(body, timeout_s)
        try:
            future = asyncio.run_coroutine_threadsafe(exchange, self._loop)
        except RuntimeError:
            exchange.close()
            raise self.unreachable() from None
        try:
            # The exchange ends at its own deadline. This one is for a loop that ends first.
            return future.result(timeout_s + _JOIN_TIMEOUT_S)
        except FutureCancelled:
            raise self.unreachable() from None
        except TimeoutError:
            raise self.late() from None
        finally:
            future.cancel()

    def unreachable(self) -> Unreachable:
        """Return the error for a connection that cannot be used."""
        return Unreachable(f"no connection to {self._redacted_url}", hint=_HINT)

    def _end_attempt(self, attempt: _Attempt, error: BaseException | None) -> None:
        """Report why a connection was lost, or could not be opened."""
        failure = self._describe(error)
        if self._heads:
            self._heads.record_loss(failure.message)
        if not attempt.done():
            attempt.set_result(failure)
        if self._attempt is attempt:
            self._attempt = self._loop.create_future()
            self._is_needed.clear()

    def _drop(self, attempt: _Attempt) -> None:
        """End the connection of an attempt; later exchanges wait for the next one."""
        if self._attempt is attempt:
            self._attempt = self._loop.create_future()
            self._is_needed.clear()
            self._session.cancel()

    async def _connect(self, provider: _Exchanging, attempt: _Attempt) -> None:
        """Connect, and handle announcements until the connection ends."""
        async with AsyncWeb3(provider) as web3:
            problem = await self._subscribe(web3, self._heads) if self._heads else None
            attempt.set_result(provider)
            if self._heads:
                self._heads.record_connection(problem)
            await web3.subscription_manager.handle_subscriptions(run_forever=True)

    async def _subscribe(self, web3: AsyncWeb3[Any], heads: SubscribedHeads) -> str | None:
        """Subscribe to new blocks. Return why the node rejects that (it can still be read); None if it does not."""
        chain_id = await web3.eth.chain_id
        if chain_id != self._chain_id:
            raise wrong_chain(self._redacted_url, chain_id, self._chain_id)
        try:
            await web3.subscription_manager.subscribe(
                NewHeadsSubscription(handler=self._record_head, handler_context={"heads": heads})
            )
        except Web3RPCError:
            return f"{self._redacted_url} does not support subscriptions to new blocks"
        return None

    async def _record_head(self, context: NewHeadsSubscriptionContext) -> None:
        context.heads.record_head(int(context.result["number"]), _header_of(context.result))
        context.async_w3.provider.was_useful = True

    async def _exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        attempt = self._attempt
        if not attempt.done():
            self._is_needed.set()
        try:
            async with asyncio.timeout(timeout_s):
                provider = await asyncio.shield(attempt)
                if isinstance(provider, UpstreamError):
                    raise provider
                content = await provider.exchange(body)
        except UpstreamError:
            raise
        except (TimeoutError, CancelledError) as error:
            # A response that arrives later must not be mistaken for the next exchange's.
            self._drop(attempt)
            raise (self.late() if isinstance(error, TimeoutError) else self.unreachable()) from None
        except Exception as error:
            self._drop(attempt)
            if _is_too_large(error):
                return RpcResponse(TOO_LARGE, None)
            raise self._describe(error) from None
        provider.was_useful = True
        return RpcResponse(OK, content)

    def _new_provider(self) -> _Exchanging:
        if is_ipc_path(self._url):
            return _IpcSocket(
                self._url,
                read_buffer_limit=MAX_RESPONSE_BYTES,
                request_timeout=self._timeout_s,
                max_connection_retries=1,
            )
        options = {
            "additional_headers": dict(self._headers),
            "proxy": self._proxy,
            "user_agent_header": USER_AGENT,
            "max_size": MAX_RESPONSE_BYTES,
            "open_timeout": self._timeout_s,
            "close_timeout": _CLOSE_TIMEOUT_S,
            "ping_interval": _PING_INTERVAL_S,
            "ping_timeout": self._timeout_s,
        }
        return _WebSocket(
            self._url,
            websocket_kwargs=options,
            use_text_frames=True,
            request_timeout=self._timeout_s,
            max_connection_retries=1,
        )

    def late(self) -> UpstreamTimeout:
        return UpstreamTimeout(
            f"{self._redacted_url} did not respond in time", hint="try again, or set a different node"
        )

    def _describe(self, error: BaseException | None) -> UpstreamError:
        """Return the error to report for an error of web3, whose own text shows the URL."""
        if isinstance(error, UpstreamError):
            return error
        cause = error.__cause__ if error and error.__cause__ else error
        if isinstance(cause, InvalidStatus):
            status = cause.response.status_code
            rejected = UpstreamRejected(
                f"{self._redacted_url} responded with status {status}", hint="check the node's URL"
            )
            return refused(rejected, classify_status(status, "", Attempt()))
        if isinstance(cause, TimeExhausted | TimeoutError):
            return self.late()
        # An untrusted certificate and a host name that cannot be encoded also raise ValueError.
        if isinstance(cause, ssl.SSLError | socket.gaierror | ConnectionRefusedError | UnicodeError) and not isinstance(
            cause, UnicodeDecodeError
        ):
            problem, hint, is_transient = explain_connect_failure(cause, self._redacted_url, "node")
            unreachable = Unreachable(problem, hint=hint or _HINT)
            return unreachable if is_transient else refused(unreachable, Refusal.NOT_SERVED)
        if isinstance(cause, ValueError):
            return InvalidUpstreamResponse(f"{self._redacted_url} responded with something other than JSON-RPC")
        if isinstance(cause, ReadBufferLimitReached) or _is_too_large(cause):
            return InvalidUpstreamResponse(f"{self._redacted_url} sent more than {MAX_RESPONSE_BYTES >> 20} MiB")
        return self.unreachable()


def _header_of(found: Mapping[str, Any]) -> BlockHeader | None:
    """Return the header that a node announces; None if it is incomplete."""
    try:
        block_hash, parent_hash = (f"0x{bytes(found[name]).hex()}" for name in ("hash", "parentHash"))
        return BlockHeader(found["number"], block_hash, parent_hash, found["timestamp"], found.get("baseFeePerGas", 0))
    except (KeyError, TypeError):
        return None


def _is_too_large(error: BaseException | None) -> bool:
    """Return whether the peer closed the connection because a message was too large for it."""
    return isinstance(error, ConnectionClosedError) and error.rcvd is not None and error.rcvd.code == _MESSAGE_TOO_BIG
