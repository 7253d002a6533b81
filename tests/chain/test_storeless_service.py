"""A service of a network that only a definition file describes: the pools of the listed tokens, found at the start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.chain.contract_fixture import WETH
from tests.chain.file_world import ARBITRUM, FileWorld, open_file_world
from tests.quoting.proving.proof_run import renew_blocks
from tests.support.service_process import ServiceProcess, run_service
from tests.support.waiting import until


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileWorld]:
    with open_file_world(ARBITRUM, tmp_path_factory.mktemp("served")) as world:
        renew_blocks(world.trader)
        yield world


def ask(service: ServiceProcess, world: FileWorld, path: str, **query: Any) -> tuple[int, Any]:
    """Status and document."""
    try:
        with urlopen(f"{service.url}/{world.name}/{path}?{urlencode(query)}") as reply:
            return reply.status, json.loads(reply.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def order(world: FileWorld, sold: str, bought: str, amount: int) -> dict[str, Any]:
    addresses = {"tokenInAddress": world.tokens[sold].address, "tokenOutAddress": world.tokens[bought].address}
    return {"amount": amount, **addresses}


def test_the_listed_tokens_are_served_without_a_store(world: FileWorld) -> None:
    with run_service("--networks", world.name, env=world.environment()) as service:
        until(lambda: ask(service, world, "v2/healthcheck")[0] == 200)
        renew_blocks(world.trader)
        status, route = ask(service, world, "v2/route", **order(world, WETH, "USDC", 10**18))
        assert status == 200, route
        quoted = world.run("route", WETH, "USDC", "1", "--json", "--shares", "whole")
        assert route["outputAmount"] == quoted.json["outputAmount"]


def test_wrong_decimals_are_no_market(world: FileWorld, tmp_path: Path) -> None:
    """The log and the health check say why."""
    world.use_folder(tmp_path)
    tokens = world.fixture.definition()["tokens"]
    changes = {"tokens": [each | ({"decimals": 18} if each["symbol"] == "USDC" else {}) for each in tokens]}
    with run_service("--networks", world.name, env=world.environment(changes=changes)) as service:
        until(lambda: "6 decimals on the chain, but 18" in service.read_log())
        status, _ = ask(service, world, "v2/healthcheck")
        assert status == 503
        status, _ = ask(service, world, "v2/route", **order(world, WETH, "USDC", 10**18))
        assert status == 503


def test_a_network_without_pools_and_node_is_named_in_the_log() -> None:
    with run_service("--networks", "base,ethereum", "--offline") as service:
        assert "ethereum has no pools, so its orders are rejected" in service.read_log()
        assert '"network":"ethereum"' in service.read_log()
