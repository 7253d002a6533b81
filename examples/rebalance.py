"""Say which swaps bring a portfolio to its target weights.

    python examples/rebalance.py base ETH=2:50 USDC=1000:30 cbBTC=0.05:20

Each word is SYMBOL=BALANCE:PERCENT. Tokens with too much are sold into USDC, and then those with too little are bought
with it; parts below a dollar stay. Prices are modelled: open `Market.live` for real ones.
"""

import sys
from decimal import Decimal

from swapcli import Market

MONEY = "USDC"


def main(network: str, *words: str) -> None:
    balances, weights = dict[str, Decimal](), dict[str, Decimal]()
    for word in words:
        symbol, _, rest = word.partition("=")
        balance, _, percent = rest.partition(":")
        balances[symbol], weights[symbol] = Decimal(balance), Decimal(percent) / 100
    assert sum(weights.values()) == 1, "the percents do not make 100"
    with Market.embedded(network) as market:
        prices = {each.token.symbol: Decimal(str(each.price_usd or 0)) for each in market.prices(*balances).prices}
        values = {symbol: balances[symbol] * prices[symbol] for symbol in balances}
        total = sum(values.values())
        excess = {symbol: values[symbol] - total * weights[symbol] for symbol in balances if symbol != MONEY}
        for symbol, usd in sorted(excess.items(), key=lambda each: -each[1]):  # sales first: they pay for the rest
            if abs(usd) < 1:
                continue
            sold, bought = (symbol, MONEY) if usd > 0 else (MONEY, symbol)
            token = market.token(sold)
            amount = int(abs(usd) / prices.get(sold, Decimal(1)) * 10**token.decimals)
            quote = market.quote(token, bought, amount)
            print(f"sell {quote.amount_in_decimal} {sold} for at least {quote.min_received} units of {bought}")


if __name__ == "__main__":
    sys.exit(__doc__) if "--help" in sys.argv or len(sys.argv) < 2 else main(*sys.argv[1:])
