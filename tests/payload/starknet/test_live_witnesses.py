"""No single public node of Starknet decides what is signed, as on EVM networks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.examples import few
from tests.payload.starknet.fake_node import EkuboCore, FakeChain, FakeNode, TokenContract, running_node
from tests.payload.starknet.pools_on_chain import CORE, ETH, PLAIN, build_chain
from tests.payload.starknet.test_live_commands import RECIPIENT
from tests.support.command import CommandResult, run_swapcli

CALLDATA = ("calldata", "starknet", "STRK", "ETH", "1000", "--destination", RECIPIENT, "--json")


class Bench(NamedTuple):
    """A user with a store, and public nodes of one chain."""

    nodes: list[FakeNode]
    folder: Path

    def run(self, count: int, *options: str) -> CommandResult:
        settings = self.folder / "config.yaml"
        public = [each.url for each in self.nodes[:count]]
        network = {"public_rpc_urls": public, "block_time_s": 60}
        settings.write_text(json.dumps({"networks": {"starknet": network}, "store_dir": str(self.folder / "stores")}))
        env = {"SWAPCLI_CONFIG": str(settings), "SWAPCLI_LIVE": "auto", "XDG_DATA_HOME": str(self.folder)}
        return run_swapcli(*(options or CALLDATA), env=env)

    def lie(self, liar: int | None, lie: Callable[[FakeChain], object] = bool) -> None:
        """Let one node answer from another state of the latest block, and all others from the true one."""
        honest = build_chain(self.nodes[0].chain.start_s)
        for index, node in enumerate(self.nodes):
            node.chain = honest if index != liar else deepcopy(honest)
        if liar is not None:
            lie(self.nodes[liar].chain)


def swap_never_made(chain: FakeChain) -> None:
    """Somebody has bought STRK, so that the pool pays more for it."""
    core = chain.blocks[-1].contracts[CORE]
    assert isinstance(core, EkuboCore)
    core.pools[PLAIN].swap(10**17, True, PLAIN.fee, 0)


def other_decimals(chain: FakeChain) -> None:
    token = chain.blocks[-1].contracts[ETH]
    assert isinstance(token, TokenContract)
    token.decimals = 6


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    chain = build_chain(int(time.time()))
    with ExitStack() as stack:
        nodes = [stack.enter_context(running_node(chain)) for _ in range(3)]
        bench = Bench(nodes, tmp_path_factory.mktemp("starknet"))
        synced = bench.run(1, "sync", "starknet", "--rpc-url", nodes[0].url)
        assert synced.exit_code == 0, synced.stderr
        yield bench


def test_two_honest_nodes_confirm_a_payload(bench: Bench) -> None:
    alone = bench.run(3, *CALLDATA, "--rpc-url", bench.nodes[2].url)
    confirmed = bench.run(2)
    assert (alone.exit_code, confirmed.exit_code) == (0, 0), confirmed.stderr
    assert (alone.json["witnesses"], confirmed.json["witnesses"]) == (1, 2)
    assert confirmed.json["route"]["min_received"] == alone.json["route"]["min_received"]


@pytest.mark.parametrize("lie", [swap_never_made, other_decimals])
@pytest.mark.parametrize("liar", few([0, 1, 2], 1))
def test_one_lying_node_decides_nothing(bench: Bench, liar: int, lie: Callable[[FakeChain], object]) -> None:
    bench.lie(None)
    truth = bench.run(3, *CALLDATA, "--rpc-url", bench.nodes[2].url).json["route"]["min_received"]
    bench.lie(liar, lie)
    of_three = bench.run(3)
    assert of_three.exit_code == 0, of_three.stderr
    assert (of_three.json["route"]["min_received"], of_three.json["witnesses"]) == (truth, 2)
    if liar < 2:
        of_two = bench.run(2)
        if of_two.exit_code == 0:  # decimals are those of the catalogue, so that only a witness can report others
            assert lie is other_decimals
            assert of_two.json["route"]["min_received"] == truth
        else:
            assert (of_two.exit_code, of_two.error["code"]) == (7, "NODES_DISAGREE"), of_two.stderr
