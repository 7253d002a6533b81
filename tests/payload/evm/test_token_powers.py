"""What the owner of a token can do is read from the code and the slots of the token."""

from __future__ import annotations

import pytest

from swapcli.payload.evm.token_powers import (
    BEACON_SLOT,
    IMPLEMENTATION_SLOTS,
    Power,
    address_in,
    minimal_proxy_target,
    powers_in,
    selectors_in,
)
from swapcli.testing.evm import selector

TARGET = "0x" + "1f" * 20


def pushing(*signatures: str) -> bytes:
    return b"".join(b"\x63" + selector(signature) for signature in signatures)


def test_the_slots_are_those_of_the_standards() -> None:
    assert f"{IMPLEMENTATION_SLOTS['EIP-1967 implementation']:x}" == (
        "360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
    )
    assert f"{BEACON_SLOT[1]:x}" == "a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
    assert f"{IMPLEMENTATION_SLOTS['EIP-1822 implementation']:x}" == (
        "c5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7"
    )


@pytest.mark.parametrize(
    ("signature", "power"),
    [
        ("upgradeTo(address)", Power.UPGRADE),
        ("mint(address,uint256)", Power.MINT),
        ("paused()", Power.PAUSE),
        ("isBlacklisted(address)", Power.BLOCKLIST),
    ],
)
def test_a_function_shows_its_power(signature: str, power: Power) -> None:
    (found,) = powers_in(pushing("transfer(address,uint256)", signature), {})
    assert found == (power, signature)


def test_a_constant_inside_another_one_is_no_function() -> None:
    assert selectors_in(b"\x7f" + pushing("mint(uint256)").ljust(32, b"\0")) == frozenset()
    assert selectors_in(pushing("mint(uint256)")[:-1]) == {selector("mint(uint256)")[:-1]}


def test_a_proxy_shows_that_it_can_be_upgraded() -> None:
    (found,) = powers_in(b"", {"EIP-1967 beacon": TARGET})
    assert found == (Power.UPGRADE, f"EIP-1967 beacon {TARGET}")
    code = bytes.fromhex(f"363d3d373d3d3d363d73{TARGET[2:]}5af43d82803e903d91602b57fd5bf3")
    assert minimal_proxy_target(code) == TARGET
    assert minimal_proxy_target(code + b"\0") is None
    assert powers_in(code, {}) == ()


def test_a_word_is_an_address_only_if_it_fits() -> None:
    assert address_in(bytes(12) + bytes.fromhex(TARGET[2:])) == TARGET
    assert address_in(bytes(32)) is address_in(b"") is address_in(b"\1" * 32) is None
