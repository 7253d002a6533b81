"""Malformed calldata is refused with a sentence, in time and memory proportional to its length."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.transaction import RouterCall
from swapcli.payload.evm import decode_call, decode_integrator_data, decode_permit_call, encode_call, encode_permit_call
from tests.payload.evm.build import calls
from tests.payload.evm.test_fibrous_calldata import CALL, PERMIT

_Output = TypeVar("_Output")
SELECTORS = ("8619b04e", "21ed51f7", "df9f8e3a")
INTEGRATOR_CALL = CALL._replace(integrator_data=b"i" * 96)
INTERESTING = st.sampled_from([0, 1, 2, 31, 32, 33, 64, 224, 256, 2**31, 2**32, 2**64, 2**255, 2**256 - 32, 2**256 - 1])


def result_or_error(read: Callable[[], _Output]) -> _Output | InvalidInput:
    """Return the value of `read`, or the only error that it may raise."""
    try:
        return read()
    except InvalidInput as error:
        return error


def check_refused_or_round_trips(calldata: str) -> None:
    """Check that each decoder refuses it with a short sentence and a field, or that it encodes to the same bytes."""
    for round_trip in (
        lambda: encode_call(decode_call(calldata)),
        lambda: encode_permit_call(*decode_permit_call(calldata)),
    ):
        outcome = result_or_error(round_trip)
        if isinstance(outcome, InvalidInput):
            assert outcome.details["field"]
            assert len(outcome.message) < 400
        else:
            assert outcome == calldata.lower()


@given(st.sampled_from(SELECTORS), st.binary(max_size=2_000))
def test_random_bytes_are_refused(selector: str, body: bytes) -> None:
    check_refused_or_round_trips(f"0x{selector}{body.hex()}")


@given(st.text(max_size=100))
@example("0x8619b04e é")
@example("0x" + "٣" * 64)
def test_random_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        decode_call(text)


@given(calls, st.data())
def test_a_changed_byte_is_refused_or_changes_a_value(call: RouterCall, data: st.DataObject) -> None:
    raw = bytearray.fromhex(encode_call(call)[2:])
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    check_refused_or_round_trips("0x" + raw.hex())


@given(calls, st.data())
def test_a_changed_word_is_refused_or_changes_a_value(call: RouterCall, data: st.DataObject) -> None:
    raw = bytearray.fromhex(encode_call(call)[2:])
    at = 4 + 32 * data.draw(st.integers(0, (len(raw) - 4) // 32 - 1))
    raw[at : at + 32] = data.draw(INTERESTING | st.integers(0, 2**256 - 1)).to_bytes(32)
    check_refused_or_round_trips("0x" + raw.hex())


@given(calls, st.data())
def test_a_word_inserted_or_removed_is_refused_or_read_as_is(call: RouterCall, data: st.DataObject) -> None:
    raw = bytearray.fromhex(encode_call(call)[2:])
    at = 4 + 32 * data.draw(st.integers(0, (len(raw) - 4) // 32))
    if data.draw(st.booleans()):
        raw[at:at] = data.draw(INTERESTING).to_bytes(32)
    else:
        del raw[at : at + 32]
    check_refused_or_round_trips("0x" + raw.hex())


@given(calls, st.data())
def test_calldata_cut_short_is_refused(call: RouterCall, data: st.DataObject) -> None:
    encoded = encode_call(call)
    with pytest.raises(InvalidInput):
        decode_call(encoded[: data.draw(st.integers(0, len(encoded) - 1))])


@given(calls, st.binary(min_size=1, max_size=64))
def test_bytes_after_the_end_are_refused(call: RouterCall, more: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"^calldata: \d+ bytes are left over at the end"):
        decode_call(encode_call(call) + more.hex())


def test_every_byte_that_fills_a_word_must_be_zero() -> None:
    raw = bytes.fromhex(encode_call(INTEGRATOR_CALL._replace(integrator_data=b"i" * 65))[2:])
    encodings = {raw}
    for at in range(4, len(raw)):
        changed = raw[:at] + bytes([raw[at] ^ 0x80]) + raw[at + 1 :]
        check_refused_or_round_trips("0x" + changed.hex())
        encodings.add(changed)
    assert len(encodings) == len(raw) - 3


def word_changed(calldata: str, index: int, value: int) -> str:
    """Return `calldata` with the word at `index` after the selector replaced."""
    at = 10 + 64 * index
    return f"{calldata[:at]}{value:064x}{calldata[at + 64 :]}"


ADDRESS = "not an address: its upper 12 bytes are not zero"
# Words of CALL: 0-6 route, 7 offset, 8 length, 9 offset, 10-15 swap, 16 offset of its bytes, 17 length, 18 bytes.
NAMED: list[tuple[int, int, str]] = [
    (0, 1 << 160, f"token_in: {ADDRESS}"),
    (5, 1 << 255, f"destination: {ADDRESS}"),
    (6, 3, "swap_type: expected 0, 1 or 2, not 3"),
    (6, 256, "swap_type: 256 does not fit uint8"),
    (7, 0, "swaps offset: expected 256, not 0"),
    (7, 288, "swaps offset: expected 256, not 288"),
    (7, 2**256 - 1, f"swaps offset: expected 256, not {2**256 - 1}"),
    (8, 2, "swaps length: 2 entries do not fit the 320 bytes that are left"),
    (8, 2**256 - 1, f"swaps length: {2**256 - 1} entries do not fit the 320 bytes that are left"),
    (8, 0, "calldata: 320 bytes are left over at the end"),
    (9, 0, "swaps[0] offset: expected 32, not 0"),
    (9, 64, "swaps[0] offset: expected 32, not 64"),
    (12, 0, "swaps[0].rate: expected 1 to 1000000, not 0"),
    (12, 1_000_001, "swaps[0].rate: expected 1 to 1000000, not 1000001"),
    (12, 2**32, "swaps[0].rate: 4294967296 does not fit uint32"),
    (13, 2**23, "swaps[0].protocol_id: 8388608 does not fit int24"),
    (13, 2**24 - 1, "swaps[0].protocol_id: 16777215 does not fit int24"),
    (14, 1 << 200, f"swaps[0].pool_address: {ADDRESS}"),
    (15, 7, "swaps[0].swap_type: expected 0, 1 or 2, not 7"),
    (16, 0, "swaps[0].extra_data offset: expected 224, not 0"),
    (17, 33, "swaps[0].extra_data length: 33 bytes do not fit in the remaining 32"),
    (17, 2**256 - 1, f"swaps[0].extra_data length: {2**256 - 1} bytes do not fit in the remaining 32"),
    (17, 1, "swaps[0].extra_data: the padding of its last word is not zero"),
]


@pytest.mark.parametrize(("index", "value", "sentence"), NAMED)
def test_an_invalid_word_is_named(index: int, value: int, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_call(word_changed(encode_call(CALL), index, value))
    assert caught.value.message == sentence
    assert caught.value.details == {"field": sentence.split(":")[0]}


EXPECTED = "selector: expected 0x8619b04e (swap) or 0x21ed51f7 (swapIntegrator) or 0x54f53f8b (swapBefore)"
OTHERS: list[tuple[Callable[[str], object], str, str]] = [
    (decode_call, "", "calldata: does not begin with 0x"),
    (decode_call, "8619b04e", "calldata: does not begin with 0x"),
    (decode_call, "0X8619b04e", "calldata: does not begin with 0x"),
    (decode_call, "0x8619b04", "calldata: not pairs of hexadecimal digits"),
    (decode_call, "0x86 19 b0 4e", "calldata: not pairs of hexadecimal digits"),
    (decode_call, "0x", "selector: expected 4 bytes, not 0"),
    (decode_call, "0x8619b0", "selector: expected 4 bytes, not 3"),
    (decode_call, "0x8619b04e", "token_in: the data ends before it"),
    (
        decode_call,
        "0xdeadbeef" + "00" * 320,
        f"{EXPECTED}, not 0xdeadbeef",
    ),
    (
        decode_call,
        encode_permit_call(CALL, PERMIT),
        f"{EXPECTED}, not 0xdf9f8e3a",
    ),
    (decode_permit_call, encode_call(CALL), "selector: expected 0xdf9f8e3a (swapWithPermit), not 0x8619b04e"),
    (
        decode_call,
        word_changed(encode_call(INTEGRATOR_CALL), 8, 0),
        "integrator_data offset: expected 640, not 0",
    ),
    (
        decode_call,
        word_changed(encode_call(INTEGRATOR_CALL)[: -3 * 64], 20, 0),
        "integrator_data: empty, although the call is swapIntegrator",
    ),
    (decode_permit_call, word_changed(encode_permit_call(CALL, PERMIT), 9, 256), "v: 256 does not fit uint8"),
]


@pytest.mark.parametrize(("decode", "calldata", "sentence"), OTHERS)
def test_an_error_of_the_whole_calldata_is_named(decode: Callable[[str], object], calldata: str, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode(calldata)
    assert caught.value.message == sentence


@given(st.binary(max_size=128))
def test_random_integrator_data_is_refused_or_three_words(integrator_data: bytes) -> None:
    outcome = result_or_error(lambda: decode_integrator_data(integrator_data))
    if isinstance(outcome, InvalidInput):
        assert outcome.details["field"]
    else:
        assert (outcome is None) == (integrator_data == b"")
        assert len(integrator_data) in (0, 96)


def test_a_huge_claimed_list_length_takes_no_memory() -> None:
    calldata = word_changed(encode_call(CALL), 8, 2**40)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match="swaps length"):
            decode_call(calldata)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_megabyte_of_zeros_is_refused_at_its_first_bad_word() -> None:
    with pytest.raises(InvalidInput, match="swaps offset: expected 256, not 0"):
        decode_call("0x8619b04e" + "00" * 2**20)
