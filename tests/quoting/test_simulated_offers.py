"""Offers rank by what they pay when they are mined, whatever they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.order import UNOWNED_ADDRESS, ZERO_ADDRESS, Order
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.payload.evm import build_transactions
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of, write_settings
from tests.chain.test_checks_commands import Client
from tests.chain.trader import USER, Trade, Trader, random_amount, with_calldata, with_unreachable_minimum
from tests.examples import few_rows, seeds
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli
from tests.support.fake_aggregators import Character, fake_aggregators
from tests.support.service_process import run_service

ORDERS_A_SEED = 20


class Desk:
    """A user with a store and a node, who compares with aggregators of invented characters."""

    def __init__(self, trader: Trader, client: Client) -> None:
        self.trader, self.client, self.network = trader, client, trader.world.network

    def order(self, sold: str, bought: str, amount: int) -> Order:
        return Order(self._token(sold), self._token(bought), amount)

    def _token(self, symbol: str) -> Any:
        return self.network.native if symbol == "ETH" else self.trader.world.tokens[symbol]

    def trade(self, order: Order, *excluded: str, **limits: Any) -> Trade:
        """Return a trade that really pays its amount, on fewer pools than the best one."""
        return self.trader.quote_trade(order._replace(excluded_protocols=frozenset(excluded), **limits))

    def compare(
        self, order: Order, characters: Mapping[str, Character], *options: str, sender: str | None = USER
    ) -> CommandResult:
        with fake_aggregators(characters) as fake:
            settings = write_settings(
                self.client.folder, self.network, url_of(self.trader.chain), timeout_s=10, aggregators=fake.settings()
            )
            tokens = [each.symbol if each.address != ZERO_ADDRESS else "ETH" for each in order[:2]]
            words = ("compare", self.client.name, *tokens, str(order.amount), "--raw", f"--aggregators={fake.names}")
            whose = () if sender is None else ("--from", sender)
            return run_swapcli(*words, *whose, *options, env={"SWAPCLI_CONFIG": str(settings)})

    def mined(self, payload: UnsignedTransaction) -> int | None:
        """Return what a payload pays when it is mined, None if it reverts; the chain is as before afterwards."""
        route = payload.call.route
        bought = ZERO_ADDRESS if route.swap_type.name == "TOKEN_TO_NATIVE" else route.token_out
        with self.trader.chain.revert_after():
            before = self.trader.world.balance(bought, USER)
            receipts = [
                self.trader.chain.receipt(
                    self.trader.chain.node.ask(
                        "eth_sendTransaction",
                        {
                            "from": USER,
                            "to": each.to,
                            "data": each.calldata,
                            "value": hex(each.value),
                            "gas": hex(12_000_000),
                            "gasPrice": hex(10**9),
                        },
                    )
                )
                for each in build_transactions(payload)
            ]
            paid = self.trader.world.balance(bought, USER) - before
            gas = sum(each.gas_used for each in receipts) * 10**9 if bought == ZERO_ADDRESS else 0
        return paid + gas if receipts[-1].succeeded else None


@pytest.fixture(scope="module")
def desk(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = read_market(trader.world)
        trader.chain.node.ask("anvil_impersonateAccount", USER)
        yield Desk(trader, Client(trader, tmp_path_factory.mktemp("offers")))


def rows_of(document: Any, kind: str = "aggregator") -> list[Any]:
    return [each for each in document["alternatives"] if each["kind"] == kind]


def characters_of(desk: Desk, order: Order) -> dict[str, Character]:
    """Return aggregators of every kind for an order."""
    best, single, direct = desk.trade(order), desk.trade(order, single_path=True), desk.trade(order, "uniswapV3")
    greedy = with_calldata(with_unreachable_minimum(best), desk.trader.world)
    return {
        "honest": Character(str(single.amount_due), single.payload),
        "liar": Character(str(best.amount_due * 11 // 10), direct.payload),
        "minimum": Character(str(best.amount_due * 99 // 100), best.payload),
        "decimals": Character(str(direct.amount_due * 10**12), direct.payload),
        "fraction": Character(direct.amount_due / 10**6 + 0.5, direct.payload),
        "dead": Character("1", is_dead=True),
        "slow": Character(str(direct.amount_due), direct.payload, delay_s=0.3),
        "reverting": Character(str(best.amount_due), greedy),
        "empty": Character(str(best.amount_due + 1), best.payload._replace(to="0x" + "77" * 20)),
        "silent": Character(str(best.amount_due + 2)),
        "self": Character(str(best.amount_due), best.payload._replace(to=USER)),
    }


@pytest.mark.parametrize(
    ("sold", "bought", "amount"),
    few_rows([("USDC", "ETH", 2_000 * 10**6), ("ETH", "USDC", 15 * 10**17), ("USDT", "WBTC", 60_000 * 10**6)], 1),
)
def test_offers_rank_by_what_is_mined(desk: Desk, sold: str, bought: str, amount: int) -> None:
    order = desk.order(sold, bought, amount)
    characters = characters_of(desk, order)
    ran = desk.compare(order, characters, "--json")
    assert ran.exit_code == 0, ran.stderr
    rows = {each["name"].lower(): each for each in rows_of(ran.json)}
    truth = {
        name: desk.mined(each.payload)
        for name, each in characters.items()
        if each.payload is not None and name not in ("fraction", "self")
    }
    truth["empty"] = None
    for name, paid in truth.items():
        simulation = rows[name]["simulation"]
        assert simulation["outcome"] == ("failed" if paid is None else "paid"), name
        assert simulation.get("outputAmount") == (None if paid is None else str(paid)), name
        assert simulation["block"] == desk.client.block()
        for field in ("outputAmount", "outputAfterGas"):
            assert rows[name].get(field) == simulation.get(field), name
        assert rows[name]["promisedAmount"] == str(characters[name].says)
    proven = [each for each in ran.json["alternatives"] if each.get("simulation", {}).get("outcome") == "paid"]
    nets = [int(each["simulation"]["outputAfterGas"]) for each in proven]
    assert nets == sorted(nets, reverse=True)
    assert {each["name"].lower() for each in proven if each["kind"] == "aggregator"} == {
        name for name, paid in truth.items() if paid is not None
    }
    (split,) = rows_of(ran.json, "split")
    assert split["simulation"]["outputAmount"] == split["outputAmount"]
    assert rows["minimum"]["simulation"]["outputAmount"] == split["outputAmount"]
    order_of_rows = list(rows)
    assert set(order_of_rows[-2:]) == {"dead", "fraction"}
    assert set(order_of_rows[-4:-2]) == {"reverting", "empty"}
    assert set(order_of_rows[-6:-4]) == {"silent", "self"}
    assert rows["reverting"]["simulation"]["reason"].startswith("it reverts: ReceivedTooLittle")
    assert rows["empty"]["simulation"]["reason"] == "its target is not a contract"
    for name in ("silent", "self"):
        assert rows[name]["simulation"]["reason"] == "its response has no payload to simulate"
        assert not {"outputAmount", "outputAfterGas"} & set(rows[name])
        assert rows[name]["promisedAmount"] == str(characters[name].says)
    assert "promisedAmount" not in split


def test_other_ways_of_this_process_are_replayed_in_proportion(desk: Desk) -> None:
    order = desk.order("ETH", "USDC", 15 * 10**17)
    best = desk.trade(order)
    ran = desk.compare(order, {"best": Character(str(best.amount_due), best.payload)}, "--json")
    (direct,), (split,) = rows_of(ran.json, "direct"), rows_of(ran.json, "split")
    assert direct["simulation"]["outcome"] == "replayed"
    assert direct["simulation"]["outputAmount"] == direct["outputAmount"]
    measured = int(split["simulation"]["gasUnits"]) / int(split["gasUnits"])
    assert int(direct["simulation"]["gasUnits"]) == pytest.approx(int(direct["gasUnits"]) * measured, abs=1)
    assert [each["simulation"]["outcome"] for each in rows_of(ran.json, "protocol") if "error" in each] == [
        "notSimulated" for each in rows_of(ran.json, "protocol") if "error" in each
    ]


def test_the_text_says_what_was_simulated_and_who_was_asked(desk: Desk) -> None:
    order = desk.order("ETH", "USDC", 15 * 10**17)
    best = desk.trade(order)
    payload = desk.trader.quote_trade(order, recipient=UNOWNED_ADDRESS).payload
    characters = {
        "honest": Character(str(best.amount_due), payload),
        "liar": Character(str(best.amount_due * 2), None),
    }
    ran = desk.compare(order, characters, "--format=plain", sender=None)
    assert ran.exit_code == 0, ran.stderr
    assert "the tokens, the amount and the sender 0x7a3f" in ran.stderr
    assert " (an address without an owner) are sent to 127.0.0.1:" in ran.stderr
    lines = {line.split()[0]: line for line in ran.stdout.splitlines() if line}
    assert lines["honest".title()].endswith("simulated")
    assert lines["liar".title()].endswith("not simulated")
    assert "Liar: its response has no payload to simulate" in ran.stdout
    assert lines["direct"].endswith("replayed")
    assert "payloads at block" in lines["Simulated"]
    assert payload.calldata not in ran.stdout


def test_a_node_that_may_not_check_simulates_nothing(desk: Desk) -> None:
    order = desk.order("ETH", "USDC", 15 * 10**17)
    best = desk.trade(order)
    characters = {"honest": Character(str(best.amount_due), best.payload)}
    ran = desk.compare(order, characters, "--json", "--check=never")
    for each in (*rows_of(ran.json), *rows_of(ran.json, "split")):
        assert each["simulation"]["outcome"] == "notSimulated"
        assert each["simulation"]["reason"] == "no node is set to simulate it"


@pytest.mark.slow
def test_the_payload_of_a_service_is_simulated_too(desk: Desk) -> None:
    order = desk.order("ETH", "USDC", 15 * 10**17)
    settings = write_settings(desk.client.folder, desk.network, url_of(desk.trader.chain), timeout_s=10)
    env = {"SWAPCLI_CONFIG": str(settings)}
    with run_service("--networks", desk.client.name, env=env) as service:
        ran = desk.compare(order, {"silent": Character("5")}, "--json", "--api-url", service.url)
    assert ran.exit_code == 0, ran.stderr
    ((found,), (split,)) = (rows_of(ran.json, kind) for kind in ("service", "split"))
    assert "error" not in found
    assert (found["simulation"]["outcome"], split["simulation"]["outcome"]) == ("paid", "paid")
    assert found["simulation"]["outputAmount"] == found["outputAmount"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(1, full=10))
def test_liars_never_rank_by_what_they_say(desk: Desk, seed: int) -> None:
    """Over ten seeds these are 200 orders."""
    rng, done = Random(f"offers {seed}"), 0
    tokens = [desk.network.native, *desk.trader.world.tokens.values()]
    while done < ORDERS_A_SEED:
        token_in, token_out = rng.sample(tokens, 2)
        order = Order(token_in, token_out, random_amount(rng, token_in))
        try:
            best, single = desk.trade(order), desk.trade(order, single_path=True)
            others = [desk.trade(order, each) for each in ("uniswapV3", "uniswapV2")]
        except (NoRoute, PoolError):
            continue
        if min(each.amount_due for each in (best, single, *others)) < 1_000:
            continue
        liar, wrong = rng.sample(others, 2)
        due = {"honest": single, "liar": liar, "minimum": best, "decimals": wrong, "slow": liar}
        characters = {
            "honest": Character(str(single.amount_due), single.payload),
            "liar": Character(str(best.amount_due * rng.randint(101, 150) // 100), liar.payload),
            "minimum": Character(str(best.amount_due * 995 // 1_000), best.payload),
            "decimals": Character(str(wrong.amount_due * 10**12), wrong.payload),
            "slow": Character(str(liar.amount_due), liar.payload, delay_s=0.2),
            "dead": Character("1", is_dead=True),
        }
        ran = desk.compare(order, characters, "--json")
        assert ran.exit_code == 0, ran.stderr
        rows = rows_of(ran.json)
        assert rows[-1]["name"] == "Dead"
        paid = {each["name"].lower(): each["simulation"]["outputAmount"] for each in rows[:-1]}
        assert paid == {name: str(trade.amount_due) for name, trade in due.items()}, rows
        nets = [int(each["simulation"]["outputAfterGas"]) for each in rows[:-1]]
        assert nets == sorted(nets, reverse=True)
        done += 1
