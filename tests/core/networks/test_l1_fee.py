"""The L1 data fee equals that of the network's own contract to the wei."""

from __future__ import annotations

from random import Random

import pytest
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.fastlz import measure_compressed_length
from swapcli.core.model.transaction import Transaction
from swapcli.core.networks.l1_fee import L1FeeParams, compute_l1_fee_wei
from swapcli.payload.evm.unsigned_transaction import GasFees, encode_unsigned
from tests.payload.evm.build import ADDRESSES, NUMBERS
from tests.payload.evm.l1_oracle import RealOracle
from tests.support.outside_ids import keccak256

PLAIN = L1FeeParams(10**12, 0, 10**6, 0)
"""Parameters under which the fee determines the compressed length."""
FLOOR = 100 * 16 * 10**12
"""The minimum fee under `PLAIN`, which content that compresses well pays."""
SCALARS = st.integers(0, 2**28 - 1)
"""The contract multiplies a scalar by 16 in 32 bits."""
TERMS = st.builds(L1FeeParams, *[st.integers(0, 2**96)] * 2, SCALARS, SCALARS)
WORDS = st.one_of(
    st.integers(0, 2**24).map(lambda n: n.to_bytes(32)),
    st.binary(min_size=20, max_size=20).map(lambda address: bytes(12) + address),
    st.binary(min_size=32, max_size=32),
)


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """Return content with repetitions: calldata words, noise, runs, and copies of any length and distance."""
    rng = Random(draw(st.integers(0, 2**32)))
    content = b"".join(draw(st.lists(WORDS, max_size=20)))
    for _ in range(draw(st.integers(0, 12))):
        kind, size = draw(st.integers(0, 3)), int(2 ** rng.uniform(0, 11))
        if kind == 0:
            content += rng.randbytes(size)
        elif kind == 1:
            content += bytes([rng.randrange(256)]) * size
        elif kind == 2:
            content += bytes(rng.choice((0, 0, 0, 1, 255)) for _ in range(size))
        else:
            start = rng.randrange(len(content) + 1)
            content += content[start : start + size]
    return content


@pytest.fixture(scope="module")
def oracle() -> RealOracle:
    return RealOracle()


@given(contents(), TERMS)
def test_the_fee_equals_that_of_the_contract(oracle: RealOracle, content: bytes, terms: L1FeeParams) -> None:
    oracle.set(terms)
    assert compute_l1_fee_wei(content, terms) == oracle.fee_wei(content)


@given(contents())
def test_the_compressed_length_equals_that_of_the_contract(oracle: RealOracle, content: bytes) -> None:
    oracle.set(PLAIN)
    fee = oracle.fee_wei(content)
    assert compute_l1_fee_wei(content, PLAIN) == fee
    expected_length = (fee // (16 * 10**6) + 42_585_600) / 836_500 - 68
    assert measure_compressed_length(content) == expected_length or fee == FLOOR


@pytest.mark.parametrize("length", [*range(40), 263, 264, 265, 266, 526, 527, 528, 8_190, 8_200, 20_000])
def test_lengths_at_format_limits_match_the_contract(oracle: RealOracle, length: int) -> None:
    """Runs and copies up to and beyond the longest match distance, after noise that lifts the fee above its minimum."""
    oracle.set(PLAIN)
    noise = Random(length).randbytes(300)
    for content in (noise + bytes(length), noise + bytes(length) + noise[:length], noise + noise[:length] + b"end"):
        assert compute_l1_fee_wei(content, PLAIN) == oracle.fee_wei(content)


def test_empty_content_has_length_zero_and_costs_the_minimum() -> None:
    assert measure_compressed_length(b"") == 0
    assert compute_l1_fee_wei(b"", PLAIN) == compute_l1_fee_wei(bytes(80), PLAIN) == FLOOR
    assert compute_l1_fee_wei(b"", L1FeeParams(0, 0, 10**6, 10**6)) == 0


@given(st.binary(max_size=400))
def test_compression_never_adds_more_than_a_byte_for_32(content: bytes) -> None:
    assert (len(content) > 0) <= measure_compressed_length(content) <= len(content) + -(-len(content) // 32)


@given(
    ADDRESSES,
    st.binary(max_size=300),
    NUMBERS,
    st.integers(1, 2**63),
    st.integers(0, 2**63),
    st.builds(GasFees, st.integers(21_000, 2**40), st.integers(0, 2**90), st.integers(0, 2**90)),
)
def test_the_unsigned_transaction_is_what_a_wallet_signs(
    to: str, calldata: bytes, value: int, chain_id: int, nonce: int, gas: GasFees
) -> None:
    fields: dict[str, object] = {
        "type": 2,
        "chainId": chain_id,
        "nonce": nonce,
        "gas": gas.limit,
        "maxFeePerGas": gas.fee_wei,
        "maxPriorityFeePerGas": gas.priority_fee_wei,
        "to": bytes.fromhex(to[2:]),
        "value": value,
        "data": calldata,
    }
    ours = encode_unsigned(Transaction(to, f"0x{calldata.hex()}", value), chain_id, nonce, gas)
    assert keccak256(ours) == TypedTransaction.from_dict(fields).hash()
