"""Hashes of short messages that are computed together equal those of the library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.keccak import MAX_SHORT_BYTES, keccak256_many
from tests.support.outside_ids import keccak256


@given(messages=st.lists(st.binary(max_size=MAX_SHORT_BYTES), max_size=40))
def test_many_hashes_at_once_equal_single_ones(messages: list[bytes]) -> None:
    assert keccak256_many(messages) == [keccak256(message) for message in messages]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 134, 135])
def test_lengths_at_the_edges_of_the_padding(size: int) -> None:
    assert keccak256_many([b"\xff" * size]) == [keccak256(b"\xff" * size)]
