"""Token lists: the tokens of a network are found, and what is no list is refused in one sentence with its place."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.token_list_file import MAX_TOKENS, parse_token_list

BASE, STARKNET = find_network("base"), find_network("starknet")
USDC, WETH, OTHER = BASE.tokens[1].address, BASE.tokens[0].address, "0x" + "12" * 20
NATIVE = "0x" + "ee" * 20


def entry(address: object = USDC, chain_id: object = 8453, **changes: object) -> dict[str, object]:
    return {"chainId": chain_id, "address": address, "symbol": "USDC", "name": "USD Coin", "decimals": 6} | changes


def document(*entries: object, **more: object) -> bytes:
    return json.dumps({"name": "a list", "tokens": entries, **more}).encode()


def test_entries_of_other_chains_are_ignored() -> None:
    listed = parse_token_list(
        document(
            entry(),
            entry("anything", 1),
            entry("So111", 101, decimals=None),
            entry("0x1", "SN_MAIN"),
            entry(5, "1", name=None),
            entry(OTHER, decimals=18),
        ),
        BASE,
        "L",
    )
    assert not listed.bad_entries
    assert [(token.name, token.decimals) for token in listed.tokens] == [(USDC, 6), (OTHER, 18)]


def test_the_native_token_counts_as_its_wrapped_form() -> None:
    (listed,) = parse_token_list(document(entry(NATIVE, decimals=18)), BASE, "L").tokens
    assert listed.name == WETH


def test_text_has_one_token_a_line() -> None:
    listed = parse_token_list(f"\ufeff# mine\nETH\r\n\n  {USDC} # dollars\n".encode(), BASE, "L")
    assert [(token.name, token.place) for token in listed.tokens] == [("ETH", "L: line 2"), (USDC, "L: line 4")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "L has no token on base (chain 8453)"),
        (b"# nothing\n", "L has no token on base (chain 8453)"),
        (document(entry(chain_id=1)), "L has no token on base (chain 8453)"),
        (b"{", "L: the token list is not valid JSON: .*"),
        (b"[]", "L: the document: expected an object, not a list"),
        (b"{}", "L: tokens: .*"),
        (b'{"tokens": {}}', "L: tokens: expected a list, not an object"),
        (document(3), r"L: tokens\[0\]: expected an object, not 3"),
        (document(entry(chain_id=True)), r"L: tokens\[0\].chainId: expected a chain ID, not true"),
        (document({"address": USDC}, entry(7)), r"L: tokens\[0\].chainId: missing"),
        (document(entry(decimals="6")), r'L: tokens\[0\].decimals: .*not "6"'),
        (document(entry(decimals=256)), r"L: tokens\[0\].decimals: .*not 256"),
        (document(entry(decimals=True)), r"L: tokens\[0\].decimals: .*"),
        (document(entry(7)), r"L: tokens\[0\].address: .*"),
        (document(entry(USDC[:-1])), r"L: tokens\[0\].address: .*"),
        (document(entry(USDC + "00")), r"L: tokens\[0\].address: .*"),
        (document(*[entry()] * (MAX_TOKENS + 1)), "L: tokens: .*"),
        (b"\xff\xfe", "L: is not text in UTF-8, at byte 0"),
        (b"\n" + b"x" * 1_000, "L: line 2: expected the symbol or the address of one token, not x+…"),
        (b"#\n\x1b[2J", "L: line 2: .* not a line with control characters"),
        (b"ETH\n" * (MAX_TOKENS + 1), "L: has 10,001 lines, more than 10,000"),
    ],
)
def test_what_is_no_list_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_token_list(content, BASE, "L")
    assert re.fullmatch(message.replace("(chain 8453)", r"\(chain 8453\)"), caught.value.message)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 220


@pytest.mark.parametrize("chain_id", [8453, "8453", "0x2105", "0X2105"])
def test_a_chain_id_may_be_text(chain_id: object) -> None:
    (listed,) = parse_token_list(document(entry(chain_id=chain_id)), BASE, "L").tokens
    assert listed.name == USDC


@pytest.mark.parametrize("chain_id", [STARKNET.chain_id, "SN_MAIN", hex(STARKNET.chain_id), 23448594291968336])
def test_the_chain_id_of_starknet_has_a_name(chain_id: object) -> None:
    assert parse_token_list(document(entry("0x53c9", chain_id)), STARKNET, "L").tokens
    with pytest.raises(InvalidInput, match="has no token on base"):
        parse_token_list(document(entry("0x53c9", chain_id)), BASE, "L")


WRONG_ENTRIES: list[object] = [
    entry("0x000"), entry(USDC[:-1]), entry(7), entry(decimals=None), entry(chain_id=None), entry(chain_id=1.5), 3,
]  # fmt: skip


@given(st.lists(st.sampled_from(WRONG_ENTRIES), max_size=5), st.integers(0, 5))
def test_a_wrong_entry_is_left_out_and_the_others_count(wrong: list[object], at: int) -> None:
    listed = parse_token_list(document(*wrong[:at], entry(), *wrong[at:], entry(OTHER)), BASE, "L")
    assert [token.name for token in listed.tokens] == [USDC, OTHER]
    places = [error.message.partition("]")[0] for error in listed.bad_entries]
    assert places == [f"L: tokens[{index + (index >= at)}" for index in range(len(wrong))]


def test_a_wrong_line_is_left_out_with_its_place() -> None:
    listed = parse_token_list(b"ETH\n" + b"x" * 1_000 + b"\nUSDC", BASE, "L")
    assert [token.name for token in listed.tokens] == ["ETH", "USDC"]
    assert [error.message.partition(": expected")[0] for error in listed.bad_entries] == ["L: line 2"]


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
        assert parse_token_list(content, BASE, "L").tokens
    except InvalidInput as error:
        message = error.message
    assert message.isprintable()
