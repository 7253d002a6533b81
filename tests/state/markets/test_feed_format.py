"""Entries of a feed survive their encoding; damaged ones are rejected, or have another hash."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.state.markets.feed_format import (
    MAX_ENTRY_BYTES,
    Changes,
    FeedEntry,
    FeedMarket,
    InvalidFeed,
    MarketHeader,
    decode_entry,
    encode_entry,
)

KEYS = st.integers(0, 12).map(hex)
DOCUMENTS = st.sampled_from([b"{}", b"", b" ", b'{"a":1}', b"\x00\xff", b"p 0x1 1.0 {}"])
HEADERS = st.builds(
    MarketHeader,
    network=st.just("base"),
    chain_id=st.just(8453),
    block=st.integers(0, 2**40),
    block_hash=st.none() | KEYS,
    timestamp=st.none() | st.integers(0, 2**40),
    gas_price_wei=st.integers(0, 2**128),
    source=st.just("a node"),
    pinned=st.none() | st.booleans(),
)


@st.composite
def changes(draw: st.DrawFn) -> Changes:
    records = st.dictionaries(KEYS, st.none() | DOCUMENTS, max_size=5)
    pools = draw(records)
    depths = {key: draw(st.floats(0, 1e30)) for key, document in pools.items() if document is not None}
    return Changes(draw(records), pools, depths)


@given(st.lists(st.tuples(HEADERS, changes()), min_size=1, max_size=4), st.none() | st.integers(0, 9))
def test_entries_rebuild_the_market_with_its_hash(
    steps: list[tuple[MarketHeader, Changes]], rewound: int | None
) -> None:
    market, copy = FeedMarket(), FeedMarket()
    for header, change in steps:
        base = market.state_hash
        market.update(header, change)
        entry = market.entry(base or "", change.tokens, change.pools, rewound)
        assert decode_entry(encode_entry(entry), MAX_ENTRY_BYTES) == entry
        assert copy.matches(entry)
        copy.update(entry.header, entry.changes)
        assert (copy.tokens, copy.pools, copy.depths) == (market.tokens, market.pools, market.depths)
        assert copy.state_hash == entry.state_hash == market.state_hash
    fresh, snapshot = FeedMarket(), decode_entry(encode_entry(market.snapshot()), MAX_ENTRY_BYTES)
    assert fresh.matches(snapshot)
    fresh.update(snapshot.header, snapshot.changes)
    assert fresh.state_hash == market.state_hash


def build_entry() -> FeedEntry:
    market = FeedMarket()
    header = MarketHeader("base", 8453, 7, "0xab", 70, 5, "a node")
    market.update(header, Changes({"0x1": b"{}"}, {"0x2": b'{"a":1}', "0x3": b"{}"}, {"0x2": 1.5, "0x3": 0.0}))
    return market.snapshot()


def test_damaged_entries_are_rejected() -> None:
    """Each byte in turn is changed or the end of it lost."""
    entry = build_entry()
    data = encode_entry(entry)
    for at in range(len(data)):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]):
            try:
                assert decode_entry(damaged, MAX_ENTRY_BYTES) == entry
            except InvalidFeed:
                continue


def test_a_change_of_any_record_changes_the_hash() -> None:
    entry = build_entry()
    market = FeedMarket()
    assert market.matches(entry)
    tokens, pools, depths = entry.changes
    for changed in (
        Changes({"0x1": b"[]"}, pools, depths),
        Changes({}, pools, depths),
        Changes(tokens, {**pools, "0x4": b"{}"}, depths),
        Changes(tokens, {"0x2": pools["0x3"], "0x3": pools["0x2"]}, depths),
    ):
        assert not market.matches(entry._replace(changes=changed))
    assert not market.matches(entry._replace(header=entry.header._replace(block=8)))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"no zlib", "not in zlib's format"),
        (zlib.compress(b""), "not JSON"),
        (zlib.compress(b"[]\n"), "not an object"),
        (zlib.compress(b'{"format":"swap-feed/2"}\n'), "not in the format swap-feed/1"),
        (zlib.compress(b'{"format":"swap-feed/1"}\n'), "its header is invalid"),
        (zlib.compress(b'{"format":"swap-feed/1"}'), "it ends within a line"),
        (encode_entry(build_entry()) + b"x", "data after its end"),
        (zlib.compress(zlib.decompress(encode_entry(build_entry())) + b"x 0x1\n"), "unknown kind"),
        (zlib.compress(zlib.decompress(encode_entry(build_entry())) + b"P 0x9\n"), "4 records instead of 3"),
        (zlib.compress(zlib.decompress(encode_entry(build_entry())) + b"p 0x9 nan {}\n"), "invalid depth"),
        (zlib.compress(bytes(9 * 2**20)), "it ends within a line"),
    ],
)
def test_malformed_entries_are_rejected_with_the_reason(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidFeed, match=problem):
        decode_entry(data, MAX_ENTRY_BYTES)


def test_an_entry_beyond_the_limit_is_rejected() -> None:
    data = encode_entry(build_entry())
    size = len(zlib.decompress(data))
    assert decode_entry(data, size) == build_entry()
    with pytest.raises(InvalidFeed, match="larger than"):
        decode_entry(data, size - 1)
