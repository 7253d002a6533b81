"""Transactions of `calldata` that web3.py, viem and ethers sign unchanged, and a node mines."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eth_account import Account

from swapcli.payload.evm import build_approval
from swapcli.state.markets.format import render_market
from tests.chain.anvil import Receipt
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of
from tests.chain.test_checks_commands import Client, document_of, move
from tests.chain.trader import KEY, USER, Trader, random_amount, random_recipient
from tests.contracts.evm import NODE_MODULES
from tests.examples import few, few_rows
from tests.support.chain import restored
from tests.support.command import CommandResult

GWEI = 10**9
SAMPLE = 6
Sign = Callable[[dict[str, Any]], bytes]
LIBRARIES = ("web3.py", "viem", "ethers")
CAST_QUANTITIES = {
    "--value": "value",
    "--chain": "chainId",
    "--nonce": "nonce",
    "--gas-limit": "gas",
    "--gas-price": "maxFeePerGas",
    "--priority-gas-price": "maxPriorityFeePerGas",
}
"""Fields of a transaction by option of `cast send`, as its manual gives them."""


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("signing"))


@contextmanager
def signer(library: str, client: Client) -> Iterator[Sign]:
    """Sign transactions with a library, given as they are printed."""
    if library == "web3.py":
        yield lambda transaction: bytes(Account.sign_transaction(transaction, KEY).raw_transaction)
        return
    script = NODE_MODULES.parent / "sign.mjs"
    command = ["node", str(script), library, KEY, url_of(client.trader.chain)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin
        assert node.stdout

        def sign(transaction: dict[str, Any]) -> bytes:
            assert node.stdin
            assert node.stdout
            node.stdin.write(json.dumps(transaction) + "\n")
            node.stdin.flush()
            return bytes.fromhex(node.stdout.readline().strip()[2:])

        yield sign
        node.stdin.close()


def set_base_fee(client: Client, wei: int) -> None:
    client.trader.chain.node.ask("anvil_setNextBlockBaseFeePerGas", hex(wei))
    client.trader.chain.node.ask("anvil_mine", "0x1")


def unsigned(ran: CommandResult) -> list[dict[str, Any]]:
    """Return the printed transactions without their purposes."""
    assert ran.exit_code == 0, ran.stderr
    return [{name: value for name, value in each.items() if name != "what"} for each in ran.json["transactions"]]


def send_all(client: Client, transactions: list[dict[str, Any]], sign: Sign) -> list[Receipt]:
    return [client.trader.chain.send_raw(sign(each)) for each in transactions]


def random_swap(client: Client, rng: Random) -> list[dict[str, Any]]:
    """Build a random swap of the user, after a random rise or fall of the base fee."""
    while True:
        set_base_fee(client, rng.randrange(100 * GWEI))
        sold, bought = (rng.choice([each, "ETH"]) if each == WETH else each for each in rng.sample(sorted(DECIMALS), 2))
        amount = random_amount(rng, client.trader.world.tokens[WETH if sold == "ETH" else sold])
        # The base fee jumps as on no real network.
        options = ("--raw", "--max-impact", "100", "--allow-fees", "--from", USER, "--json")
        ran = client.calldata(sold, bought, str(amount), *options, to=random_recipient(rng))
        if ran.exit_code == 0:
            assert ran.json["missing"] == []
            return unsigned(ran)


def check_random_swaps(client: Client, library: str, count: int) -> None:
    rng = Random(f"signing {library}")
    sent = 0
    with client.trader.chain.revert_after(), signer(library, client) as sign:
        for _ in range(count):
            transactions = random_swap(client, rng)
            assert [each["nonce"] for each in transactions] == list(range(sent, sent + len(transactions)))
            receipts = send_all(client, transactions, sign)
            assert all(receipt.succeeded for receipt in receipts), transactions
            assert all(receipt.gas_used <= each["gas"] for receipt, each in zip(receipts, transactions, strict=True))
            sent += len(transactions)


@pytest.mark.parametrize("library", few(LIBRARIES, 1))
def test_unchanged_transactions_are_signed_and_mined(client: Client, library: str) -> None:
    check_random_swaps(client, library, SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_hundred_signed_swaps_are_mined(client: Client, library: str) -> None:
    check_random_swaps(client, library, 100)


def test_lines_for_web3_are_signed_as_printed_and_mined(client: Client) -> None:
    with client.trader.chain.revert_after(), signer("web3.py", client) as sign:
        ran = client.calldata("USDC", "ETH", "2000", "--from", USER, "--format", "web3")
        approval, swap = map(json.loads, ran.stdout.splitlines())
        assert all(receipt.succeeded for receipt in send_all(client, [approval, swap], sign))


def test_cast_lines_name_what_a_node_reported(client: Client) -> None:
    options = ("USDC", "ETH", "2000", "--from", USER)
    transactions = unsigned(client.calldata(*options, "--json"))
    lines = client.calldata(*options, "--format", "cast").stdout.splitlines()
    assert [parse_cast_line(line) for line in lines] == transactions


def parse_cast_line(line: str) -> dict[str, Any]:
    """Return the transaction that a line of `cast send` describes, by the meaning of its options."""
    command, action, *words = shlex.split(line)
    assert (command, action) == ("cast", "send")
    *pairs, to, data = words
    values = dict(zip(pairs[::2], pairs[1::2], strict=True))
    numbers = {name: int(values.pop(option)) for option, name in CAST_QUANTITIES.items()}
    assert set(values) == {"--from"}
    return {"from": values["--from"], "to": to, "data": data, **numbers}


def test_all_libraries_sign_the_same_transaction(client: Client) -> None:
    """ethers apart, which replaces the gas limit by its own estimate."""
    (transaction,) = unsigned(client.calldata("ETH", "USDC", "1.5", "--from", USER, "--json"))
    listed = transaction | {"accessList": [{"address": transaction["to"], "storageKeys": ["0x" + "00" * 32]}]}
    with ExitStack() as stack:
        signers = [stack.enter_context(signer(library, client)) for library in LIBRARIES[:2]]
        for each in (transaction, listed, transaction | {"value": 0, "nonce": 0}):
            first, second = (sign(each) for sign in signers)
            assert first == second


@pytest.mark.parametrize(("library", "spelling"), few_rows([("viem", 2), ("viem", "0x2"), ("ethers", "eip1559")], 1))
def test_no_spelling_of_the_type_suits_all(client: Client, library: str, spelling: object) -> None:
    """So that there is none; if this ever fails, there may be one."""
    (transaction,) = unsigned(client.calldata("ETH", "USDC", "1.5", "--from", USER, "--json"))
    with signer(library, client) as sign:
        assert sign(transaction | {"type": spelling}) == b""


def test_nonces_count_through_all_approvals(client: Client) -> None:
    trader = client.trader
    usdt, router = trader.world.address("USDT"), trader.world.network.router
    assert router
    with trader.chain.revert_after(), signer("web3.py", client) as sign:
        assert client.mine(document_of(build_approval(usdt, router, 7)))
        ran = client.calldata("USDT", "ETH", "2000", "--from", USER, "--json")
        assert [each["what"] for each in ran.json["transactions"]] == ["revoke", "approve", "swap"]
        transactions = unsigned(ran)
        assert [each["nonce"] for each in transactions] == [1, 2, 3]
        assert all(receipt.succeeded for receipt in send_all(client, transactions, sign))
        (swap,) = unsigned(client.calldata("ETH", "USDT", "1", "--from", USER, "--json"))
        assert swap["nonce"] == 4


def test_fees_outlast_five_full_blocks(client: Client) -> None:
    node = client.trader.chain.node
    with client.trader.chain.revert_after(), signer("web3.py", client) as sign:
        set_base_fee(client, 30 * GWEI)
        (swap,) = unsigned(client.calldata("ETH", "USDC", "1", "--from", USER, "--allow-fees", "--json"))
        base_fee = 30 * GWEI * 7 // 8  # after the empty block
        for _ in range(5):
            set_base_fee(client, base_fee)
            base_fee += base_fee // 8
        node.ask("anvil_setNextBlockBaseFeePerGas", hex(base_fee))
        assert swap["maxFeePerGas"] >= base_fee + swap["maxPriorityFeePerGas"]
        assert send_all(client, [swap], sign)[0].succeeded


@pytest.mark.parametrize(("sold", "what"), [("ETH", ["swap"]), ("WETH", ["approve", "swap"])])
def test_a_failing_estimate_warns_and_builds(client: Client, tmp_path: Path, sold: str, what: list[str]) -> None:
    file = tmp_path / "market.json"
    market = read_market(client.trader.world)._replace(block=None, timestamp=None)
    file.write_text(render_market(market))
    with client.trader.chain.revert_after():
        move(client)
        options = ("--market", str(file), "--slippage", "0", "--from", USER, "--check", "never")
        ran = client.calldata(sold, "USDC", "1", *options, "--json")
        assert ran.exit_code == 0, ran.stderr
        assert [each["what"] for each in ran.json["transactions"]] == what
        assert ran.json["missing"] == []
        assert all(each["gas"] > 21_000 for each in ran.json["transactions"])
        (warning,) = [each for each in ran.json["warnings"] if each["code"] == "GAS_NOT_ESTIMATED"]
        assert "the transaction may fail: " in warning["message"]
        assert warning["message"] in client.calldata(sold, "USDC", "1", *options).stderr


def test_a_route_that_was_found_before_is_ready_to_sign(client: Client) -> None:
    route = client.route("USDC", "ETH", "500")
    with client.trader.chain.revert_after(), signer("viem", client) as sign:
        transactions = unsigned(client.execute(route, "--from", USER, "--json"))
        assert [list(each) for each in transactions] == [[*transactions[0]]] * 2
        assert all(receipt.succeeded for receipt in send_all(client, transactions, sign))


@pytest.mark.slow
def test_a_printed_access_list_saves_gas(client: Client) -> None:
    ran = client.calldata("ETH", "USDC", "2000", "--max-impact", "100", "--from", USER, "--json")
    (listed,) = unsigned(ran)
    assert listed["accessList"]
    used = []
    for transaction in (listed, {name: value for name, value in listed.items() if name != "accessList"}):
        with client.trader.chain.revert_after(), signer("viem", client) as sign:
            (receipt,) = send_all(client, [transaction], sign)
            assert receipt.succeeded
            used.append(receipt.gas_used)
    assert used[0] < used[1]
