"""Decode a call by its selector: routers of every dialect, approvals of tokens and of Permit2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import SELECTOR_BYTES, WORD, parse_hex
from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import (
    SENDER,
    DecodedApproval,
    DecodedCall,
    DecodedFee,
    DecodedOrder,
    DecodedPayment,
    DecodedSwap,
    PoolHint,
)
from swapcli.core.model.network import FIBROUS, OWN, SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterSwapParam
from swapcli.core.model.units import E18_PER_BPS
from swapcli.core.networks import permit2
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256
from swapcli.payload.evm import permit2_allowance, settler_actions, transactions, wrapped_native
from swapcli.payload.evm.decoding.arguments import Arguments
from swapcli.payload.evm.fibrous_calldata import SWAP, SWAP_BEFORE, SWAP_INTEGRATOR, SWAP_WITH_PERMIT, decode_any_call
from swapcli.payload.evm.integrator import IntegratorShares, decode_integrator_data
from swapcli.payload.evm.universal_router import commands

_POOL_KEY_BYTES: Final = 5 * WORD
_APPROVE_WORDS, _PERMIT2_WORDS = 2, 4


class _Native(NamedTuple):
    """The known facts about the native currency in a transaction."""

    wrapped: str | None
    value: int | None


def decode_calldata(calldata: str, wrapped: str | None, value: int | None = None) -> DecodedCall:
    """Decode hex with 0x; `wrapped` is the wrapped native token of the network, None if unknown.

    `value` is the transaction's value in wei, which some calls sell without stating it; None if unknown.

    For an unknown function, the call has no name. Raises `InvalidInput` for calldata that is shorter than a selector,
    and for arguments that do not fit their function. Time and memory grow with the length of the input.
    """
    raw = parse_hex(calldata, "calldata")
    if len(raw) < SELECTOR_BYTES:
        raise InvalidInput(
            f"calldata begins with a selector of {SELECTOR_BYTES} bytes, but this has {len(raw)}",
            hint="copy all of it, from 0x to the end",
        )
    selector, arguments = raw[:SELECTOR_BYTES].hex(), raw[SELECTOR_BYTES:]
    decode = DECODERS.get(selector)
    if decode is None:
        return DecodedCall("", f"0x{selector}")
    try:
        return decode(raw, arguments, _Native(wrapped, value))._replace(selector=f"0x{selector}")
    except InvalidInput as error:
        raise InvalidInput(
            f"this is not a complete {_NAMES[selector]} call: {error.message}",
            hint="check that all of it was copied",
            details={**error.details, "function": _NAMES[selector]},
        ) from None


def _decode_router_call(raw: bytes, arguments: bytes, native: _Native) -> DecodedCall:
    del arguments, native
    decoded = decode_any_call(f"0x{raw.hex()}")
    call, permit, trailing = decoded
    route = call.route
    order = DecodedOrder(
        token_in=route.token_in,
        token_out=route.token_out,
        amount_in=route.amount_in,
        min_received=route.min_received,
        recipient=route.recipient,
        is_native_in=route.swap_type is SwapType.NATIVE_TO_TOKEN,
        is_native_out=route.swap_type is SwapType.TOKEN_TO_NATIVE,
        amount_out=route.amount_out,
        deadline_s=permit.deadline if permit else call.deadline_s,
        has_deadline=permit is not None or call.deadline_s is not None,
    )
    oddities = [
        f"swap {number + 1} has a different type than the order"
        for number, swap in enumerate(call.swaps)
        if swap.swap_type is not route.swap_type
    ]
    if route.amount_out < route.min_received:  # above which an integrator takes a share of the surplus
        oddities.append("the quoted output is lower than the minimum")
    shares = decode_integrator_data(call.integrator_data)
    allowed = None
    if permit:
        allowed = DecodedApproval(route.token_in, None, route.amount_in, deadline_s=permit.deadline)
    return DecodedCall(
        _NAMES[raw[:SELECTOR_BYTES].hex()],
        dialect=FIBROUS if call.deadline_s is None else OWN,  # only this project's router has swapBefore
        order=order,
        swaps=tuple(map(_router_swap, call.swaps)),
        fee=DecodedFee(*shares) if shares else None,
        payments=(_integrator_payment(shares, order),) if shares else (),
        permit=allowed,
        oddities=tuple(oddities),
        trailing_bytes=trailing,
    )


def _integrator_payment(shares: IntegratorShares, order: DecodedOrder) -> DecodedPayment:
    token = ZERO_ADDRESS if order.is_native_out else order.token_out
    share_e18 = None if shares.surplus_bps and not shares.fee_bps else shares.fee_bps * E18_PER_BPS
    return DecodedPayment(token, shares.address, share_e18, surplus_bps=shares.surplus_bps)


def _router_swap(swap: RouterSwapParam) -> DecodedSwap:
    key, contract, pool_key = swap.pool_address, None, swap.extra_data
    if len(pool_key) == _POOL_KEY_BYTES:
        key_words = Arguments(swap.extra_data)
        fee_ppm, spacing = key_words.uint(2, "fee", 24), key_words.signed(3, "tick spacing")
        currencies = key_words.address(0, "currency0"), key_words.address(1, "currency1")
        if spacing >= 0:
            key = v4_pool_id(*currencies, fee_ppm, spacing, key_words.address(4, "hooks"))
            contract = swap.pool_address
    if len(pool_key) < _POOL_KEY_BYTES:
        pool_key = b""
    hint = PoolHint(key, protocol_id=swap.protocol_id, contract=contract, pool_key=pool_key)
    return DecodedSwap(swap.token_in, swap.token_out, hint, swap.rate)


def _decode_approve(raw: bytes, arguments: bytes, native: _Native) -> DecodedCall:
    del native
    words, selector = Arguments(arguments), raw[:SELECTOR_BYTES].hex()
    amount = words.uint(1, "amount")
    if selector == transactions.SET_APPROVAL_FOR_ALL:
        amount = MAX_UINT256 if amount else 0
    approval = DecodedApproval(None, words.address(0, "spender"), amount)
    return DecodedCall(_NAMES[selector], approval=approval, trailing_bytes=len(arguments) - _APPROVE_WORDS * WORD)


def _decode_permit2_approve(raw: bytes, arguments: bytes, native: _Native) -> DecodedCall:
    del raw, native
    words = Arguments(arguments)
    approval = DecodedApproval(
        words.address(0, "token"),
        words.address(1, "spender"),
        words.uint(2, "amount", permit2.AMOUNT_BITS),
        words.uint(3, "expiration", permit2_allowance.TIME_BITS),
    )
    trailing = len(arguments) - _PERMIT2_WORDS * WORD
    return DecodedCall("approve of Permit2", approval=approval, trailing_bytes=trailing)


def _decode_universal_router(raw: bytes, arguments: bytes, native: _Native) -> DecodedCall:
    from swapcli.payload.evm.decoding.universal_router import decode_execute

    has_deadline = raw[:SELECTOR_BYTES].hex() == commands.EXECUTE
    call = decode_execute(arguments, native.wrapped, native.value, has_deadline=has_deadline)
    return call._replace(dialect=UNIVERSAL_ROUTER)


def _decode_settler(raw: bytes, arguments: bytes, native: _Native) -> DecodedCall:
    from swapcli.payload.evm.decoding.settler import decode_exec, decode_settler

    is_exec = raw[:SELECTOR_BYTES].hex() == settler_actions.EXEC
    return (decode_exec if is_exec else decode_settler)(arguments, native.wrapped)._replace(dialect=SETTLER)


def _decode_wrap(raw: bytes, arguments: bytes, native: _Native) -> DecodedCall:
    is_deposit = raw[:SELECTOR_BYTES].hex() == wrapped_native.DEPOSIT
    amount = (native.value or 0) if is_deposit else Arguments(arguments).uint(0, "amount")
    wrapped = native.wrapped or ZERO_ADDRESS
    order = DecodedOrder(
        wrapped, wrapped, amount, amount, SENDER, is_native_in=is_deposit, is_native_out=not is_deposit
    )
    trailing = len(arguments) - (0 if is_deposit else WORD)
    return DecodedCall(_NAMES[raw[:SELECTOR_BYTES].hex()], order=order, trailing_bytes=trailing)


_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        SWAP: "swap",
        SWAP_INTEGRATOR: "swapIntegrator",
        SWAP_WITH_PERMIT: "swapWithPermit",
        SWAP_BEFORE: "swapBefore",
        transactions.APPROVE: "approve",
        transactions.INCREASE_ALLOWANCE: "increaseAllowance",
        transactions.SET_APPROVAL_FOR_ALL: "setApprovalForAll",
        permit2_allowance.APPROVE: "approve of Permit2",
        commands.EXECUTE: "execute",
        commands.EXECUTE_WITHOUT_DEADLINE: "execute",
        settler_actions.EXECUTE: "execute",
        settler_actions.EXEC: "exec",
        wrapped_native.DEPOSIT: "deposit",
        wrapped_native.WITHDRAW: "withdraw",
    }
)
DECODERS: Final[Mapping[str, Callable[[bytes, bytes, _Native], DecodedCall]]] = MappingProxyType(
    {
        **dict.fromkeys((SWAP, SWAP_INTEGRATOR, SWAP_WITH_PERMIT, SWAP_BEFORE), _decode_router_call),
        **dict.fromkeys(transactions.ALLOWANCES, _decode_approve),
        permit2_allowance.APPROVE: _decode_permit2_approve,
        **dict.fromkeys((commands.EXECUTE, commands.EXECUTE_WITHOUT_DEADLINE), _decode_universal_router),
        settler_actions.EXECUTE: _decode_settler,
        settler_actions.EXEC: _decode_settler,
        **dict.fromkeys((wrapped_native.DEPOSIT, wrapped_native.WITHDRAW), _decode_wrap),
    }
)
"""All functions that can be decoded, by selector."""
