"""The previews of Spark's PSM round down twice."""

from __future__ import annotations

import pytest

from swapcli.core.errors import SwapReverts
from swapcli.families.fixed_rate.psm import RAY, PegStabilityModule
from swapcli.testing.strategies import ADDRESS, TOKENS

PSM_DECIMALS = (6, 18, 18)


def test_previews_of_the_module_round_down_twice() -> None:
    rate = 1_047_305_891_731_284_733_117_501_234
    pool = PegStabilityModule(ADDRESS, "test", TOKENS[:3], PSM_DECIMALS, 0, (10**15, 10**27, 10**27), rate)
    usdc, usds, susds = pool.tokens
    assert pool.swap(usdc, usds, 1_234_567)[0] == 1_234_567 * 10**12
    assert pool.swap(usds, usdc, 10**18 + 10**12 - 1)[0] == 10**6
    assert pool.swap(usdc, susds, 1_234_567)[0] == 1_234_567 * RAY // rate * 10**12
    assert pool.swap(susds, usdc, 10**18 + 1)[0] == (10**18 + 1) * rate // RAY // 10**12
    assert pool.swap(susds, usds, 10**18 + 1)[0] == (10**18 + 1) * rate // RAY
    with pytest.raises(SwapReverts, match="overflows"):
        pool.swap(usds, susds, 2**250)
    with pytest.raises(SwapReverts, match="rounds to zero"):
        pool.swap(usds, usdc, 10**12 - 1)
