"""The functions of ERC-20 tokens that tell what an account has and what others may take of it."""

from __future__ import annotations

from typing import Final

BALANCE: Final = "balanceOf(address)"
ALLOWANCE: Final = "allowance(address,address)"
