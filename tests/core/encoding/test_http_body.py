"""Bodies are read whole or not at all, and never beyond their bound."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.http_body import InvalidBody, read_body

LIMIT = 1_000
cuts = st.lists(st.integers(0, 2_000), max_size=6)


def pieces(body: bytes, at: list[int]) -> Iterator[bytes]:
    edges = [0, *sorted(min(cut, len(body)) for cut in at), len(body)]
    return (body[start:end] for start, end in pairwise(edges))


@given(st.binary(max_size=LIMIT), cuts, st.sampled_from(["", "identity", "gzip", "GZIP ", "x-gzip"]))
def test_a_body_within_the_bound_is_read_however_it_is_cut(body: bytes, at: list[int], encoding: str) -> None:
    sent = gzip.compress(body) if "gzip" in encoding.lower() else body
    # The bound holds for what is sent too, and gzip adds a little to what it cannot shorten.
    assert read_body(pieces(sent, at), encoding, max_bytes=LIMIT + 50) == body


@given(st.binary(min_size=LIMIT + 1, max_size=2 * LIMIT), cuts, st.booleans())
def test_a_body_beyond_the_bound_is_refused_however_it_is_cut(body: bytes, at: list[int], zipped: bool) -> None:
    with pytest.raises(InvalidBody, match="more than any response needs"):
        read_body(pieces(gzip.compress(body) if zipped else body, at), "gzip" if zipped else "", max_bytes=LIMIT)


@given(st.binary(min_size=1, max_size=LIMIT), st.data())
def test_a_gzip_that_ends_early_is_refused(body: bytes, data: st.DataObject) -> None:
    sent = gzip.compress(body)
    with pytest.raises(InvalidBody, match="ends early"):
        read_body([sent[: data.draw(st.integers(0, len(sent) - 1))]], "gzip")


@given(st.binary(max_size=LIMIT), st.binary(min_size=1, max_size=50))
def test_bytes_after_a_gzip_stream_are_rejected(body: bytes, more: bytes) -> None:
    with pytest.raises(InvalidBody, match="with data after its end"):
        read_body([gzip.compress(body) + more], "gzip")


def test_an_invalid_gzip_stream_is_rejected() -> None:
    with pytest.raises(InvalidBody, match="not gzip"):
        read_body([b'{"success": true}'], "gzip")


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "rubbish"])
def test_an_unrequested_encoding_is_rejected(encoding: str) -> None:
    with pytest.raises(InvalidBody, match="not requested"):
        read_body([zlib.compress(b"{}")], encoding)


def test_a_bomb_costs_no_more_than_the_bound() -> None:
    bomb = gzip.compress(bytes(256 * 2**20), compresslevel=9)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidBody, match="more than any response needs"):
            read_body([bomb], "gzip", max_bytes=2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 2**20


def test_an_endless_body_is_read_no_further_than_the_bound() -> None:
    taken = 0

    def forever() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield bytes(100)

    with pytest.raises(InvalidBody):
        read_body(forever(), max_bytes=LIMIT)
    assert taken == 11
