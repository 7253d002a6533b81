"""The gas that an Arbitrum network adds for data on L1 is asked for as its ABI says, and read with care."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.l1_gas import decode_l1_gas, encode_l1_gas_call
from swapcli.testing.evm import Chain
from tests.contracts.evm import compile_solidity

NODE_INTERFACE = "0x00000000000000000000000000000000000000c8"
TO = "0x" + "ab" * 20
SELECTOR = "77d488a2"
"""Of `gasEstimateL1Component(address,bool,bytes)`, as in the ABI of npm @arbitrum/nitro-contracts 3.2.0."""


def estimate(size: int, price: int, base_fee: int) -> int:
    """Return what the model answers for so many bytes."""
    return price * ((16 * size + 256) * 10_100 // 10_000) * 11_000 // 10_000 // base_fee


@given(st.binary(max_size=300), st.integers(0, 10**12), st.integers(1, 10**12))
def test_the_call_is_what_a_contract_with_that_function_reads(data: bytes, price: int, base_fee: int) -> None:
    chain = CHAIN
    MODEL.send("set", price, base_fee)
    answer = chain.call(NODE_INTERFACE, encode_l1_gas_call(TO, data))
    assert decode_l1_gas(answer) == estimate(len(data), price, base_fee)


def test_the_selector_is_that_of_the_published_abi() -> None:
    assert encode_l1_gas_call(TO, b"")[:4].hex() == SELECTOR


@pytest.mark.parametrize("answer", [None, b""])
def test_a_network_without_the_contract_adds_nothing(answer: bytes | None) -> None:
    assert decode_l1_gas(answer) is None


@pytest.mark.parametrize("answer", [bytes(64), (2**64).to_bytes(32) + bytes(64)])
def test_other_answers_are_refused(answer: bytes) -> None:
    with pytest.raises(InvalidUpstreamResponse, match="gasEstimateL1Component"):
        decode_l1_gas(answer)


def test_arbitrum_names_the_contract_of_its_nodes() -> None:
    assert find_network("arbitrum").l1_gas_oracle == NODE_INTERFACE


CHAIN = Chain()
MODEL = CHAIN.place(NODE_INTERFACE, compile_solidity("l1_gas.sol")["NodeInterface"])
