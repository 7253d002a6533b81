"""Addresses of Redis servers are parsed in each form, and shown without user name and password."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.redis_url import RedisUrl

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("text", "server", "shown"),
    [
        ("redis://localhost", RedisUrl("localhost"), "redis://localhost:6379"),
        ("REDIS://localhost:1/", RedisUrl("localhost", 1), "redis://localhost:1"),
        ("rediss://r.example/3", RedisUrl("r.example", database=3, uses_tls=True), "rediss://r.example:6379/3"),
        ("redis://:p%40ss@[::1]:7", RedisUrl("::1", 7, password="p@ss"), "redis://[::1]:7"),
        ("unix:///run/r.sock", RedisUrl(socket_path="/run/r.sock"), "unix:///run/r.sock"),
        (
            "unix://me:secret@/r.sock?db=2",
            RedisUrl(socket_path="/r.sock", database=2, username="me", password="secret"),
            "unix:///r.sock?db=2",
        ),
    ],
)
def test_an_address_is_parsed_and_shown(text: str, server: RedisUrl, shown: str) -> None:
    assert RedisUrl.parse(text) == server
    assert server.shown == shown


@given(TEXTS, TEXTS)
def test_credentials_are_unquoted_and_never_shown(username: str, password: str) -> None:
    credentials = f"{quote(username, safe='')}:{quote(password, safe='')}"
    for scheme, rest in (("redis", "redis.example"), ("rediss", "redis.example:7/1"), ("unix", "/run/r.sock")):
        server = RedisUrl.parse(f"{scheme}://{credentials}@{rest}")
        assert (server.username, server.password) == (username, password)
        assert server.shown == RedisUrl.parse(f"{scheme}://{rest}").shown


@pytest.mark.parametrize(
    "text",
    [
        "", "localhost:6379", "redis://", "redis:///1", "http://hunter2", "redis://:hunter2@h:port", "redis://h/hunter2",
        "redis://h?password=hunter2", "redis://h#hunter2", "redis://h/99999999", "redis://hunter2 @h", "unix://hunter2",
        "unix://hunter2:x@y/z", "unix:///s?db=-1", "unix:///s?timeout=1",
    ],
)  # fmt: skip
def test_other_addresses_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the type that a parser of a setting raises
        RedisUrl.parse(text)
    assert "hunter2" not in str(caught.value)
