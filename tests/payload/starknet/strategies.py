"""Calls for hypothesis: every field anywhere in its range, edges included."""

from __future__ import annotations

from hypothesis import strategies as st

from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.payload.starknet.felts import FIELD_PRIME, U32_LIMIT, U256_LIMIT

U128_LIMIT = 2**128
ADDRESS_LIMIT = 2**251

ADDRESSES = st.one_of(st.integers(1, ADDRESS_LIMIT - 1), st.sampled_from([1, ADDRESS_LIMIT - 1])).map(
    "0x{:064x}".format
)
U256 = st.one_of(
    st.integers(1, U256_LIMIT - 1), st.sampled_from([1, U128_LIMIT - 1, U128_LIMIT, U128_LIMIT + 1, U256_LIMIT - 1])
)
FELTS = st.one_of(st.integers(0, FIELD_PRIME - 1), st.sampled_from([0, FIELD_PRIME - 1]))

ROUTES = st.builds(
    RouterRouteParam,
    token_in=ADDRESSES,
    token_out=ADDRESSES,
    amount_in=U256,
    amount_out=U256,
    min_received=st.one_of(st.just(0), U256),
    recipient=ADDRESSES,
    swap_type=st.just(SwapType.TOKEN_TO_TOKEN),
)
SWAPS = st.builds(
    RouterSwapParam,
    token_in=ADDRESSES,
    token_out=ADDRESSES,
    rate=st.integers(1, RATE_SCALE),
    protocol_id=st.integers(0, U32_LIMIT - 1),
    pool_address=ADDRESSES,
    swap_type=st.just(SwapType.TOKEN_TO_TOKEN),
    extra_data=st.just(b""),
    extra_felts=st.lists(FELTS, max_size=6).map(tuple),
)
CALLS = st.builds(
    RouterCall,
    ROUTES,
    st.lists(SWAPS, min_size=1, max_size=8).map(tuple),
    integrator_data=st.just(b""),
    deadline_s=st.none(),
)
