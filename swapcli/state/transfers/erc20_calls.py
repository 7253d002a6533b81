"""Calls of ERC-20 functions that return balances and allowances."""

from __future__ import annotations

from typing import Final

BALANCE: Final = "balanceOf(address)"
ALLOWANCE: Final = "allowance(address,address)"
