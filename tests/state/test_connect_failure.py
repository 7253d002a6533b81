"""A failed connection is explained by its first cause, with what a person can do about it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from threading import Thread

import pytest

from swapcli.state.connect_failure import error_causes, explain_connect_failure, explain_redirect


def failure_of(connect: Callable[[], object]) -> OSError:
    with pytest.raises(OSError, match=r".") as caught:
        connect()
    return caught.value


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_refused_connection_asks_whether_the_peer_is_running() -> None:
    error = failure_of(lambda: socket.create_connection(("127.0.0.1", free_port()), timeout=1))
    found = explain_connect_failure(error, "http://127.0.0.1", "node")
    assert found == ("http://127.0.0.1 refuses connections", "check that the node is running", True)


def test_tls_against_plain_http_is_no_transient_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = Thread(target=answer)
        thread.start()
        with socket.create_connection(server.getsockname(), timeout=5) as plain:
            error = failure_of(lambda: ssl.create_default_context().wrap_socket(plain, server_hostname="localhost"))
        thread.join()
    found = explain_connect_failure(error, "https://localhost", "service")
    assert (found.hint, found.is_transient) == ("try http:// instead of https://", False)


def test_a_name_that_is_not_known_is_found_below_other_errors() -> None:
    error = failure_of(lambda: socket.getaddrinfo("no-such-host.invalid", 80))
    wrapped = RuntimeError("the library's own error")
    wrapped.__cause__ = error
    assert list(error_causes(wrapped))[1] is error
    found = explain_connect_failure(wrapped, "no-such-host.invalid", "node")
    assert "cannot be resolved" in found.problem
    assert found.is_transient


def test_a_redirect_is_shown_without_credentials() -> None:
    sentence, _, target = explain_redirect("https://node.example", "https://user:secret@other.example/key")
    assert "other.example" in sentence
    assert "secret" not in sentence + target
