"""URLs are parsed strictly and shown without credentials."""

from __future__ import annotations

import pytest

from swapcli.core.encoding.url import (
    is_loopback_address,
    is_loopback_host,
    origin_of,
    split_url,
    with_local_scheme,
)

MALFORMED = [
    "",
    "node.example",
    "https://",
    "https:///path",
    "http://[::1",
    "http://host:port",
    "https://a b",
    "http://a\n",
]


@pytest.mark.parametrize("url", MALFORMED)
def test_a_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="not a URL with a host"):
        split_url(url)


def test_the_error_repeats_no_part_of_the_url() -> None:
    with pytest.raises(ValueError, match="not a URL") as caught:
        split_url("https://user:hunter2/secret@node.example")
    assert "hunter2" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://me:secret@node.example/v1/key?key=secret", "https://node.example"),
        ("HTTP://Node.Example:8545", "http://node.example:8545"),
        ("http://[::1]:80/", "http://[::1]:80"),
    ],
)
def test_the_origin_has_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(split_url(url)) == origin


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_addresses(address: str) -> None:
    assert is_loopback_address(address)
    assert is_loopback_host(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "0.0.0.0", "::", "fe80::1%eth0", "node.example", "", None])
def test_other_addresses_are_not_loopback(address: str | None) -> None:
    assert not is_loopback_address(address)
    assert not is_loopback_host(address or "")


def test_localhost_is_a_loopback_host_but_no_address() -> None:
    assert is_loopback_host("localhost")
    assert is_loopback_host("LOCALHOST")
    assert not is_loopback_address("localhost")


@pytest.mark.parametrize(
    "url", ["localhost:8545", "LOCALHOST:8545/rpc", "127.0.0.1:8545", "[::1]:8545", "192.168.1.5:80/a:b", "10.0.0.1:1"]
)
def test_a_local_server_needs_no_scheme(url: str) -> None:
    assert with_local_scheme(url) == f"http://{url}"


@pytest.mark.parametrize(
    "url",
    [
        "", "mainnet", "localhost", "localhost:", "localhost:http", "node.example:8545", "8.8.8.8:8545", "${RPC}",
        "http://localhost:8545", "https://10.0.0.1:8545", "ws://localhost:8546", "/run/geth.ipc", "user:1@node.example",
    ],
)  # fmt: skip
def test_any_other_text_stays_as_it_is(url: str) -> None:
    assert with_local_scheme(url) == url
