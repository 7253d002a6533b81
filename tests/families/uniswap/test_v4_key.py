"""The key of a Uniswap V4 pool, as its id is made of it."""

from __future__ import annotations

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.v4_key import key_arguments
from tests.support.outside_ids import v4_id

FIRST, SECOND, HOOKS, MANAGER = (f"0x{digit * 40}" for digit in "1234")


@pytest.mark.parametrize(
    ("is_native", "is_dynamic", "currency0", "fee"),
    [(False, False, FIRST, 500), (True, True, ZERO_ADDRESS, DYNAMIC_FEE)],
)
def test_the_key_is_that_of_the_id(is_native: bool, is_dynamic: bool, currency0: str, fee: int) -> None:
    pool_id = v4_id(currency0, SECOND, fee, 10, HOOKS)
    key = V4Constants(pool_id, 10, HOOKS, is_native, is_dynamic)
    ref = PoolRef(
        MANAGER,
        "test",
        Concentrated.family,
        ContractKind.UNISWAP_V4,
        (FIRST, SECOND),
        (18, 6),
        0 if is_dynamic else 500,
        key,
    )
    assert key_arguments(ref, key) == [currency0, SECOND, fee, 10, HOOKS]
