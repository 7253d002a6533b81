"""Decode the calls of 0x Settler and of AllowanceHolder; `settler_actions` has their encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import ADDRESS_BYTES, SELECTOR_BYTES, invalid_field
from swapcli.core.model.decoded_call import (
    DecodedCall,
    DecodedFee,
    DecodedOrder,
    DecodedPayment,
    DecodedSwap,
    PoolHint,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import NO_DEADLINE_S
from swapcli.core.model.units import E18_PER_BPS, PPM
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.payload.evm import settler_actions
from swapcli.payload.evm.basic_calls import AMOUNT_AT, TRANSFER, TRANSFER_AMOUNT, WITHDRAW
from swapcli.payload.evm.decoding.arguments import Arguments
from swapcli.payload.evm.decoding.basic_calls import CalledSwap, read_called_swap
from swapcli.payload.evm.settler_actions import ALL, NATIVE

_PATH_BYTES: Final = 2 * ADDRESS_BYTES + 1 + 3 + 20
"""One hop: sell token, fork, pool id, price limit, buy token."""
_FILL_BYTES: Final = 2 + 20 + 1 + ADDRESS_BYTES + 3 + 3 + ADDRESS_BYTES + 3
_POSITIVE_SLIPPAGE: Final = "34ee90ca"
"""`POSITIVE_SLIPPAGE(address recipient, address token, uint256 expectedAmount, uint256 maxBps)`."""


def decode_exec(arguments: bytes, wrapped: str | None) -> DecodedCall:
    """Decode AllowanceHolder's `exec`, which lets Settler take the input. Raises `InvalidInput`."""
    words = Arguments(arguments)
    operator, token, amount = words.address(0, "operator"), words.address(1, "token"), words.uint(2, "amount")
    target, data = words.address(3, "target"), words.content(4, "data")
    if data[:SELECTOR_BYTES].hex() != settler_actions.EXECUTE:
        raise invalid_field("data", "not a call of Settler's execute")
    call = decode_settler(data[SELECTOR_BYTES:], wrapped, operator)
    order, oddities = call.order, list(call.oddities)
    if operator != target:
        oddities.append("the call lets a different contract take the input")
    if order and (order.token_in, order.amount_in) != (token, amount):
        oddities.append("the call lets Settler take a different amount or token than it sells")
    trailing = len(arguments) - words.end + call.trailing_bytes
    return call._replace(function="exec", router=target, oddities=tuple(oddities), trailing_bytes=trailing)


def decode_settler(arguments: bytes, wrapped: str | None, router: str | None = None) -> DecodedCall:
    """Decode Settler's `execute` at the address `router`, None if the call does not name it. Raises `InvalidInput`."""
    words = Arguments(arguments)
    recipient, buy_token = words.address(0, "recipient"), words.address(1, "buy token")
    minimum = words.uint(2, "minimum")
    reader = _ActionReader(wrapped, router, minimum)
    for number, action in enumerate(words.contents(3, "actions")):
        reader.read(number, action)
    words.uint(4, "affiliate")
    is_native_out = buy_token == NATIVE
    order, oddities = None, reader.oddities(buy_token)
    if reader.input is None:
        oddities = [*oddities, "no action takes the input"]
    else:
        token_in, amount_in = reader.input
        is_native_in = token_in == NATIVE
        order = DecodedOrder(
            token_in=(wrapped or ZERO_ADDRESS) if is_native_in else token_in,
            token_out=(wrapped or ZERO_ADDRESS) if is_native_out else buy_token,
            amount_in=amount_in,
            min_received=minimum,
            recipient=recipient,
            is_native_in=is_native_in,
            is_native_out=is_native_out,
            deadline_s=reader.deadline_s,
            has_deadline=True,
        )
    return DecodedCall(
        "execute",
        order=order,
        swaps=tuple(reader.swaps),
        fee=reader.fee,
        payments=tuple(reader.payments),
        router=router or reader.recipient,
        oddities=tuple(oddities),
        trailing_bytes=len(arguments) - words.end,
    )


class _NativeShare:
    """The part of Settler's native and wrapped native currency that is native, in ppm; None if only pools determine it.

    Actions sell shares of either balance, and decoded swaps have shares of both together.
    """

    def __init__(self, wrapped: str | None) -> None:
        self._wrapped, self._ppm = wrapped, 0
        self._is_known, self._has_balance = True, False

    def receive(self, token: str | None) -> None:
        """Account for a token that Settler gets; None if only the pool determines which."""
        if token not in (NATIVE, ZERO_ADDRESS, self._wrapped, None):
            return
        ppm = PPM if token in (NATIVE, ZERO_ADDRESS) else 0
        if self._has_balance:
            self._is_known &= ppm == self._ppm
        elif token is not None or ppm == self._ppm:
            self._ppm = ppm
        self._has_balance = True

    def convert(self, bps: int, *, wraps: bool) -> None:
        """Account for a share of one balance that becomes the other."""
        if bps == ALL:
            self._ppm, self._is_known = 0 if wraps else PPM, True
        elif wraps:
            self._ppm -= self._ppm * bps // ALL
        else:
            self._ppm += (PPM - self._ppm) * bps // ALL

    def sell(self, token: str, bps: int) -> int | None:
        """Return the part of both balances, in ppm, that equals a share of one of them, or None if unknown."""
        share_ppm = _share_ppm(bps)
        if token not in (NATIVE, ZERO_ADDRESS, self._wrapped):
            return share_ppm
        if not self._is_known:
            return None
        is_native = token != self._wrapped
        sold = (self._ppm if is_native else PPM - self._ppm) * bps // ALL
        if sold < PPM:
            self._ppm = (self._ppm - sold * is_native) * PPM // (PPM - sold)
        return sold


class _ActionReader:
    """Collects the content of the actions in one call."""

    def __init__(self, wrapped: str | None, router: str | None, minimum: int) -> None:
        self.swaps: list[DecodedSwap] = []
        self.input: tuple[str, int] | None = None
        self.deadline_s: int | None = None
        self.payments: list[DecodedPayment] = []
        self._wrapped, self._router, self._minimum = wrapped, router, minimum
        self._native = _NativeShare(wrapped)
        self._oddities: list[str] = []
        self._recipients: dict[str, None] = {}
        self._paid: str | None = None
        self._held: dict[str, None] = {}

    @property
    def recipient(self) -> str | None:
        """The contract that the pools pay, which must be Settler; None if no action names it."""
        return next(iter(self._recipients), None)

    @property
    def fee(self) -> DecodedFee | None:
        """The first share that is paid to a recipient."""
        shares = ((each.recipient, each.share_e18 or 0) for each in self.payments if not each.surplus_bps)
        return next((DecodedFee(recipient, share_e18 // E18_PER_BPS) for recipient, share_e18 in shares), None)

    def read(self, number: int, action: bytes) -> None:
        """Read an action. An unknown one is an oddity."""
        read = _ACTIONS.get(action[:SELECTOR_BYTES].hex())
        if read is None:
            shown = action[:SELECTOR_BYTES].hex()
            self._oddities.append(f"action 0x{shown} is not used in swaps, and its effect is unknown")
            return
        arguments = Arguments(action[SELECTOR_BYTES:])
        read(self, arguments)
        left = len(action) - SELECTOR_BYTES - arguments.end
        if left:
            self._oddities.append(f"action {number + 1} has {left} more bytes than it reads")

    def oddities(self, buy_token: str) -> list[str]:
        """Return content that swapcli's own calls never have; Settler pays its whole balance of `buy_token` at the
        end."""
        for token in self._held:
            if token != _currency(buy_token):
                shown = "the native currency" if token == ZERO_ADDRESS else token
                self._oddities.append(f"some of {shown} stays in the router, where anyone can take it")
        recipients = set(self._recipients) | ({self._router} if self._router else set())
        if self._paid and self._paid not in {*recipients, *(swap.pool.key for swap in self.swaps)}:
            return [*self._oddities, "the input goes neither to Settler nor to the first pool"]
        if len(recipients) > 1:
            return [*self._oddities, "a pool's output does not go to Settler"]
        return self._oddities

    def _take_input(self, token: str, amount: int, deadline_s: int) -> None:
        if self.input is not None:
            self._oddities.append("the input is taken several times")
        self.input = token, amount
        self._receive(token)
        self.deadline_s = None if deadline_s == NO_DEADLINE_S else deadline_s

    def _transfer_from(self, words: Arguments) -> None:
        self._paid = words.address(0, "recipient")
        words.uint(3, "nonce")
        self._take_input(words.address(1, "token"), words.uint(2, "amount"), words.uint(4, "deadline"))
        words.content(5, "signature")

    def _native_check(self, words: Arguments) -> None:
        self._take_input(NATIVE, words.uint(1, "value"), words.uint(0, "deadline"))

    def _add(self, words: Arguments, token: str, bought: str | None, hint: PoolHint, bps: int) -> None:
        self._recipients[words.address(0, "recipient")] = None
        self._add_swap(token, bought, hint, bps)

    def _add_swap(self, token: str, bought: str | None, hint: PoolHint, bps: int) -> None:
        self.swaps.append(DecodedSwap(token, bought, hint, self._native.sell(token, bps)))
        self._spend(token, bps)
        self._receive(bought)

    def _receive(self, token: str | None) -> None:
        self._native.receive(token)
        if token is not None:
            self._held[_currency(token)] = None

    def _spend(self, token: str, bps: int) -> None:
        """Account for a share of a balance that leaves; if it is not all, the rest stays."""
        if bps == ALL:
            self._held.pop(_currency(token), None)
        elif bps:
            self._held[_currency(token)] = None

    def _convert(self, bps: int, *, wraps: bool) -> None:
        self._native.convert(bps, wraps=wraps)
        wrapped = self._wrapped or ""
        source, other = (ZERO_ADDRESS, wrapped) if wraps else (wrapped, ZERO_ADDRESS)
        if source in self._held or bps < ALL:  # otherwise the balance may be empty
            self._held[other] = None
        self._spend(source, bps)

    def _uniswap_v2(self, words: Arguments) -> None:
        token, bps, pool = words.address(1, "sell token"), words.uint(2, "share", 16), words.address(3, "pool")
        fee_bps, is_forward = divmod(words.uint(4, "swap info", 24), 256)
        words.uint(5, "minimum")
        hint = PoolHint(pool, "UNISWAPV2", fee_bps * 100, coin_out=int(is_forward))
        self._add(words, token, None, hint, bps or ALL)

    def _uniswap_v3(self, words: Arguments) -> None:
        bps, path = words.uint(1, "share", 16), words.content(2, "path")
        words.uint(3, "minimum")
        if len(path) != _PATH_BYTES:
            raise invalid_field("path", f"{len(path)} bytes, and one pool takes {_PATH_BYTES}")
        sold, bought = f"0x{path[:ADDRESS_BYTES].hex()}", f"0x{path[-ADDRESS_BYTES:].hex()}"
        hint = PoolHint(None, "UNISWAPV3", int.from_bytes(path[21:24]), path[20])
        self._add(words, sold, bought, hint, bps)

    def _uniswap_v4(self, words: Arguments) -> None:
        token, bps, fill = words.address(1, "sell token"), words.uint(2, "share", 16), words.content(6, "fills")
        words.uint(7, "minimum")
        if len(fill) != _FILL_BYTES:
            raise invalid_field("fills", f"{len(fill)} bytes, and one pool takes {_FILL_BYTES}")
        bought, rest = f"0x{fill[23:43].hex()}", fill[43:]
        fee_ppm, spacing = int.from_bytes(rest[:3]), int.from_bytes(rest[3:6], signed=True)
        if spacing < 0:
            raise invalid_field("tick spacing", "below zero")
        sold, bought = (ZERO_ADDRESS if each == NATIVE else each for each in (token, bought))
        pool_id = v4_pool_id(sold, bought, fee_ppm, spacing, f"0x{rest[6:26].hex()}")
        self._add(words, sold, bought, PoolHint(pool_id, "UNISWAPV4", fee_ppm), bps)

    def _dodo_v2(self, words: Arguments) -> None:
        token, bps, pool = words.address(1, "sell token"), words.uint(2, "share", 16), words.address(3, "pool")
        sells_quote = words.uint(4, "sells quote", 1)
        words.uint(5, "minimum")
        self._add(words, token, None, PoolHint(pool, "DODOV2", coin_out=1 - sells_quote), bps or ALL)

    def _maverick_v2(self, words: Arguments) -> None:
        token, bps, pool = words.address(1, "sell token"), words.uint(2, "share", 16), words.address(3, "pool")
        sells_a = words.uint(4, "direction", 1)
        words.signed(5, "tick limit")
        words.uint(6, "minimum")
        self._add(words, token, None, PoolHint(pool, "MAVERICKV2", coin_out=sells_a), bps)

    def _basic(self, words: Arguments) -> None:
        """Read a call to any contract: a pool, a payment to an integrator, or a conversion of native currency."""
        token, bps, called = words.address(0, "sell token"), words.uint(1, "share", 16), words.address(2, "pool")
        offset = words.uint(3, "offset")
        data = words.content(4, "data")
        selector, inner = data[:SELECTOR_BYTES].hex(), Arguments(data[SELECTOR_BYTES:])
        swap = read_called_swap(called, selector, inner)
        if swap is not None:
            if offset != (AMOUNT_AT[selector] or 0):
                self._oddities.append(f"an action calls {called} with an amount that differs from its share")
            self._add_called_swap(swap, called, token, bps)
        elif selector == TRANSFER and called == token:
            recipient, amount = inner.address(0, "recipient"), inner.uint(1, "amount")
            is_share = offset == TRANSFER_AMOUNT
            share_e18 = bps * E18_PER_BPS if is_share else None
            self._spend(token, bps if is_share else 0)
            self.payments.append(DecodedPayment(token, recipient, share_e18, None if is_share else amount))
        elif not data and token == NATIVE and called != self._wrapped:
            self.payments.append(DecodedPayment(ZERO_ADDRESS, called, bps * E18_PER_BPS))
            self._spend(NATIVE, bps)
        elif selector == WITHDRAW and token == called and self._wrapped in (None, called):
            self._wrapped = called
            self._convert(bps, wraps=False)
        elif not data and token == NATIVE:
            self._convert(bps, wraps=True)
        else:
            self._oddities.append(f"an action calls {called} with data of unknown meaning")

    def _add_called_swap(self, swap: CalledSwap, called: str, token: str, bps: int) -> None:
        self._recipients |= dict.fromkeys(swap.accounts)
        token = ZERO_ADDRESS if token == NATIVE else token
        if not swap.is_paid_before:
            if swap.sold not in (None, token):
                self._oddities.append(f"an action sells {swap.sold}, not the token it takes")
            self._add_swap(token, swap.bought, swap.pool, bps)
        elif swap.sold is not None:
            self._add_swap(swap.sold, swap.bought, swap.pool, self._take_payment(swap.sold, called))

    def _take_payment(self, token: str, pool: str) -> int:
        """Return the share of a token that the last action paid to a pool, in bps; all if the input went there
        directly."""
        last = self.payments[-1] if self.payments else None
        if last is None or (last.token, last.recipient) != (token, pool) or last.share_e18 is None:
            return ALL
        self.payments.pop()
        return last.share_e18 // E18_PER_BPS

    def _pay_surplus(self, words: Arguments) -> None:
        recipient, token = words.address(0, "recipient"), words.address(1, "token")
        expected, bps = words.uint(2, "expected amount"), min(words.uint(3, "share"), ALL)
        token = ZERO_ADDRESS if token == NATIVE else token
        if expected < self._minimum:  # in this case, it takes a share of everything paid, down to the minimum
            self.payments.append(DecodedPayment(token, recipient, bps * E18_PER_BPS))
        else:
            self.payments.append(DecodedPayment(token, recipient, surplus_bps=bps))


def _currency(token: str) -> str:
    return ZERO_ADDRESS if token == NATIVE else token


def _share_ppm(bps: int) -> int:
    if bps > ALL:
        raise invalid_field("share", f"{bps} is more than {ALL} bps")
    return bps * (PPM // ALL)


_ACTIONS: Final[Mapping[str, Callable[[_ActionReader, Arguments], None]]] = MappingProxyType(
    {
        settler_actions.TRANSFER_FROM: _ActionReader._transfer_from,
        settler_actions.NATIVE_CHECK: _ActionReader._native_check,
        settler_actions.UNISWAPV2: _ActionReader._uniswap_v2,
        settler_actions.UNISWAPV3: _ActionReader._uniswap_v3,
        settler_actions.UNISWAPV4: _ActionReader._uniswap_v4,
        settler_actions.DODOV2: _ActionReader._dodo_v2,
        settler_actions.MAVERICKV2: _ActionReader._maverick_v2,
        settler_actions.BASIC: _ActionReader._basic,
        _POSITIVE_SLIPPAGE: _ActionReader._pay_surplus,
    }
)
