"""Build any call that the ABI can encode, and encode it with eth_abi as the reference."""

from __future__ import annotations

import random

from eth_abi.abi import decode, encode
from hypothesis import strategies as st

from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.payload.evm import Permit

ROUTE_TYPE = "(address,address,uint256,uint256,uint256,address,uint8)"
LIST_TYPE = "(address,address,uint32,int24,address,uint8,bytes)[]"
PERMIT_TYPES = ["uint256", "uint8", "bytes32", "bytes32"]
SIGNATURES = {
    "swap": f"swap({ROUTE_TYPE},{LIST_TYPE})",
    "swapIntegrator": f"swapIntegrator({ROUTE_TYPE},{LIST_TYPE},bytes)",
    "swapWithPermit": f"swapWithPermit({ROUTE_TYPE},{LIST_TYPE},{','.join(PERMIT_TYPES)})",
    "swapBefore": f"swapBefore(uint256,{ROUTE_TYPE},{LIST_TYPE},bytes)",
    "approve": "approve(address,uint256)",
}

NUMBERS = st.sampled_from([0, 1, 2**128, 2**255, 2**256 - 1]) | st.integers(0, 2**256 - 1)
ADDRESSES = st.integers(0, 2**160 - 1).map("0x{:040x}".format)
SWAP_TYPES = st.sampled_from(SwapType)
EXTRA = st.binary(max_size=3) | st.binary(min_size=31, max_size=33) | st.binary(max_size=200)
INTEGRATOR_DATA = st.just(b"") | st.binary(min_size=96, max_size=96) | st.binary(max_size=100)

routes = st.builds(
    RouterRouteParam, ADDRESSES, ADDRESSES, NUMBERS, NUMBERS, NUMBERS, recipient=ADDRESSES, swap_type=SWAP_TYPES
)
swaps = st.builds(
    RouterSwapParam,
    ADDRESSES,
    ADDRESSES,
    rate=st.sampled_from([1, 1_000_000]) | st.integers(1, 1_000_000),
    protocol_id=st.sampled_from([-(2**23), -1, 0, 2**23 - 1]) | st.integers(-(2**23), 2**23 - 1),
    pool_address=ADDRESSES,
    swap_type=SWAP_TYPES,
    extra_data=EXTRA,
    extra_felts=st.just(()),
)
calls = st.builds(RouterCall, routes, st.lists(swaps, max_size=6).map(tuple), INTEGRATOR_DATA, st.none())
timed_calls = st.builds(RouterCall, routes, st.lists(swaps, max_size=6).map(tuple), INTEGRATOR_DATA, NUMBERS)
permits = st.builds(
    Permit,
    NUMBERS,
    st.integers(0, 255),
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=32, max_size=32),
)


def random_call(rng: random.Random) -> RouterCall:
    """Return a call of 1 to 30 swaps, which Hypothesis draws too rarely."""
    route = RouterRouteParam(
        _address(rng), _address(rng), _number(rng), _number(rng), _number(rng), _address(rng), rng.choice([*SwapType])
    )
    entries = tuple(_random_swap(rng) for _ in range(rng.choice([1, 2, 3, 5, 8, 30])))
    deadline_s = rng.choice([None, None, _number(rng)])
    return RouterCall(route, entries, rng.randbytes(rng.choice([0, 0, 96, 33])), deadline_s)


def _random_swap(rng: random.Random) -> RouterSwapParam:
    return RouterSwapParam(
        _address(rng),
        _address(rng),
        rng.randint(1, 1_000_000),
        rng.randint(-(2**23), 2**23 - 1),
        _address(rng),
        rng.choice([*SwapType]),
        rng.randbytes(rng.choice([0, 2, 3, 32, 160, rng.randint(0, 100)])),
    )


def _address(rng: random.Random) -> str:
    return f"0x{rng.getrandbits(160):040x}"


def _number(rng: random.Random) -> int:
    return rng.getrandbits(rng.choice([8, 64, 128, 256]))


def abi_encoded(call: RouterCall, *permit: object) -> bytes:
    """Return the call's arguments encoded by eth_abi; `permit` are the fields of a permit."""
    types, values = [ROUTE_TYPE, LIST_TYPE], [tuple(call.route), [tuple(swap)[:7] for swap in call.swaps]]
    if call.deadline_s is not None:
        return encode(["uint256", *types, "bytes"], [call.deadline_s, *values, call.integrator_data])
    if call.integrator_data:
        return encode([*types, "bytes"], [*values, call.integrator_data])
    return encode([*types, *(PERMIT_TYPES if permit else ())], [*values, *permit])


def abi_decoded(arguments: bytes, integrator: bool) -> tuple[object, ...]:
    """Return the arguments of `swap` or `swapIntegrator` as eth_abi decodes them."""
    return tuple(decode([ROUTE_TYPE, LIST_TYPE, *(["bytes"] if integrator else ())], arguments))
