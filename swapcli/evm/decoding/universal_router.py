"""Decodes `execute(bytes commands, bytes[] inputs, uint256 deadline)` of Universal Routers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from swapcli.encoding.abi import WORD, invalid_field
from swapcli.evm.decoding.arguments import Arguments
from swapcli.evm.universal_router.commands import CONTRACT_BALANCE, ROUTER
from swapcli.evm.universal_router.plan import V2, V3, V4
from swapcli.model.decoded_call import (
    DecodedApproval,
    DecodedCall,
    DecodedFee,
    DecodedOrder,
    DecodedSwap,
    PoolHint,
)
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.units import PPM
from swapcli.networks.pool_addresses import v4_pool_id

_NEVER: Final = (1 << 256) - 1
_MAY_FAIL: Final = 0x80
_ADDRESS_BYTES, _FEE_BYTES = 20, 3
_SINGLE_WITHOUT_PRICE: Final = 9 * WORD
_PATH_WITHOUT_PRICES: Final = 4 * WORD
_HOOK_DATA: Final = 8


def decode_execute(arguments: bytes, wrapped: str | None) -> DecodedCall:
    """Decode the arguments of `execute`. Raises `InvalidInput` if they are not whole or describe no swap."""
    words = Arguments(arguments)
    codes, inputs = words.content(0, "commands"), list(words.contents(1, "inputs"))
    deadline_s = words.uint(2, "deadline")
    if len(codes) != len(inputs):
        raise invalid_field("inputs", f"{len(inputs)} for {len(codes)} commands")
    reader = _CommandReader()
    for code, content in zip(codes, inputs, strict=True):
        reader.read(code, content)
    order = reader.order(wrapped, None if deadline_s == _NEVER else deadline_s)
    return DecodedCall(
        "execute",
        order=order,
        swaps=tuple(reader.swaps),
        fee=reader.fee,
        permit=reader.permit,
        oddities=tuple(reader.oddities),
        trailing_bytes=len(arguments) - words.end,
    )


class _CommandReader:
    """Collects what the commands of one call say."""

    def __init__(self) -> None:
        self.swaps: list[DecodedSwap] = []
        self.fee: DecodedFee | None = None
        self.permit: DecodedApproval | None = None
        self.oddities: list[str] = []
        self._pulled: list[tuple[str, int]] = []
        self._wrapped_amount = 0
        self._payments: list[tuple[str, str, int]] = []

    def read(self, code: int, content: bytes) -> None:
        """Read a command. An unknown one is an oddity."""
        read = _COMMANDS.get(code & ~_MAY_FAIL)
        if read is None:
            self.oddities.append(f"command 0x{code:02x} is none that swaps need, and what it does is unknown")
            return
        if code & _MAY_FAIL and read is not _CommandReader._permit:
            self.oddities.append(f"command 0x{code:02x} may fail without stopping the rest")
        arguments = Arguments(content)
        read(self, arguments)
        if len(content) != arguments.end:
            self.oddities.append(f"command 0x{code:02x} has {len(content) - arguments.end} bytes more than it reads")

    def order(self, wrapped: str | None, deadline_s: int | None) -> DecodedOrder:
        """Return the order that the commands carry out. Raises `InvalidInput` if there is none."""
        if not self._payments:
            raise invalid_field("commands", "no recipient of an output")
        token_out, recipient, _ = self._payments[-1]
        if len({each[:2] for each in self._payments}) > 1:
            self.oddities.append("the output goes to several recipients, or in several tokens")
        minimum = sum(least for token, payee, least in self._payments if (token, payee) == (token_out, recipient))
        token_in, amount_in = self._input()
        is_native_in, is_native_out = token_in == ZERO_ADDRESS, token_out == ZERO_ADDRESS
        return DecodedOrder(
            token_in=(wrapped or token_in) if is_native_in else token_in,
            token_out=(wrapped or token_out) if is_native_out else token_out,
            amount_in=amount_in,
            min_received=minimum,
            recipient=recipient,
            is_native_in=is_native_in,
            is_native_out=is_native_out,
            deadline_s=deadline_s,
            has_deadline=True,
        )

    def _input(self) -> tuple[str, int]:
        """Return the token that the sender pays, the zero address for native currency, and how much of it.

        The first swap of a path has an amount, every further one spends what the one before it has paid.
        """
        amount = sum(swap.amount_in or 0 for swap in self.swaps)
        if self._pulled:
            token, first = self._pulled[0][0], sum(each for _, each in self._pulled)
            if any(each != token for each, _ in self._pulled):
                self.oddities.append("several tokens are taken from the sender")
            return token, amount if self.swaps else first
        if not self.swaps:
            return ZERO_ADDRESS, self._wrapped_amount
        return ZERO_ADDRESS, amount

    def _add_path(self, tokens: Sequence[str], pools: Sequence[PoolHint], amount_in: int | None) -> None:
        for number, pool in enumerate(pools):
            is_start = number == 0 and amount_in is not None
            share = None if is_start else PPM
            self.swaps.append(
                DecodedSwap(tokens[number], tokens[number + 1], pool, share, amount_in if is_start else None)
            )

    def _swap(self, arguments: Arguments, tokens: Sequence[str], pools: Sequence[PoolHint]) -> None:
        recipient, amount = arguments.address(0, "recipient"), arguments.uint(1, "amount_in")
        minimum, pulls = arguments.uint(2, "minimum"), arguments.uint(4, "payer", 8)
        if pulls:
            self._pulled.append((tokens[0], 0))
        if recipient != ROUTER:
            self._payments.append((tokens[-1], recipient, minimum))
        self._add_path(tokens, pools, None if amount == CONTRACT_BALANCE else amount)

    def _v3(self, arguments: Arguments) -> None:
        path = arguments.content(3, "path")
        arguments.skip_list(5)
        step = _ADDRESS_BYTES + _FEE_BYTES
        if len(path) < step + _ADDRESS_BYTES or (len(path) - _ADDRESS_BYTES) % step:
            raise invalid_field("path", f"{len(path)} bytes are no path of tokens and fees")
        tokens = [f"0x{path[k : k + _ADDRESS_BYTES].hex()}" for k in range(0, len(path), step)]
        fees = [int.from_bytes(path[k : k + _FEE_BYTES]) for k in range(_ADDRESS_BYTES, len(path), step)]
        self._swap(arguments, tokens, [PoolHint(kind=V3, tier=fee) for fee in fees])

    def _v2(self, arguments: Arguments) -> None:
        tokens = arguments.addresses(3, "path")
        arguments.skip_list(5)
        if len(tokens) < 2:
            raise invalid_field("path", "fewer than two tokens")
        self._swap(arguments, tokens, [PoolHint(kind=V2)] * (len(tokens) - 1))

    def _v4(self, arguments: Arguments) -> None:
        actions, contents = arguments.content(0, "actions"), list(arguments.contents(1, "params"))
        if len(actions) != len(contents):
            raise invalid_field("params", f"{len(contents)} for {len(actions)} actions")
        settled: tuple[str, bool] | None = None
        for action, content in zip(actions, contents, strict=True):
            words = Arguments(content)
            if action == _V4_SETTLE:
                settled = words.address(0, "currency"), bool(words.uint(2, "payer", 8))
            elif action == _V4_TAKE:
                if (recipient := words.address(1, "recipient")) != ROUTER:
                    self._payments.append((words.address(0, "currency"), recipient, 0))
            elif action in (_V4_SINGLE, _V4_PATH):
                swap = words.nested(0, "swap")
                (self._v4_single if action == _V4_SINGLE else self._v4_path)(swap)
            else:
                self.oddities.append(f"action 0x{action:02x} of a V4 swap is none that swaps need")
        if settled and settled[1]:
            self._pulled.append((settled[0], 0))

    def _v4_single(self, swap: Arguments) -> None:
        currencies = swap.address(0, "currency0"), swap.address(1, "currency1")
        is_forward, amount = bool(swap.uint(5, "direction", 8)), swap.uint(6, "amount_in", 128)
        has_price = swap.uint(_HOOK_DATA, "hook data offset") != _SINGLE_WITHOUT_PRICE
        if swap.content(_HOOK_DATA + has_price, "hook data"):
            self.oddities.append("a V4 pool gets data for its hook")
        tokens = currencies if is_forward else currencies[::-1]
        hooks = swap.address(4, "hooks")
        pool = self._v4_pool(currencies, swap.uint(2, "fee", 24), swap.signed(3, "tick spacing"), hooks)
        self._add_path(tokens, [pool], amount or None)

    def _v4_path(self, swap: Arguments) -> None:
        has_prices = swap.uint(1, "path offset") != _PATH_WITHOUT_PRICES
        tokens, pools = [swap.address(0, "currency")], []
        for key in swap.tuples(1, "path"):
            tokens.append(key.address(0, "currency"))
            pair = tokens[-2], tokens[-1]
            if key.content(4, "hook data"):
                self.oddities.append("a V4 pool gets data for its hook")
            hooks = key.address(3, "hooks")
            pools.append(self._v4_pool(pair, key.uint(1, "fee", 24), key.signed(2, "tick spacing"), hooks))
        if not pools:
            raise invalid_field("path", "no pools")
        self._add_path(tokens, pools, swap.uint(2 + has_prices, "amount_in", 128) or None)

    @staticmethod
    def _v4_pool(currencies: tuple[str, str], fee_ppm: int, spacing: int, hooks: str) -> PoolHint:
        if spacing < 0:
            raise invalid_field("tick spacing", "below zero")
        return PoolHint(v4_pool_id(*currencies, fee_ppm, spacing, hooks), V4, fee_ppm)

    def _pull(self, arguments: Arguments) -> None:
        token, recipient = arguments.address(0, "token"), arguments.address(1, "recipient")
        self._pulled.append((token, arguments.uint(2, "amount", 160)))
        if recipient != ROUTER:
            self._payments.append((token, recipient, 0))

    def _sweep(self, arguments: Arguments) -> None:
        token, recipient = arguments.address(0, "token"), arguments.address(1, "recipient")
        self._payments.append((token, recipient, arguments.uint(2, "minimum")))

    def _pay_fee(self, arguments: Arguments) -> None:
        if self.fee is not None:
            self.oddities.append("several fees are paid")
        arguments.address(0, "token")
        self.fee = DecodedFee(arguments.address(1, "integrator"), arguments.uint(2, "bps"))

    def _wrap(self, arguments: Arguments) -> None:
        recipient, amount = arguments.address(0, "recipient"), arguments.uint(1, "amount")
        if amount != CONTRACT_BALANCE:
            self._wrapped_amount += amount
        if recipient != ROUTER:
            self.oddities.append("wrapped native currency leaves the router during the swap")

    def _unwrap(self, arguments: Arguments) -> None:
        recipient, minimum = arguments.address(0, "recipient"), arguments.uint(1, "minimum")
        if recipient != ROUTER:
            self._payments.append((ZERO_ADDRESS, recipient, minimum))

    def _permit(self, arguments: Arguments) -> None:
        if self.permit is not None:
            self.oddities.append("several permits are used")
        self.permit = DecodedApproval(
            token=arguments.address(0, "token"),
            spender=arguments.address(4, "spender"),
            amount=arguments.uint(1, "amount", 160),
            expiration_s=arguments.uint(2, "expiration", 48),
            deadline_s=arguments.uint(5, "deadline"),
        )
        arguments.content(6, "signature")


_V4_SINGLE, _V4_PATH, _V4_SETTLE, _V4_TAKE = 0x06, 0x07, 0x0B, 0x0E
_COMMANDS: Final[Mapping[int, Callable[[_CommandReader, Arguments], None]]] = MappingProxyType(
    {
        0x00: _CommandReader._v3,
        0x02: _CommandReader._pull,
        0x04: _CommandReader._sweep,
        0x06: _CommandReader._pay_fee,
        0x08: _CommandReader._v2,
        0x0A: _CommandReader._permit,
        0x0B: _CommandReader._wrap,
        0x0C: _CommandReader._unwrap,
        0x10: _CommandReader._v4,
    }
)
"""The commands of swaps; the others that routers know are not used by quotes."""
