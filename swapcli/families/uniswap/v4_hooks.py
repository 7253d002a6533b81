"""The permissions of a Uniswap V4 hook.

The lowest 14 bits of a hook's address are its permissions: the pool manager calls no callback whose bit is not set.
Source: Uniswap v4-core, `Hooks.sol`.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState

_BEFORE_SWAP: Final = 1 << 7  # permission bits of a hook's address, as in `Hooks.sol`
_AFTER_SWAP: Final = 1 << 6
_TAKES_INPUT: Final = 1 << 3
_TAKES_OUTPUT: Final = 1 << 2
_CHANGES_AMOUNTS: Final = {7: "beforeSwap", 3: "beforeSwapReturnsDelta", 2: "afterSwapReturnsDelta"}
"""The permissions (bits) with which a hook may change the amounts of a swap.

With beforeSwap, it may set the fee of the swap, or first trade and move liquidity in the pool.
"""
_NEEDS: Final = {3: 7, 2: 6, 1: 10, 0: 8}
"""The permissions (bits) to return amounts, with the bit of the callback that would return them."""
_PERMISSIONS: Final = (1 << 14) - 1  # the lowest bits of a hook's address


def check_hooks(hooks: str, *, has_dynamic_fee: bool) -> None:
    """Raise `InvalidPoolState` unless a pool can have this hook and the hook does not change swap amounts."""
    check_hook_address(hooks, has_dynamic_fee=has_dynamic_fee)
    if may_change_amounts(hooks):
        bits = _bits(hooks)
        permissions = ", ".join(f"{name} (bit {bit})" for bit, name in _CHANGES_AMOUNTS.items() if bits >> bit & 1)
        raise InvalidPoolState(
            "hooks", f"{hooks} has permissions ({permissions}) that let it change the amounts of a swap"
        )


def check_hook_address(hooks: str, *, has_dynamic_fee: bool) -> None:
    """Raise `InvalidPoolState` unless a pool can have this hook, whatever the hook does."""
    if not _is_valid(hooks, _bits(hooks), has_dynamic_fee):
        raise InvalidPoolState("hooks", f"no pool can have {hooks}: its permissions contradict themselves or the fee")


def may_change_amounts(hooks: str) -> bool:
    """Return whether a hook has a permission with which it may change the amounts of a swap."""
    return any(_bits(hooks) >> bit & 1 for bit in _CHANGES_AMOUNTS)


def may_set_fee(hooks: str) -> bool:
    """Return whether a hook is called before each swap. It can then set the fee of a pool with a dynamic fee."""
    return bool(_bits(hooks) & _BEFORE_SWAP)


def may_take_input(hooks: str) -> bool:
    """Return whether a hook has the permission to take a part of the input."""
    return bool(_bits(hooks) & _TAKES_INPUT)


def may_take_output(hooks: str) -> bool:
    """Return whether a hook has the permission to take a part of the output."""
    return bool(_bits(hooks) & _TAKES_OUTPUT)


def is_called_after_swaps(hooks: str) -> bool:
    """Return whether a hook is called after each swap. The hook's own swaps and liquidity changes may then move the
    price."""
    return bool(_bits(hooks) & _AFTER_SWAP)


def _is_valid(hooks: str, bits: int, has_dynamic_fee: bool) -> bool:
    """Return whether the pool manager creates pools with this hook, like `Hooks.isValidHookAddress`."""
    if any(bits >> bit & 1 and not bits >> needed & 1 for bit, needed in _NEEDS.items()):
        return False
    return bits > 0 or (int(hooks, 16) != 0) == has_dynamic_fee


def _bits(hooks: str) -> int:
    return int(hooks, 16) & _PERMISSIONS
