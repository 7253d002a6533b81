"""`--simulate` and `--from` against a real node: what is told before signing is what comes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eth_account import Account as Key

from swapcli.chain.rpc import RpcNode
from swapcli.engine.answer import Origin
from swapcli.engine.checks import Ends, Wanted, check_payload
from swapcli.errors import InsufficientBalance, SimulationError, UpstreamNonsense
from swapcli.evm import approval, transaction
from swapcli.markets.format import render_market
from swapcli.model.market import Provenance
from swapcli.model.order import ZERO_ADDRESS, Order
from swapcli.model.payload import Transaction
from swapcli.model.terms import Integrator
from swapcli.store import create_store
from tests.chain.anvil import CHAIN_ID, AnvilChain, running_anvil
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.reading import read_market
from tests.chain.settings import url_of, write_settings
from tests.chain.trading import INTEGRATOR, USER, Desk, Trade
from tests.chain.world import WETH, World
from tests.cli.build import Ran, swapcli
from tests.contracts.evm import compile_solidity
from tests.store.build import only

POOR = "0x" + "90" * 20
BOB = "0x" + "b0" * 20
SOURCES = compile_solidity("simulated.sol", "world.sol")
PLENTY = 10**30


class Client:
    """Somebody with a store of the world, and its node in the settings."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk, self.folder, self.name = desk, folder, desk.world.network.name
        self.settings = write_settings(folder, desk.world.network, url_of(desk.chain), timeout_s=5)
        file = folder / "stores" / f"{self.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), desk.world.network, only(desk.world.network)) as store:
            store.write_market(read_market(desk.world))

    def calldata(self, sold: str, bought: str, amount: str, *options: str, to: str = BOB, **env: str) -> Ran:
        words = ("calldata", self.name, sold, bought, amount, "--destination", to)
        return swapcli(*words, *options, env={"SWAPCLI_CONFIG": str(self.settings)} | env)

    def execute(self, route: str, *options: str, to: str = BOB) -> Ran:
        words = ("execute", "-", "--destination", to, *options)
        return swapcli(*words, stdin=route.encode(), env={"SWAPCLI_CONFIG": str(self.settings)})

    def route(self, sold: str, bought: str, amount: str, *options: str) -> str:
        words = ("route", self.name, sold, bought, amount, "--json", *options)
        return swapcli(*words, env={"SWAPCLI_CONFIG": str(self.settings)}).out

    def mine(self, document: dict[str, Any], sender: str = USER) -> bool:
        """Has what was printed mined, without a signature."""
        fields = {name: document[name] for name in ("to", "value")}
        fields["value"] = hex(int(fields["value"]))
        call = {"from": sender, "data": document["calldata"], "gas": hex(12_000_000), **fields}
        return self.desk.chain.receipt(self.desk.chain.node.ask("eth_sendTransaction", call)).succeeded

    def block(self) -> int:
        return int(self.desk.chain.node.ask("eth_blockNumber"), 16)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running_anvil() as chain:
        world = World(chain)
        world.network = replace(world.network, multicall=deploy_multicall(chain))
        made = Desk(world, chain, read_market(world))
        made.endow()
        yield Client(made, tmp_path_factory.mktemp("checks"))


@pytest.fixture
def node(desk: Desk) -> Iterator[RpcNode]:
    with closing(node_of(desk.chain)) as made:
        yield made


def node_of(chain: AnvilChain) -> RpcNode:
    return RpcNode(url_of(chain), shown="the local node", chain_id=CHAIN_ID, pause=lambda _: None)


def live(node: RpcNode) -> Origin:
    return Origin(Provenance.LIVE, "the node", node.head().block.number)


NOWHERE = Origin(None, "http://service.example", service="http://service.example")
"""Of a service, which does not tell what it rests on."""


def ends_of(desk: Desk, trade: Trade) -> Ends:
    native, route = desk.world.network.native, trade.payload.call.route
    by_address = {token.address: token for token in desk.world.tokens.values()} | {ZERO_ADDRESS: native}
    sold = ZERO_ADDRESS if trade.payload.value else route.token_in
    return Ends(by_address[sold], by_address[trade.bought], native)


# The checks themselves.


@pytest.mark.parametrize("seed", range(2))
def test_a_live_quote_is_told_to_match_and_is_mined_so(desk: Desk, node: RpcNode, seed: int) -> None:
    for trade in desk.trades(Random(f"checks {seed}"), 40):
        for sender in (USER, None):
            wanted, ends = Wanted(simulate=True, sender=sender), ends_of(desk, trade)
            checked = check_payload(node, wanted, trade.payload, live(node), ends)
            assert checked.simulation
            assert checked.simulation.matches
            assert checked.simulation.expected == trade.due
            assert checked.simulation.block == node.head().block.number
            assert (checked.holdings is None) == (sender is None)
        assert desk.carry_out(trade).received == trade.due


def test_who_earns_from_himself_gets_all(desk: Desk, node: RpcNode) -> None:
    tokens = desk.world.tokens
    order = Order(tokens["USDC"], tokens["DAI"], 10**9)
    for receiver, gets_all in ((INTEGRATOR, True), (BOB, False)):
        trade = desk.quoted(order, Integrator(INTEGRATOR, fee_bps=100), receiver)
        checked = check_payload(node, Wanted(simulate=True), trade.payload, live(node), ends_of(desk, trade))
        assert checked.simulation
        assert checked.simulation.matches
        assert checked.simulation.received == (trade.result.output_amount if gets_all else trade.due)


def test_a_surplus_is_shared_only_where_there_is_one(desk: Desk, node: RpcNode) -> None:
    tokens = desk.world.tokens
    trade = desk.quoted(Order(tokens["USDC"], tokens["DAI"], 10**9), Integrator(INTEGRATOR, surplus_bps=5_000), BOB)
    ends, wanted, then = ends_of(desk, trade), Wanted(simulate=True), live(node)
    checked = check_payload(node, wanted, trade.payload, then, ends)
    assert checked.simulation
    assert checked.simulation.received == trade.payload.call.route.amount_out
    desk.carry_out(desk.quoted(Order(tokens["DAI"], tokens["USDC"], 10**24)))
    gained = check_payload(node, wanted, trade.payload, NOWHERE, ends).simulation
    assert gained
    assert gained.received > gained.expected
    with pytest.raises(SimulationError, match="the quote says"):
        check_payload(node, wanted, trade.payload, live(node), ends)


def test_a_quote_that_rests_on_another_state_must_pay_the_least_that_it_promises(desk: Desk, node: RpcNode) -> None:
    tokens = desk.world.tokens
    trade = desk.quoted(Order(tokens[WETH], tokens["USDC"], 10**19))
    then = live(node)
    desk.carry_out(desk.quoted(Order(tokens[WETH], tokens["USDC"], 10**18)))
    ends, wanted = ends_of(desk, trade), Wanted(simulate=True)
    assert then.block != node.head().block.number
    past = check_payload(node, wanted, trade.payload, then, ends).simulation
    assert past
    assert (past.block, past.matches) == (then.block, True)
    with pytest.raises(SimulationError, match=r"^the swap reverts at block \d+: ReceivedTooLittle \(received "):
        check_payload(node, wanted, trade.payload, NOWHERE, ends)
    generous = trade.payload.call
    generous = generous._replace(route=generous.route._replace(min_received=trade.due * 98 // 100))
    payload = transaction(generous, desk.world.network, trade.payload.to)
    for origin in (NOWHERE, Origin(Provenance.MODELLED, "a table", 1), Origin(Provenance.SYNCED, "no block")):
        found = check_payload(node, wanted, payload, origin, ends).simulation
        assert found
        assert found.block == node.head().block.number
        assert trade.due * 98 // 100 <= found.received < found.expected == trade.due
    assert desk.world.balance(trade.bought, USER) > 0


def test_a_quote_on_the_present_state_that_does_not_hold_is_refused_with_both_figures(
    desk: Desk, node: RpcNode
) -> None:
    tokens = desk.world.tokens
    trade = desk.quoted(Order(tokens[WETH], tokens["USDC"], 10**19))
    call = trade.payload.call
    promising = trade.payload._replace(call=call._replace(route=call.route._replace(amount_out=trade.due + 1)))
    with pytest.raises(SimulationError) as caught:
        check_payload(node, Wanted(simulate=True), promising, live(node), ends_of(desk, trade))
    block = node.head().block.number
    pays, due = (f"{amount // 10**6:,}.{amount % 10**6:06}" for amount in (trade.due, trade.due + 1))
    assert caught.value.message.replace("0 USDC", " USDC") == (
        f"the swap pays {pays} USDC at block {block}, and the quote says {due} USDC".replace("0 USDC", " USDC")
    )
    assert caught.value.details["amount_received"] == str(trade.due)
    assert caught.value.details["expected"] == str(trade.due + 1)
    assert caught.value.details["block"] == block


@pytest.mark.parametrize("skimmed", [1, 10**5])
def test_a_router_that_pays_less_is_caught_whatever_the_slippage(desk: Desk, node: RpcNode, skimmed: int) -> None:
    tokens = desk.world.tokens
    skimmer = desk.chain.deploy(SOURCES["Skimmer"], skimmed)
    desk.world.give("USDC", skimmer.address, 10**15)
    for sold in (tokens["DAI"], desk.world.network.native):
        trade = desk.quoted(Order(sold, tokens["USDC"], 10**18))
        elsewhere = trade.payload._replace(to=skimmer.address)
        ends = ends_of(desk, trade)
        pays = r"^the swap pays \S+ USDC at block \d+, and "
        with pytest.raises(SimulationError, match=f"{pays}the quote says ") as caught:
            check_payload(node, Wanted(simulate=True), elsewhere, live(node), ends)
        assert caught.value.hint == "the router may read payloads otherwise, or a token take a cut: do not sign"
        with pytest.raises(SimulationError, match=f"{pays}it promises at least "):
            check_payload(node, Wanted(simulate=True), elsewhere, NOWHERE, ends)


def test_what_fails_before_the_swap_is_told_as_what_it_is(desk: Desk, node: RpcNode) -> None:
    tokens = desk.world.tokens
    trade = desk.quoted(Order(tokens["DAI"], tokens["USDC"], 10**18))
    ends, wanted = ends_of(desk, trade), Wanted(simulate=True)
    nowhere = trade.payload._replace(to="0x" + "77" * 20)
    with pytest.raises(SimulationError, match=r"^nothing is deployed at the router's address 0x(77){20} at block \d+$"):
        check_payload(node, wanted, nowhere, live(node), ends)
    unwilling = desk.chain.deploy(SOURCES["Unwilling"])
    call = trade.payload.call
    payload = trade.payload._replace(call=call._replace(route=call.route._replace(token_in=unwilling.address)))
    with pytest.raises(SimulationError, match=r"^DAI refuses to be approved at block \d+: an error with the selector"):
        check_payload(node, wanted, payload, live(node), ends)


def test_holdings_are_read_at_the_block_of_the_quote(desk: Desk, node: RpcNode) -> None:
    tokens = desk.world.tokens
    trade = desk.quoted(Order(tokens["DAI"], tokens["USDC"], 10**18))
    ends, then = ends_of(desk, trade), live(node)
    wanted = Wanted(sender=POOR)
    desk.world.give("DAI", POOR, 10**18)
    now = live(node)
    with pytest.raises(InsufficientBalance) as caught:
        check_payload(node, wanted, trade.payload, then, ends)
    assert caught.value.message == "Insufficient balance: the sender holds 0 DAI, and the swap takes 1 DAI"
    assert caught.value.details == {"token": tokens["DAI"].address, "held": "0", "needed": str(10**18)}
    for origin in (now, NOWHERE):
        checked = check_payload(node, wanted, trade.payload, origin, ends)
        assert checked.holdings
        assert (checked.holdings.sold, checked.allowance, checked.simulation) == (10**18, 0, None)


def test_native_currency_needs_no_allowance_and_counts_as_it_is(desk: Desk, node: RpcNode) -> None:
    trade = desk.quoted(Order(desk.world.network.native, desk.world.tokens["USDC"], 10**18))
    ends = ends_of(desk, trade)
    desk.chain.fund(POOR, 10**18 - 1)
    with pytest.raises(InsufficientBalance, match=r"holds 0\.9{18} ETH, and the swap takes 1 ETH$"):
        check_payload(node, Wanted(sender=POOR), trade.payload, live(node), ends)
    desk.chain.fund(POOR, 10**18)
    checked = check_payload(node, Wanted(simulate=True, sender=POOR), trade.payload, live(node), ends)
    assert checked.simulation
    assert (checked.allowance, checked.simulation.assumed) == (None, ())


def test_what_gas_costs_is_the_quotes_or_what_was_simulated(desk: Desk, node: RpcNode) -> None:
    trade = desk.quoted(Order(desk.world.network.native, desk.world.tokens["USDC"], 10**18))
    ends, price = ends_of(desk, trade), node.head().gas_price_wei
    simulated = check_payload(node, Wanted(simulate=True), trade.payload, live(node), ends)
    assert simulated.simulation
    assert simulated.gas_wei == simulated.simulation.gas_used * price
    for wanted in (Wanted(simulate=True), Wanted(sender=USER)):
        assert check_payload(node, wanted, trade.payload, live(node), ends, 7).gas_wei == 7
    assert check_payload(node, Wanted(sender=USER), trade.payload, live(node), ends).gas_wei is None


def test_a_token_that_is_not_there_is_nonsense(desk: Desk, node: RpcNode) -> None:
    trade = desk.quoted(Order(desk.world.tokens["DAI"], desk.world.tokens["USDC"], 10**18))
    call = trade.payload.call
    payload = trade.payload._replace(call=call._replace(route=call.route._replace(token_in="0x" + "66" * 20)))
    with pytest.raises(UpstreamNonsense, match=r"^balanceOf\(address\): the contract returns 0 bytes"):
        check_payload(node, Wanted(sender=POOR), payload, live(node), ends_of(desk, trade))


# The command line.


ORDERS = [
    ("ETH", "USDC", "1.5", ["balance of ETH"]),
    ("USDC", "ETH", "2000", ["balance of USDC", "allowance"]),
    ("USDT", "WBTC", "60000", ["balance of USDT", "allowance"]),
    ("ETH", "WETH", "1", ["balance of ETH"]),
    ("WETH", "ETH", "1", ["balance of WETH", "allowance"]),
]


@pytest.mark.parametrize(("sold", "bought", "amount", "lacking"), ORDERS)
def test_a_payload_is_simulated_on_the_block_of_its_quote(
    client: Client, sold: str, bought: str, amount: str, lacking: list[str]
) -> None:
    ran = client.calldata(sold, bought, amount, "--simulate", "--json")
    assert ran.status == 0, ran.err
    document, found = ran.json, ran.json["simulation"]
    assert list(found) == ["block", "amount_received", "expected", "gas_used", "matches", "sender", "overrides"]
    assert found["block"] == document["market"]["block"] == client.block()
    assert found["amount_received"] == found["expected"] == document["route"]["outputAmount"]
    assert found["matches"] is True
    assert (found["sender"].lower(), found["overrides"]) == (BOB, lacking)
    with client.desk.chain.undone():
        before = client.desk.world.balance(address_of(client, bought), BOB)
        for each in client.calldata(sold, bought, amount, "--with-approval", "--json").json["transactions"]:
            assert client.mine(each)
        after = client.desk.world.balance(address_of(client, bought), BOB)
    assert after - before == int(found["amount_received"])


def address_of(client: Client, symbol: str) -> str:
    return ZERO_ADDRESS if symbol == "ETH" else client.desk.world.address(symbol)


def test_what_an_integrator_takes_is_not_expected(client: Client) -> None:
    options = ("--integrator-address", INTEGRATOR, "--integrator-fee-bps", "100", "--simulate", "--json")
    ran = client.calldata("WETH", "USDC", "1", *options, SWAPCLI_API_KEY="a-key")
    assert ran.status == 0, ran.err
    assert ran.json["simulation"]["expected"] == ran.json["route"]["outputAmountAfterFee"]
    assert ran.json["simulation"]["matches"] is True


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_route_that_was_found_before_is_simulated_too(client: Client, version: str) -> None:
    route = client.route("USDT", "ETH", "3000", "--api-version", version)
    ran = client.execute(route, "--simulate", "--from", USER, "--json")
    assert ran.status == 0, ran.err
    found = ran.json["simulation"]
    assert found["amount_received"] == json.loads(route)["outputAmount"]
    assert (found["matches"], found["overrides"]) == (True, ["allowance"])
    assert ran.json["market"]["block"] == found["block"] == client.block()


@pytest.mark.parametrize("form", ["--plain", "--table"])
def test_people_read_what_was_simulated(client: Client, form: str) -> None:
    document = client.calldata("ETH", "USDC", "1.5", "--simulate", "--json").json["simulation"]
    pays = f"{int(document['amount_received']) / 10**6:,}".rstrip("0")
    told = f"at block {document['block']}, up to {document['gas_used']:,} gas, supposing balance of ETH"
    route = client.route("ETH", "USDC", "1.5")
    for ran in (client.calldata("ETH", "USDC", "1.5", "--simulate", form), client.execute(route, "--simulate", form)):
        assert ran.status == 0, ran.err
        letters = " ".join(ran.out.split())
        assert f"Simulated {pays} USDC" in letters
        if form == "--plain":
            assert f"exactly as quoted, {told}" in letters
        assert "simulate it before signing" not in ran.err


@pytest.mark.parametrize("path", ["matches", "amount_received", "overrides.0"])
def test_a_field_of_the_simulation_is_told_raw(client: Client, path: str) -> None:
    ran = client.calldata("ETH", "USDC", "1.5", "--simulate", "--get", f"simulation.{path}")
    assert (ran.status, len(ran.out.split("\n"))) == (0, 2)
    assert client.calldata("ETH", "USDC", "1.5", "--get", f"simulation.{path}").status == 2


def test_who_holds_too_little_hears_it_before_anything_is_printed(client: Client) -> None:
    for options in ([], ["--simulate"], ["--get", "calldata"]):
        ran = client.calldata("USDC", "ETH", "2000", "--from", POOR, "--json", *options)
        assert (ran.status, ran.out, ran.error["code"]) == (7, "", "INSUFFICIENT_BALANCE")
        said = "Insufficient balance: the sender holds 0 USDC, and the swap takes 2,000 USDC"
        assert (ran.error["message"], ran.error["exit_code"]) == (said, 7)
    ran = client.execute(client.route("USDC", "ETH", "2000"), "--from", POOR)
    assert ran.status == 7
    assert ran.err.startswith(f"error: {said}\n")
    assert POOR not in ran.err


def test_an_allowance_that_is_too_small_is_remarked_on_and_mended(client: Client) -> None:
    desk = client.desk
    usdt, router = desk.world.address("USDT"), desk.world.network.router
    assert router
    remark = "the router may take {} USDT from the sender, and the swap takes 2,000 USDT: add --with-approval"
    for allowed, purposes in (
        (0, ["approve", "swap"]),
        (7 * 10**6, ["revoke", "approve", "swap"]),
        (2_000 * 10**6, ["swap"]),
    ):
        with desk.chain.undone():
            assert client.mine(document_of(approval(usdt, router, allowed)))
            plain = client.calldata("USDT", "ETH", "2000", "--from", USER)
            assert plain.status == 0, plain.err
            assert (remark.format(allowed // 10**6) in plain.err) == (len(purposes) > 1)
            assert "needs an allowance first" not in plain.err
            mended = client.calldata("USDT", "ETH", "2000", "--from", USER, "--with-approval", "--simulate", "--json")
            assert "the router may take" not in mended.err
            assert [each["what"] for each in mended.json["transactions"]] == purposes
            lacking = [] if len(purposes) == 1 else ["allowance"]
            assert mended.json["simulation"]["overrides"] == lacking
            before = desk.world.balance(ZERO_ADDRESS, BOB)
            for each in mended.json["transactions"]:
                assert client.mine(each)
            received = desk.world.balance(ZERO_ADDRESS, BOB) - before
            assert received == int(mended.json["simulation"]["amount_received"])


def document_of(transaction: Transaction) -> dict[str, Any]:
    return {"to": transaction.to, "value": str(transaction.value), "calldata": transaction.calldata}


def test_people_read_what_is_taken_back_first(client: Client) -> None:
    usdt, router = client.desk.world.address("USDT"), client.desk.world.network.router
    assert router
    with client.desk.chain.undone():
        assert client.mine(document_of(approval(usdt, router, 5)))
        out = client.calldata("USDT", "ETH", "2000", "--from", USER, "--with-approval", "--plain").out
    titles = [line for line in out.splitlines() if line[:3] in ("1. ", "2. ", "3. ")]
    assert titles == ["1. Take back what the router may take now", "2. Let the router take 2,000 USDT", "3. Swap"]


def test_too_little_for_gas_is_a_remark(client: Client) -> None:
    desk = client.desk
    sender = str(Key.from_key("0x" + "31" * 32).address).lower()
    with desk.chain.undone():
        desk.world.give("USDC", sender, 2_000 * 10**6)
        for wei, words in ((0, "0 ETH"), (10**12, "0.000001 ETH"), (10**18, None)):
            desk.chain.fund(sender, wei)
            ran = client.calldata("USDC", "ETH", "2000", "--from", sender, "--simulate", "--gas-price", "1gwei")
            assert ran.status == 0, ran.err
            assert ("too little for gas" in ran.err) == (words is not None)
            assert words is None or f"the sender holds {words}, too little for gas of about 0.000" in ran.err
        desk.chain.fund(sender, 10**18)
        ran = client.calldata("ETH", "USDC", "1", "--from", sender, "--gas-price", "1gwei", "--json")
        assert ran.status == 0, ran.err
        assert "too little for gas of about 0.000" in ran.err
        assert ran.err.rstrip().endswith("beside what is sold")


def test_a_market_file_of_a_block_is_held_against_that_block(client: Client) -> None:
    desk = client.desk
    file = client.folder / "market.json"
    market = replace(read_market(desk.world), block=client.block(), timestamp=1, provenance=Provenance.RECORDED)
    options = ("--market", str(file), "--slippage", "1", "--simulate", "--json")
    with desk.chain.undone():
        move(client)
        file.write_text(render_market(market))
        then = client.calldata("WETH", "USDC", "1", *options)
        assert then.status == 0, then.err
        assert (then.json["simulation"]["block"], then.json["simulation"]["matches"]) == (market.block, True)
        file.write_text(render_market(replace(market, block=client.block())))
        differs = client.calldata("WETH", "USDC", "1", *options)
        assert (differs.status, differs.error["code"], differs.out) == (7, "SIMULATION_FAILED", "")
        assert differs.error["details"]["expected"] == then.json["simulation"]["expected"]


def move(client: Client) -> None:
    """Somebody else trades: the market moves by a thousandth or so."""
    trade = client.desk.quoted(Order(client.desk.world.tokens[WETH], client.desk.world.tokens["USDC"], 2 * 10**18))
    allowing = approval(trade.payload.call.route.token_in, trade.payload.to, 2 * 10**18)
    swap = Transaction(trade.payload.to, trade.payload.calldata, trade.payload.value)
    assert all(client.mine(document_of(each)) for each in (allowing, swap))


def test_on_modelled_state_what_really_arrives_is_told(client: Client) -> None:
    desk = client.desk
    file = client.folder / "modelled.json"
    market = replace(read_market(desk.world), block=3, timestamp=1, provenance=Provenance.MODELLED)
    file.write_text(render_market(market))
    words = ("WETH", "USDC", "1", "--market", str(file), "--slippage", "1", "--simulate")
    with desk.chain.undone():
        move(client)
        ran = client.calldata(*words, "--json")
        assert ran.status == 0, ran.err
        found = ran.json["simulation"]
        assert (found["block"], found["matches"]) == (client.block(), False)
        assert int(found["amount_received"]) < int(found["expected"])
        assert "the quote rests on another state: it says " in ran.err
        assert "modelled" in ran.err
        assert "do not sign" not in ran.err
        assert "not as quoted, at block" in client.calldata(*words, "--plain").out
        too_tight = client.calldata(
            "WETH", "USDC", "1", "--market", str(file), "--slippage", "0", "--simulate", "--json"
        )
        assert (too_tight.status, too_tight.error["code"]) == (7, "SIMULATION_FAILED")
        assert "reverts at block" in too_tight.error["message"]


def test_a_check_needs_a_node_and_names_the_setting(client: Client) -> None:
    nowhere = write_settings(
        client.folder / "..", client.desk.world.network, None, store_dir=str(client.folder / "stores")
    )
    for check in (["--simulate"], ["--from", USER]):
        offline = client.calldata("ETH", "USDC", "1", *check, "--offline", "--json")
        none = client.calldata("ETH", "USDC", "1", *check, "--json", SWAPCLI_CONFIG=str(nowhere))
        for ran, why in ((offline, "--offline lets none be asked"), (none, "none is set")):
            assert (ran.status, ran.error["code"]) == (2, "INVALID_OPTION")
            assert ran.error["message"] == f"{check[0]} asks a node of {client.name}, and {why}"
            assert ran.error["hint"] == f"set networks.{client.name}.rpc_url"


@pytest.mark.parametrize("check", [["--simulate"], ["--from", "0x1234"]])
def test_starknet_is_not_simulated(check: list[str]) -> None:
    ran = swapcli("calldata", "starknet", "STRK", "USDC", "100", "--destination", "0x1234", *check, "--json")
    assert (ran.status, ran.error["code"]) == (2, "INVALID_OPTION")
    assert ran.error["message"] == f"{check[0]} works on EVM networks only, and starknet is none"


def test_what_is_no_address_sends_nothing(client: Client) -> None:
    ran = client.calldata("ETH", "USDC", "1", "--from", "0x12", "--json")
    assert (ran.status, ran.error["code"]) == (2, "INVALID_ADDRESS")
    assert ran.error["message"].startswith("--from: ")
