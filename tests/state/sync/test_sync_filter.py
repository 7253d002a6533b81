"""A filter of a synchronization admits the pools that it describes."""

from __future__ import annotations

import pytest

from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.sync.sync_filter import SyncFilter

POOL, A, B, C = (f"0x{k:040x}" for k in range(1, 5))


@pytest.mark.parametrize(
    ("tokens", "is_admitted"),
    [((A, B), True), ((A, B, POOL), True), ((A, C), False), ((A, C, POOL), False), ((A, POOL), False)],
)
def test_a_pools_own_token_need_not_be_in_the_filter(tokens: tuple[str, ...], is_admitted: bool) -> None:
    ref = PoolRef(POOL, "some", "some", "balancer_v2", tokens, ())
    assert SyncFilter(tokens=frozenset({A, B})).admits(ref) == is_admitted
    assert SyncFilter(tokens=frozenset(tokens)).admits(ref)
    assert SyncFilter(protocols=frozenset({"some"})).admits(ref)
    assert not SyncFilter(protocols=frozenset({"other"})).admits(ref)
