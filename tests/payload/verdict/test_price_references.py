"""References answer with what the input of an order is worth, or with nothing."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode

from swapcli.core.model.finding import Level
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.verdict.price_references import PricedOrder, plan_references, read_references
from swapcli.payload.verdict.swap_rehearsal import PriceGuard, price_findings
from swapcli.payload.verdict.verdict import PriceKind, PriceReference
from swapcli.quoting.open_market import open_market

WHYPE = Token("0x5555555555555555555555555555555555555555", "WHYPE", "WHYPE", 18)
USDC = Token("0xb88339cb7199b77e23db6e890353e22632ba630f", "USDC", "USDC", 6)
UBTC = Token("0x9fdbda0a5e284c32744d2f17ee5c74b284993463", "UBTC", "UBTC", 8)
STRANGER = Token("0x" + "51" * 20, "ODD", "ODD", 18)
NETWORK = find_network("hyperevm")
PERP_INFO = "(string,uint32,uint8,uint8,bool)"


def perp(price: int, name: str, size_decimals: int) -> list[bytes]:
    return [encode(["uint64"], [price]), encode([PERP_INFO], [(name, 1, size_decimals, 40, False)])]


def oracle(order: PricedOrder, *outputs: bytes, amount_out: int = 10**9) -> tuple[PriceReference, ...]:
    return read_references(plan_references(order, NETWORK, {}, ()), outputs, amount_out, 0)


def test_the_oracle_gives_prices_in_dollars_and_between_coins() -> None:
    hype, bitcoin = perp(41_2345, "HYPE", 2), perp(90_000_5, "BTC", 5)
    (found,) = oracle(PricedOrder(WHYPE, USDC, 2 * 10**18), *hype, amount_out=80_000_000)
    assert (found.kind, found.amount_out) == (PriceKind.ORACLE, 82_469_000)
    assert found.loss_ppm == (82_469_000 - 80_000_000) * 10**6 // 82_469_000
    (found,) = oracle(PricedOrder(USDC, WHYPE, 41_234_500), *hype)
    assert found.amount_out == 10**18
    (found,) = oracle(PricedOrder(UBTC, WHYPE, 10**8), *bitcoin, *hype)
    assert found.amount_out == 90_000_5 * 10**21 // 41_2345


@pytest.mark.parametrize(
    "outputs",
    [
        [b"", b""],
        perp(41_2345, "NOPE", 2),
        perp(0, "HYPE", 2),
        perp(41_2345, "HYPE", 7),
        [*perp(1, "HYPE", 2)[:1], b""],
    ],
)
def test_an_oracle_that_is_not_the_expected_one_says_nothing(outputs: list[bytes]) -> None:
    assert oracle(PricedOrder(WHYPE, USDC, 10**18), *outputs) == ()


def test_a_stranger_and_other_networks_have_no_oracle() -> None:
    assert plan_references(PricedOrder(STRANGER, USDC, 1), NETWORK, {}, ()) == ()
    assert plan_references(PricedOrder(WHYPE, USDC, 1), NETWORK._replace(chain_id=8453), {}, ()) == ()


def test_pools_of_the_route_and_shallow_ones_are_not_asked() -> None:
    market = open_market("base", find_network).market
    by_symbol = {token.symbol: token for token in market.tokens.values()}
    weth, usdc = by_symbol["WETH"], by_symbol["USDC"]
    small = PricedOrder(weth, usdc, 10**18)
    asked = plan_references(small, market.network, market.pools, ())
    assert len(asked) == 3
    assert {question.kind for question in asked} == {PriceKind.AVERAGE}
    addresses = {question.calls[0].to for question in asked}
    assert addresses.isdisjoint(
        question.calls[0].to for question in plan_references(small, market.network, market.pools, addresses)
    )
    assert plan_references(small._replace(amount_in=10**26), market.network, market.pools, ()) == ()


def reference(kind: PriceKind, loss_percent: int) -> PriceReference:
    return PriceReference(kind, "somewhere", 1, loss_percent * 10_000)


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([], None),
        ([(PriceKind.AVERAGE, 5)], None),
        ([(PriceKind.AVERAGE, 6)], Level.WARN),
        ([(PriceKind.AVERAGE, 20)], Level.WARN),
        ([(PriceKind.AVERAGE, 21)], Level.BLOCK),
        ([(PriceKind.AVERAGE, -90)], None),
        ([(PriceKind.AVERAGE, 99), (PriceKind.AVERAGE, 0), (PriceKind.AVERAGE, 1)], None),
        ([(PriceKind.AVERAGE, 99), (PriceKind.AVERAGE, 30), (PriceKind.AVERAGE, 1)], Level.BLOCK),
        ([(PriceKind.AVERAGE, 99), (PriceKind.FEED, 1)], Level.WARN),
        ([(PriceKind.AVERAGE, 99), (PriceKind.FEED, 21), (PriceKind.ORACLE, 22)], Level.BLOCK),
    ],
)
def test_the_median_of_a_kind_warns_and_all_kinds_block(
    losses: list[tuple[PriceKind, int]], expected: Level | None
) -> None:
    found = list(price_findings([reference(*each) for each in losses], PriceGuard((), 0)))
    assert [each.level for each in found] == ([] if expected is None else [expected])
