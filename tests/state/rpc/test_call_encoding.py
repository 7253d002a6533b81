"""Encoded calls equal those of the reference encoder, and its output is decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.families.reading.call_encoding import (
    SELECTORS,
    encode_call,
    encode_list_call,
    read_list,
    read_signed,
    read_text,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.multicall import decode_aggregate, encode_aggregate
from swapcli.testing.evm import selector

words = st.integers(0, 2**256 - 1)
addresses = st.integers(0, 2**160 - 1).map(lambda n: f"0x{n:040x}")
calls = st.builds(ContractCall, addresses, st.binary(max_size=100))


@pytest.mark.parametrize("signature", SELECTORS)
def test_every_selector_is_the_hash_of_its_signature(signature: str) -> None:
    assert bytes.fromhex(SELECTORS[signature]) == selector(signature)


@given(st.integers(-(2**23), 2**23 - 1))
def test_arguments_of_any_sign_encode_like_the_reference(tick: int) -> None:
    assert encode_call("ticks(int24)", tick) == selector("ticks(int24)") + encode(["int24"], [tick])
    assert to_signed(int.from_bytes(encode_call("ticks(int24)", tick)[4:])) == tick


@given(addresses, st.booleans())
def test_addresses_and_booleans_encode_like_the_reference(address: str, stable: bool) -> None:
    name = "getFee(address,bool)"
    assert encode_call(name, address, stable) == selector(name) + encode(["address", "bool"], [address, stable])


@given(st.lists(words, max_size=20))
def test_a_list_encodes_like_the_reference_and_decodes(entries: list[int]) -> None:
    packed = encode_list_call("extsload(bytes32[])", entries)
    assert packed[4:] == encode(["uint256[]"], [entries])
    assert read_list(packed[4:], "list") == tuple(entries)


@given(st.lists(addresses, max_size=8), st.lists(words, max_size=8), words)
def test_lists_among_other_outputs_are_decoded(owners: list[str], amounts: list[int], last: int) -> None:
    raw = encode(["address[]", "uint256[]", "uint256"], [owners, amounts, last])
    assert [to_address(each, "owners") for each in read_list(raw, "owners")] == owners
    assert read_list(raw, "amounts", 1) == tuple(amounts)


@given(st.lists(calls, max_size=20))
def test_aggregated_calls_encode_like_the_reference(requests: list[ContractCall]) -> None:
    tuples = [(call.to, True, call.calldata) for call in requests]
    expected = encode(["(address,bool,bytes)[]"], [tuples])
    assert encode_aggregate(requests) == selector("aggregate3((address,bool,bytes)[])") + expected


@given(st.lists(st.none() | st.binary(max_size=100), max_size=20))
def test_aggregated_results_are_decoded(answers: Sequence[bytes | None]) -> None:
    raw = encode(["(bool,bytes)[]"], [[(each is not None, b"junk" if each is None else each) for each in answers]])
    assert decode_aggregate(raw, len(answers)) == list(answers)


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.data())
def test_a_truncated_aggregate_result_is_refused(return_values: list[bytes], data: st.DataObject) -> None:
    raw = encode(["(bool,bytes)[]"], [[(True, each) for each in return_values]])
    length = data.draw(st.integers(0, len(raw) - 1))
    whole = outcome(lambda: decode_aggregate(raw[:length], len(return_values)))
    assert whole == return_values if len(raw) - length < 32 and whole is not None else whole is None


@given(st.binary(max_size=400), st.integers(0, 5))
def test_arbitrary_bytes_are_decoded_or_refused(raw: bytes, count: int) -> None:
    assert outcome(lambda: decode_aggregate(raw, count)) is None or count == 0 or len(raw) >= 64
    assert outcome(lambda: read_text(raw, "text")) is None or len(raw) >= 32
    assert outcome(lambda: read_list(raw, "list", count)) is None or len(raw) >= 32 * (count + 1)
    assert outcome(lambda: read_words(raw, count, "words")) is None or len(raw) >= 32 * count


def outcome(read: Callable[[], object]) -> object | None:
    """Return the decoded value, or None if it is refused."""
    try:
        return read()
    except InvalidUpstreamResponse:
        return None


@given(st.text(max_size=80))
def test_strings_and_bytes32_texts_are_decoded(text: str) -> None:
    assert read_text(encode(["string"], [text]), "symbol()") == text
    raw = text.encode()
    if len(raw) <= 32 and "\0" not in text:
        assert read_text(raw.ljust(32, b"\0"), "symbol()") == text


def test_a_revert_and_short_data_name_the_function() -> None:
    with pytest.raises(InvalidUpstreamResponse, match=r"^fee\(\): the contract reverts$"):
        read_word(None, "fee()")
    with pytest.raises(InvalidUpstreamResponse, match=r"^fee\(\): returned 5 bytes, expected at least 32$"):
        read_signed(b"12345", "fee()")
    with pytest.raises(InvalidUpstreamResponse, match=r"^owner: not an address: its upper 12 bytes are not zero$"):
        to_address(1 << 160, "owner")
