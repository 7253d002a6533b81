"""What the data of an integrator says is what was encoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.swap_terms import Integrator
from swapcli.payload.evm.integrator import decode_integrator_data, encode_integrator_data

ADDRESS = "0x" + "12" * 20


@given(st.sampled_from([(0, 0), (1, 0), (100, 0), (0, 1), (0, 5_000)]))
def test_shares_survive_a_round_trip(shares: tuple[int, int]) -> None:
    fee_bps, surplus_bps = shares
    encoded = encode_integrator_data(Integrator(ADDRESS, fee_bps, surplus_bps))
    decoded = decode_integrator_data(encoded)
    if fee_bps or surplus_bps:
        assert decoded == (ADDRESS, fee_bps, surplus_bps)
    else:
        assert (encoded, decoded) == (b"", None)


@pytest.mark.parametrize("data", [b"\0", b"\0" * 95, b"\0" * 97, b"\xff" * 96])
def test_other_data_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        decode_integrator_data(data)
