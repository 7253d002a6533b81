"""Recovered keys are those that signed, by the library that wallets use."""

from __future__ import annotations

from random import Random

import pytest
from eth_keys.datatypes import PrivateKey

from swapcli.core.encoding.key_recovery import ORDER, recover_public_key


def test_the_key_that_signed_is_recovered() -> None:
    rng = Random("recovered keys")
    for _ in range(12):
        key = PrivateKey(rng.randrange(1, ORDER).to_bytes(32))
        digest = rng.randbytes(32)
        signature = key.sign_msg_hash(digest)
        found = recover_public_key(digest, signature.r, signature.s, signature.v)
        assert found == key.public_key.to_bytes()
        assert recover_public_key(digest, signature.r, signature.s, 1 - signature.v) != found
        # The other half of the same curve: the same key has a second signature of the digest.
        assert recover_public_key(digest, signature.r, ORDER - signature.s, 1 - signature.v) == found


def test_a_known_signature_has_its_known_signer() -> None:
    """The example of EIP-155: its digest, its signature and the public key of the private key 0x46...46."""
    digest = bytes.fromhex("daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53")
    r = 0x28EF61340BD939BC2195FE537567866003E1A15D3C71FF63E1590620AA636276
    s = 0x67CBE9D8997F761AECB703304B3800CCF555C9F3DC64214B297FB1966A3B6D83
    found = recover_public_key(digest, r, s, 0)
    assert found == PrivateKey(bytes.fromhex("46" * 32)).public_key.to_bytes()


@pytest.mark.parametrize(
    ("r", "s", "parity"), [(0, 1, 0), (1, 0, 0), (ORDER, 1, 0), (1, ORDER, 1), (1, 1, 2), (5, 1, 0)]
)
def test_what_no_key_signs_has_none(r: int, s: int, parity: int) -> None:
    """No point of the curve has the x coordinate 5."""
    assert recover_public_key(b"\1" * 32, r, s, parity) is None
