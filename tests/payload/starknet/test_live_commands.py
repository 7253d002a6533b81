"""Commands and the service on a node of Starknet: what they quote is what the chain pays."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.starknet import deserialise_call
from swapcli.quoting.followers.market_follower import FollowedStore, open_follower
from swapcli.state.clock import SYSTEM_CLOCK
from tests.families.ekubo.test_ekubo_reader import LIVE, clone
from tests.payload.starknet.fake_node import L1_LAG, EkuboCore, FakeChain, FakeNode, running_node
from tests.payload.starknet.pools_on_chain import (
    BY_ORACLE,
    CORE,
    ETH,
    PLAIN,
    STARKNET,
    STRK,
    build_chain,
    swap_on_chain,
)
from tests.state.rpc.test_starknet_node import connected
from tests.support.command import CommandResult, run_swapcli
from tests.support.service_process import run_service

SOLD = 10**21
ONLY_EKUBO = ("--exclude-protocols", ",".join(name for name in LIVE if name != "Ekubo"))
RECIPIENT = f"0x{0x123456789012345678901234567890123456789012345678901234567890:064x}"


class Scene(NamedTuple):
    """A chain behind a node, and settings that name the node and a folder for stores."""

    chain: FakeChain
    node: FakeNode
    env: dict[str, str]

    def run(self, *arguments: str) -> CommandResult:
        return run_swapcli(*arguments, env=self.env)

    def json(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return result.json

    def amount_out(self, *options: str) -> int:
        return int(self.json("route", "starknet", "STRK", "ETH", "1000", *options)["outputAmount"])

    def pays(self, skip_ahead: int = 0) -> int:
        """Return what the plain Ekubo pool pays for the order at the latest block."""
        core = self.chain.blocks[-1].contracts[CORE]
        assert isinstance(core, EkuboCore)
        return -clone(core.pools[PLAIN]).swap(SOLD, False, PLAIN.fee, skip_ahead).amount1


@contextmanager
def scene_in(folder: Path, start_s: int | None = None, **options: Any) -> Iterator[Scene]:
    chain = build_chain(start_s or int(time.time()))
    with running_node(chain, **options) as node:
        settings = folder / "config.yaml"
        settings.write_text(
            json.dumps({"networks": {"starknet": {"rpc_url": node.url, "block_time_s": 0.5}}, "store_dir": str(folder)})
        )
        yield Scene(chain, node, {"SWAPCLI_CONFIG": str(settings), "XDG_DATA_HOME": str(folder)})


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with scene_in(tmp_path) as found:
        yield found


@pytest.mark.parametrize("max_batch", [None, 1])
def test_sync_stores_the_pools_of_every_live_protocol(tmp_path: Path, max_batch: int | None) -> None:
    with scene_in(tmp_path, max_batch=max_batch) as scene:
        synced = scene.json("sync", "starknet")
        assert {each["protocol"]: each["pools"] for each in synced["protocols"]} == dict.fromkeys(LIVE, 1)
        assert synced.get("skipped", []) == []
        assert synced["state"]["block"] == 1


def test_a_live_quote_is_what_the_chain_pays(scene: Scene) -> None:
    scene.json("sync", "starknet")
    assert scene.amount_out(*ONLY_EKUBO) == scene.pays()
    swap_on_chain(scene.chain, 5 * 10**21, token1=False)
    scene.chain.mine()
    assert scene.amount_out(*ONLY_EKUBO) == scene.pays()
    assert scene.amount_out() > scene.amount_out(*ONLY_EKUBO)


def test_a_live_quote_takes_three_exchanges(scene: Scene) -> None:
    """The head of the chain, the pools of the known route, and those that may be better, at up to 200 calls a batch.

    Orders of the TWAMM take two more: the times since its last execution, and what changed then.
    """
    scene.json("sync", "starknet")
    for sold in (0, 5 * 10**21):
        swap_on_chain(scene.chain, sold, token1=False)
        scene.chain.mine()
        scene.node.posts.clear()
        scene.amount_out("--exclude-protocols", "16")
        head, first, *others = scene.node.posts
        assert head == 2
        assert first < 200
        assert others[:-1] == [200] * len(others[:-1])


def test_a_later_sync_reads_what_events_name(scene: Scene) -> None:
    scene.json("sync", "starknet")
    swap_on_chain(scene.chain, 5 * 10**21, token1=False)
    scene.chain.mine(3)
    scene.node.methods.clear()
    synced = scene.json("sync", "starknet")
    assert synced["state"]["block"] == 4
    assert scene.node.methods.count("starknet_call") < 320
    assert scene.amount_out(*ONLY_EKUBO, "--offline") == scene.pays()


def test_a_reorganized_chain_is_followed(scene: Scene) -> None:
    scene.json("sync", "starknet")
    swap_on_chain(scene.chain, 5 * 10**21, token1=False)
    scene.chain.mine()
    scene.json("sync", "starknet")
    scene.chain.reorganize(1)
    swap_on_chain(scene.chain, 10**18, token1=True)
    scene.chain.mine(2)
    scene.json("sync", "starknet")
    assert scene.amount_out(*ONLY_EKUBO, "--offline") == scene.pays()


def test_past_blocks_are_quoted_as_they_were(scene: Scene, tmp_path: Path) -> None:
    scene.json("sync", "starknet")
    paid = [scene.pays()]
    for _ in range(2):
        swap_on_chain(scene.chain, 5 * 10**21, token1=False)
        scene.chain.mine()
        paid.append(scene.pays())
    scene.chain.mine(L1_LAG)
    first, last = len(scene.chain.blocks) - L1_LAG - 3, len(scene.chain.blocks) - L1_LAG - 1
    assert [scene.amount_out("--block", str(block), *ONLY_EKUBO) for block in range(first, last + 1)] == paid
    orders = tmp_path / "orders.csv"
    orders.write_text("token_in,token_out,amount\nSTRK,ETH,1000\n")
    words = ("backtest", "starknet", str(orders), "--blocks", f"{first}..{last}", *ONLY_EKUBO)
    found = scene.json(*words)
    assert [int(each["outputAmount"]) for each in found["quotes"]] == paid
    asked = len(scene.node.posts)
    assert scene.json(*words) == found
    assert len(scene.node.posts) == asked, "what is final is kept"
    refused = scene.run("hindsight", "starknet", "0x" + "12" * 32)
    assert "starknet is not an EVM network" in refused.stderr
    assert "hint:" in refused.stderr


def test_calldata_has_the_pool_key_of_each_ekubo_pool(scene: Scene) -> None:
    scene.json("sync", "starknet")
    options = ("--exclude-protocols", "2,3,4,7,8,9,12,16", "--destination", RECIPIENT)
    built = scene.json("calldata", "starknet", "STRK", "ETH", "1000", *options)
    call = deserialise_call([int(felt) for felt in built["calldata"]])
    keys = {5: (PLAIN.fee, PLAIN.tick_spacing, 0, 0), 18: (0, BY_ORACLE.tick_spacing, BY_ORACLE.extension, 0)}
    assert {swap.protocol_id: swap.extra_felts for swap in call.swaps} == keys
    assert {int(swap.pool_address, 16) for swap in call.swaps} == {CORE}
    assert (int(call.route.token_in, 16), int(call.route.token_out, 16)) == (STRK, ETH)


def test_a_node_of_another_chain_stores_nothing(tmp_path: Path) -> None:
    with scene_in(tmp_path, chain_id=1) as scene:
        result = scene.run("sync", "starknet", "--json")
        assert result.exit_code != 0
        assert "not of chain" in result.error["message"]
        assert not list(tmp_path.glob("*.sqlite"))


def test_a_follower_has_the_state_of_the_newest_block(scene: Scene, tmp_path: Path) -> None:
    scene.json("sync", "starknet")
    tokens = {each.symbol: each for each in STARKNET.tokens}
    others = frozenset(LIVE) - {"Ekubo"}
    order = Order(tokens["STRK"], tokens["ETH"], SOLD, excluded_protocols=others)
    with (
        connected(scene.node) as node,
        open_follower(
            FollowedStore(STARKNET, find_network, tmp_path / "starknet.sqlite", node), SYSTEM_CLOCK, str
        ) as follower,
    ):
        before = follower.read().quote(QuoteRequest(order, ApiVersion.V1)).result.output_amount
        swap_on_chain(scene.chain, 5 * 10**21, token1=False)
        scene.chain.mine()
        source = follower.advance()
        assert source
        assert source.state_source.block == 2
        assert source.quote(QuoteRequest(order, ApiVersion.V1)).result.output_amount < before


@pytest.mark.slow
def test_a_service_quotes_the_newest_block(scene: Scene) -> None:
    scene.json("sync", "starknet")
    amount = f"amount={SOLD}&tokenInAddress=0x{STRK:064x}&tokenOutAddress=0x{ETH:064x}&excludeProtocols=2,3,4,7,8,12,18"
    with run_service("--networks", "starknet", env=scene.env) as service:

        def quoted() -> int:
            with urlopen(f"{service.url}/starknet/route?{amount}", timeout=10) as response:
                return int(json.load(response)["outputAmount"])

        before = quoted()
        swap_on_chain(scene.chain, 5 * 10**21, token1=False)
        scene.chain.mine()
        deadline = time.monotonic() + 20
        while quoted() >= before and time.monotonic() < deadline:
            time.sleep(0.1)
        assert quoted() < before
