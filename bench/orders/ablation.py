"""Measure the gain of each mechanism of the search: switch it off, and quote the same orders.

    python -m bench.orders.ablation [--worlds real,random,pushed,drained,hundredfold,1000] [--gas 0.01,1]
                                    [--orders 50] [--seed 1] [--market FILE] [--only NAME]

A mechanism that gains in no world is not worth its lines.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.optimum.real_market import REAL_MARKET
from bench.orders.figures import Comparison, compare
from bench.orders.in_turn import WEI_A_GWEI, Quotes, Row
from bench.orders.parts import replaced
from bench.orders.worker import quote
from bench.running import BenchmarkFailed
from bench.worlds.world import World, make_worlds
from swapcli.core.routing.router import Router

_BOTH, _ONE = (0.01, 1.0), (0.01,)
WORLDS = {"real": _BOTH, "random": _BOTH, "pushed": _BOTH, "drained": _ONE, "hundredfold": _ONE, "1000": _BOTH}
"""Gas prices in gwei by world."""


class Switch(NamedTuple):
    """A mechanism, and the replacements that switch it off: values by `module:name`, or `module:class.name`."""

    mechanism: str
    parts: Mapping[str, Any]


def _keep(_: object, found: object, *__: object, **___: object) -> object:
    """Return a mechanism's input without the improvement."""
    return found


def _keep_last(*found: object) -> object:
    return found[-1]


def _find_nothing(*_: object, **__: object) -> None:
    return None


def _find_none(*_: object, **__: object) -> list[object]:
    return []


def _yield_none(*_: object, **__: object) -> Iterator[object]:
    return iter(())


_SEARCH = "swapcli.core.routing.search"
SWITCHES = (
    Switch("the exact finish", {f"{_SEARCH}.route_search:RouteSearch.finish": _keep}),
    Switch("its moves between pools", {f"{_SEARCH}.exact_finish:ShareSearch._hop_moves": _yield_none}),
    Switch("repairs of rejected amounts", {f"{_SEARCH}.candidate_routes:CandidateRoutes._repair": _find_nothing}),
    Switch("pruning for gas", {f"{_SEARCH}.candidate_routes:prune_for_gas": _find_none}),
    Switch("detours over several tokens", {f"{_SEARCH}.column_generation:MAX_OUTSIDE": 1}),
    Switch("paths beside the solution", {f"{_SEARCH}.route_search:RouteSearch._find_other_path": _find_nothing}),
    Switch("several ways to a token", {f"{_SEARCH}.route_search:better_paths": _yield_none}),
    Switch("other orders of the tokens", {f"{_SEARCH}.token_orders:better_orders": _yield_none}),
    Switch("a greedy order", {f"{_SEARCH}.acyclic_order:orient_greedily": _find_nothing}),
    Switch("exchanges of paths", {f"{_SEARCH}.token_orders:exchange_paths": _keep}),
    Switch("a wider search of drained markets", {f"{_SEARCH}.drained_market:search_drained_market": _keep_last}),
    Switch("routes of smaller amounts there", {f"{_SEARCH}.drained_market:_with_surplus": _keep_last}),
)
"""Every mechanism of the search that improves a route but does not decide whether one exists."""


class Ablation(NamedTuple):
    """Quotes without a mechanism, compared with those of the full search, on a world at a gas price."""

    mechanism: str
    without: Comparison

    @property
    def place(self) -> tuple[str, float]:
        """Return the name of the world, and the gas price."""
        return self.without.quotes.world.name, self.without.quotes.gas_gwei

    @property
    def gains(self) -> bool:
        """Whether the mechanism gives any order more than the tolerance, or its only route."""
        return bool(self.without.behind) or self.without.lost > 0


def ablate(world: World, gas_gwei: float, switches: Sequence[Switch] = SWITCHES) -> Iterator[Ablation]:
    """Yield the gain of each mechanism on a world. Raises `BenchmarkFailed`."""
    whole = _quote_all(world, gas_gwei)
    for switch in switches:
        with replaced(switch.parts):
            without = _quote_all(world, gas_gwei)
        yield Ablation(switch.mechanism, compare(Quotes(world, gas_gwei, world.orders, [without, whole]), 1))


def _quote_all(world: World, gas_gwei: float) -> list[Row]:
    router = Router(world.market)
    router.index.warm()
    gc.collect()
    gas_price_wei = round(gas_gwei * WEI_A_GWEI)
    return [Row(*quote(router, order, gas_price_wei)) for order in world.orders]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each world; 1 if a mechanism no longer exists."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.orders.ablation", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--gas", default="0.01,1", metavar="GWEI,..", help="gas prices  [0.01,1]")
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--market", type=Path, default=REAL_MARKET, metavar="FILE", help="a real state")
    parser.add_argument("--only", metavar="TEXT", help="mechanisms with this text in their names")
    options = parser.parse_args(arguments)
    switches = [each for each in SWITCHES if not options.only or options.only in each.mechanism]
    try:
        with TemporaryDirectory(prefix="bench-") as folder:
            worlds = make_worlds(options.worlds.split(","), options.market, options.orders, options.seed, Path(folder))
            for world in worlds:
                for gas in map(float, options.gas.split(",")):
                    print(f"{world.name}, {len(world.orders)} orders, gas {gas:g} gwei; without it:")
                    for each in ablate(world, gas, switches):
                        print(f"  {each.mechanism:28} {_shown(each.without)}", flush=True)
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    return 0


def _shown(without: Comparison) -> str:
    better = sum(lead.is_ahead for lead in without.leads)
    return (
        f"{without.mean_bps:+9.4f} bps  ${without.usd:+10.2f}  worst {without.worst_bps:+10.3f} bps  "
        f"worse {len(without.behind):3}  better {better:3}  lost {without.lost}  CPU x {without.ratios.mean:.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
