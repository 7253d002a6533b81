"""Arguments are read as eth_abi encodes them; what is not in the data is refused with its field."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.payload.evm.decoding.arguments import Arguments

ADDRESS = "0x" + "12" * 20
words = st.integers(0, 2**256 - 1)
contents = st.lists(st.binary(max_size=70), max_size=5)


@given(words, st.integers(-(2**255), 2**255 - 1), st.binary(max_size=70), contents)
def test_what_eth_abi_encodes_is_read_back(number: int, signed: int, content: bytes, entries: list[bytes]) -> None:
    values = (number, signed, ADDRESS, content, entries)
    raw = encode(["uint256", "int256", "address", "bytes", "bytes[]"], values)
    read = Arguments(raw)
    fixed = (read.uint(0, "a"), read.signed(1, "b"), read.address(2, "c"), read.content(3, "d"))
    assert (*fixed, list(read.contents(4, "e"))) == values
    assert read.end == len(raw)


@given(st.lists(st.tuples(words, st.binary(max_size=40)), max_size=4))
def test_tuples_are_read_at_their_offsets(entries: list[tuple[int, bytes]]) -> None:
    raw = encode(["(uint256,bytes)[]", "address[]"], (entries, [ADDRESS] * 2))
    read = Arguments(raw)
    assert [(each.uint(0, "number"), each.content(1, "content")) for each in read.tuples(0, "list")] == entries
    assert read.addresses(1, "list") == [ADDRESS] * 2


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    read = Arguments(raw)
    try:
        content = read.content(0, "list")
    except InvalidInput:
        return
    assert content in raw
    assert read.end <= len(raw)


def test_a_number_that_is_too_large_for_its_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match="fee"):
        Arguments((1 << 24).to_bytes(32)).uint(0, "fee", 24)
