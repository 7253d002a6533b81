"""Between us and a real node everything goes wrong that can: what is read is right, or one sentence says why not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

import pytest

from swapcli.core.errors import ChainReorganized, InvalidUpstreamResponse, UpstreamError, UpstreamRejected
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.calls import Log
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, LogFilter, Node
from swapcli.state.rpc.rpc_node import ATTEMPTS
from swapcli.state.tokens import load_tokens
from tests.chain import proxy as failures
from tests.chain.failure_modes import (
    FAST_MODES,
    MODES,
    NOWHERE,
    TIMEOUT_S,
    FailureMode,
    check_error,
    connect_without_pauses,
)
from tests.chain.market_reader import read_pools
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import url_of
from tests.chain.trader import Trader
from tests.examples import examples, few
from tests.support.chain import restored

BASE = find_network("base")
"""Its protocols have other names than those of the tests, so that the state of a pool shows its kind."""

SYNC = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
"""Of a pair: Sync(uint112,uint112)."""
SEEDS = examples(5, full=25)


class Read(NamedTuple):
    """All that is read of the chain at a block."""

    logs: list[Log]
    pools: list[Pool | SkippedItem]
    tokens: list[Token | SkippedItem]


class Bench:
    """A chain behind a proxy. `places` are of all families, one or two of each."""

    def __init__(self, trader: Trader, proxy: Proxy) -> None:
        self.chain, self.world, self.proxy = trader.chain, trader.world, proxy
        self.multicall = deploy_multicall(self.chain)
        self.chain.node.ask("anvil_mine", "0x3")
        self.places = self._places()
        self._expected: dict[str, Read] = {}

    def _places(self) -> list[PoolRef]:
        pools = read_pools(self.world, self.world.places)
        kinds = {(place.protocol, len(place.tokens)): place for pool in pools if (place := ref_of_pool(pool, BASE))}
        return list(kinds.values())

    def read(self, node: Node, block: BlockHeader, multicall: str | None) -> Read:
        logs = [log for part in scan_logs(node, LogFilter((), (SYNC,), 0, block.number)) for log in part.logs]
        view = MulticallReader(node, block, multicall)
        pools = list(load_pools(view, self.places))
        return Read(logs, pools, list(load_tokens(view, [token.address for token in self.world.tokens.values()])))

    def expected(self, block: BlockHeader) -> Read:
        """What is read with nothing in between."""
        if block.hash not in self._expected:
            with connect_without_pauses(url_of(self.chain)) as node:
                self._expected[block.hash] = self.read(node, block, None)
        return self._expected[block.hash]


@pytest.fixture(scope="module")
def whole_bench(shared_trader: Trader) -> Iterator[Bench]:
    with restored(shared_trader) as trader, open_proxy(trader.chain.node.port) as proxy:
        yield Bench(trader, proxy)


@pytest.fixture
def bench(whole_bench: Bench, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[Bench]:
    """Afterwards nothing has been printed or logged, and there is no failure left."""
    whole_bench.proxy.failures, whole_bench.proxy.always = [], None
    with caplog.at_level(logging.DEBUG):
        yield whole_bench
    whole_bench.proxy.failures, whole_bench.proxy.always = [], None
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


def end_of(bench: Bench, mode: FailureMode, multicall: str | None = None) -> type[UpstreamError] | None:
    """Reads through the proxy: what it came to, after what was read or said was found to be right."""
    with connect_without_pauses(bench.proxy.url, mode.timeout_s) as node:
        try:
            block = node.read_head().block
            read = bench.read(node, block, multicall)
        except UpstreamError as error:
            return check_error(error)
    assert read == bench.expected(block)
    return None


@pytest.mark.parametrize("mode", few(MODES, 12), ids=lambda mode: mode.name)
def test_a_permanent_failure_gives_correct_data_or_one_error(bench: Bench, mode: FailureMode) -> None:
    bench.proxy.always = mode.build(Random(7))
    assert end_of(bench, mode) in mode.outcomes_if_permanent


@pytest.mark.parametrize("mode", few(MODES, 12), ids=lambda mode: mode.name)
def test_what_passes_is_waited_out_wherever_it_strikes(bench: Bench, mode: FailureMode) -> None:
    takes_long = mode.timeout_s < TIMEOUT_S
    for untroubled in (1,) if takes_long else range(examples(2, full=7)):
        bench.proxy.failures = [failures.passes_on] * untroubled + [mode.build(Random(untroubled))] * (ATTEMPTS - 1)
        assert end_of(bench, mode, bench.multicall if untroubled % 2 else None) in mode.outcomes_if_temporary


def test_all_sorts_of_failures_that_each_pass_are_waited_out(bench: Bench) -> None:
    passing = [mode for mode in FAST_MODES if mode.outcomes_if_temporary == (None,)]
    for seed in range(SEEDS):
        rng = Random(seed)
        mixture = failures.any_of(rng, [mode.build(rng) for mode in passing], 0.8)
        bench.proxy.always = failures.every(2, mixture)
        assert end_of(bench, FAST_MODES[0], rng.choice([None, bench.multicall, NOWHERE])) is None, seed


def test_mixed_permanent_failures_end_in_one_error(bench: Bench) -> None:
    ends = set()
    for seed in range(SEEDS):
        rng = Random(seed)
        bench.proxy.always = failures.any_of(rng, [mode.build(rng) for mode in FAST_MODES], rng.uniform(0.1, 0.9))
        ends.add(end_of(bench, FAST_MODES[0], rng.choice([None, bench.multicall, NOWHERE])))
    assert ends >= {None, UpstreamRejected, InvalidUpstreamResponse}


def test_a_reorg_during_a_read_never_mixes_two_states(bench: Bench) -> None:
    """A read is of one block, wherever the chain reorganises: between two requests or within one."""
    ends: list[type[UpstreamError] | None] = []
    for seed in range(SEEDS):
        rng = Random(seed)
        turn = turning(bench, rng)
        with connect_without_pauses(bench.proxy.url) as node:
            block = node.read_head().block
            expected = bench.expected(block)
            failure = rng.choice([failures.first(turn), failures.meanwhile(turn, rng)])
            bench.proxy.failures = [failures.passes_on] * rng.randint(0, 8) + [failure]
            try:
                assert bench.read(node, block, rng.choice([None, bench.multicall])) == expected
                ends.append(None)
            except ChainReorganized as error:
                ends.append(check_error(error))
            bench.proxy.failures = []
            again = node.read_head().block
            assert bench.read(node, again, bench.multicall) == bench.expected(again)
    assert set(ends) == {None, ChainReorganized}


def turning(bench: Bench, rng: Random) -> Callable[[], None]:
    """Lets a pair change for some blocks now, and otherwise when it is called."""
    pair = next(place.contract for place in bench.world.places if place.protocol == "uniswapV2")
    mark = bench.chain.snapshot()

    def happens() -> None:
        for _ in range(rng.randint(1, 3)):
            bench.world.give("USDC", pair.address, rng.randint(1, 10**9))
            pair.send("sync")

    def turn() -> None:
        bench.chain.revert(mark)
        happens()

    happens()
    return turn


def test_without_a_multicall_on_the_chain_batches_are_read(bench: Bench) -> None:
    with connect_without_pauses(bench.proxy.url) as node:
        block = node.read_head().block
        assert bench.read(node, block, NOWHERE) == bench.expected(block)
