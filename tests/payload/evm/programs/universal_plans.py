"""Plans of Universal Router programs and their encoding by `eth_abi`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from eth_abi.abi import encode

from swapcli.testing.evm import selector

ROUTER, SENDER = "0x" + "2".zfill(40), "0x" + "1".zfill(40)
"""The recipients that stand for the router and for the sender."""
CONTRACT_BALANCE: Final = 1 << 255
MAY_FAIL: Final = 0x80
V3_IN, V3_OUT, PULL, PERMIT_BATCH, SWEEP, TRANSFER, PAY_SHARE = range(7)
V2_IN, V2_OUT, PERMIT, WRAP, UNWRAP, PULL_BATCH, CHECK_BALANCE = range(8, 15)
V4, SUB_PLAN = 0x10, 0x21
SINGLE_IN, PATH_IN, SINGLE_OUT, PATH_OUT = range(6, 10)
SETTLE, SETTLE_ALL, TAKE, TAKE_ALL, TAKE_SHARE = 0x0B, 0x0C, 0x0E, 0x0F, 0x10
SWAPS: Final = frozenset({V3_IN, V3_OUT, V2_IN, V2_OUT})
V4_SWAPS: Final = frozenset({SINGLE_IN, PATH_IN, SINGLE_OUT, PATH_OUT})

_PERMIT_DETAILS = "(address,uint160,uint48,uint48)"
_KEY, _PATH_KEY = "(address,address,uint24,int24,address)", "(address,uint24,int24,address,bytes)"
_V3 = ["address", "uint256", "uint256", "bytes", "bool"]
_V2 = ["address", "uint256", "uint256", "address[]", "bool"]
_THREE = ["address", "address", "uint256"]
COMMAND_TYPES: Final = {
    V3_IN: _V3,
    V3_OUT: _V3,
    PULL: ["address", "address", "uint160"],
    PERMIT_BATCH: [f"({_PERMIT_DETAILS}[],address,uint256)", "bytes"],
    SWEEP: _THREE,
    TRANSFER: _THREE,
    PAY_SHARE: _THREE,
    0x07: _THREE,
    V2_IN: _V2,
    V2_OUT: _V2,
    PERMIT: [f"({_PERMIT_DETAILS},address,uint256)", "bytes"],
    WRAP: ["address", "uint256"],
    UNWRAP: ["address", "uint256"],
    PULL_BATCH: ["(address,address,uint160,address)[]"],
    CHECK_BALANCE: _THREE,
}
_TAKE = ["address", "address", "uint256"]
ACTION_TYPES: Final = {
    SETTLE: ["address", "uint256", "bool"],
    SETTLE_ALL: ["address", "uint256"],
    TAKE: _TAKE,
    TAKE_ALL: ["address", "uint256"],
    TAKE_SHARE: _TAKE,
    0x0D: ["address", "address"],
    0x11: ["address", "address", "address"],
    0x12: ["address"],
    0x13: ["address", "uint256"],
    0x14: ["address", "address"],
}
_UINT = re.compile(r"u?int(\d+)")


class Action(NamedTuple):
    """An action of a V4 swap. The fields of a swap are those of its tuple, without prices."""

    code: int
    fields: tuple[Any, ...]


class Command(NamedTuple):
    """A command, with its flag. The field of a V4 swap is its actions, that of a plan in the plan its commands.

    The fields of V2 and V3 swaps have no prices; `has_prices` adds an empty list of them.
    """

    code: int
    fields: tuple[Any, ...]
    has_prices: bool = False

    @property
    def kind(self) -> int:
        """The command without its flag."""
        return self.code & 0x3F

    def with_field(self, index: int, value: object) -> Command:
        """Return it with another field."""
        return self._replace(fields=(*self.fields[:index], value, *self.fields[index + 1 :]))


def encode_plan(plan: Sequence[Command], deadline_s: int | None, *, has_path_prices: bool) -> str:
    """Return the calldata of a plan. `has_path_prices` is the encoding of V4 paths since release 2.1.0."""
    codes, inputs = _encode_commands(plan, has_path_prices)
    if deadline_s is None:
        return "0x" + (selector("execute(bytes,bytes[])") + encode(["bytes", "bytes[]"], [codes, inputs])).hex()
    arguments = encode(["bytes", "bytes[]", "uint256"], [codes, inputs, deadline_s])
    return "0x" + (selector("execute(bytes,bytes[],uint256)") + arguments).hex()


def _encode_commands(plan: Sequence[Command], has_path_prices: bool) -> tuple[bytes, list[bytes]]:
    return bytes(each.code for each in plan), [_encode_command(each, has_path_prices) for each in plan]


def _encode_command(command: Command, has_path_prices: bool) -> bytes:
    if command.kind == V4:
        (actions,) = command.fields
        codes = bytes(each.code for each in actions)
        return encode(["bytes", "bytes[]"], [codes, [_encode_action(each, has_path_prices) for each in actions]])
    if command.kind == SUB_PLAN:
        (plan,) = command.fields
        return encode(["bytes", "bytes[]"], list(_encode_commands(plan, has_path_prices)))
    types = COMMAND_TYPES.get(command.kind, ["bytes"])
    if command.has_prices and command.kind in SWAPS:
        return encode([*types, "uint256[]"], [*_fit(types, command.fields), []])
    return encode(types, _fit(types, command.fields))


def _encode_action(action: Action, has_path_prices: bool) -> bytes:
    code, fields = action
    if code in (SINGLE_IN, SINGLE_OUT):
        kind = f"({_KEY},bool,uint128,uint128,bytes)"
        key, forward, first, second, data = fields
        return encode([kind], [(key, forward, first % 2**128, second % 2**128, data)])
    if code in (PATH_IN, PATH_OUT):
        currency, path, first, second = fields
        amounts = first % 2**128, second % 2**128
        if has_path_prices:
            return encode([f"(address,{_PATH_KEY}[],uint256[],uint128,uint128)"], [(currency, path, [], *amounts)])
        return encode([f"(address,{_PATH_KEY}[],uint128,uint128)"], [(currency, path, *amounts)])
    types = ACTION_TYPES.get(code, ["bytes"])
    return encode(types, _fit(types, fields))


def _fit(types: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Return values whose numbers fit their types."""
    return [
        value % 2 ** int(found[1]) if (found := _UINT.fullmatch(kind)) else value
        for kind, value in zip(types, values, strict=True)
    ]
