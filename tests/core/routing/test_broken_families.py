"""Chaos: the code of one pool of each family fails in turn, and costs this pool only."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import permutations

import pytest

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.families import FAMILIES
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import few
from tests.families.test_contradictory_states import valid_pool
from tests.support.faults import DEFECT, ERRORS, with_broken_method
from tests.support.pools import build_constant_product, build_market

TERMS = SwapTerms(0, ttl_s=60, impact_warning_ppm=10**6)
NAMES = [name for name in FAMILIES if name not in ("wrapper", "sampled")]
"""No market has the contract that wraps the native token, and a sampled pool has no code of its own contract."""


def order_for(pool: Pool, tokens: Mapping[str, Token]) -> tuple[Order, int]:
    """Return an order that the pool takes, as small as precision allows, and what the pool pays."""
    for sold, bought in permutations(pool.tokens, 2):
        for digits in range(1, 27):
            with suppress(PoolError):
                paid, _ = pool.swap(sold, bought, 10**digits)
                if min(paid, 10**digits) >= 10**5:
                    return Order(tokens[sold], tokens[bought], 10**digits), paid
    raise AssertionError(f"{pool.family} sells nothing")


def with_other_pool(pool: Pool) -> tuple[MarketState, Order]:
    """Return a market of a pool, and of another one that pays half as much for the order."""
    tokens = {a: Token(a, "T", "T", places) for a, places in zip(pool.tokens, pool.decimals, strict=True)}
    order, paid = order_for(pool, tokens)
    scale = 10**30 // max(order.amount, paid)
    other = build_constant_product(900, order.token_in, order.token_out, 2 * scale * order.amount, scale * paid)
    return build_market([other, pool], [*tokens.values()]), order


@pytest.mark.parametrize("name", few(NAMES, 16))
@pytest.mark.parametrize("method", ["curve", "swap"])
def test_a_family_whose_code_fails_costs_one_pool(name: str, method: str) -> None:
    error = ERRORS[NAMES.index(name) % len(ERRORS)]
    pool = valid_pool(name)
    market, order = with_other_pool(pool)
    request = QuoteRequest(order, ApiVersion.V2, gas_price_wei=0)
    sound = InMemorySource(market, SYSTEM_CLOCK).quote(request)
    assert [step.pool for step in sound.quote.steps] == [pool.key], "the pool is the better one"
    others = {key: each for key, each in market.pools.items() if key != pool.key}
    expected = InMemorySource(market._replace(pools=others), SYSTEM_CLOCK).quote(request)
    broken = market._replace(pools={**market.pools, pool.key: with_broken_method(pool, method, error)})
    answer = InMemorySource(broken, SYSTEM_CLOCK).quote(request)
    assert answer.quote.steps == expected.quote.steps
    warnings = compute_figures(answer, TERMS).warnings
    (message,) = (each.message for each in warnings if each.code is FindingCode.POOL_LEFT_OUT)
    assert message.startswith(f"pool {pool.key} ({pool.protocol}) was skipped: {error.__name__}: ")
    assert DEFECT in message
    alone = market._replace(pools={pool.key: broken.pools[pool.key]})
    with pytest.raises(NoRoute):
        InMemorySource(alone, SYSTEM_CLOCK).quote(request)
