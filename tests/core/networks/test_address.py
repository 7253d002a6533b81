"""Addresses: EIP-55 vectors, round trips, and refused texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAddress
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import (
    NATIVE_PLACEHOLDER,
    STARKNET_ADDRESS_LIMIT,
    cache_checksums,
    display_address,
    is_native,
    parse_address,
    prepare_display,
)

# The examples of EIP-55: all capitals, all lower case, normal.
EIP_55 = (
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)

evm_addresses = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
starknet_numbers = st.integers(1, STARKNET_ADDRESS_LIMIT - 1)


@pytest.mark.parametrize("address", EIP_55)
def test_the_examples_of_eip_55_round_trip(address: str) -> None:
    assert display_address(address.lower(), Kind.EVM) == address
    assert parse_address(address, Kind.EVM) == address.lower()


@given(evm_addresses)
def test_reading_what_is_shown_gives_the_same_evm_address(address: str) -> None:
    assert parse_address(display_address(address, Kind.EVM), Kind.EVM) == address


@given(st.lists(evm_addresses, max_size=8))
def test_a_stored_checksum_does_not_change_how_an_address_shows(addresses: list[str]) -> None:
    display_address.cache_clear()
    hashed = [display_address(address, Kind.EVM) for address in addresses]
    display_address.cache_clear()
    cache_checksums(hashed)
    assert [display_address(address, Kind.EVM) for address in addresses] == hashed


@given(st.lists(evm_addresses, max_size=30))
def test_addresses_prepared_together_show_as_alone(addresses: list[str]) -> None:
    display_address.cache_clear()
    alone = [display_address(each, Kind.EVM) for each in addresses]
    display_address.cache_clear()
    prepare_display(addresses, Kind.EVM)
    assert [display_address(each, Kind.EVM) for each in addresses] == alone


@given(evm_addresses)
def test_evm_digits_in_one_letter_case_need_no_checksum(address: str) -> None:
    digits = address[2:]
    assert parse_address("0x" + digits.upper(), Kind.EVM) == address
    assert parse_address("0X" + digits.upper(), Kind.EVM) == address
    assert parse_address(address, Kind.EVM) == address


@given(evm_addresses, st.integers(2, 41))
def test_one_letter_in_the_wrong_case_is_refused(address: str, place: int) -> None:
    shown = display_address(address, Kind.EVM)
    wrong = shown[:place] + shown[place].swapcase() + shown[place + 1 :]
    if wrong == shown or wrong[2:] in (wrong[2:].lower(), wrong[2:].upper()):
        assert parse_address(wrong, Kind.EVM) == address
        return
    with pytest.raises(InvalidAddress, match="checksum") as caught:
        parse_address(wrong, Kind.EVM)
    assert caught.value.details == {"address": wrong}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0x",
        "4200000000000000000000000000000000000006",
        "0x420000000000000000000000000000000000000",
        "0x42000000000000000000000000000000000000061",
        "0x420000000000000000000000000000000000000g",
        "0x42000000000000000000000000000000_0000006",
        "0x4200000000000000000000000000000000000006\n",
        " 0x4200000000000000000000000000000000000006",
        "0x４２00000000000000000000000000000000000006",
        "0x" + "1" * 100_000,
    ],
)
def test_what_is_not_twenty_bytes_of_hex_is_no_evm_address(text: str) -> None:
    with pytest.raises(InvalidAddress) as caught:
        parse_address(text, Kind.EVM)
    assert len(caught.value.message) < 300


@given(starknet_numbers, st.integers(0, 64))
def test_reading_what_is_shown_gives_the_same_starknet_address(number: int, padding: int) -> None:
    canonical = f"0x{number:064x}"
    written = f"0x{number:x}".replace("0x", "0x" + "0" * padding)
    if len(written) <= 66:
        assert parse_address(written, Kind.STARKNET) == canonical
    assert parse_address(f"0x{number:X}", Kind.STARKNET) == canonical
    assert parse_address(display_address(canonical, Kind.STARKNET), Kind.STARKNET) == canonical


@pytest.mark.parametrize("number", [0, STARKNET_ADDRESS_LIMIT, STARKNET_ADDRESS_LIMIT + 1, 2**256 - 1])
def test_starknet_addresses_are_between_zero_and_two_to_the_251(number: int) -> None:
    with pytest.raises(InvalidAddress, match="2\\^251"):
        parse_address(f"{number:#x}", Kind.STARKNET)


@pytest.mark.parametrize("text", ["", "0x", "1", "0x" + "0" * 64 + "1", "0xg", "0x1 ", "0x1_0"])
def test_what_is_not_up_to_64_hex_digits_is_no_starknet_address(text: str) -> None:
    with pytest.raises(InvalidAddress, match="64 hexadecimal digits"):
        parse_address(text, Kind.STARKNET)


def test_evm_native_tokens_have_two_addresses_and_starknet_none() -> None:
    for address in ("0x" + "0" * 40, NATIVE_PLACEHOLDER, "0x" + "E" * 40, "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"):
        assert is_native(address)
        assert not is_native(address, Kind.STARKNET)
    assert not is_native("0x4200000000000000000000000000000000000006")


def test_ids_of_32_bytes_stay_in_lower_case() -> None:
    identifier = "0x" + "ab12cd34" * 8
    prepare_display([identifier, f"0x{'ab' * 20}"], Kind.EVM)
    assert display_address(identifier, Kind.EVM) == identifier
    assert display_address(f"0x{'ab' * 20}", Kind.EVM) != f"0x{'ab' * 20}"
