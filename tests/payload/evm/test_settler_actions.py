"""Actions of 0x Settler: their selectors, their values and the hashes of their tokens."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.payload.evm import settler_actions
from swapcli.payload.evm.settler_actions import NATIVE, V4Key, encode_uniswap_v2, encode_uniswap_v4, hash_multiplier
from tests.payload.evm.settler_model import SIGNATURES, selector


@pytest.mark.parametrize(
    "name", [name for name in SIGNATURES if name not in ("exchange", "swap", "withdraw", "transfer")]
)
def test_selectors_are_the_hashes_of_the_signatures(name: str) -> None:
    assert getattr(settler_actions, name.upper()) == selector(name).hex()


def test_hashes_of_the_tokens_of_an_action_never_clash() -> None:
    rng = Random("hashes")
    for _ in range(300):
        tokens = [NATIVE, *(f"0x{rng.getrandbits(160):040x}" for _ in range(rng.randint(1, 4)))]
        multiplier = hash_multiplier(*tokens)
        slots = {int(token, 16) * multiplier % (2**64 - 59) % 8 for token in tokens}
        assert len(slots) == len(tokens)


@pytest.mark.parametrize(("bps", "fee_bps"), [(-1, 30), (10_001, 30), (1, -1), (1, 10_000)])
def test_values_out_of_range_are_refused(bps: int, fee_bps: int) -> None:
    with pytest.raises(InvalidInput):
        encode_uniswap_v2(A, A, bps, A, fee_bps, True)


def test_a_negative_tick_spacing_takes_three_bytes() -> None:
    action = encode_uniswap_v4(A, A, B, 10_000, V4Key(500, -10))
    assert "0001f4" + "fffff6" + "00" * 20 in action


A, B = "0x5fbdb2315678afecb367f032d93f642f64180aa3", "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512"
