"""Commands that ask a failing node: status 5 and one sentence while it fails, an answer where it passes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from swapcli.store import create_store
from tests.chain import proxy as faults
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.modes import HTML, MIXED, REPEATED, check_shown
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import Fault, hangs_up, says
from tests.chain.proxy import Proxy, proxying
from tests.chain.reading import read_market
from tests.chain.settings import write_settings
from tests.chain.world import World
from tests.cli.build import Ran, swapcli
from tests.store.build import only

UPSTREAM_STATUS = 5
SEEDS = 8


class Desk:
    """Somebody with a store of a small world, and a node of it behind a proxy that the settings name."""

    def __init__(self, world: World, chain: AnvilChain, proxy: Proxy, folder: Path) -> None:
        self.world, self.chain, self.proxy = world, chain, proxy
        self.settings = write_settings(folder, world.network, proxy.url, timeout_s=0.5)
        file = folder / "stores" / f"{world.network.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), world.network, only(world.network)) as store:
            store.write_market(read_market(world))

    def route(self, *options: str) -> Ran:
        order = (self.world.network.name, "WETH", "USDC", "2")
        return swapcli("route", *order, *options, env={"SWAPCLI_CONFIG": str(self.settings)})


@pytest.fixture(scope="module")
def whole_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with running_anvil() as chain, proxying(chain.node.port) as proxy:
        world = World(chain)
        world.network = replace(world.network, multicall=deploy_multicall(chain))
        yield Desk(world, chain, proxy, tmp_path_factory.mktemp("desk"))


@pytest.fixture
def desk(whole_desk: Desk) -> Iterator[Desk]:
    whole_desk.proxy.faults, whole_desk.proxy.always = [], None
    yield whole_desk
    whole_desk.proxy.faults, whole_desk.proxy.always = [], None


def check_failed(ran: Ran, code: str) -> None:
    """Nothing but one sentence, or one object, tells of it."""
    assert (ran.status, ran.out) == (UPSTREAM_STATUS, "")
    check_shown(ran.err)
    assert "Traceback" not in ran.err
    assert ran.error["code"] == code
    check_shown(str(ran.error["message"]))


LASTING: list[tuple[str, Fault, str]] = [
    ("hangs up", hangs_up, "UNREACHABLE"),
    ("too late", faults.late(1.0), "UPSTREAM_TIMEOUT"),
    ("status 403", says(403, REPEATED.encode()), "UPSTREAM_REFUSED"),
    ("HTML", says(200, HTML), "UPSTREAM_NONSENSE"),
    ("another chain", faults.moves_to(1), "UPSTREAM_NONSENSE"),
    ("refused", faults.refuses_some(Random(1), 1.0, -32_000, REPEATED), "UPSTREAM_REFUSED"),
]


@pytest.mark.parametrize(("fault", "code"), [each[1:] for each in LASTING], ids=[each[0] for each in LASTING])
def test_a_live_quote_on_a_node_that_fails_ends_in_a_sentence(desk: Desk, fault: Fault, code: str) -> None:
    desk.proxy.always = fault
    check_failed(desk.route("--json"), code)


def test_people_are_told_in_one_sentence_and_a_hint(desk: Desk) -> None:
    desk.proxy.always = faults.moves_to(1)
    ran = desk.route()
    assert ran.status == UPSTREAM_STATUS
    check_shown(ran.err)
    assert len(ran.err.strip().splitlines()) <= 2


def test_a_live_quote_survives_what_passes(desk: Desk) -> None:
    expected = json.loads(desk.route("--json").out)
    passing = [mode for mode in MIXED if mode.passing == (None,)]
    for seed in range(SEEDS):
        rng = Random(seed)
        desk.proxy.faults = [faults.passes_on] * rng.randint(0, 2) + [rng.choice(passing).fault(rng)]
        ran = desk.route("--json")
        assert ran.status == 0, ran.err
        told = json.loads(ran.out)
        assert told["outputAmount"] == expected["outputAmount"]
        check_shown(ran.err)


def test_a_chain_that_turns_under_a_live_quote_is_asked_anew(desk: Desk) -> None:
    pair = next(place.contract for place in desk.world.places if place.protocol == "uniswapV2")
    mark = desk.chain.mark()
    pair.send("sync")

    def turn() -> None:
        desk.chain.go_back(mark)
        desk.world.give("USDC", pair.address, 10**12)
        pair.send("sync")

    desk.proxy.faults = [faults.passes_on, faults.first(turn)]
    ran = desk.route("--json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["outputAmount"] == json.loads(desk.route("--json").out)["outputAmount"]


def test_nobody_asks_the_node_who_stays_offline(desk: Desk) -> None:
    desk.proxy.always = hangs_up
    ran = desk.route("--json", "--offline")
    assert ran.status == 0, ran.err
