"""The amounts in a document, in whole tokens next to base units, so that agents need not count zeros."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from swapcli import Network, Token
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import whole_tokens
from swapcli.core.records import NamedTuple

_SOLD = frozenset({"inputAmount", "amountIn", "amount_in"})
_BOUGHT = frozenset(
    {
        "outputAmount", "outputAmountAfterFee", "outputAfterGas", "amountOut", "amount_out", "minReceived",
        "min_received", "freshOutputAmount", "received", "expected",
    }
)  # fmt: skip
_OF_FORECAST = frozenset({"impact", "gas", "cost", "low", "high", "risk", "deviation"})
"""Amounts of the bought token in a forecast of a plan, which has a cost; elsewhere these names are of other numbers."""
_OF_TOKEN = frozenset({"amount", "allowance"})
_SOLD_TOKENS, _BOUGHT_TOKENS = ("inputToken", "tokenIn", "token_in"), ("outputToken", "tokenOut", "token_out")
_ORDERS = ("order", "route", "quote", "swap")
"""The fields of a document that contain its order, if the document itself names no tokens."""

FindToken = Callable[[object], Token | None]


class _Tokens(NamedTuple):
    """The tokens that the amounts of an object are of."""

    sold: Token | None = None
    bought: Token | None = None
    single: Token | None = None


def whole_amounts(document: object, network: Network | None) -> list[dict[str, str]]:
    """Return each amount whose token is known: its path in the document, the whole tokens, the symbol, and the raw
    amount.

    `network` is the document's network. It has the tokens that the document names only by address or symbol.
    """
    known = (
        {}
        if network is None
        else {each.address: each for each in network.tokens} | {network.native.address: network.native}
    )
    by_symbol = {each.symbol: each for each in known.values()}

    def find(name: object) -> Token | None:
        if isinstance(name, dict):
            address, symbol, decimals = name.get("address"), name.get("symbol"), name.get("decimals")
            if isinstance(decimals, int) and isinstance(address, str):
                return Token(address.lower(), str(symbol or address), "", decimals)
            name = address
        return (known.get(name.lower()) or by_symbol.get(name)) if isinstance(name, str) else None

    return [
        {
            "field": path,
            "whole": whole_tokens(int(raw), token.decimals).replace(",", ""),
            "symbol": token.symbol,
            "baseUnits": raw,
        }
        for path, raw, token in _walk(document, "", _Tokens(), find, network)
    ]


def _walk(
    node: object, path: str, tokens: _Tokens, find: FindToken, network: Network | None
) -> Iterator[tuple[str, str, Token]]:
    if isinstance(node, list):
        for index, each in enumerate(node):
            yield from _walk(each, f"{path}{index}.", tokens, find, network)
    if not isinstance(node, dict):
        return
    order: dict[str, Any] = next((node[each] for each in _ORDERS if isinstance(node.get(each), dict)), {})
    tokens = _with_own(_with_own(tokens, order, find, network), node, find, network)
    for name, value in node.items():
        is_wei = network is not None and name == "value" and "to" in node
        is_forecast = name in _OF_FORECAST and "cost" in node
        token = network.native if network and is_wei else tokens.bought if is_forecast else _token_of(name, tokens)
        if token is not None and isinstance(value, str) and value.lstrip("-").isdecimal():
            yield f"{path}{name}", value, token
        elif isinstance(value, dict | list):
            yield from _walk(value, f"{path}{name}.", tokens, find, network)


def _with_own(tokens: _Tokens, node: Mapping[str, Any], find: FindToken, network: Network | None) -> _Tokens:
    """Return the tokens with those that an object names itself."""
    sold, bought, single = tokens
    if any(each in node for each in (*_SOLD_TOKENS, *_BOUGHT_TOKENS)):
        # One of the two alone belongs to another swap than that of the object around: the other is unknown there.
        sold, bought = (
            next((found for each in names if (found := find(node.get(each)))), None)
            for names in (_SOLD_TOKENS, _BOUGHT_TOKENS)
        )
    if "token" in node:
        single = find(node["token"])
    # V2, which alone has `meta`, names the wrapped token if the native one is sold or bought. V1 has real addresses.
    wrapped = None if network is None else network.wrapped_native
    kind = node.get("routeSwapType") if "meta" in node else None
    if network and wrapped and sold and sold.address == wrapped.address and kind == SwapType.NATIVE_TO_TOKEN:
        sold = sold._replace(symbol=network.native.symbol)
    if network and wrapped and bought and bought.address == wrapped.address and kind == SwapType.TOKEN_TO_NATIVE:
        bought = bought._replace(symbol=network.native.symbol)
    return _Tokens(sold, bought, single)


def _token_of(name: str, tokens: _Tokens) -> Token | None:
    """Return the token that a field is an amount of; None for other fields."""
    if name in _SOLD:
        return tokens.sold
    if name in _BOUGHT:
        return tokens.bought
    return tokens.single if name in _OF_TOKEN else None
