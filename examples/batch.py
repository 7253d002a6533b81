"""Quote a file of orders in several processes, and go on after an interruption.

    python examples/batch.py base orders.jsonl results.jsonl

A line of orders is {"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1500000000000000000"}. Orders that
have a line in the results are not asked again.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from swapcli import Market


def main(network: str, orders: str, results: str) -> None:
    lines = (json.loads(line) for line in Path(orders).read_text().splitlines())
    done = Path(results)
    answered = {json.loads(line)["id"] for line in done.read_text().splitlines()} if done.exists() else set()
    with Market.embedded(network) as market, done.open("a") as file:
        for answer in market.quote_many(lines, ProcessPoolExecutor, answered=answered):
            found = {"amount_out": str(answer.quote.amount_out)} if answer.quote else {"error": str(answer.error)}
            print(json.dumps({"id": answer.id, **found}), file=file, flush=True)


if __name__ == "__main__":
    sys.exit(__doc__) if "--help" in sys.argv or len(sys.argv) < 2 else main(*sys.argv[1:])
