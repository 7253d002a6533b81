"""The native token is the zero address."""

from __future__ import annotations

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_type import SwapType

TOKEN = "0x" + "11" * 20


def test_the_type_says_which_side_is_native() -> None:
    assert SwapType.of(ZERO_ADDRESS, TOKEN) is SwapType.NATIVE_TO_TOKEN
    assert SwapType.of(TOKEN, ZERO_ADDRESS) is SwapType.TOKEN_TO_NATIVE
    assert SwapType.of(TOKEN, "0x" + "22" * 20) is SwapType.TOKEN_TO_TOKEN
