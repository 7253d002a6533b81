"""Nodes that lie: wrong state is never stored; missing state is reported, or read later from a correct node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests.chain import proxy as failures
from tests.chain.failure_modes import FAST_MODES, connect_without_pauses
from tests.chain.node.server import Failure
from tests.chain.proxy import open_proxy
from tests.chain.small_chain import SmallTestChain, open_small_chain
from tests.chain.test_node_failures_sync import Bench, followed, synced
from tests.examples import examples
from tests.support.chain import restored

FEW_RUNS, MANY_RUNS = examples(1, full=3), 100
RUNS_A_CHAIN = 10
"""A chain slows down as it grows."""
STEPS = 2


class Lie(NamedTuple):
    """A way to lie. Where it `must_fail`, a step or a sync of stored pools ends in an error while it lasts."""

    name: str
    failure: Callable[[Random, Bench], Failure]
    must_fail: bool = False


def sometimes(rng: Random, bench: Bench) -> Callable[[], object]:
    """Something happens on the chain between some exchanges."""

    def happen() -> None:
        if rng.random() < 0.3:
            bench.small_chain.run_random_activity(rng, 1)

    return happen


def reorganizing(rng: Random, bench: Bench) -> Callable[[], object]:
    """Blocks are mined between two exchanges, and replaced between two later ones."""
    steps = iter([*["wait"] * rng.randint(0, 9), "mine", *["wait"] * rng.randint(0, 2), "replace"])
    turn: list[Callable[[], None]] = []

    def happen() -> None:
        step = next(steps, None)
        if step == "mine":
            turn.append(bench.small_chain.prepare_reorg(rng))
        elif step == "replace":
            turn.pop()()

    return happen


LIES = (
    Lie("calls return nothing", lambda rng, _: failures.empties_calls(rng), must_fail=True),
    Lie("half of the calls return nothing", lambda rng, _: failures.empties_calls(rng, 0.5)),
    Lie("no events", lambda rng, _: failures.withholds_logs(rng, 1.0)),
    Lie("half of the events", lambda rng, _: failures.withholds_logs(rng, 0.5)),
    Lie("block numbers are ignored", lambda rng, bench: failures.ignores_block_numbers(sometimes(rng, bench))),
)
FAILURES = tuple(
    Lie(mode.name, lambda rng, _, mode=mode: mode.build(rng))  # type: ignore[misc]
    for mode in FAST_MODES
)
"""The other ways in which nodes fail; `test_faults_sync` has a run of each."""


@contextmanager
def open_bench(deployed: SmallTestChain, folder: Path) -> Iterator[Bench]:
    with restored(deployed) as small_chain, open_proxy(small_chain.chain.node.port) as proxy:
        yield Bench(small_chain, proxy, folder)


@pytest.fixture
def bench(shared_small_chain: SmallTestChain, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(shared_small_chain, tmp_path) as bench:
        yield bench


def check_run(bench: Bench, lie: Lie, seed: int) -> None:
    """A sync, or steps of a store that was synced before, while the node lies; then one while it does not."""
    rng = Random(f"{lie.name} {seed}")
    bench.proxy.failures, bench.proxy.always = [], None
    with bench.store(is_new=seed % 3 == 2) as store:
        before = {*store.read_market().pools}
        for _ in range(STEPS):
            bench.small_chain.run_random_activity(rng)
            bench.proxy.failures = [failures.passes_on] * rng.choice([0, 0, rng.randint(1, 8)])
            bench.proxy.always = lie.failure(rng, bench)
            with connect_without_pauses(bench.proxy.url) as node:
                run = followed if before and rng.random() < 0.7 else synced
                end = run(store, node)
            if lie.must_fail and before and not bench.proxy.failures:
                assert end is not None
            bench.proxy.failures, bench.proxy.always = [], None
            assert bench.is_true(store)
            known = {*store.read_market().pools, *(left.key for left in store.inventory.all_skipped())}
            assert before <= known
        bench.check_whole(store)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_nothing_wrong_is_stored_and_nothing_silently_lost(bench: Bench, lie: Lie) -> None:
    for seed in range(FEW_RUNS):
        check_run(bench, lie, seed)


def check_reorgs(bench: Bench, seed: int) -> bool:
    """Follow a chain that is reorganized, with a node that ignores block numbers. Return whether the block stays."""
    rng = Random(f"reorganized {seed}")
    bench.proxy.failures, bench.proxy.always = [], None
    with bench.store(is_new=False) as store:
        bench.small_chain.run_random_activity(rng)
        bench.proxy.failures = [failures.passes_on] * rng.randint(0, 3)
        bench.proxy.always = failures.ignores_block_numbers(reorganizing(rng, bench))
        with connect_without_pauses(bench.proxy.url) as node:
            followed(store, node)
        bench.proxy.failures, bench.proxy.always = [], None
        is_on_chain = bench.is_true(store)
        bench.check_whole(store)
        return is_on_chain


def test_state_of_a_replaced_block_is_never_stored(bench: Bench) -> None:
    have_stayed = [check_reorgs(bench, seed) for seed in range(examples(3, full=10))]
    assert any(have_stayed)


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES + FAILURES, ids=lambda lie: lie.name)
def test_no_run_stores_wrong_state_or_loses_pools_silently(tmp_path: Path, lie: Lie) -> None:
    with open_small_chain() as chain:
        for first in range(0, MANY_RUNS, RUNS_A_CHAIN):
            folder = tmp_path / str(first)
            folder.mkdir()
            with open_bench(chain, folder) as bench:
                for seed in range(first, first + RUNS_A_CHAIN):
                    check_run(bench, lie, seed)
