"""Without a node in the settings, quotes are those of a public node that answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from swapcli import Market
from swapcli.state.store import create_store
from tests.chain.anvil import running_anvil
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import describe_network, url_of
from tests.chain.trader import Trader
from tests.state.store.build import only
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli
from tests.support.fake_aggregators import Character, fake_aggregators

NO_NODE = "http://127.0.0.1:9"
PAIR = ("WETH", "USDC", "1.5")


class User:
    """A user with a store, and without a node in the settings: only `public` nodes of the network are known."""

    block_time_s = 60

    def __init__(self, trader: Trader, folder: Path) -> None:
        network = trader.world.network
        self.name, self.folder, self.url = network.name, folder, url_of(trader.chain)
        self._network = describe_network(network)
        file = folder / "stores" / f"{self.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), network, only(network)) as store:
            store.write_market(read_market(trader.world))

    def run(
        self,
        *words: str,
        public: list[str],
        settings: dict[str, object] | None = None,
        stdin: bytes = b"",
        **env: str,
    ) -> CommandResult:
        environment = self.environment(public, settings) | env
        return run_swapcli(words[0], self.name, *words[1:], stdin=stdin, env=environment)

    def environment(self, public: list[str], settings: dict[str, object] | None = None) -> dict[str, str]:
        """Write the settings; return the variables of a command that reads them."""
        file = self.folder / "config.yaml"
        network = self._network | {"public_rpc_urls": public, "block_time_s": self.block_time_s}
        folder = {"store_dir": str(self.folder / "stores"), "networks": {self.name: network}}
        file.write_text(json.dumps(folder | (settings or {})))
        return {"SWAPCLI_CONFIG": str(file), "SWAPCLI_LIVE": "auto", "XDG_DATA_HOME": str(self.folder / "data")}


@pytest.fixture(scope="module")
def user(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        # The latest block of a public node must be recent.
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        yield User(trader, tmp_path_factory.mktemp("live"))


@pytest.mark.parametrize("place", [0, 1])
def test_a_quote_is_that_of_the_node_that_answers(user: User, place: int) -> None:
    public = [NO_NODE]
    public.insert(place, user.url)
    named = user.run("route", *PAIR, "--rpc-url", user.url, "--json", public=public)
    ran = user.run("route", *PAIR, "--json", public=public)
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["outputAmount"] == named.json["outputAmount"]
    assert ran.json["state"]["block"] == named.json["state"]["block"]
    assert ran.json["state"]["kind"] == "live"
    assert "LIVE_UNAVAILABLE" not in [each["code"] for each in ran.json["warnings"]]


def test_a_node_of_another_chain_is_passed_over(user: User) -> None:
    with running_anvil(1) as other:
        ran = user.run("route", *PAIR, "--json", public=[url_of(other), user.url])
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["state"]["kind"] == "live"


def test_the_host_is_named_once_a_day(user: User, tmp_path: Path) -> None:
    first, second = (user.run("route", *PAIR, public=[user.url], XDG_DATA_HOME=str(tmp_path)) for _ in range(2))
    assert "127.0.0.1" in first.stderr
    assert "sees tokens and amounts" in first.stderr
    assert "sees tokens and amounts" not in second.stderr


def test_a_node_in_the_environment_is_used_for_its_chain_alone(user: User) -> None:
    ran = user.run("route", *PAIR, "--json", public=[NO_NODE], ETH_RPC_URL=user.url)
    assert ran.json["state"]["kind"] == "live"
    assert "ETH_RPC_URL" in ran.stderr
    with running_anvil(1) as other:
        ran = user.run("route", *PAIR, "--json", public=[user.url], ETH_RPC_URL=url_of(other))
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["state"]["kind"] == "live"


@pytest.mark.parametrize("state", ["live", "past", "stored"])
def test_real_prices_have_every_use(user: User, state: str) -> None:
    """The columns of `tests.faces.cli.test_price_uses` that need a chain. Nothing can be signed at a past block."""
    public = [NO_NODE if state == "stored" else user.url]
    block = user.run("route", *PAIR, "--get", "state.block", public=[user.url]).stdout.strip()
    more = ("--block", block) if state == "past" else ()
    shown = user.run("route", *PAIR, "--json", *more, public=public)
    assert shown.exit_code == 0, shown.stderr
    assert shown.json["state"]["kind"] == {"stored": "synced"}.get(state, state)
    batch = json.dumps({"tokenIn": PAIR[0], "tokenOut": PAIR[1], "amount": PAIR[2]}).encode()
    number = user.run("route", *PAIR, "--get", "outputAmount", *more, public=public)
    assert (number.exit_code, number.stdout.strip()) == (0, shown.json["outputAmount"])
    if state != "past":
        batched = user.run("route", "--batch", "-", public=public, stdin=batch)
        assert json.loads(batched.stdout)["result"]["outputAmount"] == shown.json["outputAmount"]
        assert user.run("calldata", *PAIR, "--destination", "0x" + "88" * 20, public=public).exit_code == 0


def test_a_payload_is_built_on_live_prices(user: User) -> None:
    wallet = ("--destination", "0x" + "11" * 20)
    ran = user.run("calldata", *PAIR, *wallet, "--json", public=[user.url])
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["calldata"].startswith("0x")


def test_the_library_reads_public_nodes(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    quoted = user.run("route", *PAIR, "--json", public=[user.url]).json
    monkeypatch.setenv("SWAPCLI_CONFIG", str(user.folder / "config.yaml"))
    monkeypatch.setenv("SWAPCLI_LIVE", "auto")
    monkeypatch.setenv("XDG_DATA_HOME", str(user.folder / "data"))
    with Market.open(user.name) as market:
        assert str(market.quote(*PAIR).amount_out) == quoted["outputAmount"]


def test_a_public_node_simulates_offers_where_it_is_asked_for(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(user.folder / "config.yaml"))
    monkeypatch.setenv("SWAPCLI_LIVE", "auto")
    monkeypatch.setenv("XDG_DATA_HOME", str(user.folder / "data"))
    with fake_aggregators({"mine": Character("5")}) as fake:
        words = ("compare", *PAIR, "--aggregators=mine", "--json")
        settings: dict[str, object] = {"aggregators": fake.settings()}
        outcomes = {}
        for options in ((), ("--check",)):
            ran = user.run(*words, *options, public=[user.url], settings=settings)
            assert ran.exit_code == 0, ran.stderr
            (split,) = [each for each in ran.json["alternatives"] if each["kind"] == "split"]
            outcomes[options] = (split["simulation"]["outcome"], split["simulation"].get("outputAmount"))
        with Market.open(user.name, settings={"check": "always"}) as market:
            found = market.compare(*PAIR, aggregators="mine").split.simulation
    assert outcomes == {(): ("notSimulated", None), ("--check",): ("paid", split["outputAmount"])}
    assert found is not None
    assert (found.outcome, found.amount_out) == ("paid", int(split["outputAmount"]))


def test_a_public_node_checks_a_swap_where_it_is_asked_for(user: User) -> None:
    words = ("calldata", *PAIR, "--destination", "0x" + "b0" * 20, "--json")
    assert "verdict" not in user.run(*words, public=[user.url]).json
    for options in (("--check",), ("--check", "always")):
        ran = user.run(*words, *options, public=[NO_NODE, user.url])
        assert ran.exit_code == 0, ran.stderr
        verdict = ran.json["verdict"]
        assert (verdict["status"], verdict["facts"]["block"]) == ("ok", ran.json["state"]["block"])
        assert verdict["facts"]["sales"]
