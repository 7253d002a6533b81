"""The hash of short messages in Python equals that of the library."""

from __future__ import annotations

import sys

import pytest
from Crypto.Hash import keccak
from hypothesis import given
from hypothesis import strategies as st

from swapcli.encoding.keccak import MAX_SHORT_BYTES, keccak256_short
from swapcli.networks import address
from swapcli.networks.address import keccak256


def library_hash(message: bytes) -> bytes:
    return bytes(keccak.new(digest_bits=256, data=message).digest())


@given(message=st.binary(max_size=MAX_SHORT_BYTES))
def test_short_hashes_equal_those_of_the_library(message: bytes) -> None:
    assert keccak256_short(message) == library_hash(message)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 134, 135])
def test_lengths_at_the_edges_of_the_padding(size: int) -> None:
    assert keccak256_short(b"\xff" * size) == library_hash(b"\xff" * size)


@pytest.mark.parametrize("size", [40, 135, 136, 5_000])
@pytest.mark.parametrize("is_first", [True, False])
def test_any_length_is_hashed_early_and_late(size: int, is_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_short_hashes", iter([0 if is_first else sys.maxsize]))
    assert keccak256(bytes(size)) == library_hash(bytes(size))
