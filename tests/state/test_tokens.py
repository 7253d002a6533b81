"""Tokens are read with strings or bytes32 texts; unusable tokens are skipped with the reason."""

from __future__ import annotations

from unicodedata import category

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.token import Token
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.tokens import load_tokens, sanitize_text
from swapcli.testing.evm import Chain
from tests.chain.node.evm_node import BLOCK, EvmNode, sources, view_of
from tests.contracts.evm import compile_solidity, load_artifact

Outcome = Token | SkippedItem


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain()


def odd(chain: Chain, symbol: bytes | None, name: bytes | None, decimals: bytes | None) -> str:
    """A token that returns these bytes; None reverts."""
    token = chain.deploy(sources()["OddToken"])
    for signature, answer in (("symbol()", symbol), ("name()", name), ("decimals()", decimals)):
        if answer is not None:
            token.send("say", signature, answer)
    return token.address


def text(value: str) -> bytes:
    return encode(["string"], [value])


def number(value: int) -> bytes:
    return value.to_bytes(32)


def loaded(chain: Chain, *addresses: str) -> list[Outcome]:
    alone = list(load_tokens(MulticallReader(EvmNode(chain), BLOCK, None), addresses))
    assert list(load_tokens(view_of(chain), addresses)) == alone
    return alone


def test_real_tokens_are_read_as_they_are(chain: Chain) -> None:
    weth = chain.deploy(load_artifact("canonical-weth/build/contracts/WETH9.json")).address
    plain = chain.deploy(compile_solidity("kit.sol")["Token"], 6).address
    assert loaded(chain, weth, plain) == [Token(weth, "WETH", "Wrapped Ether", 18), Token(plain, "TKN", "Token", 6)]


def test_bytes32_texts_are_read_like_strings(chain: Chain) -> None:
    address = odd(chain, b"MKR".ljust(32, b"\0"), b"Maker".ljust(32, b"\0"), number(18))
    assert loaded(chain, address) == [Token(address, "MKR", "Maker", 18)]


@pytest.mark.parametrize("name", [None, b"", text(""), text("\n\t"), b"\xff" * 5])
def test_a_token_without_a_usable_name_goes_by_its_symbol(chain: Chain, name: bytes | None) -> None:
    address = odd(chain, text("ABC"), name, number(8))
    assert loaded(chain, address) == [Token(address, "ABC", "ABC", 8)]


@pytest.mark.parametrize(
    ("symbol", "decimals", "reason"),
    [
        (text("A"), None, "decimals(): the contract reverts"),
        (text("A"), b"", "decimals(): returned 0 bytes, expected at least 32"),
        (text("A"), number(37), "decimals(): 37 of them"),
        (text("A"), number(2**255), "decimals(): an impossible number"),
    ],
)
def test_an_unusable_token_is_skipped_with_the_reason(
    chain: Chain, symbol: bytes | None, decimals: bytes | None, reason: str
) -> None:
    address, fine = odd(chain, symbol, text("A"), decimals), odd(chain, text("OK"), text("Ok"), number(0))
    skipped, loaded_token = loaded(chain, address, fine)
    assert isinstance(skipped, SkippedItem)
    assert skipped.key == address
    assert skipped.reason.startswith(reason)
    assert loaded_token == Token(fine, "OK", "Ok", 0)


@pytest.mark.parametrize(
    "symbol",
    [None, b"", text(""), text(" \u202e\x00 "), number(32) + number(2**200), bytes(32), b"\xff" * 32, text("\ufffd")],
)
def test_a_token_without_a_usable_symbol_has_its_short_address(chain: Chain, symbol: bytes | None) -> None:
    named, unnamed = odd(chain, symbol, text("A token"), number(18)), odd(chain, symbol, symbol, number(6))
    assert loaded(chain, named, unnamed) == [
        Token(named, f"{named[:6]}…{named[-4:]}", "A token", 18),
        Token(unnamed, f"{unnamed[:6]}…{unnamed[-4:]}", f"{unnamed[:6]}…{unnamed[-4:]}", 6),
    ]


def test_an_address_without_a_contract_is_no_token(chain: Chain) -> None:
    nowhere = "0x" + "ab" * 20
    (skipped,) = loaded(chain, nowhere)
    assert skipped == SkippedItem(nowhere, "decimals(): returned 0 bytes, expected at least 32")


def test_a_token_that_burns_gas_affects_no_other(chain: Chain) -> None:
    burner = chain.deploy(sources()["Burner"]).address
    fine = odd(chain, text("OK"), text("Ok"), number(6))
    assert [isinstance(each, Token) for each in loaded(chain, burner, fine, burner)] == [False, True, False]


@given(st.text(max_size=300), st.integers(1, 40))
def test_a_sanitized_text_is_one_printable_line(raw: str, most: int) -> None:
    shown = sanitize_text(raw, most)
    assert len(shown) <= most
    assert not any(category(character).startswith("C") for character in shown)
    assert shown == " ".join(shown.split())
    assert sanitize_text(shown, most) == shown
