"""Permit2: the contract that manages spenders' allowances for tokens whose owners have approved Permit2.

Source: Uniswap's permit2, `AllowanceTransfer`.
"""

from __future__ import annotations

from typing import Final

PERMIT2: Final = "0x000000000022d473030f116ddee9f6b43ac78ba3"
"""Its address on every EVM network of the catalogue except Citrea."""
AMOUNT_BITS: Final = 160  # an allowance of Permit2 is a uint160
PERMIT2_ALLOWANCE: Final = "allowance(address,address,address)"
"""The function for the allowance of an owner, a token and a spender; it returns the amount, the expiration (Unix) and
the permit nonce."""
