"""A program of a user: `mypy --strict` checks its types with the rest of the tree, and a test runs it."""

import asyncio
from decimal import Decimal
from typing import assert_type

from swapcli import (
    AsyncMarket,
    Certificate,
    Finding,
    Market,
    PriceImpact,
    QuoteFigures,
    RouteResult,
    StateSource,
    SwapcliError,
    SwapQuote,
    aquote,
    quote,
)

ACCOUNT = "0x1111111111111111111111111111111111111111"


def use(found: SwapQuote) -> None:
    """Read every figure, with its type."""
    assert_type(found.amount_out, int)
    assert_type(found.amount_out_decimal, Decimal)
    assert_type(found.min_received, int)
    assert_type(found.route, RouteResult)
    assert_type(found.price_impact, PriceImpact | None)
    assert_type(found.state, StateSource)
    assert_type(found.certificate, Certificate | None)
    assert_type(found.warnings, tuple[Finding, ...])
    assert_type(found.figures, QuoteFigures)
    assert_type(found.to_json(), str)
    assert found.min_received < found.amount_out
    for segment in found.route.segments:
        for hop in segment.hops:
            for swap in hop:
                assert swap.pool_address.startswith("0x")


def main() -> None:
    """Quote with amounts of each type, and build the transactions."""
    with Market.embedded("base") as market:
        found = market.quote("ETH", "USDC", "1.5", slippage="0.3", certify=True, exclude_protocols=["uniswapV4"])
        use(found)
        assert found.certificate is not None
        use(market.quote(market.token("ETH"), "USDC", Decimal("1.5")))
        use(market.quote("ETH", "USDC", amount_out=1_000_000_000))
        transaction = found.transaction(destination=ACCOUNT, slippage="0.5")
        assert sorted(transaction) == ["chainId", "data", "to", "value"]
    use(quote("base", "ETH", "USDC", "$1000"))
    try:
        quote("base", "ETH", "NOPE", 1)
    except SwapcliError as error:
        print(error.code, error.message)


async def main_async() -> None:
    """Quote on asyncio: several quotes at once."""
    async with AsyncMarket.embedded("base") as market:
        first, second = await asyncio.gather(market.quote("ETH", "USDC", "1"), market.quote("ETH", "USDC", "2"))
        use(first)
        assert second.amount_out > first.amount_out
        assert (await market.transaction(first, destination=ACCOUNT))["chainId"] == 8453
    use(await aquote("base", "ETH", "USDC", "1.5"))


if __name__ == "__main__":
    main()
    asyncio.run(main_async())
