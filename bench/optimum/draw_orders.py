"""Draw the orders of a generated market: five token pairs in four sizes each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench.optimum.draws import Draws, MadeUpToken

OrderDocument = dict[str, Any]

SIZES: Mapping[str, float] = {"small": 1e-4, "medium": 3e-3, "large": 3e-2, "huge": 0.2}
"""The order size by class, as a share of the depth of the thinner token."""
_COUNTED_FAMILIES = ("constant_product", "concentrated")
_LEAST_AMOUNT = 1_000


class _OrderedPair(NamedTuple):
    kind: str
    token_in: MadeUpToken
    token_out: MadeUpToken


def draw_orders(draws: Draws, pools: Sequence[Mapping[str, Any]]) -> list[OrderDocument]:
    """Return the orders, between tokens connected to WETH by constant-product and concentrated pools."""
    counted = [pool for pool in pools if pool["family"] in _COUNTED_FAMILIES]
    depths = _depths_usd(draws.tokens, counted)
    connected = _connected(draws.tokens[0].address, counted)
    usable = [token for token in draws.tokens if token.address in connected]
    orders: list[OrderDocument] = []
    for pair in list(_pairs(draws, usable, depths)):
        depth = min(depths[pair.token_in.address], depths[pair.token_out.address])
        for size, fraction in SIZES.items():
            orders.append(_order(len(orders), pair, size, fraction, depth))
    return orders


def _order(number: int, pair: _OrderedPair, size: str, fraction: float, depth_usd: float) -> OrderDocument:
    usd = depth_usd * fraction
    amount = max(_LEAST_AMOUNT, int(usd / pair.token_in.price_usd * 10**pair.token_in.decimals))
    return {
        "id": number,
        "kind": pair.kind,
        "size": size,
        "fraction": fraction,
        "token_in": pair.token_in.address,
        "token_out": pair.token_out.address,
        "amount_in": str(amount),
        "usd": float(f"{usd:.6g}"),
    }


def _pairs(draws: Draws, usable: Sequence[MadeUpToken], depths: Mapping[str, float]) -> Iterator[_OrderedPair]:
    """Yield random pairs: two hubs, two stable tokens, a hub and a tail token in each direction, and two tail
    tokens."""

    def draw(tokens: Sequence[MadeUpToken], other: MadeUpToken | None = None) -> MadeUpToken:
        return draws.rng.choice([token for token in tokens if token is not other])

    weth = draws.tokens[0]
    hubs = [token for token in usable if token.is_hub]
    dollars = [token for token in hubs if token.group == "usd"]
    others = [token for token in hubs if token.group != "usd" and token is not weth]
    tail = sorted((token for token in usable if not token.is_hub), key=lambda token: -depths[token.address])
    popular = tail[: max(3, min(200, len(tail) // 4))] or hubs

    yield _OrderedPair("hub-hub", weth, draw(dollars or hubs, weth))
    are_stable = len(dollars) > 1
    token = draw(dollars if are_stable else hubs)
    kind = "stable-stable" if are_stable else "hub-hub"
    yield _OrderedPair(kind, token, draw(dollars if are_stable else hubs, token))
    token = draw(dollars or hubs)
    yield _OrderedPair("hub-tail", token, draw(popular, token))
    token = draw(others or hubs)
    yield _OrderedPair("tail-hub", draw(popular, token), token)
    token = draw(popular)
    yield _OrderedPair("tail-tail", token, draw((tail or hubs) if len(tail or hubs) > 1 else hubs, token))


def _depths_usd(tokens: Sequence[MadeUpToken], pools: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the dollar value of each token held by pools."""
    by_address = {token.address: token for token in tokens}
    depths = dict.fromkeys(by_address, 0.0)
    for pool in pools:
        for address, reserve in zip(pool["tokens"], pool["reserves"], strict=True):
            token = by_address[address]
            depths[address] += int(reserve) / 10**token.decimals * token.price_usd
    return depths


def _connected(start: str, pools: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the tokens that pools connect to `start`."""
    neighbours: dict[str, set[str]] = {}
    for pool in pools:
        first, second = pool["tokens"]
        neighbours.setdefault(first, set()).add(second)
        neighbours.setdefault(second, set()).add(first)
    found, todo = {start}, [start]
    while todo:
        new = neighbours.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found
