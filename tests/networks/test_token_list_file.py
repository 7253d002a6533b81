"""Token lists: the tokens of a network are found, and what is no list is refused in one sentence with its place."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.errors import InvalidInput
from swapcli.networks.catalogue import find_network
from swapcli.networks.token_list_file import MAX_TOKENS, parse_token_list

BASE = find_network("base")
USDC, WETH, OTHER = BASE.tokens[1].address, BASE.tokens[0].address, "0x" + "12" * 20
NATIVE = "0x" + "ee" * 20


def entry(address: object = USDC, chain_id: object = 8453, **changes: object) -> dict[str, object]:
    return {"chainId": chain_id, "address": address, "symbol": "USDC", "name": "USD Coin", "decimals": 6} | changes


def document(*entries: object, **more: object) -> bytes:
    return json.dumps({"name": "a list", "tokens": entries, **more}).encode()


def test_entries_of_other_chains_are_ignored() -> None:
    listed = parse_token_list(
        document(entry(), entry("anything", 1), entry("So111", 101, decimals=None), entry(OTHER, decimals=18)),
        BASE,
        "L",
    )
    assert [(token.name, token.decimals) for token in listed] == [(USDC, 6), (OTHER, 18)]


def test_the_native_token_counts_as_its_wrapped_form() -> None:
    (listed,) = parse_token_list(document(entry(NATIVE, decimals=18)), BASE, "L")
    assert listed.name == WETH


def test_text_has_one_token_a_line() -> None:
    listed = parse_token_list(f"\ufeff# mine\nETH\r\n\n  {USDC} # dollars\n".encode(), BASE, "L")
    assert [(token.name, token.place) for token in listed] == [("ETH", "L: line 2"), (USDC, "L: line 4")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "L has no token of base (chain 8453)"),
        (b"# nothing\n", "L has no token of base (chain 8453)"),
        (document(entry(chain_id=1)), "L has no token of base (chain 8453)"),
        (b"{", "L: the token list is not valid JSON: .*"),
        (b"[]", "L: the document: expected an object, not a list"),
        (b"{}", "L: tokens: .*"),
        (b'{"tokens": {}}', "L: tokens: expected a list, not an object"),
        (document(3), r"L: tokens\[0\]: expected an object, not 3"),
        (document(entry(), entry(chain_id="8453")), r"L: tokens\[1\].chainId: .*"),
        (document(entry(), entry(decimals="6")), r'L: tokens\[1\].decimals: .*not "6"'),
        (document(entry(decimals=256)), r"L: tokens\[0\].decimals: .*not 256"),
        (document(entry(decimals=True)), r"L: tokens\[0\].decimals: .*"),
        (document(entry(symbol=5)), r"L: tokens\[0\].symbol: .*"),
        (document(entry(name=None)), r"L: tokens\[0\].name: .*"),
        (document(entry(7)), r"L: tokens\[0\].address: .*"),
        (document(entry(USDC[:-1])), r"L: tokens\[0\].address: .*"),
        (document(entry(USDC + "00")), r"L: tokens\[0\].address: .*"),
        (document(*[entry()] * (MAX_TOKENS + 1)), "L: tokens: .*"),
        (b"\xff\xfe", "L: is not text in UTF-8, at byte 0"),
        (b"ETH\n" + b"x" * 1_000, "L: line 2: expected the symbol or the address of one token, not x+…"),
        (b"ETH\n\x1b[2J", "L: line 2: .* not a line with control characters"),
        (b"ETH\n" * (MAX_TOKENS + 1), "L: has 10,001 lines, more than 10,000"),
    ],
)
def test_what_is_no_list_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_token_list(content, BASE, "L")
    assert re.fullmatch(message.replace("(chain 8453)", r"\(chain 8453\)"), caught.value.message)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 220


KEYS = st.sampled_from(["tokens", "chainId", "address", "decimals", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda value: st.lists(value) | st.dictionaries(KEYS, value),
    max_leaves=12,
)


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_content_is_read_or_refused(content: bytes) -> None:
    message = ""
    try:
        assert parse_token_list(content, BASE, "L")
    except InvalidInput as error:
        message = error.message
    assert message.isprintable()
