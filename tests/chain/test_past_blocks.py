"""Quotes on past blocks: what was quoted live at the block, and nothing is remembered of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.errors import InvalidInput, InvalidOption, UpstreamError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.block_view import view_past_block
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.settings import url_of
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import Trader
from tests.support.chain import restored
from tests.support.command import run_swapcli

PAIRS = [("ETH", "USDC", 1), ("USDC", "ETH", 2_000), ("USDT", "WBTC", 60_000), ("WBTC", "TKN", 1)]
SAMPLE, ALL = 8, 200
_OF_THE_RUN = ("kind", "ageS", "tag", "source", "timestamp", "time", "timeS", "searchTimeS")
"""Fields that depend on when a quote was asked for, and by what name of the block."""


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("past"))


@pytest.fixture(autouse=True)
def environment(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
    monkeypatch.setenv("SWAPCLI_SOLVE_TIME_S", "0")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def open_market(client: Client, **more: Any) -> Market:
    settings = {"store_dir": str(client.folder / "stores")}
    return Market.live(client.name, **({"rpc_url": url_of(client.trader.chain), "settings": settings} | more))


def without_times(document: object) -> object:
    """Return what does not depend on the time of the run; the chain's clock is years behind."""
    if isinstance(document, Mapping):
        kept = {key: without_times(each) for key, each in document.items() if key not in _OF_THE_RUN}
        return {key: each for key, each in kept.items() if each != []}
    if isinstance(document, list):
        return [without_times(each) for each in document if "STATE_OLD" not in str(each)]
    return document


def random_orders(client: Client, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield orders, each on a chain that a trade has changed."""
    rng = Random("past blocks")
    for trade in client.trader.trades(rng, count):
        sold, bought, whole = rng.choice(PAIRS)
        yield sold, bought, f"{whole * rng.uniform(0.1, 50):.4f}"
        client.trader.execute(trade)


def digests(folder: Path) -> dict[str, str]:
    return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.rglob("*") if each.is_file()}


def check_replies(client: Client, count: int) -> None:
    recorded = []
    with open_market(client) as live:
        for order in random_orders(client, count):
            live.refresh()
            quote = live.quote(*order)
            recorded.append((quote.state.block, order, quote.to_dict()))
    before = digests(client.folder)
    assert len({block for block, *_ in recorded}) == count
    for block, order, reply in recorded:
        with open_market(client, block=block) as past:
            quote = past.quote(*order)
        assert (quote.state.block, quote.state.tag, quote.state.is_past) == (block, None, True)
        assert without_times(quote.to_dict()) == without_times(reply), (block, order)
    assert digests(client.folder) == before, "neither the store nor a cache has changed"


def test_replies_at_past_blocks_are_those_recorded_live(client: Client) -> None:
    check_replies(client, SAMPLE)


@pytest.mark.slow
def test_200_replies_at_past_blocks_are_those_recorded_live(client: Client) -> None:
    check_replies(client, ALL)


def run(client: Client, *words: str) -> Any:
    ran = run_swapcli(*words, "--json", env={"SWAPCLI_CONFIG": str(client.settings)})
    assert ran.exit_code == 0, ran.stderr
    return ran.json


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("route", "ETH", "USDC", "3"), id="route"),
        pytest.param(("price", "ETH", "WBTC"), id="price"),
        pytest.param(("pools", "ETH", "USDC"), id="pools"),
        pytest.param(("compare", "ETH", "USDC", "3"), id="compare", marks=pytest.mark.slow),
        pytest.param(("depth", "ETH", "USDC", "--amounts", "1,20"), id="depth", marks=pytest.mark.slow),
    ],
)
def test_commands_print_at_a_past_block_what_they_printed_then(client: Client, words: tuple[str, ...]) -> None:
    command, *rest = words
    block, before = client.block(), run(client, command, client.name, *rest)
    hash_ = client.trader.chain.node.ask("eth_getBlockByNumber", hex(block), False)["hash"]
    for trade in client.trader.trades(Random(command), 2):
        client.trader.execute(trade)
    assert without_times(run(client, command, client.name, *rest)) != without_times(before)
    stores = digests(client.folder)
    for named in (str(block), hash_):
        past = run(client, command, client.name, *rest, "--block", named)
        assert without_times(past) == without_times(before)
        assert "STATE_OLD" not in str(past), "an old state is what was asked for"
    assert digests(client.folder) == stores


@pytest.mark.parametrize(
    ("words", "label"),
    [
        (("route", "ETH", "USDC", "3", "--format=plain"), r" past block \d+, "),
        (("route", "ETH", "USDC", "3", "--format", "csv"), ",past,"),
        (("price", "ETH", "--format=plain"), r"^State +past block \d+"),
        (("depth", "ETH", "USDC", "--amounts", "1", "--format", "svg"), ", past state"),
    ],
)
def test_no_output_calls_a_past_block_live(client: Client, words: tuple[str, ...], label: str) -> None:
    command, *rest = words
    ran = run_swapcli(
        command, client.name, *rest, "--block", str(client.block()), env={"SWAPCLI_CONFIG": str(client.settings)}
    )
    assert ran.exit_code == 0, ran.stderr
    assert re.search(label, ran.stdout, re.MULTILINE)
    assert not re.search(r"\blive\b", ran.stdout)


def test_a_quote_on_a_past_block_builds_nothing_to_sign(client: Client) -> None:
    with open_market(client, block=client.block()) as past, pytest.raises(InvalidOption, match="cannot be signed"):
        past.quote("ETH", "USDC", "1").transaction(destination=BOB)


@pytest.mark.parametrize(("block", "problem"), [(10**9, "does not exist yet"), ("0x" + "ab" * 32, "has no block")])
def test_a_block_that_does_not_exist_is_invalid_input(client: Client, block: int | str, problem: str) -> None:
    with open_market(client, block=block) as past, pytest.raises(InvalidInput, match=problem):
        past.quote("ETH", "USDC", "1")


def test_pools_before_their_creation_are_listed_as_such(client: Client) -> None:
    listed = run(client, "pools", client.name, "ETH", "USDC", "--block", "1")
    assert {each["skippedReason"] for each in listed["pools"]} == {
        "the node returned no valid state for it: it may not have existed at this block"
    }


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("pools", "--block", "1", "--offline"), "remove --offline"),
        (("route", "ETH", "USDC", "1", "--block", "1", "--offline"), "remove --offline"),
        (("pools", "--block", "99999999"), "choose an earlier block: --block NEWEST"),
        (("health", "--block", "1"), "use latest, pending, safe or finalized; route, compare, depth, price "),
    ],
)
def test_a_hint_about_a_block_works(client: Client, words: tuple[str, ...], hint: str) -> None:
    command, *rest = words
    ran = run_swapcli(command, client.name, *rest, "--json", env={"SWAPCLI_CONFIG": str(client.settings)})
    assert ran.exit_code == 2
    assert ran.error["hint"].startswith(hint.replace("NEWEST", str(client.block())))


def test_a_node_without_the_old_state_is_to_be_an_archive_node(client: Client) -> None:
    def prunes(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = zip(requests, proxy.answer(requests), strict=True)
        missing = "missing trie node 01ab (path ) state is not available"
        return [refusal(each, -32000, missing) if each["method"] == "eth_call" else answer for each, answer in answers]

    with open_proxy(client.trader.chain.node.port) as proxy, connect_without_pauses(proxy.url) as node:
        proxy.always = rewrites(prunes)
        known = InMemorySource(client.trader.market, SYSTEM_CLOCK)
        past = LiveSource(known, view_past_block(node, client.block() - 1), SYSTEM_CLOCK, tag=None)
        tokens = client.trader.world.tokens
        order = Order(tokens["WETH"], tokens["USDC"], 10**18)
        with pytest.raises(UpstreamError) as caught:
            past.quote(QuoteRequest(order, ApiVersion.V2))
    assert "archive node" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--block", "12x"), "not a block tag, number or hash"),
        (("--block", "0x12"), "a hash consists of 0x and 64 hex digits, but this one has 2"),
        (("--block", "1", "--max-age", "5"), "--max-age"),
        (("--block", "1", "--offline"), "--offline is set"),
        (("--block", "1", "--market", "m.json"), "--market"),
        (("--block", "1", "--api-url", "http://127.0.0.1:1"), "--api-url"),
        (("--block", "1", "--watch"), "--watch"),
        (("--block", "1", "--from", BOB), "--from"),
    ],
)
def test_what_cannot_be_combined_with_a_past_block_is_said(client: Client, options: tuple[str, ...], said: str) -> None:
    words = ("route", client.name, "ETH", "USDC", "1", *options)
    ran = run_swapcli(*words, env={"SWAPCLI_CONFIG": str(client.settings)})
    assert ran.exit_code == 2, ran.stderr
    assert said in ran.stderr
