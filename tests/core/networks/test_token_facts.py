"""What a contract says of a token is compared with what is listed of it."""

from __future__ import annotations

import pytest

from swapcli.core.errors import ConfigError
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network, own_contracts, own_tokens
from swapcli.core.networks.token_facts import TokenFacts, check_token_facts, contradicts, names_same_token

TOKEN = Token("0x" + "12" * 20, "USDC", "USD Coin", 6)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("USDC", "USDC"),
        ("usdc", "USDC"),
        ("USDC.e", "USDC"),
        ("WETH.axl", "weth"),
        ("USDT", "USD₮"),
        ("USD₮0", "USDT0"),
        ("MKR", ""),
        ("MKR", " MKR "),
    ],
)
def test_symbols_that_name_the_same_token(listed: str, said: str) -> None:
    assert names_same_token(listed, said)


@pytest.mark.parametrize(
    ("listed", "said"), [("USDC", "USDC.e"), ("USDC", "USDT"), ("USDCe", "USDC"), ("USDC", "USDCoin"), ("E", "USDC.E")]
)
def test_symbols_that_name_another_token(listed: str, said: str) -> None:
    assert not names_same_token(listed, said)


def test_decimals_must_be_equal_for_every_token() -> None:
    network = find_network("base")
    for facts in (TokenFacts(6, "OTHER"), TokenFacts(None, "OTHER")):
        check_token_facts(network, TOKEN, facts, checks_symbol=False)
        assert not contradicts(TOKEN, facts)
    assert contradicts(TOKEN, TokenFacts(18, "USDC"))
    with pytest.raises(ConfigError, match="18 decimals on the chain, but 6 in the market of base"):
        check_token_facts(network, TOKEN, TokenFacts(18, "USDC"), checks_symbol=False)
    with pytest.raises(ConfigError, match='called "OTHER" on the chain, but "USDC" in the market of base'):
        check_token_facts(network, TOKEN, TokenFacts(6, "OTHER"), checks_symbol=True)


def test_what_the_user_has_added_is_known_from_the_packaged_definition() -> None:
    assert own_tokens(find_network("base")) == ()
    assert own_contracts(find_network("base")) == {}
    token = {"address": TOKEN.address, "symbol": "MINE", "name": "Mine", "decimals": 6}
    factory = "0x" + "34" * 20
    deployment = {"protocols": ["uniswapV2"], "name": "Uniswap V2", "addresses": {"factory": factory}}
    network = find_network("base", {"base": {"tokens": [token], "deployments": [deployment]}})
    assert [each.symbol for each in own_tokens(network)] == ["MINE"]
    assert own_contracts(network) == {factory: "the factory of Uniswap V2"}
