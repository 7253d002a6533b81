"""The types of messages: their hashes are those that the deployed contracts have as constants."""

from __future__ import annotations

import pytest

from swapcli.payload.decode.message_standards import SAFE_TRANSACTION, STANDARDS, parse_types
from tests.support.outside_ids import keccak256

TYPE_HASHES = {
    "a permit (EIP-2612)": "6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9",
    "a permit in DAI's form": "ea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb",
    "a permit of Permit2": "f3841cd1ff0085026a6327b620b67997ce40f282c88a8e905a7a5626e310f3d0",
    "a permit of Permit2 for several tokens": "af1b0d30d2cab0380e68f0689007e3254993c596f2fdd0aaa7f4d04f79440863",
    "a transfer permit of Permit2": "939c21a48a8dbe3a9a2404a1d46691e4d39f6583d6ec6b35714604c986d80106",
    "a transfer permit of Permit2 for several tokens": (
        "fcf35f5ac6a2c28868dc44c302166470266239195f02b0ee408334829333b766"
    ),
}
"""`PERMIT_TYPEHASH` of OpenZeppelin's ERC20Permit and of DAI, and the constants of Permit2's `PermitHash`."""
SAFE_TX_TYPE_HASH = "bb8310d486368db6bd6f849402fdd73ad53d316b5a4b2644ad6efe0f941286d8"
"""`SAFE_TX_TYPEHASH` of Safe 1.3.0."""


@pytest.mark.parametrize("standard", STANDARDS, ids=lambda each: each.primary_type)
def test_the_type_of_a_standard_is_that_of_its_contract(standard: object) -> None:
    title, encoded_type = standard.title, standard.encoded_type  # type: ignore[attr-defined]
    assert keccak256(encoded_type.encode()).hex() == TYPE_HASHES[title]


def test_the_type_of_a_safe_transaction_is_that_of_its_contract() -> None:
    assert keccak256(SAFE_TRANSACTION.encode()).hex() == SAFE_TX_TYPE_HASH


def test_an_encoded_type_has_its_structs_in_order() -> None:
    assert parse_types("Mail(Person to,string text)Person(address wallet)") == {
        "Mail": (("to", "Person"), ("text", "string")),
        "Person": (("wallet", "address"),),
    }
