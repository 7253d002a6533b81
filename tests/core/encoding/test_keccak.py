"""Keccak-256 in plain Python equals published vectors and the compiled library."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.keccak import MAX_SHORT_BYTES, keccak256, keccak256_many, keccak256_python
from tests.examples import seeds
from tests.support import outside_ids

VECTORS = {
    b"": "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    b"The quick brown fox jumps over the lazy dog": "4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15",
    b"\xa3" * 200: "3a57666b048777f2c953dc4456f45a2588e1cb6f2da760122d530ac2ce607d4a",
}
"""Those of the Keccak team's test vectors and of Ethereum's yellow paper; the last has two blocks."""


@pytest.mark.parametrize("message", VECTORS)
def test_published_vectors(message: bytes) -> None:
    assert keccak256_python(message).hex() == keccak256(message).hex() == VECTORS[message]


@pytest.mark.parametrize("seed", seeds(1, full=20))
def test_plain_hashes_equal_the_compiled_ones(seed: int) -> None:
    """All runs together compare 10,000 messages of up to 4 kB, most of them short."""
    random = Random(seed)
    for _ in range(500):
        message = random.randbytes(min(int(random.expovariate(1 / 150)), 4_000))
        assert keccak256_python(message) == outside_ids.keccak256(message)


@given(messages=st.lists(st.binary(max_size=MAX_SHORT_BYTES), max_size=40))
def test_many_hashes_at_once_equal_single_ones(messages: list[bytes]) -> None:
    assert keccak256_many(messages) == [outside_ids.keccak256(message) for message in messages]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 134, 135, 136, 137, 271, 272, 273])
def test_lengths_at_the_edges_of_the_padding(size: int) -> None:
    message = b"\xff" * size
    assert keccak256_python(message) == outside_ids.keccak256(message)
    if size <= MAX_SHORT_BYTES:
        assert keccak256_many([message]) == [outside_ids.keccak256(message)]
