"""Random orders of all sizes and options on a generated market, like those of users."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

SIZES: Mapping[str, tuple[float, float, float]] = {
    "dust": (0.1, 0.0, 0.0),
    "small": (0.3, 1e-5, 3e-4),
    "medium": (0.3, 3e-4, 1e-2),
    "large": (0.17, 1e-2, 1e-1),
    "huge": (0.08, 0.1, 0.5),
    "drain": (0.05, 0.5, 10.0),
}
"""By size: its share of the orders, and the minimum and maximum share of the thinner token's depth. A dust order yields
up to `_MAX_DUST_UNITS` of the token with the more expensive base unit."""

_MAX_DUST_UNITS = 10_000
_HUBS = 10
_HUB_PART = 0.25  # share of the orders' tokens: almost half of the orders sell or buy one of the deepest tokens
_REVERSE_PART, _GAS_PART, _OPTION_PART = 0.15, 0.5, 0.3


class RandomOrder(NamedTuple):
    """An order by addresses, with its size and quote options.

    `gas_value` is the value of a unit of gas, in base units of the token whose amount is to be found.
    """

    size: str
    token_in: str
    token_out: str
    amount: int
    reverse: bool
    direct: bool
    max_hops: int
    excluded: tuple[str, ...]
    share_step: int
    gas_price_wei: int
    gas_value: float


def random_orders(document: Mapping[str, Any], count: int, seed: int) -> list[RandomOrder]:
    """Return `count` orders on the market of a document with dollar prices of all tokens."""
    rng = random.Random(f"orders {count} {seed}")
    prices = {token["address"]: token["price_usd"] / 10 ** token["decimals"] for token in document["tokens"]}
    depths = dict.fromkeys(prices, 0.0)
    for pool in document["pools"]:
        for address, reserve in zip(pool["tokens"], pool["reserves"], strict=True):
            depths[address] += int(reserve) * prices[address]
    tokens = [address for address, depth in depths.items() if depth > 0.0]
    hubs = sorted(tokens, key=lambda address: -depths[address])[:_HUBS]
    protocols = sorted({pool["protocol"] for pool in document["pools"]})
    native = prices[document["network"]["wrapped_native"]]
    sizes = rng.choices(list(SIZES), [part for part, _, _ in SIZES.values()], k=count)
    return [_random_order(rng, size, (tokens, hubs), (prices, depths), native, protocols) for size in sizes]


def _random_order(
    rng: random.Random,
    size: str,
    tokens: tuple[Sequence[str], Sequence[str]],
    values: tuple[Mapping[str, float], Mapping[str, float]],
    native_price: float,
    protocols: Sequence[str],
) -> RandomOrder:
    (every, hubs), (prices, depths) = tokens, values
    token_in = token_out = rng.choice(hubs)
    while token_in == token_out:
        token_in, token_out = (rng.choice(hubs if rng.random() < _HUB_PART else every) for _ in range(2))
    _, low, high = SIZES[size]
    if size == "dust":
        usd = _MAX_DUST_UNITS ** rng.random() * max(prices[token_in], prices[token_out])
    else:
        usd = low * (high / low) ** rng.random() * min(depths[token_in], depths[token_out])
    reverse = rng.random() < _REVERSE_PART
    amount = max(1, int(usd / prices[token_out if reverse else token_in]))
    option = rng.choice(("direct", "hops", "excluded", "fine")) if rng.random() < _OPTION_PART else ""
    gas_price_wei = int(10 ** rng.uniform(7.0, 10.5)) if rng.random() < _GAS_PART else 0
    return RandomOrder(
        size,
        token_in,
        token_out,
        amount,
        reverse,
        direct=option == "direct",
        max_hops=rng.randint(2, 4) if option == "hops" else 8,
        excluded=(rng.choice(protocols),) if option == "excluded" else (),
        share_step=1 if option == "fine" else 100,
        gas_price_wei=gas_price_wei,
        gas_value=gas_price_wei * native_price / prices[token_in if reverse else token_out],
    )
