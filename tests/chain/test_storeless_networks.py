"""A network that only a definition file describes is quoted on pools that are found for each order."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.errors import ConfigError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.payload.evm import build_transactions
from swapcli.quoting.sources.quote_source import quote_and_build
from tests.chain.anvil import running_anvil
from tests.chain.contract_fixture import CENTS, DECIMALS, WETH
from tests.chain.file_world import ARBITRUM, ETHEREUM, FileWorld, open_file_world
from tests.chain.node.evm_node import sources
from tests.chain.proxy import open_proxy
from tests.chain.settings import url_of
from tests.chain.trader import USER
from tests.examples import examples, few
from tests.support.chain import restored
from tests.support.command import run_swapcli

ORDERS = examples(12, full=200)
SECONDS = 10**9


@pytest.fixture(scope="module", params=[ETHEREUM, pytest.param(ARBITRUM, marks=pytest.mark.slow)])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileWorld]:
    with open_file_world(request.param, tmp_path_factory.mktemp("file")) as world:
        yield world


@pytest.fixture
def world(shared: FileWorld, tmp_path: Path) -> Iterator[FileWorld]:
    with restored(shared) as world:
        world.use_folder(tmp_path)
        yield world


def random_orders(rng: Random, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield orders of a hundred to a million dollars between all tokens and the native one."""
    names = [*DECIMALS, "ETH"]
    while count:
        sold, bought = rng.sample(names, 2)
        if {sold, bought} == {"ETH", WETH}:
            continue
        count -= 1
        cents = CENTS[WETH if sold == "ETH" else sold]
        yield sold, bought, f"{10 ** rng.uniform(2, 6) * 100 / cents:.6f}"


def open_market(
    world: FileWorld, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any] | None = None, **settings: Any
) -> Market:
    for name, value in world.environment(changes=changes).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SWAPCLI_CONFIG_HOME", raising=False)
    return Market.open(world.name, settings={"solve_time_s": 0, **settings})


def test_the_first_quote_needs_nothing_but_the_definition(world: FileWorld) -> None:
    ran = world.run("route", WETH, "USDC", "1.5", "--json")
    assert ran.exit_code == 0, ran.stderr
    state = ran.json["state"]
    assert state["kind"] == "live"
    assert "found through the factories at block" in state["source"]
    assert " only" in state["source"]
    # Later quotes of these tokens take the same, from what is remembered.
    assert world.run("route", WETH, "USDC", "1.5", "--json").json["outputAmount"] == ran.json["outputAmount"]


def test_a_network_is_added_by_its_file_and_quoted(world: FileWorld) -> None:
    """The commands that a user types, from the file to the payload."""
    env = world.environment()
    stored = world.folder / "networks" / f"{world.name}.json"
    file = stored.replace(world.folder / "mine.json")
    added = run_swapcli("networks", "add", str(file), "--rpc-url", url_of(world.chain), env=env)
    assert added.exit_code == 0, added.stderr
    assert stored.exists()
    for words in (("route", world.name, WETH, "USDC", "1"), ("networks", "check", world.name)):
        ran = run_swapcli(*words, env=env)
        assert ran.exit_code == 0, ran.stderr


def test_amounts_are_those_after_a_sync(world: FileWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every order, by the first quote without a store as after a full sync."""
    rng = Random(f"orders of {world.name}")
    orders = list(random_orders(rng, ORDERS))
    found = []
    for number, order in enumerate(orders):
        # Every tenth order begins without anything remembered.
        if number % 10 == 0:
            world.remembered.unlink(missing_ok=True)
        with open_market(world, monkeypatch) as market:
            found.append(market.quote(*order).amount_out)
    assert world.run("sync", "--quiet").exit_code == 0
    with open_market(world, monkeypatch) as market:
        synced = [market.quote(*order).amount_out for order in orders]
    different = [(order, one, other) for order, one, other in zip(orders, found, synced, strict=True) if one != other]
    assert not different, f"{len(different)} of {len(orders)}"


@pytest.mark.parametrize("dialect", [SETTLER, UNIVERSAL_ROUTER])
def test_payloads_are_exact(world: FileWorld, monkeypatch: pytest.MonkeyPatch, dialect: str) -> None:
    """What the router of each dialect pays on the chain is the quote, to the unit."""
    fixture, trader = world.fixture, world.trader
    rng = Random(f"payloads of {dialect} on {world.name}")
    for sold, bought, amount in random_orders(rng, examples(5, full=100)):
        with open_market(world, monkeypatch, router_dialect=dialect) as market:
            token_in, token_out = market.token(sold), market.token(bought)
            order = Order(token_in, token_out, int(float(amount) * 10**token_in.decimals))
            request, terms = QuoteRequest(order, ApiVersion.V2), SwapTerms(0, USER)
            answer, payload = quote_and_build(market.source, request, terms)
        before = fixture.balance(token_out.address, USER)
        receipts = [trader.send(each) for each in build_transactions(payload)]
        assert all(receipt.succeeded for receipt in receipts), (sold, bought, amount)
        paid = fixture.balance(token_out.address, USER) - before
        if token_out.address == ZERO_ADDRESS:
            paid += sum(receipt.gas_used for receipt in receipts) * SECONDS
        assert paid == answer.result.output_amount, (sold, bought, amount)


def test_a_second_quote_only_reads_state(world: FileWorld) -> None:
    """The requests of a quote: the first looks pools up, the second reads them, another pair looks up what is new."""
    with open_proxy(world.chain.node.port) as proxy:
        url = f"http://127.0.0.1:{proxy.server_port}"

        def requests(*words: str) -> int:
            before = len(proxy.exchanges)
            ran = world.run("route", *words, "--json", url=url)
            assert ran.exit_code == 0, ran.stderr
            return len(proxy.exchanges) - before

        first, second, other = requests(WETH, "USDC", "1"), requests(WETH, "USDC", "2"), requests("TKN", "DAI", "3")
        assert second <= 3 < first <= 12
        assert other <= 3


@pytest.mark.slow
def test_a_long_list_of_curve_is_searched_by_pairs(world: FileWorld) -> None:
    """A list with more entries than a quote reads; no other factory has a way to find some of its pools."""
    curve_list = world.fixture.curve_list
    (place,) = (each for each in world.fixture.places if each.protocol == "curveFi")
    for _ in range(200):
        curve_list.send("add", "0x" + "66" * 20)

    def quote() -> set[str]:
        ran = world.run("route", "DAI", "USDT", "100000", "--json")
        assert ran.exit_code == 0, ran.stderr
        swaps = (swap for part in ran.json["route"] for hop in part["swaps"] for swap in hop)
        return {swap["poolAddress"].lower() for swap in swaps}

    assert place.key not in quote()
    world.remembered.unlink()
    for a, b in combinations(place.tokens, 2):
        curve_list.send("register", place.key, a, b)
    assert place.key in quote()


def test_tokens_and_balances_need_no_pool(world: FileWorld) -> None:
    ran = world.run("tokens", "--json", url=None)
    assert {row["symbol"] for row in ran.json} == {"ETH", *DECIMALS}
    assert {row["pools"] for row in ran.json} == {0}
    held = world.run("balance", USER, "--json")
    assert {row["symbol"] for row in held.json["balances"]} == {"ETH", *DECIMALS}
    allowed = world.run("allowance", USER, "USDC", "0x" + "12" * 20, "--json")
    assert allowed.json["allowance"] == "0"


def test_prices_and_pools_are_found_too(world: FileWorld) -> None:
    prices = world.run("price", "TKN", "--json").json["prices"]
    assert prices[0]["priceUsd"] == pytest.approx(CENTS["TKN"] / 100, rel=1e-3)
    world.remembered.unlink()
    pools = world.run("pools", WETH, "USDC", "--json").json
    assert pools["count"] == 5
    assert world.run("health", "--json").json[0]["healthy"]


def test_a_token_of_no_list_is_described_by_the_chain(world: FileWorld) -> None:
    definition = world.fixture.definition()
    rest = [token for token in definition["tokens"] if token["symbol"] != "TKN"]
    ran = world.run("route", world.fixture.address("TKN"), "USDC", "100", "--json", changes={"tokens": rest})
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["inputToken"]["symbol"] == "TKN"
    assert ran.json["outputAmount"] == world.run("route", "TKN", "USDC", "100", "--json").json["outputAmount"]


def test_without_a_node_one_sentence_says_what_to_do(world: FileWorld) -> None:
    ran = world.run("route", WETH, "USDC", "1", "--offline")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "no pools are known for" in ran.stderr
    assert "--offline is set" in ran.stderr
    assert f"swapcli sync {world.name}" in ran.stderr


def test_remembered_pools_are_quoted_offline(world: FileWorld) -> None:
    live = world.run("route", WETH, "USDC", "1", "--json")
    offline = world.run("route", WETH, "USDC", "1", "--json", "--offline")
    assert offline.json["outputAmount"] == live.json["outputAmount"]
    assert offline.json["state"]["kind"] == "synced"


def test_what_is_remembered_ends_with_its_day_and_with_its_definition(world: FileWorld) -> None:
    """A damaged file, one of another definition and an old one are the same as none."""
    words = ("route", WETH, "USDC", "1", "--offline")
    assert world.run(*words[:-1]).exit_code == 0
    assert world.run(*words).exit_code == 0
    deployments = world.fixture.definition()["deployments"][1:]
    assert world.run(*words, changes={"deployments": deployments}).exit_code == 2
    remembered = world.remembered.read_bytes()
    for damaged in (remembered[: len(remembered) // 2], b"{}", b'{"found": {"of": 1}}'):
        world.remembered.write_bytes(damaged)
        assert world.run(*words).exit_code == 2
    old = json.loads(remembered)
    old["found"]["pairs"] = {pair: int(time.time()) - 86_401 for pair in old["found"]["pairs"]}
    world.remembered.write_text(json.dumps(old))
    assert world.run(*words).exit_code == 2


def with_token(world: FileWorld, name: str, /, **changes: object) -> dict[str, Any]:
    """Return the list of tokens with one of them described otherwise."""
    tokens = world.fixture.definition()["tokens"]
    return {"tokens": [token | (changes if token["symbol"] == name else {}) for token in tokens]}


COMMANDS = (
    ("route", WETH, "USDC", "1"),
    ("calldata", WETH, "DAI", "1", "--destination", "0x" + "11" * 20),
    ("compare", WETH, "DAI", "1"),
    ("price", "TKN"),
    ("pools", WETH),
    ("balance", USER),
    ("sync", "--quiet"),
)


@pytest.mark.parametrize("words", few(COMMANDS, 3), ids=lambda words: words[0])
def test_wrong_decimals_are_an_error_with_both_values(world: FileWorld, words: tuple[str, ...]) -> None:
    """Nothing is remembered of them, and what is right later is quoted."""
    wrong = world.run(*words, changes=with_token(world, "USDC", decimals=18))
    address = world.tokens["USDC"].address
    assert wrong.exit_code == 2
    assert wrong.stdout == ""
    sentence = wrong.stderr.splitlines()[0]
    assert sentence.lower() == (
        f"error: usdc ({address}) has 6 decimals on the chain, but 18 in the definition of {world.name}"
    )
    assert not world.remembered.exists()
    assert not (world.folder / "stores" / f"{world.name}.sqlite").exists()
    assert world.run(*words).exit_code == 0


def test_wrong_decimals_are_an_error_in_the_library_and_in_health(
    world: FileWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = with_token(world, "USDC", decimals=18)["tokens"]
    with (
        open_market(world, monkeypatch, changes={"tokens": tokens}) as market,
        pytest.raises(ConfigError, match="6 decimals on the chain, but 18 in the definition") as caught,
    ):
        market.quote(WETH, "USDC", "1")
    assert (caught.value.details["listed"], caught.value.details["chain"]) == (18, 6)
    ran = world.run("health", changes={"tokens": tokens})
    assert ran.exit_code == 8
    assert "6 decimals on the chain, but 18" in ran.stderr


def test_wrong_decimals_after_a_sync_are_an_error_too(world: FileWorld) -> None:
    """A store has read those of the chain, which the definition contradicts."""
    assert world.run("sync", "--quiet").exit_code == 0
    ran = world.run("route", WETH, "USDC", "1", "--json", changes=with_token(world, "USDC", decimals=18))
    assert (ran.exit_code, ran.stdout, ran.error["code"]) == (2, "", "CONFIG_ERROR")
    assert "6 decimals" in ran.error["message"]
    assert "18 in the definition" in ran.error["message"]


@pytest.mark.parametrize(
    ("symbol", "is_right"), [("USDC.e", True), ("usdc", True), ("USDT0", False), ("USDCe", False), ("GOLD", False)]
)
def test_symbols_name_the_token_that_the_chain_names(world: FileWorld, symbol: str, is_right: bool) -> None:
    address = world.tokens["USDC"].address
    ran = world.run("route", WETH, address, "1", changes=with_token(world, "USDC", symbol=symbol))
    assert ran.exit_code == (0 if is_right else 2)
    if not is_right:
        assert f'is called "USDC" on the chain, but "{symbol}" in the definition' in ran.stderr


@pytest.mark.parametrize("place", ["Uniswap V2", "Uniswap V3", "Uniswap V4", "Curve", "multicall"])
def test_an_address_without_code_is_an_error(world: FileWorld, place: str) -> None:
    nowhere = "0x" + "77" * 20
    deployments = world.fixture.definition()["deployments"]
    for deployment in deployments:
        if deployment["name"] == place:
            deployment["addresses"] = dict.fromkeys(deployment["addresses"], nowhere)
    changes: dict[str, Any] = {"deployments": deployments} | ({"multicall": nowhere} if place == "multicall" else {})
    ran = world.run("route", WETH, "USDC", "1", changes=changes)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: there is no contract at {nowhere}, the ")
    assert place in ran.stderr
    assert not world.remembered.exists()


def test_a_router_without_code_is_an_error_of_calldata(world: FileWorld) -> None:
    changes = {"router": "0x" + "55" * 20, "routers": {}}
    ran = world.run("calldata", WETH, "USDC", "1", "--destination", "0x" + "11" * 20, changes=changes)
    assert ran.exit_code == 7
    assert "there is no contract at the router's address" in ran.stderr


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_node_of_another_chain_is_an_error(world: FileWorld, other_chain: str, words: tuple[str, ...]) -> None:
    ran = world.run(*words, url=other_chain)
    assert (ran.exit_code, ran.stdout) == (5, "")
    chain_id = world.fixture.network.chain_id
    assert f"is a node of chain 5, not of chain {chain_id}" in ran.stderr.splitlines()[0]
    assert not world.remembered.exists()


@pytest.fixture(scope="module")
def other_chain() -> Iterator[str]:
    with running_anvil(5) as chain:
        yield url_of(chain)


def test_a_token_without_pools_has_no_route_and_the_hint_says_what_was_looked_for(world: FileWorld) -> None:
    coin = world.fixture.chain.deploy(world.fixture.sources["Coin"], "LONE", 18)
    ran = world.run("route", coin.address, "USDC", "1")
    assert ran.exit_code == 3
    assert "no route" in ran.stderr
    assert "found through the factories at block" in ran.stderr
    assert f"swapcli sync {world.name}" in ran.stderr


@pytest.mark.parametrize(
    ("said", "listed", "is_right"),
    [
        (b"MKR" + bytes(29), "MKR", True),
        (b"MKR" + bytes(29), "SKY", False),
        (b"", "ANY", True),
        (bytes(32), "ANY", True),
    ],
)
def test_symbols_of_old_contracts_and_missing_ones(world: FileWorld, said: bytes, listed: str, is_right: bool) -> None:
    """As those of MKR, which returns 32 bytes instead of a text."""
    odd = world.fixture.chain.deploy(sources()["OddToken"])
    odd.send("say", "decimals()", (18).to_bytes(32))
    odd.send("say", "balanceOf(address)", (5).to_bytes(32))
    odd.send("say", "symbol()", said)
    token = {"address": odd.address, "symbol": listed, "name": listed, "decimals": 18}
    ran = world.run("balance", USER, changes={"tokens": [*world.fixture.definition()["tokens"], token]})
    assert ran.exit_code == (0 if is_right else 2), ran.stderr
    assert is_right or f'is called "MKR" on the chain, but "{listed}"' in ran.stderr


def test_tokens_are_compared_in_the_requests_that_read_the_pools(world: FileWorld) -> None:
    """A first quote takes as many as one after it, which compares nothing more."""
    assert world.run("sync", "--quiet").exit_code == 0
    confirmed = world.folder / "stores" / "confirmed-tokens.json"
    with open_proxy(world.chain.node.port) as proxy:
        counts = []
        for _ in range(2):
            before = len(proxy.exchanges)
            ran = world.run("route", WETH, "USDC", "1", url=f"http://127.0.0.1:{proxy.server_port}")
            assert ran.exit_code == 0, ran.stderr
            counts.append((len(proxy.exchanges) - before, sum(proxy.exchanges[before:])))
            if len(counts) == 1:
                confirmed.unlink()
        assert counts[0][0] == counts[1][0]
        assert counts[1][1] == counts[0][1] + 1
    assert confirmed.exists()
