"""An address that names its chain is read on that network alone."""

from __future__ import annotations

import pytest

from swapcli.core.errors import ConfigError, InvalidAddress
from swapcli.core.networks.address import advise_address, is_name, parse_network_address, without_chain
from swapcli.core.networks.catalogue import find_network, network_names

EVM = "0x" + "11" * 20
FELT = "0x" + "0" + "1" * 63
PREFIXES = {
    "base": ("base", "Base", "BASE", "eip155:8453", "8453"),
    "citrea": ("citrea", "eip155:4114"),
    "hyperevm": ("hyperevm", "hyper", "hyper_evm", "eip155:999"),
    "monad": ("monad", "mon", "eip155:143"),
    "starknet": ("starknet", "starknet:SN_MAIN"),
}
"""What wallets write before addresses: EIP-3770, CAIP-10, chain IDs."""


@pytest.mark.parametrize("name", network_names())
def test_the_prefixes_of_a_network_are_read_there_alone(name: str) -> None:
    for owner, prefixes in PREFIXES.items():
        address = FELT if owner == "starknet" else EVM
        for prefix in prefixes:
            text, network = f"{prefix}:{address}", find_network(name)
            if owner == name:
                assert parse_network_address(text, network) == address
            else:
                with pytest.raises(InvalidAddress, match=f"is for the chain .*, not for {name}"):
                    parse_network_address(text, network)


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        (f"eth:{EVM}", "the chain eth"),
        (f"eip155:1:{EVM}", "the chain with ID 1"),
        (f"1:{EVM}", "the chain with ID 1"),
        (f"eip155:84530:{EVM}", "the chain with ID 84530"),
        (f"ethereum:{EVM}@1", "the chain with ID 1"),
        (f"ethereum:{EVM}", "the chain ethereum"),
        (f"solana:base:{EVM}", "the chain solana:base"),
        (f"starknet:SN_SEPOLIA:{EVM}", "the chain starknet:SN_SEPOLIA"),
    ],
)
def test_a_different_chain_is_named(text: str, chain: str) -> None:
    with pytest.raises(InvalidAddress, match=f"is for {chain}, not for base") as caught:
        without_chain(text, find_network("base"))
    assert caught.value.hint == "give an address on base"


def test_a_payment_link_names_its_chain() -> None:
    for text in (f"ethereum:{EVM}@8453", f"ethereum:pay-{EVM}@8453"):
        assert parse_network_address(text, find_network("base")) == EVM


@pytest.mark.parametrize("text", ["ETH", "base:", "base:me.eth", f"https://x.example/{EVM}", f"a b:{EVM}", ":"])
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert without_chain(text, find_network("base")) == text


def test_a_wrong_checksum_behind_a_chain_is_an_error() -> None:
    with pytest.raises(InvalidAddress, match="wrong checksum"):
        parse_network_address("base:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914", find_network("base"))


def test_addresses_of_the_settings_may_name_their_chain() -> None:
    token = {"address": f"base:{EVM}", "symbol": "MINE", "name": "Mine", "decimals": 6}
    network = find_network("base", {"base": {"router": f"eip155:8453:{EVM}", "tokens": [token]}})
    assert network.router == network.tokens[-1].address == EVM
    with pytest.raises(ConfigError, match="is for the chain monad, not for base") as caught:
        find_network("base", {"base": {"tokens": [token | {"address": f"monad:{EVM}"}]}})
    assert caught.value.place == "networks.base.tokens[0].address"


@pytest.mark.parametrize("text", ["me.eth", "me.base.eth", "\U0001f600.eth", "0x1.eth", "a_b.eth", "me .eth"])
def test_what_can_be_a_name_is_one(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("0x1111...1111", "this address is shortened: give the full address"),
        ("0x1111\u20261111", "this address is shortened: give the full address"),
        (f"https://basescan.org/address/{EVM}", f"give only the address: {EVM}"),
        (f"basescan.org/address/{EVM}#code", f"give only the address: {EVM}"),
        (f"https://x.example/{EVM}/{FELT[:42]}", None),
        (f"https://basescan.org/tx/0x{'ab' * 32}", None),
        ("me@example.com", None),
        ("me..eth", None),
        (".eth", None),
        ("me.eth/", None),
        ("base:me.eth", None),
        (EVM, None),
    ],
)
def test_what_cannot_be_a_name_is_none(text: str, advice: str | None) -> None:
    assert not is_name(text)
    assert advise_address(text) == advice
