"""The key of a PancakeSwap Infinity pool, and the callbacks for which its hook is registered.

A key has six fields: currency0, currency1, hooks, poolManager, fee, parameters. The lowest 16 bits of `parameters` are
the hook's registration bitmap; the tick spacing or the bin step follows. The pool's ID is the hash of the six encoded
words.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import parse_hex
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.state_fields import StateFields

MAX_INFINITY_PROTOCOL_FEE_PPM: Final = 4_000
"""`MAX_PROTOCOL_FEE` in the contracts."""

_HOOK_BITS: Final = 16  # the lowest bits of a key's parameters are the hook's permissions
_AFTER_SWAP: Final = 1 << 7  # permission to be called after a swap
_CHANGES_AMOUNTS: Final = {6: "beforeSwap", 10: "beforeSwapReturnsDelta", 11: "afterSwapReturnsDelta"}
"""The permissions (bits) with which a hook may change the amounts of a swap.

With beforeSwap, it may set the fee of the swap, or first trade and move liquidity in the pool.
"""


class InfinityKey(NamedTuple):
    """The key of a PancakeSwap Infinity pool.

    `parameters` is one number. `is_native` means that currency0 is the native token, listed in its wrapped form.
    """

    pool_id: str
    hooks: str
    fee: int
    parameters: int
    is_native: bool = False

    @property
    def step(self) -> int:
        """The tick spacing or the bin step."""
        return step_in(self.parameters)

    def api_extra_data(self, tokens: tuple[str, ...]) -> dict[str, int | str]:
        """Return the fields of the Fibrous API's `extraData` that identify the pool, besides the fee and the step."""
        return {
            "poolId": self.pool_id,
            "token0": ZERO_ADDRESS if self.is_native else tokens[0],
            "token1": tokens[1],
            "hooks": self.hooks,
            "parameters": f"0x{self.parameters:064x}",
        }

    def state(self) -> dict[str, object]:
        """Return the fields that `read_infinity_key` reads."""
        state: dict[str, object] = {
            "pool_id": self.pool_id,
            "hooks": self.hooks,
            "parameters": f"0x{self.parameters:064x}",
        }
        if self.fee == DYNAMIC_FEE:
            state["dynamic_fee"] = True
        if self.is_native:
            state["native"] = True
        return state


def read_infinity_key(fields: StateFields, fee_ppm: int) -> InfinityKey:
    """Read `pool_id`, `hooks`, `parameters`, and the optional `dynamic_fee` and `native`.

    Raises `InvalidPoolState`, including for a hook that can change the amounts of a swap.
    """
    has_dynamic_fee = fields.boolean("dynamic_fee")
    key = InfinityKey(
        fields.read("pool_id", parse_hex, 32),
        fields.read("hooks", parse_hex, 20),
        DYNAMIC_FEE if has_dynamic_fee else fee_ppm,
        int(fields.read("parameters", parse_hex, 32), 16),
        fields.boolean("native"),
    )
    check_infinity_hooks(key.hooks, key.parameters, has_dynamic_fee=has_dynamic_fee)
    return key


def check_infinity_hooks(hooks: str, parameters: int, *, has_dynamic_fee: bool) -> None:
    """Raise `InvalidPoolState` unless a pool can have this hook and the hook does not change swap amounts."""
    if hooks == ZERO_ADDRESS and (has_dynamic_fee or parameters % (1 << _HOOK_BITS)):
        raise InvalidPoolState("hooks", "a pool without a hook has no callbacks and no dynamic fee")
    permissions = ", ".join(f"{name} (bit {bit})" for bit, name in _CHANGES_AMOUNTS.items() if parameters >> bit & 1)
    if permissions:
        raise InvalidPoolState(
            "hooks", f"{hooks} has permissions ({permissions}) that let it change the amounts of a swap"
        )


def is_infinity_hook_called_after_swaps(parameters: int) -> bool:
    """Return whether a hook is called after each swap. The hook's own swaps and liquidity changes may then move the
    price."""
    return bool(parameters & _AFTER_SWAP)


def step_in(parameters: int) -> int:
    """Return the tick spacing or the bin step of a key."""
    return parameters >> _HOOK_BITS
