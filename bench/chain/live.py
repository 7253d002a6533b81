"""Live one-shot quotes: the time of the real command with a node, without one, and on the embedded market."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.chain.many_pools import NETWORK, Coin
from bench.optimum.quoting import console_script
from bench.running import BenchmarkFailed, Command, clean_environment, run
from bench.speed.whole_process import QUOTE, Runs, timed
from tests.chain.proxy import open_proxy

GAS_PRICE = "0.005gwei"
"""The gas price of the embedded market. The local node has none, so routes would use too many pools."""

_CONSIDERED = re.compile(r"(\d+) pools considered")


@dataclass(frozen=True, slots=True)
class LiveQuote:
    """The interleaved runs of one order, which reads `pools` pools in `round_trips` round trips."""

    what: str
    pools: int
    round_trips: int
    live: Runs
    offline: Runs
    embedded: Runs

    def more_ms(self, others: Runs) -> float:
        """Return the extra time of the live quote over `others`: the median difference of neighbouring runs."""
        return median(mine - theirs for mine, theirs in zip(self.live.times_s, others.times_s, strict=True)) * 1e3


def measure_live(coins: Sequence[Coin], settings: Path, port: int, runs: int) -> tuple[LiveQuote, ...]:
    """Quote from the store of the settings, with the node at `port`. Raises `BenchmarkFailed`.

    All coins have pairs with the first one, and coins with odd indexes also with the second.
    """
    orders = {
        "native to stablecoin, $1,000": (coins[0], coins[1], 1_000.0),
        "native to stablecoin, $100,000": (coins[0], coins[1], 100_000.0),
        "token to token, $1,000": (coins[3], coins[5], 1_000.0),
    }
    return tuple(_measure(what, _words(*order), settings, port, runs) for what, order in orders.items())


def _words(sold: Coin, bought: Coin, dollars: float) -> list[str]:
    order = [NETWORK, sold.address, bought.address, str(sold.units(dollars))]
    return ["route", *order, "--raw", "--json", "--gas-price", GAS_PRICE]


def _measure(what: str, words: list[str], settings: Path, port: int, runs: int) -> LiveQuote:
    commands = [_command(each, settings) for each in (words, [*words, "--offline"], QUOTE)]
    return LiveQuote(what, *_count_requests(words, settings, port), *timed(commands, runs, settings.parent))


def _command(words: Sequence[str], settings: Path) -> Command:
    return [console_script(), *words, "--config", settings]


def _count_requests(words: list[str], settings: Path, port: int) -> tuple[int, int]:
    """Return the number of pools that a run reads, and of its exchanges with the node."""
    with open_proxy(port) as proxy:
        command = _command([*words, "--rpc-url", proxy.url], settings)
        response = json.loads(run(command, env=clean_environment(settings.parent)))
        considered = _CONSIDERED.search(response["state"]["source"])
        if considered is None:
            raise BenchmarkFailed(f"no live quote: {response['state']}")
        return int(considered[1]), len(proxy.exchanges)
