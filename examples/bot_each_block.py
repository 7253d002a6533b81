"""Quote an order at each new block, and build the transaction when it pays enough.

    python examples/bot_each_block.py base http://127.0.0.1:8545 ETH USDC 1.5 --at-least 4700 --blocks 10

It never signs or sends anything: pass the printed transaction to your wallet.
"""

import argparse
import json
from decimal import Decimal
from itertools import islice

from swapcli import Market, SwapcliError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("network", "rpc_url", "token_in", "token_out", "amount"):
        parser.add_argument(name)
    parser.add_argument("--at-least", type=Decimal, default=Decimal("Infinity"))
    parser.add_argument("--destination", default="0x1111111111111111111111111111111111111111")
    parser.add_argument("--blocks", type=int, default=10)
    args = parser.parse_args()
    with Market.live(args.network, rpc_url=args.rpc_url, reuse_searches=True) as market:
        quotes = market.watch(args.token_in, args.token_out, args.amount, on_failure=report)
        for quote in islice(quotes, args.blocks):
            print(quote.state.block, quote.amount_out_decimal, quote.token_out.symbol, flush=True)
            if quote.amount_out_decimal >= args.at_least:
                print(json.dumps(quote.transaction(destination=args.destination)))
                return


def report(error: SwapcliError) -> None:
    """Print why an attempt failed; a node that fails now may respond at the next block."""
    print(error.code, error, flush=True)


if __name__ == "__main__":
    main()
