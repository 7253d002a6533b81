"""Reading any file returns a valid market or raises a `MarketError`, never another exception."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import MarketError
from swapcli.core.model.market import MarketState
from swapcli.state.markets.format import parse_market, render_market
from tests.strategies import Document, market_documents, raise_unknown_network

Path = tuple[str | int, ...]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**300), 2**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.integers(-(2**300), 2**300).map(str)
    | st.sampled_from(["", "0x", "0x0", "-0", "1e9", "\x00", "\ud800", "0x" + "e" * 40, "٣", 10**400, 1e300])
)
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def read(document: str | bytes) -> MarketState | None:
    """Return the market, or None if the file is refused. A market that is read must be consistent."""
    try:
        market = parse_market(document, networks=raise_unknown_network).market
    except MarketError:
        return None
    assert all(key == pool.key and set(pool.tokens) <= set(market.tokens) for key, pool in market.pools.items())
    assert all(key == token.address for key, token in market.tokens.items())
    assert parse_market(render_market(market), networks=raise_unknown_network).market == market
    return market


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value in a document except itself."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in entries:
        yield (*path, key)
        yield from places(member, (*path, key))


def spoil(data: st.DataObject, document: Document) -> None:
    """Delete, replace, copy or duplicate one value of `document` at any depth."""
    path = data.draw(st.sampled_from(list(places(document))), label="path")
    parent: Any = document
    for key in path[:-1]:
        parent = parent[key]
    last = path[-1]
    match data.draw(st.sampled_from(["delete", "replace", "copy", "double"]), label="how"):
        case "delete":
            del parent[last]
        case "replace":
            parent[last] = data.draw(JSON_VALUES, label="value")
        case "copy":
            other: Any = document
            for key in data.draw(st.sampled_from(list(places(document))), label="from"):
                other = other[key]
            parent[last] = json.loads(json.dumps(other))
        case "double" if isinstance(parent, list):
            parent.insert(int(last), json.loads(json.dumps(parent[int(last)])))


@given(market_documents(), st.data())
def test_a_spoiled_document_is_read_or_refused(document: Document, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3), label="errors")):
        spoil(data, document)
    read(json.dumps(document))


@given(market_documents(max_pools=2), st.data())
def test_a_truncated_file_is_refused(document: Document, data: st.DataObject) -> None:
    text = json.dumps(document)
    assert read(text[: data.draw(st.integers(0, len(text) - 1))]) is None


@given(market_documents(max_pools=2), st.data())
def test_a_file_with_a_changed_byte_is_read_or_refused(document: Document, data: st.DataObject) -> None:
    content = bytearray(json.dumps(document, ensure_ascii=False).encode())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read(bytes(content))


@given(market_documents(), st.data())
def test_skipping_bad_pools_never_raises_another_error(document: Document, data: st.DataObject) -> None:
    for pool in document["pools"]:
        spoil(data, pool)
    result = parse_market(json.dumps(document), networks=raise_unknown_network, skip_bad_pools=True)
    assert len(result.market.pools) + len(result.skipped) == len(document["pools"])


@given(market_documents(max_pools=2), st.data(), st.text())
def test_no_control_character_of_a_file_reaches_a_message(document: Document, data: st.DataObject, text: str) -> None:
    path = data.draw(st.sampled_from(list(places(document))))
    parent: Any = document
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = f"\x1b{text}"
    with pytest.raises(MarketError) as caught:
        parse_market(json.dumps(document), networks=raise_unknown_network)
    assert caught.value.message.isprintable()


@given(st.binary(max_size=200))
@example(b"")
@example(b"{}")
@example(b"\xef\xbb\xbf\xef\xbb\xbf{}")
def test_bytes_that_are_not_a_market_are_refused(content: bytes) -> None:
    assert read(content) is None


@given(JSON_VALUES)
def test_json_that_is_not_a_market_is_refused(value: object) -> None:
    assert read(json.dumps(value)) is None
