"""Summarize a swap in one sentence for its signers."""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.text import printable
from swapcli.core.model.network import Kind
from swapcli.core.model.number_format import format_time
from swapcli.core.model.token import Token, fixed_point, in_tokens
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.address import display_address

SIGNIFICANT_DIGITS: Final = 6
"""The number of digits of the minimum: enough to recognize it, and short enough to read; chosen."""


def summarize_swap(payload: UnsignedTransaction, token_in: Token, token_out: Token) -> str:
    """Summarize a swap, for example "1,500 USDC -> at least 0.478316 ETH to 0x2222…, until 2026-11-30 12:00 UTC".

    The minimum is rounded down. Symbols have no control characters. The address is in full, because short forms can be
    imitated.
    """
    route = payload.call.route
    least = f"{round_down(route.min_received, token_out)} {token_out.symbol}"
    recipient = display_address(route.recipient, Kind.EVM)
    end = describe_end(payload.call.deadline_s)
    return printable(f"{in_tokens(route.amount_in, token_in)} -> at least {least} to {recipient}, {end}")


def describe_end(deadline_s: int | None) -> str:
    """Describe the end of a swap's validity. `deadline_s` is in Unix seconds."""
    if deadline_s is None:
        return "without a deadline"
    return f"until {format_time(deadline_s, has_seconds=False)}"


def round_down(amount: int, token: Token) -> str:
    """Return an amount in whole tokens, rounded down to a few significant digits after the decimal point.

    All digits before the point are kept.
    """
    text = fixed_point(amount, token.decimals)
    whole, point, fraction = text.partition(".")
    kept = SIGNIFICANT_DIGITS
    if whole.strip("0"):
        kept = max(0, kept - len(whole.replace(",", "")))
    else:
        kept += len(fraction) - len(fraction.lstrip("0"))
    fraction = fraction[:kept].rstrip("0")
    return f"{whole}{point}{fraction}" if fraction else whole
