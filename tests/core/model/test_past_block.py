"""Blocks by number or hash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidOption
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.past_block import parse_block


@given(st.integers(0, 10**17))
def test_a_number_is_read_as_people_write_it(number: int) -> None:
    assert parse_block(number) == parse_block(str(number)) == parse_block(f"{number:,}") == number


@pytest.mark.parametrize("tag", BlockTag)
def test_a_tag_is_a_recent_block(tag: BlockTag) -> None:
    assert parse_block(tag.value) is parse_block(f" {tag.upper()}") is tag


@given(st.binary(min_size=32, max_size=32))
def test_a_hash_is_read_in_any_case(digest: bytes) -> None:
    expected = f"0x{digest.hex()}"
    assert parse_block(expected) == parse_block(f" 0x{digest.hex().upper()} ") == expected


@pytest.mark.parametrize("text", ["", "-1", "1.5", "newest", "0x12", "0x" + "zz" * 32, "\u0663", "9" * 40])
def test_other_text_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(InvalidOption, match=r"^block: .* is not a block tag, number or hash$") as caught:
        parse_block(text, "block")
    assert caught.value.hint
