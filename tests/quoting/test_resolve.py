"""Names resolve to tokens and protocols; what is unknown or ambiguous is refused with what is near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import (
    AmbiguousToken,
    InvalidAddress,
    InvalidOption,
    UnknownProtocol,
    UnknownToken,
)
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.resolve import excluded_protocols, find_protocols, find_token
from tests.support.testnet import (
    DAI,
    TWIN_A,
    TWIN_B,
    USDC,
    WETH,
    build_testnet_market,
)

MARKET = build_testnet_market()

TESTNET, TOKENS = MARKET.network, MARKET.tokens


@given(st.sampled_from(sorted(TOKENS)), st.booleans())
def test_every_token_is_found_by_its_address_in_one_case(address: str, upper: bool) -> None:
    written = "0X" + address[2:].upper() if upper else address
    assert find_token(written, TESTNET, TOKENS) is TOKENS[address]


@given(st.sampled_from([WETH, USDC, DAI]), st.data())
def test_a_unique_symbol_matches_in_any_case(address: str, data: st.DataObject) -> None:
    symbol = TOKENS[address].symbol
    cases = [data.draw(st.sampled_from([character.lower(), character.upper()])) for character in symbol]
    assert find_token("".join(cases), TESTNET, TOKENS) is TOKENS[address]


def test_one_symbol_of_several_tokens_is_ambiguous() -> None:
    with pytest.raises(AmbiguousToken) as caught:
        find_token("TWIN", TESTNET, TOKENS)
    assert caught.value.details["candidates"] == [TWIN_A, TWIN_B]


def test_no_token_can_take_the_native_tokens_symbol() -> None:
    impostor = build_testnet_market()
    tokens = {**impostor.tokens, DAI: Token(DAI, "ETH", "Impostor", 18)}
    assert find_token("eth", TESTNET, tokens) is TESTNET.native


@pytest.mark.parametrize("name", ["USDQ", "0x" + "77" * 20, "nothing at all", ""])
def test_an_unknown_token_is_refused_with_a_hint(name: str) -> None:
    with pytest.raises(UnknownToken) as caught:
        find_token(name, TESTNET, TOKENS)
    assert caught.value.hint


def test_the_closest_symbols_are_named() -> None:
    with pytest.raises(UnknownToken, match='no token "usdq" on base') as caught:
        find_token("usdq", find_network("base"), {})
    assert "USDC" in str(caught.value.hint)


@pytest.mark.parametrize("address", ["0x12", "0x" + "g" * 40, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc3"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidAddress):
        find_token(address, TESTNET, TOKENS)


def test_starknets_native_token_is_an_ordinary_token() -> None:
    starknet = find_network("starknet")
    assert find_token("STRK", starknet, {}) == starknet.native
    assert find_token(starknet.native.address, starknet, {}).symbol == "STRK"


@given(st.lists(st.sampled_from([("0", "wrapper"), ("4", "uniswapV2"), ("UNISWAPV3", "uniswapV3"), (" ", None)])))
def test_protocols_are_found_by_id_and_name(cases: list[tuple[str, str | None]]) -> None:
    found = find_protocols([text for text, _ in cases], TESTNET)
    assert found == {name for _, name in cases if name}


@pytest.mark.parametrize(
    ("network", "text", "name"),
    [
        ("base", "Uniswap V3", "uniswapV3"),
        ("base", "uniswap-v3", "uniswapV3"),
        ("base", "Aerodrome Slipstream", "aerodromeV3"),
        ("base", "aerodrome slipstream", "aerodromeV3"),
        ("base", "PancakeSwap Infinity", "PancakeSwapV4"),
        ("hyperevm", "HX Finance", "hxFinance"),  # displayed as hx.finance
        ("monad", "Nabla", "Nabla Finance"),
        ("monad", "nabla finance", "Nabla Finance"),
    ],
)
def test_protocols_are_found_by_display_name(network: str, text: str, name: str) -> None:
    assert find_protocols([text], find_network(network)) == {name}


def test_a_name_beats_the_display_name_of_another_protocol() -> None:
    first, second = TESTNET.protocols[:2]
    renamed = (first._replace(display_name=second.amm_name), second._replace(display_name="Both"))
    network = TESTNET._replace(protocols=renamed)
    assert find_protocols([second.amm_name], network) == {second.amm_name}
    shared = TESTNET._replace(protocols=tuple(each._replace(display_name="Both") for each in renamed))
    with pytest.raises(UnknownProtocol, match="no protocol both"):
        find_protocols(["both"], shared)


def test_each_unknown_protocol_has_its_own_suggestion() -> None:
    with pytest.raises(UnknownProtocol) as caught:
        find_protocols(["Aerodrome Slipstrem", "zzz", "bmxx"], find_network("base"))
    assert caught.value.message == "no protocol Aerodrome Slipstrem, zzz, bmxx on base"
    assert caught.value.hint == (
        "Aerodrome Slipstrem: did you mean aerodromeV3? bmxx: did you mean bmx? swapcli protocols base lists them"
    )


def test_all_versions_of_an_exchange_are_suggested() -> None:
    """A user who excludes only the suggested ones must not trade on one that was left out."""
    base = find_network("base")
    for name in ("Aerodrome", "uniswap"):
        with pytest.raises(UnknownProtocol) as caught:
            find_protocols([name], base)
        versions = {each.amm_name for each in base.protocols if each.amm_name.lower().startswith(name.lower())}
        assert len(versions) >= 3
        assert versions <= set(caught.value.closest[name])


def test_unknown_protocols_are_all_named_with_the_closest() -> None:
    with pytest.raises(UnknownProtocol, match="no protocol uniswapV9, 77 on testnet") as caught:
        find_protocols(["4", "uniswapV9", "77"], TESTNET)
    assert caught.value.hint is not None
    assert "uniswapV" in caught.value.hint


def test_allowed_protocols_exclude_all_others() -> None:
    base = find_network("base")
    names = {each.amm_name for each in base.protocols if not each.is_wrapper}
    extended = {each.amm_name for each in base.protocols if each.is_extended}
    assert extended
    for is_extended in (False, True):
        allowed = names - excluded_protocols([], base, extended=is_extended, only=["UNISWAPV3", "uniswapV4"])
        assert allowed == {"uniswapV3", "uniswapV4"}
        rest = names - excluded_protocols(["uniswapV4"], base, extended=is_extended, only=["uniswapV3", "uniswapV4"])
        assert rest == {"uniswapV3"}
        # A protocol that is named needs no second option.
        assert names - excluded_protocols([], base, extended=is_extended, only=sorted(extended)) == extended
    assert excluded_protocols([], base, extended=False, only=[" "]) == extended
    assert excluded_protocols([], base, extended=True) == frozenset()
    assert "wrapper" not in excluded_protocols([], base, extended=False, only=["uniswapV3"])


def test_allowed_protocols_must_exist_and_must_not_all_be_excluded() -> None:
    with pytest.raises(UnknownProtocol, match="no protocol uniswapV9, 77 on testnet"):
        excluded_protocols(["4"], TESTNET, extended=False, only=["uniswapV9", "4", "77"])
    with pytest.raises(InvalidOption) as caught:
        excluded_protocols(["4", "5"], TESTNET, extended=True, only=["uniswapV3", "4"])
    assert caught.value.message == "every allowed protocol is also excluded: uniswapV2, uniswapV3"
    assert caught.value.hint == "exclude fewer protocols, or allow others"
