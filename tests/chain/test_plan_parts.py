"""A plan on a local chain: its first part is built, mined and marked as done, and the second one waits for its time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from swapcli.quoting.planning.plan_file import seal
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.test_measured_market import HALF_LIFE_BLOCKS, Scene
from tests.chain.test_measured_market import scene as scene
from tests.chain.trader import USER, Trader
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("plan"))


SAVE = ("--gas-price", "0", "--save")
"""Gas would cost more than two parts gain."""


def run(client: Client, *words: str) -> CommandResult:
    return run_swapcli(*words, env={"SWAPCLI_CONFIG": str(client.settings)})


def test_the_parts_of_a_plan_are_mined_one_after_the_other(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    planned = run(client, "plan", client.name, "ETH", "USDC", "2", "--over", "1h", "--parts", "2", *SAVE, str(file))
    assert planned.exit_code == 0, planned.stderr
    usdc = client.trader.world.tokens["USDC"].address
    build = ("plan", "--next", str(file), "--destination", BOB, "--from", USER, "--json")
    for number in (1, 2):
        built = run(client, *build)
        assert built.exit_code == 0, built.stderr
        assert built.json["planPart"]["part"] == number
        again = run(client, *build)  # the state of this chain is old, so that the payload is outdated at once
        assert (again.json["planPart"]["part"], again.json["planPart"]["repeated"]) == (number, False)
        before = client.trader.world.balance(usdc, BOB)
        (swap,) = built.json["transactions"]
        assert client.mine(swap)
        assert client.trader.world.balance(usdc, BOB) - before == int(built.json["route"]["outputAmount"])
        assert run(client, "plan", "--done", str(file)).exit_code == 0
        refused = run(client, *build)
        assert refused.exit_code == 6, refused.stdout
        assert refused.error["code"] == ("PART_NOT_DUE" if number == 1 else "PLAN_ENDED")
        if number == 1:
            bring_forward(file)


def bring_forward(file: Path) -> None:
    """Let the second part be due, as it is an hour later."""
    document = json.loads(file.read_text())
    document["parts"][1]["time"] = document["parts"][0]["time"]
    file.write_text(json.dumps(seal(document)))


@pytest.mark.slow
def test_a_plan_on_measured_refill(scene: Scene, tmp_path: Path) -> None:
    scene.trade(30, HALF_LIFE_BLOCKS)
    env = {"SWAPCLI_CONFIG": str(tmp_path / "config.yaml"), "XDG_DATA_HOME": str(tmp_path / "data")}
    order = (scene.name, "TKN", "USDC", "2000000", "--over", "1h", *SAVE[:2], "--json")
    picture = tmp_path / "frontier.svg"
    patient = run_swapcli("plan", *order, env=env).json
    assert patient["measured"]["origin"] == "nodeEvents"
    assert patient["extremes"] is None
    assert patient["waitingGains"]
    assert int(patient["forecast"]["cost"]) < int(patient["oneShot"]["cost"]) // 4
    assert run_swapcli("plan", *order[:-1], "-o", str(picture), env=env).exit_code == 0
    assert ElementTree.fromstring(picture.read_text()).findtext("{http://www.w3.org/2000/svg}desc")
    costs = [int(point["cost"]) for point in patient["frontier"]]
    assert costs == sorted(costs)
    hurried = run_swapcli("plan", *order, "--risk", "high", env=env).json
    assert int(hurried["forecast"]["risk"]) < int(patient["forecast"]["risk"])
    assert int(hurried["forecast"]["cost"]) > int(patient["forecast"]["cost"])
