"""Parsing the URL of a service, and showing URLs without secrets."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.url import redact_url
from swapcli.core.errors import ConfigError
from swapcli.quoting.remote.service_url import ServiceUrl


@pytest.mark.parametrize(
    ("url", "base", "shown"),
    [
        ("https://quotes.example", "https://quotes.example", "quotes.example"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("https://quotes.example/a/b//", "https://quotes.example/a/b", "quotes.example"),
        ("HTTPS://quotes.example", "https://quotes.example", "quotes.example"),
        ("http://[::1]:80", "http://[::1]:80", "[::1]:80"),
    ],
)
def test_a_url_is_parsed_with_and_without_a_path(url: str, base: str, shown: str) -> None:
    assert ServiceUrl.parse(url) == (base, shown)


@pytest.mark.parametrize(
    "url",
    [
        "quotes.example", "ftp://quotes.example", "https://", "https:///path", "http://[::1", "http://host:port", "",
        "https://me:hunter2@quotes.example", "https://hunter2@quotes.example", "https://quotes.example/?key=hunter2",
        "https://quotes.example#hunter2", "https://quotes.example/?", "https://quotes .example", "https://q\nx",
    ],
)  # fmt: skip
def test_an_invalid_url_is_rejected_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ServiceUrl.parse(url)
    shown = f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert "hunter2" not in shown
    assert caught.value.__context__ is None or "hunter2" not in str(caught.value.__context__)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3))
def test_path_segments_are_quoted(segments: list[str]) -> None:
    surrogate_free = ["".join(c for c in each if not "\ud800" <= c <= "\udfff") or "x" for each in segments]
    parts = urlsplit(ServiceUrl.parse("https://quotes.example/api").join(*surrogate_free))
    assert (parts.netloc, parts.query, parts.fragment) == ("quotes.example", "", "")
    assert [unquote(each) for each in parts.path.split("/")[2:]] == surrogate_free


@given(st.text(max_size=12), st.text(max_size=300))
def test_a_shown_url_is_short_and_printable(host: str, path: str) -> None:
    shown = redact_url(f"https://{host}/{path}")
    assert len(shown) <= 200
    assert shown.isprintable()
    assert shown


@pytest.mark.parametrize(
    "url",
    ["https://me:hunter2@other.example:1/a?hunter2#hunter2", "//hunter2@other.example:1/a", "http://[::1/hunter2"],
)
def test_credentials_and_queries_are_not_shown(url: str) -> None:
    assert "hunter2" not in redact_url(url)


def test_an_empty_url_is_shown_as_another_address() -> None:
    assert redact_url("") == redact_url("?only=a-query") == "another address"
