"""Measure the processor time of a service's responses: quotes compared with the library's, rejections with a 404.

python -m bench.service.cost [--rounds 5] [--market FILE --orders FILE] [--before TREE]

Each round sends the same orders to each service over one connection, quotes them with `Market.quote` in this process,
and sends as many requests of each other kind. A figure is the median over the rounds of the ratio within one round.
`--orders` has one JSON object per line with `token_in`, `token_out` and `amount_in`. `--before` names a checkout of
another revision, whose service is measured in turn with this one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl

from bench.running import BenchmarkFailed
from bench.service.requests import NETWORK
from swapcli import Market
from tests.faces.service.soak import Client, Request, Service, orders, served

_MISSING = Request("GET", "/nowhere/route", expected=(404,))
_WARM_ROUNDS = 2


def cpu_s(service: Service) -> float:
    """Return the processor time used by a service, to the nanosecond."""
    tasks = Path(f"/proc/{service.process.pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9


def quote_with_library(market: Market, query: str) -> float:
    """Return the processor time of a quote in the library."""
    given = dict(parse_qsl(query))
    began_s = time.process_time()
    market.quote(given["tokenInAddress"], given["tokenOutAddress"], amount=int(given["amount"]))
    return time.process_time() - began_s


async def ask(client: Client, request: Request) -> None:
    """Send a request. Raises `BenchmarkFailed` for an unexpected status."""
    answer = await client.ask(request, "cost")
    if answer is None or (answer[0] // 100 not in request.expected and answer[0] not in request.expected):
        raise BenchmarkFailed(f"{request.target}: {answer}")


def rejections(network: str, queries: Sequence[str]) -> dict[str, list[Request]]:
    """Return requests that are rejected, by their kind."""
    unusual = {
        "400_bad_amount": [f"amount=-{number}&{query.partition('&')[2]}" for number, query in enumerate(queries)],
        "400_missing_token": [query.partition("&tokenOut")[0] for query in queries],
        "400_unknown_protocol": [f"{query}&excludeProtocols=none" for query in queries],
    }
    kinds = {
        kind: [Request("GET", f"/{network}/v2/route?{query}", expected=(400,)) for query in queries]
        for kind, queries in unusual.items()
    }
    body = b'{"route": {}, "slippage": 1}'
    kinds["400_body"] = [Request("POST", f"/{network}/execute", body, expected=(400,)) for _ in queries]
    return {"404": [_MISSING for _ in queries], **kinds}


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--market", type=Path, default=None)
    parser.add_argument("--orders", type=Path, default=None)
    parser.add_argument("--size", default=None, help="Only the orders of this `size`.")
    parser.add_argument("--before", type=Path, default=None, metavar="TREE")
    parser.add_argument("--fresh", action="store_true", help="Let no search start from an earlier one.")
    options = parser.parse_args()
    network, queries, arguments = NETWORK, orders(), ["--networks", NETWORK]
    if options.market is not None:
        network = json.loads(options.market.read_text())["network"]["name"]
        rows = [json.loads(line) for line in options.orders.read_text().splitlines()]
        queries = [
            f"amount={row['amount_in']}&tokenInAddress={row['token_in']}&tokenOutAddress={row['token_out']}"
            for row in rows
            if options.size in (None, row.get("size"))
        ]
        arguments = ["--market", str(options.market)]
    settings = {"service": {"reuse_searches": not options.fresh}}
    trees = {"now": None} if options.before is None else {"before": options.before, "now": None}
    with ExitStack() as stack:
        config = Path(stack.enter_context(TemporaryDirectory())) / "config.yaml"
        config.write_text(json.dumps(settings))
        open_ = Market.embedded if options.market is None else Market.from_file
        market = stack.enter_context(
            open_(network if options.market is None else options.market, reuse_searches=not options.fresh)
        )
        services = {
            name: stack.enter_context(served(*arguments, "--config", str(config), tree=tree))
            for name, tree in trees.items()
        }
        print(json.dumps(asyncio.run(_measure(services, market, network, queries, options.rounds)), indent=1))


async def _measure(
    services: dict[str, Service], market: Market, network: str, queries: Sequence[str], rounds: int
) -> dict[str, dict[str, float]]:
    clients = {name: Client(service.port) for name, service in services.items()}
    routable = []
    for query in queries:
        answer = await clients["now"].ask(Request("GET", f"/{network}/v2/route?{query}"), "cost")
        if answer is not None and answer[0] == 200 and json.loads(answer[1]).get("success"):
            routable.append(query)
    kinds = {"quote": [Request("GET", f"/{network}/v2/route?{query}") for query in routable]}
    kinds |= rejections(network, routable)
    spent: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in kinds} for name in services}
    library: list[float] = []
    for number in range(_WARM_ROUNDS + rounds):
        order = list(services)[:: 1 if number % 2 else -1]
        began = {name: cpu_s(services[name]) for name in order}
        library.append(0.0)
        for request, query in zip(kinds["quote"], routable, strict=True):
            for name in order:
                await ask(clients[name], request)
            library[-1] += quote_with_library(market, query)
        for name in order:
            spent[name]["quote"].append(cpu_s(services[name]) - began[name])
            for kind, requests in kinds.items():
                if kind != "quote":
                    began_s = cpu_s(services[name])
                    for request in requests:
                        await ask(clients[name], request)
                    spent[name][kind].append(cpu_s(services[name]) - began_s)
    figures: dict[str, dict[str, float]] = {}
    for name, by_kind in spent.items():
        kept = {kind: values[_WARM_ROUNDS:] for kind, values in by_kind.items()}
        base, missing, count = library[_WARM_ROUNDS:], kept["404"], len(routable)
        figures[name] = {
            "orders": count,
            "library_ms": round(median(base) / count * 1e3, 3),
            "quote_ms": round(median(kept["quote"]) / count * 1e3, 3),
            "quote_to_library": round(median(a / b for a, b in zip(kept["quote"], base, strict=True)), 3),
            "404_ms": round(median(missing) / count * 1e3, 3),
        } | {
            f"{kind}_to_404": round(median(a / b for a, b in zip(values, missing, strict=True)), 2)
            for kind, values in kept.items()
            if kind.startswith("400")
        }
    return figures


if __name__ == "__main__":
    main()
