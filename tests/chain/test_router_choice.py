"""Quotes on the state of a node choose the router; every command follows the choice of its quote."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import FIBROUS, OWN, SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.routing.replay import replay
from swapcli.payload.dialects import execution_of
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import WETH
from tests.chain.lying_public_nodes import on_state, public_nodes, set_behaviours, storage_after
from tests.chain.proxy import Proxy
from tests.chain.routers_fixture import RoutersFixture, open_routers_trader
from tests.chain.settings import describe_network, url_of
from tests.chain.trader import INTEGRATOR, USER, Trade, Trader
from tests.chain.universal_fixture import CHAIN_ID
from tests.examples import few
from tests.support.chain import connected
from tests.support.command import CommandResult, run_swapcli

MAX_ROUND_TRIPS = 3
PUBLISHED = "published and verified; enforces deadline and minimum"
PANCAKE = frozenset({"pancakeSwapV3"})
"""Of the protocols, the one whose pools the Universal Router does not execute."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Trader]:
    with open_routers_trader() as trader:
        yield trader


@pytest.fixture
def trader(shared: Trader) -> Iterator[Trader]:
    with shared.chain.revert_after():
        yield shared.copy()


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    with connected(trader.chain, CHAIN_ID) as node:
        yield node


def world_of(trader: Trader) -> RoutersFixture:
    assert isinstance(trader.world, RoutersFixture)
    return trader.world


def live(trader: Trader, node: RpcNode, max_age_s: int | None = None) -> LiveSource:
    market = trader.market._replace(network=trader.world.network)
    return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, max_age_s=max_age_s)


def order(trader: Trader, sold: str = WETH, bought: str = "USDC", amount: int = 10**18, **more: Any) -> Order:
    token_in, token_out = (
        trader.market.network.native if each == "ETH" else trader.world.tokens[each] for each in (sold, bought)
    )
    return Order(token_in, token_out, amount, **more)


def request(trader: Trader, *ends: Any, integrator: Integrator | None = None, **more: Any) -> QuoteRequest:
    return QuoteRequest(order(trader, *ends, **more), ApiVersion.V2, integrator)


def choice_of(answer: LocalQuote) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the chosen dialect, and those that were not available with the reasons."""
    choice = answer.router_choice
    assert choice is not None
    assert answer.network.router_dialect == choice.dialect
    assert not answer.network.chooses_router
    return choice.dialect, tuple(choice.passed)


def without(trader: Trader, *dialects: str) -> None:
    """Forget routers of the network."""
    network = trader.world.network
    routers = {name: each for name, each in network.routers.items() if name not in dialects}
    trader.world.network = network._replace(routers=routers)


class TestChosenPayloadsPay:
    """What the chosen router pays out on the chain is the quote, to the unit."""

    @pytest.mark.parametrize("dialect", [SETTLER, UNIVERSAL_ROUTER, OWN, FIBROUS])
    @pytest.mark.parametrize(
        ("sold", "bought", "amount"),
        [(WETH, "USDC", 40 * 10**18), ("ETH", "USDC", 10**18), ("USDC", "ETH", 10**10), ("DAI", "TKN", 5 * 10**21)],
    )
    def test_of_each_router(
        self, trader: Trader, node: RpcNode, dialect: str, sold: str, bought: str, amount: int
    ) -> None:
        world_of(trader).with_own_router()
        more_trusted = [SETTLER, UNIVERSAL_ROUTER, OWN, FIBROUS]
        without(trader, *more_trusted[: more_trusted.index(dialect)])
        excluded = PANCAKE if dialect == UNIVERSAL_ROUTER else frozenset()
        asked = request(trader, sold, bought, amount, excluded_protocols=excluded)
        answer, payload = quote_and_build(live(trader, node), asked, SwapTerms(0, USER))
        assert node.round_trips <= MAX_ROUND_TRIPS + (dialect == OWN)
        assert choice_of(answer) == (dialect, ())
        due = answer.result.output_amount
        assert payload.call.route.min_received == due
        done = replay(answer.pools, answer.quote.route, answer.quote.amount_in, execution_of(answer.network))
        outcome = trader.execute(Trade(answer.result, payload, done, "chosen"))
        assert outcome.receipt.succeeded
        assert outcome.received == due

    @pytest.mark.parametrize("bought", ["USDC", "TKN"])
    def test_of_an_amount_to_buy(self, trader: Trader, node: RpcNode, bought: str) -> None:
        wanted = 10 ** trader.world.tokens[bought].decimals * 100
        asked = request(trader, WETH, bought, wanted, reverse=True)
        answer, payload = quote_and_build(live(trader, node), asked, SwapTerms(0, USER))
        assert choice_of(answer)[0] in (SETTLER, UNIVERSAL_ROUTER)
        done = replay(answer.pools, answer.quote.route, answer.quote.amount_in, execution_of(answer.network))
        outcome = trader.execute(Trade(answer.result, payload, done, "chosen"))
        assert outcome.received == answer.result.output_amount >= wanted

    @pytest.mark.parametrize(("sold", "bought"), [("ETH", WETH), (WETH, "ETH")])
    @pytest.mark.parametrize("dialect", [SETTLER, UNIVERSAL_ROUTER])
    def test_of_wrapping(self, trader: Trader, node: RpcNode, sold: str, bought: str, dialect: str) -> None:
        without(trader, *([SETTLER] if dialect == UNIVERSAL_ROUTER else []))
        answer, payload = quote_and_build(live(trader, node), request(trader, sold, bought), SwapTerms(0, USER))
        assert choice_of(answer) == (dialect, ())
        done = replay(answer.pools, answer.quote.route, 10**18, execution_of(answer.network))
        assert trader.execute(Trade(answer.result, payload, done._replace(pools_after={}), "wrap")).received == 10**18


class TestAvailability:
    """A router that cannot swap now is passed over, and the choice says why."""

    def test_a_paused_registry(self, trader: Trader, node: RpcNode) -> None:
        world_of(trader).registry.send("set", ZERO_ADDRESS)
        answer = live(trader, node).quote(request(trader, excluded_protocols=PANCAKE))
        reason = "its registry lists no router, so its swaps are paused"
        assert choice_of(answer) == (UNIVERSAL_ROUTER, ((SETTLER, reason),))

    def test_a_registry_that_cannot_be_read(self, trader: Trader, node: RpcNode) -> None:
        network = trader.world.network
        lost = network.routers[SETTLER]._replace(registry="0x" + "12" * 20)
        trader.world.network = network._replace(routers={**network.routers, SETTLER: lost})
        asked = request(trader, excluded_protocols=PANCAKE)
        answer, payload = quote_and_build(live(trader, node), asked, SwapTerms(0, USER))
        assert choice_of(answer) == (UNIVERSAL_ROUTER, ((SETTLER, "its registry could not be read"),))
        assert payload.to == world_of(trader).router.address

    def test_a_new_settler_is_used_from_its_block_on(self, trader: Trader, node: RpcNode) -> None:
        other = "0x" + "77" * 20
        world_of(trader).registry.send("set", other)
        _, payload = quote_and_build(live(trader, node), request(trader, "ETH"), SwapTerms(0, USER))
        assert payload.to == other

    def test_without_published_routers_the_reason_says_so(self, trader: Trader, node: RpcNode) -> None:
        without(trader, SETTLER, UNIVERSAL_ROUTER)
        trader.world.network = trader.world.network._replace(facts_date="2026-11-25")
        choice = live(trader, node).quote(request(trader)).router_choice
        assert choice is not None
        assert choice.reason.endswith("; no published router is known on anvil (as of 2026-11-25)")

    def test_an_earlier_version_of_the_own_router_is_passed_over(self, trader: Trader, node: RpcNode) -> None:
        world = world_of(trader)
        without(trader, SETTLER, UNIVERSAL_ROUTER)
        world.with_own_router()
        trader.chain.node.ask("anvil_setCode", world.own_router.address, "0x6001")
        answer = live(trader, node).quote(request(trader))
        assert choice_of(answer) == (FIBROUS, ((OWN, "the deployed contract is an older version"),))

    @pytest.mark.parametrize(("surplus", "dialect"), [(False, SETTLER), (True, FIBROUS)])
    def test_an_integrator_is_paid(self, trader: Trader, node: RpcNode, surplus: bool, dialect: str) -> None:
        integrator = Integrator(INTEGRATOR, 0 if surplus else 100, 100 if surplus else 0)
        terms = SwapTerms(0, USER, integrator)
        answer, _ = quote_and_build(live(trader, node), request(trader, integrator=integrator), terms)
        assert choice_of(answer) == (dialect, ())

    def test_fresh_known_state_is_quoted_by_the_same_choice(self, trader: Trader, node: RpcNode) -> None:
        trader.market = trader.market._replace(timestamp=int(SYSTEM_CLOCK.now_s()), block=1)
        source = live(trader, node, max_age_s=3600)
        answer, payload = quote_and_build(source, request(trader, "ETH"), SwapTerms(0, USER))
        assert choice_of(answer) == (SETTLER, ())
        assert payload.to == world_of(trader).settler.address

    def test_a_market_in_memory_leaves_no_choice(self, trader: Trader) -> None:
        market = trader.market._replace(network=trader.world.network)
        answer, payload = quote_and_build(InMemorySource(market, SYSTEM_CLOCK), request(trader), SwapTerms(0, USER))
        assert answer.router_choice is None
        assert payload.to == world_of(trader).public_router.address

    def test_a_past_block_leaves_no_choice(self, trader: Trader, node: RpcNode) -> None:
        market = trader.market._replace(network=trader.world.network)
        with closing(LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, tag=None)) as source:
            assert source.quote(request(trader)).router_choice is None


class RoutersClient:
    """A user whose settings name the routers and the node, and leave the choice."""

    def __init__(self, trader: Trader, folder: Path) -> None:
        world = world_of(trader)
        self.trader, self.world = trader, world
        described = describe_network(world.network, url_of(trader.chain))
        self.name = world.network.name
        described["routers"] = {
            UNIVERSAL_ROUTER: {
                "address": world.router.address,
                "version": "2.0",
                "protocols": dict(world.network.routers[UNIVERSAL_ROUTER].protocols),
            },
            SETTLER: {
                "registry": world.registry.address,
                "spender": world.holder.address,
                "protocols": dict(world.network.routers[SETTLER].protocols),
            },
        }
        described["router_dialect"] = "auto"
        self.settings = folder / "config.yaml"
        settings = {"networks": {self.name: described}, "store_dir": str(folder / "stores")}
        self.settings.write_text(json.dumps(settings))
        self.run("sync", self.name, "--json")

    def run(self, *words: str, stdin: bytes = b"") -> CommandResult:
        ran = run_swapcli(*words, stdin=stdin, env={"SWAPCLI_CONFIG": str(self.settings)})
        assert ran.exit_code == 0, ran.stderr
        return ran

    def calldata(self, sold: str, bought: str, amount: str, *options: str) -> CommandResult:
        return self.run("calldata", self.name, sold, bought, amount, "--destination", USER, *options)

    def codes(self, ran: CommandResult) -> list[str]:
        return [each["code"] for each in ran.json["warnings"]]


@pytest.fixture(scope="module")
def client(shared: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoutersClient]:
    with shared.chain.revert_after():
        yield RoutersClient(shared.copy(), tmp_path_factory.mktemp("routers"))


ETH_ORDER = ("ETH", "USDC", "1")
USDC_ORDER = ("USDC", "WBTC", "250000")


class TestCommandsFollowTheChoice:
    """The dialect is decided once for each quote, and all that a command prints is about that router."""

    def test_a_table_and_a_field_say_which_and_why(self, client: RoutersClient) -> None:
        shown = client.run("route", client.name, *ETH_ORDER, "--verbose").stdout
        line = next(each for each in shown.splitlines() if "Router" in each)
        assert line.split()[:2] == ["Router", SETTLER]
        assert PUBLISHED in line
        document = client.run("route", client.name, *ETH_ORDER, "--json").json
        assert document["routerChoice"] == {
            "dialect": SETTLER,
            "reason": PUBLISHED,
            "gainBps": None,
            "over": None,
            "passed": [],
        }

    def test_a_payload_and_its_approval_are_for_the_chosen_router(self, client: RoutersClient) -> None:
        ran = client.calldata(*USDC_ORDER, "--json")
        assert ran.json["dialect"] == ran.json["routerChoice"]["dialect"] == SETTLER
        approve, swap = ran.json["transactions"]
        assert ran.json["to"].lower() == swap["to"].lower() == client.world.holder.address
        assert approve["data"][10 + 24 : 10 + 64] == client.world.holder.address[2:]
        assert ran.json["swap"]["deadline"] is not None
        assert not {"ROUTER_UNVERIFIED", "DEADLINE_NOT_ENFORCED", "READING_ASSUMED"} & set(client.codes(ran))

    @pytest.mark.parametrize("checks", [("--simulate",), ("--from", USER, "--simulate")])
    def test_a_simulation_pays_the_quote(self, client: RoutersClient, checks: tuple[str, ...]) -> None:
        ran = client.calldata(*USDC_ORDER, *checks, "--json")
        assert ran.json["dialect"] == SETTLER
        assert ran.json["simulation"]["matches"] is True

    def test_a_route_is_executed_by_the_router_it_was_found_for(self, client: RoutersClient) -> None:
        route = client.run("route", client.name, *USDC_ORDER, "--json")
        ran = client.run("execute", "-", "--destination", USER, "--simulate", "--json", stdin=route.stdout.encode())
        assert ran.json["dialect"] == ran.json["routerChoice"]["dialect"] == SETTLER
        assert ran.json["to"].lower() == client.world.holder.address
        assert ran.json["simulation"]["matches"] is True
        found_for = {**route.json, "routerChoice": {**route.json["routerChoice"], "dialect": FIBROUS}}
        stdin = json.dumps(found_for).encode()
        ran = client.run("execute", "-", "--destination", USER, "--json", stdin=stdin)
        assert ran.json["dialect"] == FIBROUS
        assert ran.json["to"].lower() == client.world.public_router.address
        explicit = ("--router-dialect", SETTLER)
        assert (
            client.run("execute", "-", "--destination", USER, *explicit, "--json", stdin=stdin).json["dialect"]
            == SETTLER
        )

    def test_a_route_of_another_program_is_chosen_for_again(self, client: RoutersClient) -> None:
        route = client.run("route", client.name, *USDC_ORDER, "--json").json
        del route["routerChoice"]
        ran = client.run("execute", "-", "--destination", USER, "--json", stdin=json.dumps(route).encode())
        assert ran.json["dialect"] == SETTLER

    def test_the_choice_of_an_option_is_as_before(self, client: RoutersClient) -> None:
        for dialect, router in ((FIBROUS, client.world.public_router), (UNIVERSAL_ROUTER, client.world.router)):
            ran = client.calldata(*ETH_ORDER, "--router-dialect", dialect, "--json")
            assert ran.json["dialect"] == dialect
            assert "routerChoice" not in ran.json
            assert ran.json["to"].lower() == router.address

    def test_a_permit_is_for_a_router_that_takes_one(self, client: RoutersClient) -> None:
        token = client.world.address("USDC")
        options = ("--exclude-protocols", "pancakeSwapV3", "--permit", "--deadline", "2000000000")
        message = client.calldata("USDC", "ETH", "100000", *options, "--json").json
        assert message["primaryType"] == "PermitSingle"
        assert message["message"]["details"]["token"].lower() == token
        assert message["message"]["spender"].lower() == client.world.router.address

    def test_formats_hand_the_same_transactions_on(self, client: RoutersClient) -> None:
        batch = client.calldata(*USDC_ORDER, "--format", "safe").json
        assert [each["to"].lower() for each in batch["transactions"]] == [
            client.world.address("USDC"),
            client.world.holder.address,
        ]
        assert f"{client.world.holder.address[2:]}" in client.calldata(*USDC_ORDER, "--format", "cast").stdout.lower()

    def test_a_batch_has_a_choice_in_each_line(self, client: RoutersClient, tmp_path: Path) -> None:
        orders = tmp_path / "orders.jsonl"
        lines = [
            {"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": str(10**18)},
            {"id": 2, "tokenIn": "USDC", "tokenOut": "WBTC", "inputAmount": str(25 * 10**10)},
        ]
        orders.write_text("".join(json.dumps(line) + "\n" for line in lines))
        found = client.run("route", client.name, "--batch", str(orders)).stdout.splitlines()
        assert [json.loads(line)["result"]["routerChoice"]["dialect"] for line in found] == [SETTLER, SETTLER]

    def test_the_allowance_is_that_of_the_most_trusted_router(self, client: RoutersClient) -> None:
        document = client.run("allowance", client.name, USER, "USDC", "--json").json
        assert document["spender"].lower() == client.world.holder.address

    def test_a_payload_of_each_router_is_decoded_as_such(self, client: RoutersClient) -> None:
        for dialect in ("auto", FIBROUS, UNIVERSAL_ROUTER):
            built = client.calldata(*ETH_ORDER, "--router-dialect", dialect, "--json")
            words = ("decode", "-", "--network", client.name, "--from", USER, "--json")
            decoded = client.run(*words, stdin=built.stdout.encode()).json
            assert decoded["dialect"] == (SETTLER if dialect == "auto" else dialect)
            assert decoded["verdict"]["status"] != "danger", decoded["verdict"]
            assert not {"ROUTE_WORSE", "ROUTER_UNKNOWN"} & {each["code"] for each in decoded.get("warnings", [])}

    def test_the_library_follows_too(self, client: RoutersClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
        with Market.live(client.name, rpc_url=url_of(client.trader.chain)) as market:
            quote = market.quote(*USDC_ORDER)
            other = market.quote(*ETH_ORDER)
            assert quote.figures.router_choice is not None
            for each, count in ((quote, 2), (other, 1), (quote, 2)):
                prepared = each.prepare(destination=USER)
                assert prepared.network.router_dialect == SETTLER
                assert len(prepared.transactions) == count
            assert quote.transaction(destination=USER)["to"].lower() == client.world.holder.address
            assert market.execute(quote.to_dict(), destination=USER).payload.to == client.world.holder.address
            (many,) = market.quote_many([USDC_ORDER])
            assert many.quote is not None
            assert many.quote.figures.router_choice == quote.figures.router_choice
            copied = type(quote)(quote.answer, quote.terms, quote.figures)
            assert market.transaction(copied, destination=USER)["to"].lower() == client.world.holder.address

    def test_an_offline_market_keeps_the_interface_s_router(self, client: RoutersClient) -> None:
        ran = client.calldata(*ETH_ORDER, "--offline", "--json")
        assert ran.json["dialect"] == FIBROUS
        assert "routerChoice" not in ran.json
        codes = client.codes(ran)
        assert len(codes) == len(set(codes))


PublicClient = tuple[RoutersClient, list[Proxy]]


@pytest.fixture(scope="module")
def public(shared: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicClient]:
    """A user without a node, and three public nodes."""
    with shared.chain.revert_after(), public_nodes(shared.chain.node.port, 3) as nodes:
        trader = shared.copy()
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        client = RoutersClient(trader, tmp_path_factory.mktemp("public"))
        settings = json.loads(client.settings.read_text())
        network = settings["networks"][client.name]
        del network["rpc_url"]
        network["public_rpc_urls"] = [f"http://127.0.0.1:{each.server_port}" for each in nodes]
        client.settings.write_text(json.dumps(settings))
        yield client, nodes


class TestPublicNodes:
    """The answer of the registry is a part of the state that a second public node has to confirm."""

    def test_two_of_them_confirm_a_chosen_router(self, public: PublicClient) -> None:
        client, _ = public
        ran = client.calldata(*USDC_ORDER, "--check", "never", "--json")
        assert (ran.json["dialect"], ran.json["witnesses"]) == (SETTLER, 2)

    @pytest.mark.parametrize("liar", range(3))
    @pytest.mark.parametrize("named", few(["0x" + "ba" * 20, ZERO_ADDRESS], 1))
    def test_a_lie_about_the_registry_decides_nothing(self, public: PublicClient, liar: int, named: str) -> None:
        client, nodes = public
        lie = storage_after(client.trader, lambda: client.world.registry.send("set", named))
        set_behaviours(nodes, {liar: on_state(lie)}, Random(liar))
        words = ("calldata", client.name, *ETH_ORDER, "--destination", USER, "--check", "never", "--json")
        ran = run_swapcli(*words, env={"SWAPCLI_CONFIG": str(client.settings)})
        set_behaviours(nodes, {}, Random(liar))
        if ran.exit_code == 0:
            assert ran.json["to"].lower() == client.world.settler.address
            assert ran.json["witnesses"] == 2
        else:
            assert json.loads(ran.stderr.splitlines()[-1])["code"] == "NODES_DISAGREE"
