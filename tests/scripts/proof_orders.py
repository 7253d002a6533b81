"""Proofs of many orders: on the embedded markets, and on generated ones with and without arbitrage, with and without
gas."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from bench.optimum.draws import ARBITRAGE_FREE, RAW
from bench.optimum.gen_market import generate
from swapcli import Market, SwapcliError

Record = dict[str, Any]
EMBEDDED: Final = ("base", "hyperevm", "monad", "citrea", "starknet")
SIZES: Final = (8, 30, 90, 200)
SMALL: Final = (8, 30)
_GAS_PRICES: Final = (0, 10**7, 10**9, 3 * 10**10)
_EMBEDDED_SHARE: Final = 0.3


def proofs(
    count: int, seed: int, folder: Path, *, sizes: Sequence[int] = SIZES, embedded: Sequence[str] = EMBEDDED
) -> Iterator[tuple[str, Record]]:
    """Yield a name and the document of so many orders. `folder` takes the files of generated markets."""
    rng, made = random.Random(seed), 0
    while made < count:
        is_embedded = rng.random() < _EMBEDDED_SHARE
        market, orders = _embedded(rng.choice(embedded)) if is_embedded else _generated(rng, folder, sizes)
        token_in, token_out, amount = _draw(rng, market) if is_embedded else rng.choice(orders)
        gas_price = rng.choice(_GAS_PRICES)
        exact: Record = {"amount": amount}
        if rng.random() < 0.1:
            token_in, token_out, exact = token_out, token_in, {"amount_out": amount}
        try:
            quote = market.quote(token_in, token_out, proof=True, gas_price=gas_price, **exact)
            document = quote.proof().document()
        except SwapcliError:  # no route, or an amount beyond the market
            continue
        made += 1
        yield f"{market.network.name} {token_in} {token_out} {exact} {gas_price}", json.loads(json.dumps(document))


@cache
def _embedded(name: str) -> tuple[Market, list[tuple[str, str, int]]]:
    return Market.embedded(name), []


def _draw(rng: random.Random, market: Market) -> tuple[str, str, int]:
    tokens = sorted(market.tokens.values())
    sold, bought = rng.sample(tokens, 2)
    return sold.address, bought.address, 10**sold.decimals * rng.choice([1, 30, 1000, 40_000])


def _generated(rng: random.Random, folder: Path, sizes: Sequence[int]) -> tuple[Market, list[tuple[str, str, int]]]:
    return _generate(rng.choice(sizes), rng.randrange(5), rng.choice([ARBITRAGE_FREE, RAW]), folder)


@cache
def _generate(size: int, seed: int, noise: str, folder: Path) -> tuple[Market, list[tuple[str, str, int]]]:
    made = generate(size, seed, noise)
    file = folder / f"market_{size}_{seed}_{noise}.json"
    file.write_text(json.dumps(made.document))
    orders = [(each["token_in"], each["token_out"], int(each["amount_in"])) for each in made.orders]
    return Market.from_file(str(file)), orders
