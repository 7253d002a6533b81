"""Pools with tokens or fees that cannot be are refused by the field."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.families.identity_checks import check_multi_token, check_no_fee, check_pair
from swapcli.testing.strategies import ADDRESS, TOKENS

PAIR = PoolIdentity(ADDRESS, "test", TOKENS[:2], (6, 18), 3_000)


def test_a_plain_pair_is_accepted() -> None:
    check_pair(PAIR)
    check_multi_token(PAIR)
    check_no_fee(PAIR._replace(fee_ppm=0))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tokens": TOKENS[:1], "decimals": (6,)}, "tokens"),
        ({"tokens": (TOKENS[0], TOKENS[0])}, "tokens"),
        ({"fee_ppm": PPM}, "fee_ppm"),
        ({"fee_ppm": -1}, "fee_ppm"),
    ],
)
def test_no_pair_has_these(change: dict[str, Any], field: str) -> None:
    for check in (check_pair, check_multi_token):
        with pytest.raises(InvalidPoolState) as caught:
            check(PAIR._replace(**change))
        assert field in str(caught.value)


def test_decimals_and_fees_have_limits() -> None:
    with pytest.raises(InvalidPoolState):
        check_multi_token(PAIR._replace(decimals=(6, 19)))
    with pytest.raises(InvalidPoolState):
        check_no_fee(PAIR)
