"""A signed message in place of an approval, on a node: the library, and `--permit` and `--signature`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data

from swapcli import Market
from swapcli.core.errors import InvalidDeadline, InvalidOption
from swapcli.core.model.network import UNIVERSAL_ROUTER
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Approval, Transaction
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.evm import build_approval
from swapcli.payload.evm.permit2_allowance import build_permit2_approval
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import KEY, USER, Trader
from tests.chain.universal_fixture import PROTOCOLS, open_universal_trader
from tests.examples import few_rows
from tests.payload.test_transactions_to_send import unsigned
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

AMOUNT = 2_000 * 10**6


@pytest.fixture(scope="module", params=["fibrous", UNIVERSAL_ROUTER])
def client(
    request: pytest.FixtureRequest, shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Client]:
    """The commands for a network whose router takes permits of tokens, and for one with Permit2."""
    folder = tmp_path_factory.mktemp("permits")
    if request.param == UNIVERSAL_ROUTER:
        with open_universal_trader() as trader:
            yield open_client(trader, folder)
    else:
        with restored(shared_trader) as trader:
            yield open_client(trader, folder)


def open_client(trader: Trader, folder: Path) -> Client:
    network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.world.network = network
    trader.market = trader.market._replace(network=network)
    client = Client(trader, folder)
    if network.router_dialect == UNIVERSAL_ROUTER:
        settings = json.loads(client.settings.read_text())
        router = {"address": network.router, "version": "2.0", "protocols": PROTOCOLS}
        settings["networks"][network.name] |= {
            "router_dialect": UNIVERSAL_ROUTER,
            "routers": {UNIVERSAL_ROUTER: router},
        }
        client.settings.write_text(json.dumps(settings))
    return client


def test_a_signature_takes_the_place_of_an_approval(client: Client) -> None:
    trader, network = client.trader, client.trader.world.network
    usdc, dai = trader.world.tokens["USDC"], trader.world.tokens["DAI"]
    deadline = str(int(time()) + 1_200)
    route = client.route("USDC", "DAI", "2000")
    printed = client.execute(route, "--permit", "--deadline", deadline, to=USER)
    assert printed.exit_code == 0, printed.stderr
    document = printed.json
    assert document["primaryType"] == ("PermitSingle" if is_permit2(client) else "Permit")
    assert document["domain"]["verifyingContract"] == (PERMIT2 if is_permit2(client) else usdc.address)
    signed = Account.sign_message(encode_typed_data(full_message=document), KEY).signature.to_0x_hex()
    built = client.execute(route, "--signature", signed, "--deadline", deadline, "--simulate", "--json", to=USER)
    assert built.exit_code == 0, built.stderr
    assert built.json["simulation"]["matches"] is True
    assert built.json["dialect"] == network.router_dialect
    assert [each["code"] for each in built.json["warnings"] if each["code"] == "DEADLINE_NOT_ENFORCED"] == []
    with trader.chain.revert_after():
        if is_permit2(client):
            assert trader.send(build_approval(usdc.address, PERMIT2, AMOUNT)).succeeded
        before = trader.world.balance(dai.address, USER)
        swap = Transaction(built.json["to"].lower(), built.json["calldata"], int(built.json["value"]))
        assert trader.send(swap).succeeded
        received = trader.world.balance(dai.address, USER) - before
    trader.nonce -= 1 + is_permit2(client)
    assert received == int(built.json["simulation"]["received"])


def test_allowance_shows_what_the_router_may_take(client: Client) -> None:
    """Of the token itself, and through Permit2 where the router takes tokens through it."""
    trader, network = client.trader, client.trader.world.network
    usdc, end_s = trader.world.tokens["USDC"], int(time()) + 86_400
    assert network.router
    nonce = trader.nonce
    with trader.chain.revert_after():
        approved = PERMIT2 if is_permit2(client) else network.router
        assert trader.send(build_approval(usdc.address, approved, 2**256 - 1)).succeeded
        if is_permit2(client):
            approval = Approval(usdc.address, network.router, AMOUNT, expiration_s=end_s)
            assert trader.send(build_permit2_approval(approval)).succeeded
        ran = allowance(client, USER, "USDC", "--json")
        shown = allowance(client, USER, "USDC").stdout
    trader.nonce = nonce
    found = ran.json
    if is_permit2(client):
        assert found["permit2"] == {
            "allowance": str(2**256 - 1),
            "spenderAllowance": str(AMOUNT),
            "expiration": end_s,
        }
        assert (found["allowance"], "2,000 USDC" in shown, "unlimited USDC" in shown) == ("0", True, True)
    else:
        assert (found["allowance"], found.get("permit2"), "unlimited USDC" in shown) == (str(2**256 - 1), None, True)
    assert shown.startswith("Allowance: ")
    assert re.search(r"(?m)^State +block [0-9,]+, ", shown)


def test_allowance_of_a_named_spender(client: Client) -> None:
    trader, usdc = client.trader, client.trader.world.tokens["USDC"]
    nonce = trader.nonce
    with trader.chain.revert_after():
        assert trader.send(build_approval(usdc.address, BOB, 1_500_000)).succeeded
        found = allowance(client, USER, "USDC", BOB, "--json").json
        shown = allowance(client, USER, "USDC", BOB).stdout
    trader.nonce = nonce
    assert (found["allowance"], found["spender"].lower(), found.get("permit2")) == ("1500000", BOB.lower(), None)
    assert "1.5 USDC" in shown


def allowance(client: Client, *words: str) -> CommandResult:
    return run_swapcli("allowance", client.name, *words, env={"SWAPCLI_CONFIG": str(client.settings)})


ORDERS = [("USDC", "DAI", "2000"), ("USDT", "ETH", "3000"), ("WETH", "USDC", "1.5"), ("ETH", "WBTC", "2")]


@pytest.mark.parametrize(("sold", "bought", "amount"), few_rows(ORDERS, 2))
def test_unchanged_transactions_pay_the_quote(client: Client, sold: str, bought: str, amount: str) -> None:
    quoted = json.loads(client.route(sold, bought, amount))["outputAmount"]
    ran = client.calldata(sold, bought, amount, *SENT)
    approvals = [] if sold == "ETH" else ["approve", "approve-permit2"] if is_permit2(client) else ["approve"]
    with client.trader.chain.revert_after():
        assert sent(client, ran, bought) == (int(quoted), [*approvals, "swap"])


def test_approvals_that_suffice_are_left_out(client: Client) -> None:
    trader, usdc = client.trader, client.trader.world.tokens["USDC"]
    router, quoted = trader.world.network.router or "", json.loads(client.route("USDC", "DAI", "2000"))["outputAmount"]
    cases: list[tuple[list[Transaction], list[str]]] = [([build_approval(usdc.address, router, AMOUNT)], [])]
    if is_permit2(client):
        now_s = int(trader.chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
        token, permitted, expired = (
            build_approval(usdc.address, PERMIT2, AMOUNT),
            build_permit2_approval(Approval(usdc.address, router, AMOUNT, expiration_s=now_s + 7_200)),
            build_permit2_approval(Approval(usdc.address, router, AMOUNT, expiration_s=now_s + 60)),
        )
        cases = [
            ([token], ["approve-permit2"]),
            ([permitted], ["approve"]),
            ([token, expired], ["approve-permit2"]),
            ([token, permitted], []),
        ]
    for before, approvals in cases:
        with trader.chain.revert_after():
            assert all(trader.send(each).succeeded for each in before)
            ran = client.calldata("USDC", "DAI", "2000", *SENT)
            assert sent(client, ran, "DAI") == (int(quoted), [*approvals, "swap"])
        trader.nonce -= len(before)


def test_a_signature_leaves_only_the_approval_of_permit2(client: Client) -> None:
    deadline = str(int(time()) + 1_200)
    route = client.route("USDC", "DAI", "2000")
    document = client.execute(route, "--permit", "--deadline", deadline, to=USER).json
    signed = Account.sign_message(encode_typed_data(full_message=document), KEY).signature.to_0x_hex()
    options = ("--signature", signed, "--deadline", deadline, "--from", USER, "--json")
    with client.trader.chain.revert_after():
        received = sent(client, client.execute(route, *options), "DAI")
        assert received == (int(json.loads(route)["outputAmount"]), [*["approve"] * is_permit2(client), "swap"])


SENT = ("--from", USER, "--deadline", "20m", "--json")


def sent(client: Client, ran: CommandResult, bought: str) -> tuple[int, list[str]]:
    """Sign and mine the printed transactions unchanged. Return what the recipient received, and their purposes."""
    world, token = client.trader.world, ZERO_ADDRESS if bought == "ETH" else client.trader.world.address(bought)
    before = world.balance(token, BOB)
    for transaction in unsigned(ran):
        signed = Account.sign_transaction(transaction, KEY).raw_transaction
        receipt = client.trader.chain.send_raw(bytes(signed))
        assert receipt.succeeded
        assert receipt.gas_used <= transaction["gas"]
    assert ran.json["missing"] == []
    return world.balance(token, BOB) - before, [each["what"] for each in ran.json["transactions"]]


def is_permit2(client: Client) -> bool:
    return client.trader.world.network.router_dialect == UNIVERSAL_ROUTER


@pytest.fixture
def market(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Market]:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settings = {"store_dir": str(client.folder / "stores")}
    with Market.live(client.name, rpc_url=url_of(client.trader.chain), settings=settings) as market:
        yield market


def test_a_permit_of_the_library_replaces_the_approval(client: Client, market: Market) -> None:
    trader, deadline = client.trader, int(time()) + 1_200
    quote = market.quote("USDC", "DAI", "2000")
    message = quote.permit(owner=USER, deadline=deadline)
    printed = client.calldata("USDC", "DAI", "2000", "--permit", "--deadline", str(deadline), to=USER)
    assert message == printed.json
    signed = Account.sign_message(encode_typed_data(full_message=message), KEY).signature.to_0x_hex()
    dai = trader.world.tokens["DAI"].address
    with trader.chain.revert_after():
        before = trader.world.balance(dai, BOB)
        transactions = quote.transactions(destination=BOB, sender=USER, deadline=deadline, signature=signed)
        assert len(transactions) == 1 + is_permit2(client), "only Permit2 itself is approved by a transaction"
        for each in transactions:
            raw = Account.sign_transaction(each, KEY).raw_transaction
            assert trader.chain.send_raw(bytes(raw)).succeeded
        assert trader.world.balance(dai, BOB) - before == quote.amount_out


def test_the_library_refuses_permits_that_cannot_work(market: Market) -> None:
    quote = market.quote("USDC", "DAI", "2000")
    of_another = "0x" + "11" * 64 + "1b"
    with pytest.raises(InvalidOption, match=rf"^signature: the signature for this permit was not made by {USER}"):
        quote.transactions(destination=USER, deadline="20m", signature=of_another)
    with pytest.raises(InvalidOption, match=r"^signature: a signature has 65 bytes"):
        quote.transactions(destination=USER, deadline="20m", signature="0x00")
    with pytest.raises(InvalidOption, match=r"^signature requires deadline"):
        quote.transactions(destination=USER, signature=of_another)
    with pytest.raises(InvalidOption, match=r"^permit: ETH needs no approval"):
        market.quote("ETH", "DAI", "1").permit(owner=USER, deadline="20m")
    with pytest.raises(InvalidDeadline, match=r"^deadline: 1 has passed"):
        quote.permit(owner=USER, deadline=1)


def test_calldata_prints_the_same_message(client: Client) -> None:
    deadline = str(int(time()) + 1_200)
    route = client.route("USDC", "DAI", "2000")
    printed = client.execute(route, "--permit", "--deadline", deadline, to=USER)
    quoted = client.calldata("USDC", "DAI", "2000", "--permit", "--deadline", deadline, to=USER)
    assert quoted.json == printed.json


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--permit",), "--permit needs --deadline, the time when the permit expires"),
        (("--signature", "0x00"), "--signature needs --deadline, the time when the permit expires"),
        (("--signature", "0x00", "--deadline", "1"), "--deadline: 1 has passed"),
        (("--signature", "0x00", "--deadline", "20m"), "--signature: a signature has 65 bytes, not 1"),
        (
            ("--signature", "0x" + "11" * 64 + "1b", "--deadline", "20m"),
            f"--signature: the signature for this permit was not made by {USER}",
        ),
        (
            ("--signature", "0x00", "--permit", "--deadline", "20m"),
            "--permit prints a message to sign, and --signature takes its signature",
        ),
        (("--permit", "--deadline", "20m", "--offline"), "--permit needs a node of "),
    ],
)
def test_a_permit_that_cannot_work_is_refused(client: Client, options: tuple[str, ...], problem: str) -> None:
    ran = client.execute(client.route("USDC", "DAI", "2000"), *options, to=USER)
    assert ran.exit_code != 0
    assert problem in ran.stderr


@pytest.mark.parametrize("sold", ["ETH", "USDT"])
def test_a_token_without_permit_is_refused(client: Client, sold: str) -> None:
    ran = client.execute(client.route(sold, "DAI", "1"), "--permit", "--deadline", "20m", to=USER)
    if sold == "ETH":
        assert "--permit: ETH needs no approval" in ran.stderr
    elif client.trader.world.network.router_dialect == UNIVERSAL_ROUTER:
        assert ran.json["primaryType"] == "PermitSingle"
    else:
        assert "has no EIP-2612 permit" in ran.stderr


def test_decode_compares_the_domain_with_the_contract(client: Client) -> None:
    """An honest message passes; one that its contract would not accept does not, whatever it shows."""
    route = client.route("USDC", "DAI", "2000")
    printed = client.execute(route, "--permit", "--deadline", str(int(time()) + 1_200), to=USER)
    env = {"SWAPCLI_CONFIG": str(client.settings)}

    def decode(document: object) -> CommandResult:
        request = {"method": "eth_signTypedData_v4", "params": [USER, json.dumps(document)]}
        return run_swapcli("decode", "-", "--json", stdin=json.dumps(request).encode(), env=env)

    honest = decode(printed.json)
    assert (honest.exit_code, honest.json.get("dangers", [])) == (0, []), honest.stdout
    domain_type = printed.json["types"]["EIP712Domain"]
    with_version = {
        **printed.json,
        "types": {**printed.json["types"], "EIP712Domain": [domain_type[0], VERSION, *domain_type[-2:]]},
        "domain": printed.json["domain"] | {"version": "9"},
    }
    changed = decode(with_version)
    assert changed.exit_code == 7
    assert changed.json.get("dangers", []) == ["MESSAGE_UNKNOWN"]


VERSION = {"name": "version", "type": "string"}
