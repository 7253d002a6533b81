"""The words in a route's pictures: shares, amounts, names of bands."""

from __future__ import annotations

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.model.number_format import format_share, format_short_amount
from swapcli.core.model.quote import SHARES_PER_HOP
from swapcli.core.model.token import Token, whole_tokens
from swapcli.quoting.pictures.flow_graph import Band
from swapcli.quoting.pictures.route_flow import WHOLE_ORDER, RouteFlow

MAX_SYMBOL = 24  # characters


def format_flow(flow: int) -> str:
    """Format a flow as a percentage of the order, rounded to hundredths: "15.32%"."""
    share = (flow + SHARES_PER_HOP // 2) // SHARES_PER_HOP
    return "100%" if flow == WHOLE_ORDER else format_share(share) if share else "<0.01%"


def format_symbol(token: Token) -> str:
    """Return the symbol of a token, shortened and without control characters."""
    return truncate(printable(token.symbol), MAX_SYMBOL)


def format_amount(amount: int, token: Token) -> str:
    """Format an amount with its symbol, rounded down to as many digits as fit into a column."""
    return f"{format_short_amount(amount, token.decimals)} {format_symbol(token)}"


def format_exact_amount(amount: int, token: Token) -> str:
    """Format an amount with its symbol and all its digits."""
    return f"{whole_tokens(amount, token.decimals)} {format_symbol(token)}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 pool", "2 pools"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def band_name(band: Band) -> str:
    """Return the name of a band: "Uniswap V3 0.05%", "4 pools", "3 paths, 9 pools"."""
    if band.is_single_pool:
        return band.uses[0].name
    pools = count(len(band.pool_keys), "pool")
    return f"{count(band.path_count, 'path')}, {pools}" if band.path_count else pools


def route_title(flow: RouteFlow) -> str:
    """Return the title of a route: amounts, tokens and network."""
    amount_in = format_exact_amount(flow.amount_in, flow.token_in)
    amount_out = format_exact_amount(flow.amount_out, flow.token_out)
    return f"{amount_in} to {amount_out} on {flow.network}{state_note(flow)}"


def state_note(flow: RouteFlow) -> str:
    """Return a note for the title if prices are not live, otherwise an empty text."""
    return f", {flow.state} prices" if flow.state else ""
