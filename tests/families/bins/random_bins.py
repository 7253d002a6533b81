"""Random pools of bins: with gaps, of any step, from a few units to billions of tokens."""

from __future__ import annotations

from hypothesis import strategies as st

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.bins.bin_math import BASE_ID
from swapcli.families.bins.bin_state import Bins
from swapcli.families.bins.infinity_bin import InfinityBin
from swapcli.families.infinity_key import InfinityKey
from swapcli.testing.strategies import ADDRESS, TOKENS, fees_ppm


@st.composite
def bins_around(draw: st.DrawFn, active_id: int) -> Bins:
    """Return up to 21 bins with gaps: Y below the active one, X above it, both, either or nothing in it."""
    gaps = st.lists(st.integers(1, 40), max_size=10)
    below, above = [active_id], [active_id]
    for gap in draw(gaps):
        below.append(below[-1] - gap)
    for gap in draw(gaps):
        above.append(above[-1] + gap)
    size = draw(st.integers(3, 24))
    amounts = st.one_of(st.integers(1, 10), st.integers(1, 10**size))
    rows = {bin_id: (0, draw(amounts)) for bin_id in below[1:]} | {bin_id: (draw(amounts), 0) for bin_id in above[1:]}
    rows[active_id] = draw(st.tuples(st.one_of(st.just(0), amounts), st.one_of(st.just(0), amounts)))
    if draw(st.booleans()) and len(rows) > 1 and not any(rows[active_id]):
        del rows[active_id]
    ids = tuple(sorted(rows))
    return Bins(ids, tuple(rows[bin_id][0] for bin_id in ids), tuple(rows[bin_id][1] for bin_id in ids))


@st.composite
def infinity_bin_pools(draw: st.DrawFn) -> InfinityBin:
    bin_step = draw(st.sampled_from([1, 5, 10, 25, 100]))
    active_id = BASE_ID + draw(st.integers(-100_000, 100_000)) // bin_step
    fee_ppm = draw(st.one_of(fees_ppm, st.just(100_000)))
    key = InfinityKey("0x" + "11" * 32, ZERO_ADDRESS, fee_ppm, bin_step << 16, draw(st.booleans()))
    protocol_fees = draw(st.one_of(st.just((0, 0)), st.tuples(st.integers(0, 4_000), st.integers(0, 4_000))))
    bins = draw(bins_around(active_id))
    is_listed = bins.position(active_id) is None or draw(st.booleans())
    return InfinityBin(ADDRESS, "test", TOKENS[:2], (18, 18), fee_ppm, active_id, bins, protocol_fees, key, is_listed)
