"""Whether a swap sells or buys the native token."""

from __future__ import annotations

from enum import IntEnum

from swapcli.core.model.order import ZERO_ADDRESS


class SwapType(IntEnum):
    """Whether a swap sells or buys the native token."""

    NATIVE_TO_TOKEN = 0
    TOKEN_TO_NATIVE = 1
    TOKEN_TO_TOKEN = 2

    @classmethod
    def of(cls, address_in: str, address_out: str) -> SwapType:
        """Return the type of a swap between two addresses; the native token is the zero address."""
        if address_in == ZERO_ADDRESS:
            return cls.NATIVE_TO_TOKEN
        return cls.TOKEN_TO_NATIVE if address_out == ZERO_ADDRESS else cls.TOKEN_TO_TOKEN
