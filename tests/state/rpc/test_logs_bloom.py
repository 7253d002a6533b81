"""The filter of a block contains what is in the block, and seldom anything else."""

from __future__ import annotations

from functools import reduce
from operator import or_

from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.reading.logs_bloom import BITS, bloom_mask, is_selective, may_contain

items = st.binary(min_size=20, max_size=20).map(lambda item: f"0x{item.hex()}")


@given(st.lists(items, max_size=8), items)
def test_what_is_in_the_filter_is_never_missed(inside: list[str], other: str) -> None:
    bloom = reduce(or_, map(bloom_mask, inside), 0)
    assert may_contain(bloom, *inside)
    assert may_contain(bloom, other) == (bloom | bloom_mask(other) == bloom)


def test_an_item_sets_at_most_three_bits() -> None:
    assert 1 <= bloom_mask("0x" + "ab" * 20).bit_count() <= 3
    # The example of the filter of an address in the tests of go-ethereum's `bloom9_test.go` has three bits.
    assert bloom_mask("0x" + b"testtest".hex()).bit_count() == 3


def test_an_empty_or_a_full_filter_tells_nothing() -> None:
    assert not is_selective(0)
    assert not is_selective(2**BITS - 1)
    assert is_selective(bloom_mask("0x" + "ab" * 20))
