"""A pool is built from what was read, with its fee as exact as the contract has it."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.families.reading.build_pool import fee_in_wad


@pytest.mark.parametrize(
    ("fee", "whole", "wad"), [(30, 10_000, 3 * 10**15), (0, 1, 0), (1, 10**18, 1), (1, 8, 125 * 10**15)]
)
def test_a_fee_is_a_fraction_of_18_decimals(fee: int, whole: int, wad: int) -> None:
    assert fee_in_wad(fee, whole, "fee()") == wad


@pytest.mark.parametrize(("fee", "whole"), [(1, 3), (1, 10**19)])
def test_a_finer_fee_is_refused(fee: int, whole: int) -> None:
    with pytest.raises(InvalidUpstreamResponse):
        fee_in_wad(fee, whole, "fee()")
