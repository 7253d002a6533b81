"""How good and how fast are quotes of users' orders, compared with other revisions?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.optimum.net_proof import Proof, prove
from bench.optimum.real_market import REAL_MARKET
from bench.orders.ablation import WORLDS, Ablation, ablate
from bench.orders.figures import Comparison, Lead, Times, compare, input_leads
from bench.orders.in_turn import WEI_A_GWEI, Quotes, quote_world, revisions
from bench.orders.residuals import main_residuals
from bench.orders.section import ablation_section, gap_section, orders_section
from bench.orders.small_markets import Judged, judge_small_markets
from bench.plan import Plan
from bench.report.answer import Answer, Row, Table, row
from bench.report.figures import Spread
from bench.report.tables import bps, ms
from bench.report.thresholds import (
    MAX_CPU_RATIOS,
    MAX_LOSS_BPS,
    MAX_NET_GAPS,
    MAX_PROOF_RATIO,
    MAX_RESIDUAL,
    MAX_SLOWEST_TO_MEDIAN,
    Check,
)
from bench.worlds.world import World, make_world, make_worlds
from swapcli.core.model.order import Order
from swapcli.core.routing.router import Router

Note = Callable[[str], None]

_SEED = 1
"""The seed for random pairs, pushed pools and samples of orders on the page."""
_GENERATED = (10_000,)
_QUICK_GENERATED = (1_000,)

GAS_GWEI: Mapping[str, Sequence[float]] = {
    "real": (0.0, 0.01, 1.0),
    "random": (0.0, 0.01, 1.0),
    "pushed": (0.0, 0.01, 1.0),
    "drained": (0.01,),
    "hundredfold": (0.0,),
    "generated": (0.0,),
}
"""Gas prices for the orders of a world."""
_ON_THE_PAGE = {
    "real": (0.0, 0.01, 1.0),
    "random": (0.01,),
    "pushed": (0.01,),
    "hundredfold": (0.0,),
    "generated": (0.0,),
}
_EXACT_OUTPUT = frozenset({"real", "random", "pushed"})
_NO_BARS = (None,) * 4
_PROVEN = {"real": 1.0, "random": 0.01, "pushed": 0.01}
"""Gas prices at which a world's orders are proven."""


class Proofs(NamedTuple):
    """The proofs for a world's orders, with at least one search whose output is worth more than its gas."""

    world: World
    gas_gwei: float
    found: Sequence[Proof]


class OrderFigures(NamedTuple):
    """All results. `revisions` are the names of the compared revisions, this one first."""

    revisions: Sequence[str]
    quotes: Sequence[Quotes]
    proofs: Sequence[Proofs]
    residuals: Sequence[float]
    ablations: Sequence[Ablation]
    small_markets: Sequence[Judged]


def measure(plan: Plan, folder: Path, note: Note) -> Answer:
    """Answer the question, with files in `folder`. Raises `BenchmarkFailed`."""
    with revisions(plan.against, folder) as compared:
        quotes = []
        for world in _worlds(plan, folder):
            note(f"orders: {world.name}")
            exact_output = plan.exact_output_orders if world.kind in _EXACT_OUTPUT else 0
            quotes += quote_world(world, compared, GAS_GWEI[world.kind], plan.pair_rounds, folder, exact_output)
    note("orders: proofs net of gas")
    proofs = list(_proofs(plan))
    residuals = list(_residuals(plan))
    note("orders: ablation")
    ablations = list(_ablations(plan, folder))
    note("orders: brute force on small markets")
    small_markets = list(judge_small_markets(plan.small_market_orders, _seed(plan)))
    return answer(OrderFigures([each.name for each in compared], quotes, proofs, residuals, ablations, small_markets))


def _worlds(plan: Plan, folder: Path) -> Iterator[World]:
    seed = _seed(plan)
    for file in plan.markets or (REAL_MARKET,):
        yield make_world("real", file, plan.real_orders, seed)
        for kind in ("random", "pushed", "drained", "hundredfold"):
            yield make_world(kind, file, plan.world_orders, seed)
    sizes = [str(pools) for pools in (_QUICK_GENERATED if plan.is_quick else _GENERATED)]
    yield from make_worlds(sizes, REAL_MARKET, plan.world_orders, seed, folder)


def _proofs(plan: Plan) -> Iterator[Proofs]:
    for file in plan.markets or (REAL_MARKET,):
        for kind, gas_gwei in _PROVEN.items():
            world = make_world(kind, file, plan.proven_orders, _seed(plan))
            tokens = world.market.tokens
            orders = [Order(tokens[each.token_in], tokens[each.token_out], each.amount) for each in world.orders]
            if found := list(prove(Router(world.market), orders, round(gas_gwei * WEI_A_GWEI))):
                yield Proofs(world, gas_gwei, found)


def _residuals(plan: Plan) -> Iterator[float]:
    """Yield the residuals of the main solves of orders on pushed states."""
    for file in plan.markets or (REAL_MARKET,):
        yield from main_residuals(make_world("pushed", file, plan.world_orders, _seed(plan)), _PROVEN["pushed"])


def _ablations(plan: Plan, folder: Path) -> Iterator[Ablation]:
    for file in plan.markets or (REAL_MARKET,):
        worlds = make_worlds(list(WORLDS), file, plan.ablation_orders, _seed(plan), folder)
        for world, prices in zip(worlds, WORLDS.values(), strict=True):
            for gas_gwei in prices:
                yield from ablate(world, gas_gwei)


def _seed(plan: Plan) -> int:
    return _SEED if plan.seed is None else plan.seed


def answer(found: OrderFigures) -> Answer:
    """Return the tables and sections of the figures."""
    return Answer(
        [orders_table(found)],
        [
            orders_section(found.quotes, found.revisions),
            gap_section([(proofs.world.name, proofs.gas_gwei, proofs.found) for proofs in found.proofs]),
            ablation_section(found.ablations),
        ],
    )


def orders_table(found: OrderFigures) -> Table:
    """Return the CPU time and output of orders by world, next to those of other revisions."""
    rows: list[Row] = []
    compared: list[Comparison] = []
    for quotes in found.quotes:
        if quotes.is_exact_output:
            continue
        is_shown = quotes.gas_gwei in _ON_THE_PAGE.get(quotes.world.kind, ())
        what = f"{quotes.world.title}, {quotes.gas_gwei:g} gwei"
        if is_shown and len(found.revisions) == 1:
            rows.append(row(f"{what}: CPU ms, mean / p50 / p95 / maximum", *Times.of(quotes.rows[0]), show=ms))
        for other, name in enumerate(found.revisions[1:], 1):
            compared.append(comparison := compare(quotes, other))
            if is_shown:
                rows.append(_paired_row(what, comparison, name))
    if compared:
        behind = sum(len(each.behind) + each.lost for each in compared)
        total = sum(len(each.quotes.orders) for each in compared)
        rows.append(row(f"orders behind by > 0.05 bps and a cent, of {total:,}", Check("behind", behind, 0)))
    rows += [_slowest_row(found.quotes), _exact_output_row(found.quotes), *map(_gap_row, found.proofs)]
    large = sum(residual > MAX_RESIDUAL for residual in found.residuals)
    figure = f"pushed state: main solves with a residual above {MAX_RESIDUAL:.0%}, of {len(found.residuals)}"
    rows.append(row(figure, Check("residuals", large, 0)))
    ahead = sum(each.ahead_bps > 0.0 for each in found.small_markets)
    figure = f"small markets: brute force is ahead by > 0.05 bps and two base units, of {len(found.small_markets)}"
    rows += [row(figure, Check("ahead", ahead, 0)), _ablation_row(found.ablations)]
    return Table(
        "Users' orders",
        "Recorded orders of users on a real state; random pairs on it; the state with 30% of its pools *pushed* out of "
        "line by 0.1 to 5%; a *hundredfold* of amounts, at least $100 million; large and huge orders on generated "
        "markets. Each order is quoted by both revisions in turn: ratios of its least CPU times (mean / p50 / p95 / "
        "maximum), and how far we are ahead net of gas at mid prices, in the mean and in dollars. A mechanism gains in "
        "a world if the search without it is behind in any order. Other gas prices and worlds are in "
        "[the history](bench/HISTORY.md#users-orders).",
        rows,
    )


def _paired_row(what: str, found: Comparison, name: str) -> Row:
    kind, gas = found.quotes.world.kind, found.quotes.gas_gwei
    bars = MAX_CPU_RATIOS.get((kind, gas), _NO_BARS)
    checks = [
        value if bar is None else Check("ratio", value, bar) for value, bar in zip(found.ratios, bars, strict=True)
    ]
    times = row("", *checks, show="{:.2f}".format)
    ahead = row("", Check("mean", found.mean_bps, -MAX_LOSS_BPS, is_floor=True), show="{:+.4f}".format)
    return Row(
        f"{what}, to {name}: CPU ratios; bps ahead; $",
        f"{times.bar}; {ahead.bar}",
        f"{times.reached}; {ahead.reached}; {found.usd:+,.2f}",
    )


def _slowest_row(quotes: Sequence[Quotes]) -> Row:
    times = [Times.of(each.rows[0]) for each in quotes if each.world.kind == "pushed" and not each.is_exact_output]
    slowest = max((each.maximum / each.p50 for each in times), default=0.0)
    return row("pushed states: slowest order to the median", Check("slowest", slowest, MAX_SLOWEST_TO_MEDIAN))


def exact_output_leads(quotes: Sequence[Quotes]) -> list[Lead]:
    """Return how far the inputs for exact outputs are below those of the forward searches that pay the same."""
    return [lead for one, two in pairwise(quotes) if two.is_exact_output for lead in input_leads(one, two)]


def _exact_output_row(quotes: Sequence[Quotes]) -> Row:
    leads = exact_output_leads(quotes)
    above = sum(lead.is_behind for lead in leads)
    figure = f"exact output: inputs above the forward search's by > 0.05 bps and a cent, of {len(leads)}"
    return row(figure, Check("above", above, 0))


def _gap_row(proofs: Proofs) -> Row:
    gaps, ratios = Spread.of(each.gap_bps for each in proofs.found), Spread.of(_proof_ratios(proofs.found))
    bars = MAX_NET_GAPS[proofs.world.kind]
    shown = row("", Check("p50", gaps.median, bars[0]), Check("p95", gaps.p95, bars[1]), show=bps)
    ratio = row("", Check("ratio", ratios.median, MAX_PROOF_RATIO))
    return shown._replace(
        figure=f"{proofs.world.title}, {proofs.gas_gwei:g} gwei: proven gap, bps, p50 / p95; time to a search",
        bar=f"{shown.bar}; {ratio.bar}",
        reached=f"{shown.reached}; {ratio.reached}",
    )


def _proof_ratios(proofs: Sequence[Proof]) -> list[float]:
    return [each.proof_s / each.search_s for each in proofs]


def _ablation_row(ablations: Sequence[Ablation]) -> Row:
    """Return the number of mechanisms that gain nowhere, and their names."""
    mechanisms = list(dict.fromkeys(each.mechanism for each in ablations))
    idle = [name for name in mechanisms if not any(each.gains for each in ablations if each.mechanism == name)]
    shown = row(f"mechanisms of the search that gain in no world, of {len(mechanisms)}", Check("idle", len(idle), 0))
    return shown._replace(reached=f"{shown.reached}: {', '.join(idle)}") if idle else shown
