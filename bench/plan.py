"""Parse the command line of the benchmark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "BENCHMARKS.md"
QUESTIONS = ("orders", "speed", "optimum", "service", "chain")
"""The questions in measuring order. The optimum judges the peer's routes that were timed for speed."""
FEW_PASSES = 2
SIZES, SEEDS = (1_000, 10_000), (7, 1)
"""Pool counts and seeds of the generated markets on the page."""

_QUICK_SIZES = (100,)
_STORES, _QUICK_STORES = (1_000, 10_000, 100_000), (1_000, 10_000)


class ChainPlan(NamedTuple):
    """Run first syncs of `pairs` V2 pairs and `pools` V3 pools, `syncs` times each, and live quotes `runs` times each;
    follow `blocks` blocks with `swaps` swaps each, and `announced` blocks for each block time; mine `routes` routes."""

    pairs: int
    pools: int
    syncs: int
    runs: int
    blocks: int
    swaps: int
    announced: int
    routes: int


_CHAIN, _QUICK_CHAIN = ChainPlan(1_000, 200, 5, 15, 1_000, 50, 60, 600), ChainPlan(100, 20, 1, 3, 20, 50, 6, 40)


class Plan(NamedTuple):
    """The questions to answer, with the sizes and repetitions of their measurements.

    Users' orders are quoted in turn with the revisions `against`, each `pair_rounds` times: at most `real_orders` of
    each real market, `world_orders` of each other world, and `exact_output_orders` also for exact output;
    `proven_orders` are proven net of gas, and `ablation_orders` quoted without each mechanism of the search; brute
    force judges `small_market_orders`.

    `seed` makes new markets and orders; None stands for those of the page. `markets` are real ones, by default the
    committed one, of each of which at most `real_orders` orders count.

    Ours and the peer are timed in turn in `rounds` rounds, each over all orders `passes` times (the first is not warm)
    on markets that are quick to route, `FEW_PASSES` times on others; one-shot commands run `runs` times. The service is
    saturated for `service_s` seconds, and soaked twice with `soak_requests` requests. Workers are loaded in
    `load_rounds` rounds. Rivals compete on `rival_orders` orders of each world and gas price, and answers of
    `contradiction_cases` cases are compared. Each order is quoted `store_runs` times on `stores` of so many pools.

    `out` is the page to write or to update; None only prints its tables. `work` is the folder of markets and raw
    results; None is a temporary one.
    """

    questions: tuple[str, ...]
    against: tuple[str, ...]
    seed: int | None
    markets: tuple[Path, ...]
    sizes: tuple[int, ...]
    is_quick: bool
    rounds: int
    passes: int
    runs: int
    real_orders: int
    pair_rounds: int
    world_orders: int
    exact_output_orders: int
    proven_orders: int
    ablation_orders: int
    small_market_orders: int
    service_s: float
    soak_requests: int
    load_rounds: int
    rival_orders: int
    contradiction_cases: int
    stores: tuple[int, ...]
    store_runs: int
    chain: ChainPlan
    out: Path | None
    work: Path | None

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds of the generated markets: as many as on the page, for a whole run."""
        if self.seed is None:
            return SEEDS[:1] if self.is_quick else SEEDS
        return (self.seed,) if self.is_quick else (self.seed, self.seed + 1)

    @property
    def is_whole(self) -> bool:
        """Return whether every question is answered."""
        return self.questions == QUESTIONS

    @property
    def is_comparable(self) -> bool:
        """Return whether the figures are for the page's markets, with its repetitions."""
        return self.seed is None and not self.markets and self.sizes == SIZES and not self.is_quick

    def command(self, question: str | None = None) -> str:
        """Return the command that measures a question again, or all questions; without this machine's folders."""
        words = ["--only", question] if question else []
        words += ["--quick"] if self.is_quick else []
        words += ["--seed", str(self.seed)] if self.seed is not None else []
        if self.sizes != (_QUICK_SIZES if self.is_quick else SIZES):
            words += ["--sizes", ",".join(map(str, self.sizes))]
        words += [word for revision in self.against for word in ("--against", revision)]
        words += [word for market in self.markets for word in ("--market", market.name)]
        return f'make bench ARGS="{" ".join(words)}"' if words else "make bench"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"bench: {message}", file=sys.stderr)
        sys.exit(2)


def parse_plan(arguments: Sequence[str] | None = None) -> Plan:
    """Return the plan of a command line; an invalid one ends the process with status 2."""
    parser = _Parser(prog="python -m bench", description="Measures this program, and writes BENCHMARKS.md.")
    parser.add_argument("--quick", action="store_true", help="one small market and few repetitions, in five minutes")
    parser.add_argument(
        "--only", type=_questions, metavar="QUESTION,..", help=f"answer only these, of {', '.join(QUESTIONS)}"
    )
    parser.add_argument(
        "--seed", type=_seed, metavar="N", help="make other markets and orders; figures differ from those of the page"
    )
    parser.add_argument(
        "--market",
        type=Path,
        action="append",
        metavar="FILE",
        help="a real market with its orders beside it, instead of the committed one; it may be repeated",
    )
    parser.add_argument(
        "--against",
        action="append",
        metavar="REVISION",
        help="a revision that quotes users' orders in turn with this one; it may be repeated",
    )
    parser.add_argument("--sizes", type=_numbers, metavar="N,..", help="pools in the generated markets")
    parser.add_argument(
        "--out", type=Path, help=f"the page to write or to update  [{PAGE.name} for a whole run, else none]"
    )
    parser.add_argument("--work", type=Path, help="folder of markets and raw results  [temporary]")
    options = parser.parse_args(arguments)
    quick: bool = options.quick
    plan = Plan(
        questions=options.only or QUESTIONS,
        against=tuple(options.against or ()),
        seed=options.seed,
        markets=tuple(options.market or ()),
        sizes=options.sizes or (_QUICK_SIZES if quick else SIZES),
        is_quick=quick,
        rounds=1 if quick else 3,
        passes=FEW_PASSES if quick else 5,
        runs=5 if quick else 25,
        real_orders=25 if quick else 10_000,
        pair_rounds=1 if quick else 2,
        world_orders=5 if quick else 60,
        exact_output_orders=3 if quick else 30,
        proven_orders=3 if quick else 20,
        ablation_orders=2 if quick else 20,
        small_market_orders=20 if quick else 300,
        service_s=3.0 if quick else 20.0,
        soak_requests=1_000 if quick else 20_000,
        load_rounds=1 if quick else 5,
        rival_orders=1 if quick else 8,
        contradiction_cases=30 if quick else 300,
        stores=_QUICK_STORES if quick else _STORES,
        store_runs=1 if quick else 5,
        chain=_QUICK_CHAIN if quick else _CHAIN,
        out=options.out,
        work=options.work,
    )
    return plan._replace(out=PAGE) if plan.out is None and plan.is_whole and plan.is_comparable else plan


def _questions(text: str) -> tuple[str, ...]:
    """Parse names of questions into the order of `QUESTIONS`."""
    names = set(text.split(","))
    if not names <= set(QUESTIONS):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(QUESTIONS)}, not {text!r}")
    return tuple(each for each in QUESTIONS if each in names)


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"expected a whole number, not {text[:40]!r}")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between them, not {text!r}")
    return tuple(dict.fromkeys(numbers))
