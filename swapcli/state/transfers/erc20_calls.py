"""ERC-20 functions that return an account's balance and what others may take of it."""

from __future__ import annotations

from typing import Final

BALANCE: Final = "balanceOf(address)"
ALLOWANCE: Final = "allowance(address,address)"
