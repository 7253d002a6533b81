"""`--simulate` and `--from` on the command line, with a store and a node."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.token import whole_tokens
from swapcli.core.model.transaction import Transaction
from swapcli.payload.evm import build_approval
from swapcli.state.markets.format import render_market
from swapcli.state.store import create_store
from tests.chain.contract_fixture import WETH
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import SECRET
from tests.chain.settings import url_of, write_settings
from tests.chain.trader import INTEGRATOR, USER, Trader
from tests.examples import few_rows
from tests.state.store.build import only
from tests.support.chain import restored
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.service_process import SWAPCLI_COMMAND

POOR = "0x" + "90" * 20
BOB = "0x" + "b0" * 20


class Client:
    """A user with a store of the contract fixture and its node in the settings."""

    def __init__(self, trader: Trader, folder: Path) -> None:
        self.trader, self.folder, self.name = trader, folder, trader.world.network.name
        self.settings = write_settings(folder, trader.world.network, url_of(trader.chain), timeout_s=5)
        file = folder / "stores" / f"{self.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), trader.world.network, only(trader.world.network)) as store:
            store.write_market(read_market(trader.world))

    def calldata(self, sold: str, bought: str, amount: str, *options: str, to: str = BOB, **env: str) -> CommandResult:
        words = ("calldata", self.name, sold, bought, amount, "--destination", to)
        return run_swapcli(*words, *options, env={"SWAPCLI_CONFIG": str(self.settings)} | env)

    def execute(self, route: str, *options: str, to: str = BOB) -> CommandResult:
        words = ("execute", "-", "--destination", to, *options)
        return run_swapcli(*words, stdin=route.encode(), env={"SWAPCLI_CONFIG": str(self.settings)})

    def route(self, sold: str, bought: str, amount: str, *options: str) -> str:
        words = ("route", self.name, sold, bought, amount, "--json", *options)
        return run_swapcli(*words, env={"SWAPCLI_CONFIG": str(self.settings)}).stdout

    def mine(self, document: dict[str, Any], sender: str = USER) -> bool:
        """Has what was printed mined, without a signature."""
        value = document["value"]
        value = value if isinstance(value, str) else hex(value)
        call = {
            "from": sender,
            "to": document["to"],
            "data": document["data"],
            "value": value,
            "gas": hex(document.get("gas", 12_000_000)),
        }
        return self.trader.chain.receipt(self.trader.chain.node.ask("eth_sendTransaction", call)).succeeded

    def block(self) -> int:
        return int(self.trader.chain.node.ask("eth_blockNumber"), 16)


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("checks"))


ORDERS = [
    ("ETH", "USDC", "1.5", ["balance of ETH"]),
    ("USDC", "ETH", "2000", ["balance of USDC", "allowance"]),
    ("USDT", "WBTC", "60000", ["balance of USDT", "allowance"]),
    ("ETH", "WETH", "1", ["balance of ETH"]),
    ("WETH", "ETH", "1", ["balance of WETH", "allowance"]),
]


@pytest.mark.parametrize(("sold", "bought", "amount", "lacking"), few_rows(ORDERS, 3))
def test_a_payload_is_simulated_on_the_block_of_its_quote(
    client: Client, sold: str, bought: str, amount: str, lacking: list[str]
) -> None:
    ran = client.calldata(sold, bought, amount, "--simulate", "--json")
    assert ran.exit_code == 0, ran.stderr
    document, found = ran.json, ran.json["simulation"]
    fields = ["block", "received", "expected", "gasUsed", "matches", "sender", "overrides", "reading"]
    assert list(found) == fields
    assert found["reading"]["rate"][0] == "relative"
    assert found["reading"]["extraData"][0] == "two_bytes"
    assert found["block"] == document["state"]["block"] == client.block()
    assert found["received"] == found["expected"] == document["route"]["outputAmount"]
    assert found["matches"] is True
    assert (found["sender"].lower(), found["overrides"]) == (BOB, lacking)
    with client.trader.chain.revert_after():
        before = client.trader.world.balance(address_of(client, bought), BOB)
        for each in client.calldata(sold, bought, amount, "--with-approval", "--json").json["transactions"]:
            assert client.mine(each)
        after = client.trader.world.balance(address_of(client, bought), BOB)
    assert after - before == int(found["received"])


def address_of(client: Client, symbol: str) -> str:
    return ZERO_ADDRESS if symbol == "ETH" else client.trader.world.address(symbol)


def test_what_an_integrator_takes_is_not_expected(client: Client) -> None:
    options = ("--integrator-address", INTEGRATOR, "--integrator-fee-bps", "100", "--simulate", "--json")
    ran = client.calldata("WETH", "USDC", "1", *options, SWAPCLI_API_KEY="a-key")
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["simulation"]["expected"] == ran.json["route"]["outputAmountAfterFee"]
    assert ran.json["simulation"]["matches"] is True


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_route_that_was_found_before_is_simulated_too(client: Client, version: str) -> None:
    route = client.route("USDT", "ETH", "3000", "--api-version", version)
    ran = client.execute(route, "--simulate", "--from", USER, "--json")
    assert ran.exit_code == 0, ran.stderr
    found = ran.json["simulation"]
    assert found["received"] == json.loads(route)["outputAmount"]
    assert (found["matches"], found["overrides"]) == (True, ["allowance"])
    assert ran.json["state"]["block"] == found["block"] == client.block()


def test_a_pending_quote_says_so_and_is_simulated_pending(client: Client) -> None:
    block = client.block() + 1
    ran = client.calldata("ETH", "USDC", "1.5", "--block", "pending", "--simulate", "--json")
    assert ran.exit_code == 0, ran.stderr
    state, found = ran.json["state"], ran.json["simulation"]
    assert (state["tag"], state["block"], state["pinned"]) == ("pending", block, False)
    assert (found["block"], found["matches"]) == (block, True)
    ran = client.execute(client.route("ETH", "USDC", "1.5"), "--block", "pending", "--simulate", "--json")
    assert (ran.json["state"]["tag"], ran.json["simulation"]["block"]) == ("pending", block)
    ran = client.calldata("ETH", "USDC", "1.5", "--block", "pending", "--format=plain")
    head = ran.stdout.splitlines()[0]
    assert f"pending block {block}, " in head
    assert ", may still change, not proven by the node" in head
    ran = client.calldata("ETH", "USDC", "1.5", "--block", "pending", "--format=plain", "--verbose")
    assert f"block {block} (pending: preconfirmed, may still change)" in " ".join(ran.stdout.split())


def test_gas_is_estimated_on_what_is_pending(client: Client) -> None:
    """An approval that is still pending makes the swap work in pending state, and in no other."""
    trader, usdc = client.trader, client.trader.world.address("USDC")
    approval = build_approval(usdc, trader.world.network.router or "", 2_000 * 10**6)
    with trader.chain.revert_after():
        trader.chain.node.ask("evm_setAutomine", False)
        try:
            call = {"from": USER, "to": approval.to, "data": approval.calldata, "gas": hex(100_000)}
            trader.chain.node.ask("eth_sendTransaction", call)
            options = ("USDC", "ETH", "2000", "--from", USER, "--json")
            pending, latest = (client.calldata(*options, "--block", tag) for tag in ("pending", "latest"))
            for ran, expected in ((pending, ["swap"]), (latest, ["approve", "swap"])):
                assert ran.exit_code == 0, ran.stderr
                assert [each["what"] for each in ran.json["transactions"]] == expected
                assert "GAS_NOT_ESTIMATED" not in [each["code"] for each in ran.json["warnings"]]
                assert ran.json["missing"] == []
        finally:
            trader.chain.node.ask("evm_setAutomine", True)


def test_the_setting_names_the_block_too(client: Client) -> None:
    client.trader.chain.node.ask("anvil_mine", "0x40")
    ran = client.calldata("ETH", "USDC", "1.5", "--simulate", "--json", SWAPCLI_BLOCK="safe")
    assert ran.exit_code == 0, ran.stderr
    state, found = ran.json["state"], ran.json["simulation"]
    assert (state["tag"], state["pinned"]) == ("safe", True)
    assert found["block"] == state["block"] < client.block()
    assert found["matches"]
    ran = client.calldata("ETH", "USDC", "1.5", "--format=plain", SWAPCLI_BLOCK="safe")
    assert f"safe block {state['block']}, " in ran.stdout.splitlines()[0]


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_people_read_what_was_simulated(client: Client, form: str) -> None:
    document = client.calldata("ETH", "USDC", "1.5", "--simulate", "--json").json["simulation"]
    pays = f"{int(document['received']) / 10**6:,}".rstrip("0")
    summary = (
        f"at block {document['block']}, up to {document['gasUsed']:,} gas, granted for the simulation: balance of ETH"
    )
    route = client.route("ETH", "USDC", "1.5")
    for ran in (client.calldata("ETH", "USDC", "1.5", "--simulate", form), client.execute(route, "--simulate", form)):
        assert ran.exit_code == 0, ran.stderr
        text = " ".join(ran.stdout.split())
        assert f"Simulated {pays} USDC" in text
        if form == "--format=plain":
            assert f"exactly as quoted, {summary}" in text
        assert "simulate before signing" not in ran.stderr


@pytest.mark.parametrize("path", ["matches", "received", "overrides.0"])
def test_a_field_of_the_simulation_is_told_raw(client: Client, path: str) -> None:
    ran = client.calldata("ETH", "USDC", "1.5", "--simulate", "--get", f"simulation.{path}")
    assert (ran.exit_code, len(ran.stdout.split("\n"))) == (0, 2)
    assert client.calldata("ETH", "USDC", "1.5", "--get", f"simulation.{path}").exit_code == 2


def test_a_low_balance_is_an_error_before_any_output(client: Client) -> None:
    for options in ([], ["--simulate"], ["--get", "calldata"]):
        ran = client.calldata("USDC", "ETH", "2000", "--from", POOR, "--json", *options)
        assert (ran.exit_code, ran.stdout, ran.error["code"]) == (7, "", "INSUFFICIENT_BALANCE")
        messages = "Insufficient balance: the sender holds 0 USDC, but the swap takes 2,000 USDC"
        assert (ran.error["message"], ran.error["exitCode"]) == (messages, 7)
    ran = client.execute(client.route("USDC", "ETH", "2000"), "--from", POOR)
    assert ran.exit_code == 7
    assert ran.stderr.startswith(f"error: {messages}\n")
    assert POOR not in ran.stderr


def test_an_unknown_allowance_is_revoked_where_it_must_be(client: Client) -> None:
    trader, router = client.trader, client.trader.world.network.router
    assert router
    for symbol, purposes in (("USDT", ["revoke", "approve", "swap"]), ("USDC", ["approve", "swap"])):
        token = trader.world.address(symbol)
        for allowed in (0, 7):
            for execute, options in ((False, ()), (False, ("--simulate",)), (True, ())):
                with trader.chain.revert_after():
                    assert client.mine(document_of(build_approval(token, router, allowed)))
                    if execute:
                        ran = client.execute(client.route(symbol, "ETH", "2000"), "--json", to=USER)
                    else:
                        ran = client.calldata(symbol, "ETH", "2000", "--json", *options, to=USER)
                    assert ran.exit_code == 0, ran.stderr
                    transactions = ran.json["transactions"]
                    assert [each["what"] for each in transactions] == purposes
                    assert all(map(client.mine, transactions))
                    decoded = run_swapcli(
                        "decode", "-", "--json", stdin=ran.stdout.encode(), env={"SWAPCLI_CONFIG": str(client.settings)}
                    )
                    assert "TRANSACTIONS_DIFFER" not in decoded.json.get("dangers", []), decoded.stdout


def test_a_low_allowance_warns_and_approval_fixes_it(client: Client) -> None:
    trader = client.trader
    usdt, router = trader.world.address("USDT"), trader.world.network.router
    assert router
    warning = "the sender has approved {} USDT of 2,000 USDT: send the approval first"
    for allowed, purposes in (
        (0, ["approve", "swap"]),
        (7 * 10**6, ["revoke", "approve", "swap"]),
        (2_000 * 10**6, ["swap"]),
    ):
        with trader.chain.revert_after():
            assert client.mine(document_of(build_approval(usdt, router, allowed)))
            plain = client.calldata("USDT", "ETH", "2000", "--from", USER)
            assert plain.exit_code == 0, plain.stderr
            assert (warning.format(allowed // 10**6) in plain.stderr) == (len(purposes) > 1)
            assert "approve the router first" not in plain.stderr
            for whole in ("--format=safe", "--format=wallet-calls", "--json"):  # the approvals are in the output
                handed = client.calldata("USDT", "ETH", "2000", "--from", USER, whole)
                assert (handed.exit_code, "send the approval first" in handed.stderr) == (0, False), handed.stderr
            mended = client.calldata("USDT", "ETH", "2000", "--from", USER, "--with-approval", "--simulate", "--json")
            assert "the sender has approved" not in mended.stderr
            assert [each["what"] for each in mended.json["transactions"]] == purposes
            lacking = [] if len(purposes) == 1 else ["allowance"]
            assert mended.json["simulation"]["overrides"] == lacking
            before = trader.world.balance(ZERO_ADDRESS, BOB)
            for each in mended.json["transactions"]:
                assert client.mine(each)
            received = trader.world.balance(ZERO_ADDRESS, BOB) - before
            assert received == int(mended.json["simulation"]["received"])


def document_of(transaction: Transaction) -> dict[str, Any]:
    return {"to": transaction.to, "value": transaction.value, "data": transaction.calldata}


LABELS = {"nonce": "nonce", "gas": "gas"}
FEE_LABELS = {"maxFeePerGas": "max fee", "maxPriorityFeePerGas": "priority fee"}


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_people_read_nonce_gas_and_fees(client: Client, form: str) -> None:
    (swap,) = client.calldata("ETH", "USDC", "1", "--from", USER, "--json").json["transactions"]
    shown = client.calldata("ETH", "USDC", "1", "--from", USER, form).stdout
    lines = [line.split() for line in shown.splitlines()]
    assert all([label, str(swap[name])] in lines for name, label in LABELS.items())
    for name, label in FEE_LABELS.items():
        (gwei,) = [words[2] for words in lines if words[:2] == label.split() and words[3:] == ["gwei"]]
        assert Decimal(gwei.replace(",", "")) * 10**9 == int(swap[name])


def test_people_read_what_is_taken_back_first(client: Client) -> None:
    usdt, router = client.trader.world.address("USDT"), client.trader.world.network.router
    assert router
    with client.trader.chain.revert_after():
        assert client.mine(document_of(build_approval(usdt, router, 5)))
        out = client.calldata("USDT", "ETH", "2000", "--from", USER, "--with-approval", "--format=plain").stdout
    titles = [line for line in out.splitlines() if line[:3] in ("1. ", "2. ", "3. ")]
    assert titles == [
        "1. Revoke the current approval for the router",
        "2. Approve the router to spend 2,000 USDT",
        "3. Swap",
    ]


def test_too_little_for_gas_is_a_remark(client: Client) -> None:
    trader = client.trader
    sender = "0x" + "95" * 20
    with trader.chain.revert_after():
        trader.world.give("USDC", sender, 2_000 * 10**6)
        for wei, words in ((0, "0 ETH"), (10**12, "0.000001 ETH"), (10**18, None)):
            trader.chain.fund(sender, wei)
            ran = client.calldata("USDC", "ETH", "2000", "--from", sender, "--simulate", "--gas-price", "1gwei")
            assert ran.exit_code == 0, ran.stderr
            assert ("too little for gas" in ran.stderr) == (words is not None)
            assert words is None or f"the sender has {words}, too little for gas of about 0.000" in ran.stderr
        trader.chain.fund(sender, 10**18)
        ran = client.calldata("ETH", "USDC", "1", "--from", sender, "--gas-price", "1gwei", "--json")
        assert ran.exit_code == 0, ran.stderr
        assert "too little for gas of about 0.000" in ran.stderr
        assert ran.stderr.rstrip().endswith("on top of the amount sold")


def test_all_spends_the_balance_but_for_gas(client: Client) -> None:
    trader, sender = client.trader, "0x" + "96" * 20
    with trader.chain.revert_after():
        trader.chain.fund(sender, 2 * 10**18)
        ran = client.calldata("ETH", "USDC", "all", "--from", sender, "--json")
        assert ran.exit_code == 0, ran.stderr
        assert "too little for gas" not in ran.stderr
        (swap,) = ran.json["transactions"]
        spent, left_wei = int(ran.json["value"]), 2 * 10**18 - int(ran.json["value"])
        assert 0 < swap["gas"] * swap["maxFeePerGas"] <= left_wei < 10**17
        assert f"note: all is {whole_tokens(spent, 18)} ETH of a balance of 2 ETH" in ran.stderr
        assert f"at block {client.block()}, less " in ran.stderr
        call = {key: hex(value) if isinstance(value, int) else value for key, value in swap.items() if key != "what"}
        assert trader.chain.receipt(trader.chain.node.ask("eth_sendTransaction", call)).succeeded


@pytest.mark.parametrize(("written", "part"), [("all", 1.0), ("100%", 1.0), ("50%", 0.5), ("12.5%", 0.125)])
def test_a_part_of_a_balance_is_rounded_down(client: Client, written: str, part: float) -> None:
    trader, sender = client.trader, "0x" + "97" * 20
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    with trader.chain.revert_after():
        trader.world.give("USDC", sender, 1_999_999_999)
        ran = run_swapcli("route", client.name, "USDC", "ETH", written, "--from", sender, "--json", "--raw", env=env)
        assert ran.exit_code == 0, ran.stderr
        assert int(ran.json["inputAmount"]) == int(1_999_999_999 * part)
        nothing = run_swapcli("route", client.name, "WETH", "USDC", written, "--from", sender, "--json", env=env)
        assert (nothing.exit_code, nothing.error["code"]) == (7, "INSUFFICIENT_BALANCE")


def test_a_part_of_a_balance_needs_its_sender(client: Client) -> None:
    for options in ([], ["--from", USER, "--reverse"], ["--from", USER, "--offline"]):
        ran = client.calldata("ETH", "USDC", "all", *options, "--json")
        assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_OPTION")
    plain = run_swapcli("route", "base", "ETH", "USDC", "1", "--from", USER)
    assert (plain.exit_code, plain.stderr.startswith("error: --from is used only if AMOUNT is all")) == (2, True)


def test_a_market_file_of_a_block_is_held_against_that_block(client: Client) -> None:
    trader = client.trader
    file = client.folder / "market.json"
    market = read_market(trader.world)._replace(block=client.block(), timestamp=1, provenance=Provenance.RECORDED)
    options = ("--market", str(file), "--slippage", "1", "--simulate", "--json")
    with trader.chain.revert_after():
        move(client)
        file.write_text(render_market(market))
        then = client.calldata("WETH", "USDC", "1", *options)
        assert then.exit_code == 0, then.stderr
        assert (then.json["simulation"]["block"], then.json["simulation"]["matches"]) == (market.block, True)
        file.write_text(render_market(market._replace(block=client.block())))
        differs = client.calldata("WETH", "USDC", "1", *options)
        assert (differs.exit_code, differs.error["code"], differs.stdout) == (7, "SIMULATION_FAILED", "")
        assert differs.error["details"]["expected"] == then.json["simulation"]["expected"]


def move(client: Client) -> None:
    """Trade for another user: the market moves by about 0.1%."""
    trade = client.trader.quote_trade(
        Order(client.trader.world.tokens[WETH], client.trader.world.tokens["USDC"], 2 * 10**18)
    )
    allowing = build_approval(trade.payload.call.route.token_in, trade.payload.to, 2 * 10**18)
    swap = Transaction(trade.payload.to, trade.payload.calldata, trade.payload.value)
    assert all(client.mine(document_of(each)) for each in (allowing, swap))


def test_on_modelled_state_what_really_arrives_is_told(client: Client) -> None:
    trader = client.trader
    file = client.folder / "modelled.json"
    market = read_market(trader.world)._replace(block=3, timestamp=1, provenance=Provenance.MODELLED)
    file.write_text(render_market(market))
    words = ("WETH", "USDC", "1", "--market", str(file), "--slippage", "1", "--simulate")
    with trader.chain.revert_after():
        move(client)
        ran = client.calldata(*words, "--json")
        assert ran.exit_code == 0, ran.stderr
        found = ran.json["simulation"]
        assert (found["block"], found["matches"]) == (client.block(), False)
        assert int(found["received"]) < int(found["expected"])
        assert "the quote uses different state: it promises " in ran.stderr
        assert "modelled" in ran.stderr
        assert "do not sign" not in ran.stderr
        assert "differs from the quote, at block" in client.calldata(*words, "--format=plain").stdout
        too_tight = client.calldata(
            "WETH", "USDC", "1", "--market", str(file), "--slippage", "0", "--simulate", "--json"
        )
        assert (too_tight.exit_code, too_tight.error["code"]) == (7, "SIMULATION_FAILED")
        assert "reverts at block" in too_tight.error["message"]


def test_a_check_needs_a_node_and_names_the_setting(client: Client) -> None:
    nowhere = write_settings(
        client.folder / "..", client.trader.world.network, None, store_dir=str(client.folder / "stores")
    )
    for check in (["--simulate"], ["--from", USER]):
        offline = client.calldata("ETH", "USDC", "1", *check, "--offline", "--json")
        none = client.calldata("ETH", "USDC", "1", *check, "--json", SWAPCLI_CONFIG=str(nowhere), SWAPCLI_LIVE="auto")
        variable = f"SWAPCLI_NETWORKS_{client.name.upper()}_RPC_URL"
        refusals = {
            "--offline is set": (offline, "remove --offline"),
            "none is set": (none, f"give --rpc-url URL, or set {variable}"),
        }
        for why, (ran, hint) in refusals.items():
            assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_OPTION")
            assert ran.error["message"] == f"{check[0]} needs a node of {client.name}, but {why}"
            assert ran.error["hint"] == hint


def test_starknet_is_not_simulated() -> None:
    account = "0x123456789012345678901234567890123456789012345678901234567890"
    words = ("calldata", "starknet", "STRK", "USDC", "100", "--destination", account, "--json")
    simulated, estimated = run_swapcli(*words, "--simulate"), run_swapcli(*words, "--from", account)
    assert (simulated.exit_code, simulated.error["code"]) == (2, "INVALID_OPTION")
    assert simulated.error["message"] == "--simulate works on EVM networks only, not on starknet"
    assert (estimated.exit_code, estimated.error["code"]) == (2, "INVALID_OPTION")
    assert estimated.error["message"].startswith("this needs a node of starknet")


def test_what_is_no_address_sends_nothing(client: Client) -> None:
    ran = client.calldata("ETH", "USDC", "1", "--from", "0x12", "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_ADDRESS")
    assert ran.error["message"].startswith("--from: ")


def test_a_separate_process_agrees_and_hides_node_secrets(client: Client) -> None:
    url = url_of(client.trader.chain).replace("127.0.0.1", f"user:{SECRET}@127.0.0.1") + f"/?key={SECRET}"
    folder = client.folder / "secret"
    folder.mkdir()
    stores = str(client.folder / "stores")
    settings = write_settings(folder, client.trader.world.network, url, store_dir=stores)
    words = ("calldata", client.name, "USDC", "ETH", "2000", "--destination", BOB, "--config", str(settings), "--json")

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*SWAPCLI_COMMAND, *words, *options],
            env=clean_environment({"SWAPCLI_LIVE": "auto"}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    done = run("--simulate", "--from", USER)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["simulation"]["matches"] is True
    refused = run("--from", POOR)
    assert (refused.returncode, refused.stdout) == (7, "")
    assert json.loads(refused.stderr)["code"] == "INSUFFICIENT_BALANCE"
    assert SECRET not in done.stdout + done.stderr + refused.stderr


def test_decode_names_contracts_at_which_there_is_no_code(client: Client) -> None:
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    document = client.calldata("USDC", "ETH", "2000", "--json").json
    payload = {name: document[name] for name in ("network", "to", "value", "calldata")}

    def decode(**changes: str) -> CommandResult:
        return run_swapcli("decode", "-", "--json", stdin=json.dumps(payload | changes).encode(), env=env)

    honest = decode()
    assert (honest.exit_code, honest.json.get("dangers", [])) == (0, []), honest.json.get("warnings", [])
    elsewhere = decode(to="0x" + "ab" * 20)
    assert elsewhere.json.get("dangers", []) == ["CODE_MISSING", "ROUTER_UNKNOWN"]
    approval = f"0x095ea7b3{int(BOB, 16):064x}{5:064x}"
    ran = decode(calldata=approval, to=POOR, value="0")
    texts = [warning["message"] for warning in ran.json["warnings"] if warning["code"] == "CODE_MISSING"]
    assert [text.split(" 0x")[0] for text in texts] == ["the spender", "the called contract"]
