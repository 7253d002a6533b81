"""`swapcli calldata` and `swapcli execute`: the transaction to sign has the amounts of the replay."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.model.swap_terms import min_received
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Purpose, RouterCall
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.replay import replay
from swapcli.faces.cli.render.payload_view import build_recorded_view
from swapcli.interface.route import parse_result
from swapcli.payload.evm import decode_call, decode_integrator_data
from swapcli.payload.starknet import deserialise_call
from swapcli.payload.transactions_to_send import RenderedTransaction
from tests.examples import examples
from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import DAI, DIRECT_V3, USDC, WETH, build_market_document, build_testnet_market

ROUTER = "0x" + "c0" * 20
WALLET = "0x" + "81" * 20
TO_WALLET = ("--destination", WALLET)
KEY = {"SWAPCLI_API_KEY": "a-key"}
Run = Callable[..., CommandResult]


def document_with_router() -> dict[str, Any]:
    document = build_market_document()
    document["network"]["router"] = ROUTER
    return document


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The small market, whose network has a router."""
    file = tmp_path_factory.mktemp("routed") / "market.json"
    file.write_text(json.dumps(document_with_router()))
    return str(file)


@pytest.fixture(scope="module")
def build(market: str) -> Run:
    """`swapcli calldata testnet ...` to the wallet."""
    return lambda *words, **more: run_swapcli("calldata", "testnet", *words, "--market", market, *TO_WALLET, **more)


@pytest.fixture(scope="module")
def found(market: str) -> Callable[..., bytes]:
    """What `swapcli route testnet ... --json` prints."""
    return lambda *words: run_swapcli("route", "testnet", *words, "--market", market, "--json").stdout.encode()


@pytest.fixture(scope="module")
def execute(market: str) -> Run:
    """`swapcli execute` of a piped route, to the wallet."""
    return lambda route, *words, **more: run_swapcli(
        "execute", "-", "--market", market, *TO_WALLET, *words, stdin=route, **more
    )


def signed(document: dict[str, Any]) -> RouterCall:
    """The call that the printed calldata holds."""
    return decode_call(document["calldata"])


def check_exact(call: RouterCall, route: bytes, slippage_ppm: int) -> None:
    """The call promises what a replay of the route's own document pays out, to the unit, to the wallet."""
    result = parse_result(json.loads(route), build_testnet_market().network)
    done = replay(build_testnet_market().pools, result.route, result.input_amount)
    assert call.route.amount_in == result.input_amount
    assert call.route.amount_out == done.amount_out == result.output_amount
    assert call.route.min_received == min_received(done.amount_out, slippage_ppm)
    assert call.route.recipient == WALLET
    assert [(s.token_in, s.token_out, s.rate) for s in call.swaps] == [
        (s.token_in, s.token_out, s.rate) for s in done.steps
    ]


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize(
    ("order", "kind", "value"),
    [
        (("ETH", "USDC", "1.5"), SwapType.NATIVE_TO_TOKEN, "1500000000000000000"),
        (("USDC", "ETH", "2000"), SwapType.TOKEN_TO_NATIVE, "0"),
        (("DAI", "USDC", "10"), SwapType.TOKEN_TO_TOKEN, "0"),
        (("ETH", "WETH", "1"), SwapType.NATIVE_TO_TOKEN, "1000000000000000000"),
    ],
)
def test_what_is_signed_is_what_the_replay_gives(
    build: Run,
    execute: Run,
    found: Callable[..., bytes],
    order: tuple[str, ...],
    kind: SwapType,
    value: str,
    version: str,
) -> None:
    route = found(*order, "--api-version", version)
    at_once = build(*order, "--api-version", version, "--slippage", "1", "--json").json
    replayed = execute(route, "--slippage", "1", "--json").json
    for document in (at_once, replayed):
        assert document["to"].lower() == ROUTER
        assert document["value"] == value
        assert signed(document).route.swap_type is kind
    assert at_once["calldata"] == replayed["calldata"]
    if "WETH" not in order:
        check_exact(signed(at_once), route, 10_000)


@pytest.mark.parametrize("dialect", ["fibrous", "universal-router"])
def test_a_route_of_fine_shares_has_the_payload_of_its_order(dialect: str) -> None:
    """A deadline makes the payloads of routers that know one comparable."""
    order, router = ("base", "WETH", "USDC", "3000"), ("--router-dialect", dialect, "--offline")
    route = run_swapcli("route", *order, *router, "--json")
    assert any("." in segment["percent"] for segment in route.json["route"])
    terms = (*router, *TO_WALLET, "--max-impact", "100", "--deadline", str(int(time.time()) + 900), "--json")
    at_once = run_swapcli("calldata", *order, *terms).json
    replayed = run_swapcli("execute", "-", *terms, stdin=route.stdout.encode()).json
    for key in ("calldata", "to", "value", "transactions"):
        assert replayed[key] == at_once[key]


@given(units=st.integers(10**12, 10**21), slippage=st.integers(0, 490_000))
@settings(max_examples=examples(6, full=20))
def test_any_amount_and_slippage_is_carried_to_the_unit(
    market: str, found: Callable[..., bytes], units: int, slippage: int
) -> None:
    percent = f"{slippage // 10_000}.{slippage % 10_000:04d}"
    words = ("ETH", "USDC", str(units), "--raw")
    accepted = ("--slippage", percent, "--max-slippage", "49", "--max-impact", "100")
    document = run_swapcli("calldata", "testnet", *words, *accepted, "--market", market, *TO_WALLET, "--json").json
    check_exact(signed(document), found(*words), slippage)


def test_the_json_of_v2_is_v2_calldata_with_what_is_signed(
    build: Run, execute: Run, found: Callable[..., bytes]
) -> None:
    at_once = build("ETH", "USDC", "1", "--json").json
    replayed = execute(found("ETH", "USDC", "1"), "--json").json
    shared = ["route", "swap_parameters", "router_address", "meta", "to", "calldata", "value"]
    shared += [
        "dialect",
        "deadlineEnforcer",
        "witnesses",
        "network",
        "priceImpact",
        "slippage",
        "minReceived",
        "gasUnits",
        "gasPriceWei",
        "gasUsd",
    ]
    shared += [
        "outputAfterGas",
        "gasValueSource",
        "singlePath",
        "unreadGainBps",
        "exact",
        "sampledPools",
        "expiresAt",
        "state",
    ]
    shared += ["warnings"]
    assert list(at_once) == list(replayed) == [*shared, "transactions", "missing"]
    assert at_once["router_address"] == at_once["to"]
    assert at_once["swap_parameters"] == replayed["swap_parameters"]
    assert at_once["route"].items() >= replayed["route"].items()
    assert at_once["route"]["outputAmount"] == replayed["route"]["amount_out"]


def test_the_json_of_v1_is_the_endpoints_own(build: Run, execute: Run, found: Callable[..., bytes]) -> None:
    at_once = build("ETH", "USDC", "1", "--api-version", "v1", "--json").json
    replayed = execute(found("ETH", "USDC", "1", "--api-version", "v1"), "--json").json
    assert list(at_once)[:6] == ["success", "route", "swap_parameters", "calldata", "to", "value"]
    assert list(replayed)[:5] == ["route", "swap_parameters", "calldata", "to", "value"]
    assert "meta" not in at_once
    assert at_once["route"]["min_received"] == replayed["route"]["min_received"]


def test_hyperevm_json_has_the_whole_transaction() -> None:
    route = run_swapcli("route", "hyperevm", "HYPE", "USDT0", "1", "--api-version", "v1", "--json").stdout.encode()
    document = run_swapcli("execute", *TO_WALLET, "--json", stdin=route).json
    assert decode_call(document["calldata"]).route.amount_in == int(document["value"]) == 10**18


def test_a_small_block_limit_leads_to_a_smaller_route(tmp_path: Path) -> None:
    order = ("hyperevm", "HYPE", "USDT0", "40000", "--max-impact", "100")
    free = run_swapcli("calldata", *order, *TO_WALLET, "--json").json
    config = tmp_path / "config.yaml"
    config.write_text("networks: {hyperevm: {block_gas_limit: 1500000}}")
    env = {"SWAPCLI_CONFIG": str(config)}
    small = run_swapcli("calldata", *order, *TO_WALLET, "--json", env=env)
    assert small.exit_code == 0, small.stderr
    assert len(small.json["swap_parameters"]) < len(free["swap_parameters"])
    assert int(small.json["route"]["amount_out"]) < int(free["route"]["amount_out"])
    assert int(small.json["route"]["estimatedGasUsed"]) <= 1_500_000 * 2 // 3 * find_network("hyperevm").gas_price_wei
    route = run_swapcli("route", *order[:4], "--json").stdout.encode()
    refused = run_swapcli("execute", *TO_WALLET, "--max-impact", "100", "--json", stdin=route, env=env)
    assert (refused.exit_code, refused.error["code"]) == (2, "INVALID_ROUTE")


def test_a_route_finds_its_network_by_itself() -> None:
    route = run_swapcli("route", "monad", "MON", "USDC", "1", "--json").stdout.encode()
    assert run_swapcli("execute", *TO_WALLET, "--json", stdin=route).json["network"] == "monad"
    assert run_swapcli("execute", *TO_WALLET, "--network", "143", "--get", "network", stdin=route).stdout == "monad\n"
    env = {"SWAPCLI_NETWORK": "base"}
    assert run_swapcli("execute", *TO_WALLET, "--get", "network", stdin=route, env=env).stdout == "monad\n"


def test_a_route_that_names_no_network_needs_one() -> None:
    document = run_swapcli("route", "monad", "MON", "USDC", "1", "--json").json
    del document["network"]
    route = json.dumps(document).encode()
    refused = run_swapcli("execute", *TO_WALLET, stdin=route)
    assert (refused.exit_code, refused.stderr.splitlines()) == (
        2,
        ["error: the route does not name its network", "hint:  add --network NAME"],
    )
    assert run_swapcli("execute", *TO_WALLET, "--network", "monad", stdin=route).exit_code == 0
    assert run_swapcli("execute", *TO_WALLET, stdin=route, env={"SWAPCLI_NETWORK": "monad"}).exit_code == 0


def test_a_route_is_not_taken_to_another_network() -> None:
    route = run_swapcli("route", "monad", "MON", "USDC", "1", "--json").stdout.encode()
    assert run_swapcli("execute", *TO_WALLET, "--network", "base", stdin=route).stderr.startswith(
        "error: the route is for monad, not for base\n"
    )


def test_a_route_may_be_in_a_file(market: str, found: Callable[..., bytes], tmp_path: Path) -> None:
    file = tmp_path / "route.json"
    file.write_bytes(found("ETH", "USDC", "1"))
    assert run_swapcli("execute", str(file), "--market", market, *TO_WALLET).exit_code == 0


@pytest.mark.parametrize(
    ("route", "code", "status"),
    [
        (b"", "INVALID_INPUT", 2),
        (b"[]", "INVALID_INPUT", 2),
        (b'"x"', "INVALID_INPUT", 2),
        (b"{", "INVALID_INPUT", 2),
        (b'{"network":"testnet","network":"testnet"}', "INVALID_INPUT", 2),
        (b'{"network":"testnet"}', "INVALID_INPUT", 2),
        (b'{"network":"nowhere"}', "INVALID_INPUT", 2),
        (b'{"network":["testnet"]}', "INVALID_OPTION", 2),
        (b'{"network":"testnet","success":false,"errorMessage":"no route"}', "NO_ROUTE", 3),
    ],
)
def test_what_is_no_route_is_told_so(execute: Run, route: bytes, code: str, status: int) -> None:
    ran = execute(route, "--json")
    assert (ran.error["code"], ran.exit_code, ran.stdout) == (code, status, "")


def test_execute_does_not_wait_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swapcli.faces.cli.commands.execute.is_stdin_terminal", lambda: True)
    ran = run_swapcli("execute", *TO_WALLET)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: no route given: add its file, or pipe it in\n")
    assert f"| swapcli execute {' '.join(TO_WALLET)}" in ran.stderr


def changed(route: bytes, **values: Any) -> bytes:
    return json.dumps(json.loads(route) | values).encode()


def issued_at(unix_s: float) -> dict[str, str]:
    timestamp = datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"apiVersion": "2.0", "timestamp": timestamp}


def test_an_old_route_is_refused_and_how_old_is_a_setting(execute: Run, found: Callable[..., bytes]) -> None:
    old = changed(found("ETH", "USDC", "1"), meta=issued_at(time.time() - 90))
    refused = execute(old, "--json")
    assert (refused.exit_code, refused.error["code"]) == (6, "ROUTE_EXPIRED")
    assert execute(old, env={"SWAPCLI_ROUTE_TTL_S": "200"}).exit_code == 0


def test_a_route_above_the_replayed_output_is_refused(execute: Run, found: Callable[..., bytes]) -> None:
    route = found("ETH", "USDC", "1")
    promised = int(json.loads(route)["outputAmount"])
    greedy = changed(route, outputAmount=str(promised * 102 // 100))
    refused = execute(greedy, "--slippage", "1", "--json")
    assert (refused.exit_code, refused.error["code"]) == (6, "SLIPPAGE_EXCEEDED")
    assert signed(execute(greedy, "--slippage", "3", "--json").json).route.amount_out == promised


def test_an_unknown_pool_is_an_invalid_route(execute: Run, found: Callable[..., bytes]) -> None:
    route = found("ETH", "USDC", "1", "--direct").lower().replace(DIRECT_V3.encode(), b"0x" + b"7" * 40)
    for name in (b"routeSwapType", b"inputToken", b"inputAmount", b"outputToken", b"outputAmount", b"poolName",
                 b"poolAddress", b"fromTokenAddress", b"toTokenAddress", b"extraData", b"estimatedGasUsedInUsd",
                 b"estimatedGasUsed", b"apiVersion"):  # fmt: skip
        route = route.replace(b'"' + name.lower() + b'"', b'"' + name + b'"')
    document = json.loads(route)
    document["meta"]["timestamp"] = document["meta"]["timestamp"].upper()
    ran = execute(json.dumps(document).encode(), "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_ROUTE")


@pytest.mark.parametrize("command", ["calldata", "execute"])
def test_there_is_no_default_recipient(market: str, found: Callable[..., bytes], command: str) -> None:
    words = ["testnet", "ETH", "USDC", "1"] if command == "calldata" else ["-"]
    ran = run_swapcli(command, *words, "--market", market, stdin=found("ETH", "USDC", "1"))
    assert ran.exit_code == 2
    assert ran.stderr == ("error: a transaction needs a recipient\nhint:  add --destination ADDRESS\n")


@pytest.mark.parametrize("unusable", ["0x" + "0" * 40, "0x" + "e" * 40, "0x" + "E" * 40])
def test_what_nobody_holds_the_key_of_is_not_paid(market: str, unusable: str) -> None:
    ran = run_swapcli(
        "calldata", "testnet", "ETH", "USDC", "1", "--market", market, "--destination", unusable, "--json"
    )
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_ADDRESS")


@pytest.mark.parametrize(
    ("version", "slippage", "fits"),
    [
        ("v1", "0.1", True), ("v1", "0.0999", False), ("v1", "100", True), ("v1", "100.1", False),
        ("v2", "0", True), ("v2", "49", True), ("v2", "49.0001", False), ("v2", "-1", False),
    ],
)  # fmt: skip
def test_slippage_has_the_range_of_its_generation(
    build: Run, execute: Run, found: Callable[..., bytes], version: str, slippage: str, fits: bool
) -> None:
    route = found("ETH", "USDC", "1", "--api-version", version)
    terms = (f"--slippage={slippage}", "--max-slippage", "100")
    expected = 0 if fits else 2
    assert build("ETH", "USDC", "1", "--api-version", version, *terms).exit_code == expected
    assert execute(route, *terms).exit_code == expected


def test_a_network_without_a_router_says_which_setting_names_one(market_file: str) -> None:
    words = ("calldata", "testnet", "ETH", "USDC", "1", "--market", market_file, *TO_WALLET)
    ran = run_swapcli(*words)
    assert ran.exit_code == 2
    assert ran.stderr.splitlines()[-1] == "hint:  set networks.testnet.router"


def test_an_integrator_fee_is_in_the_call(build: Run) -> None:
    options = ("--integrator-address", "0x" + "9" * 40, "--integrator-fee-bps", "100", "--slippage", "0")
    document = build("WETH", "USDC", "1", *options, "--json", env=KEY).json
    call = signed(document)
    shares = decode_integrator_data(call.integrator_data)
    assert shares is not None
    assert (shares.address, shares.fee_bps) == ("0x" + "9" * 40, 100)
    assert call.route.min_received == int(document["route"]["outputAmountAfterFee"])
    assert document["integrator_data"] == "0x" + call.integrator_data.hex()


# What is printed.


def lines_of(out: str) -> dict[str, str]:
    """The values of the transaction, by name. A value that does not fit beside its name is on the next line."""
    return dict(re.findall(r"^(to|value|calldata)\s+(\S+)$", out, re.MULTILINE))


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_people_get_the_same_transaction_as_programs(
    build: Run, execute: Run, found: Callable[..., bytes], form: str
) -> None:
    document = build("ETH", "USDC", "1.5", "--json").json
    expected = {name: document[name] for name in ("to", "value", "calldata")}
    assert lines_of(build("ETH", "USDC", "1.5", form).stdout) == expected
    assert lines_of(execute(found("ETH", "USDC", "1.5"), form).stdout) == expected


@pytest.mark.parametrize(
    "field", ["to", "calldata", "value", "network", "router_address", "route.min_received", "swap_parameters.0.rate"]
)
def test_one_field_is_told_raw(build: Run, field: str) -> None:
    value: Any = build("ETH", "USDC", "1", "--json").json
    for name in field.split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    assert build("ETH", "USDC", "1", "--get", field).stdout == f"{value}\n"


def test_a_field_that_is_no_text_is_told_as_json(build: Run) -> None:
    parts = json.loads(build("ETH", "USDC", "1", "--get", "swap_parameters").stdout)
    assert parts == build("ETH", "USDC", "1", "--json").json["swap_parameters"]
    assert build("ETH", "USDC", "1", "--get", "route.success").stdout == "true\n"
    assert build("ETH", "USDC", "1", "--get", "state.block").stdout == "1234\n"


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ("", "route, swap_parameters"),
        ("Calldata", "did you mean calldata?"),
        ("calldata.x", "calldata is a single value"),
        ("route.minimum", "amount_in, amount_out, min_received"),
        ("swap_parameters.99", "the list has"),
        ("route..", "token_in"),
    ],
)
def test_an_unknown_field_is_refused_with_those_that_are_there(build: Run, field: str, named: str) -> None:
    ran = build("ETH", "USDC", "1", "--get", field, "--json")
    assert (ran.exit_code, ran.stdout, ran.error["code"]) == (2, "", "INVALID_OPTION")
    assert named in ran.error["hint"]


def test_approval_comes_first_where_a_token_is_sold(build: Run) -> None:
    document = build("USDC", "ETH", "2000", "--json").json
    approve, swap = document["transactions"]
    assert list(approve) == list(swap) == ["to", "data", "value", "chainId", "what"]
    assert [approve["what"], swap["what"]] == ["approve", "swap"]
    assert (swap["to"], swap["data"], str(swap["value"])) == tuple(
        document[name] for name in ("to", "calldata", "value")
    )
    words = approve["data"][10:]
    assert (approve["to"].lower(), approve["value"], approve["data"][:10]) == (USDC, 0, "0x095ea7b3")
    assert (int(words[:64], 16), int(words[64:], 16)) == (int(ROUTER, 16), 2000 * 10**6)


def test_the_native_token_needs_no_approval(build: Run) -> None:
    (swap,) = build("ETH", "USDC", "1", "--json").json["transactions"]
    assert (swap["what"], swap["value"], swap["chainId"]) == (
        "swap",
        hex(10**18),
        build_testnet_market().network.chain_id,
    )
    assert "allowance" not in build("ETH", "USDC", "1").stderr
    assert "approve the router first: --with-approval" in build("USDC", "ETH", "1").stderr
    assert "allowance" not in build("USDC", "ETH", "1", "--with-approval").stderr


@pytest.mark.parametrize(("amount", "value"), [("0.001", 10**15), ("0.01", hex(10**16))])
def test_large_quantities_are_hex(build: Run, amount: str, value: object) -> None:
    """JavaScript reads integers beyond 2^53 inexactly, and viem encodes the hex of zero wrongly."""
    assert build("ETH", "USDC", amount, "--json").json["transactions"][-1]["value"] == value


def test_offline_output_names_the_missing_fields(build: Run) -> None:
    for document in (build("USDC", "ETH", "1", "--json").json, build("ETH", "USDC", "1", "--json", "--offline").json):
        (missing,) = document["missing"]
        assert missing == "no from, nonce, gas and fees: they need --from ADDRESS and a node"
        names = ("from", "nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "type", "calldata")
        assert not any(name in each for each in document["transactions"] for name in names)


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_people_read_the_transactions_in_order(build: Run, form: str) -> None:
    out = build("USDC", "ETH", "2000", "--with-approval", form).stdout
    assert out.index("1. Approve the router to spend 2,000 USDC") < out.index("0x095ea7b3") < out.index("2. Swap")
    document = build("USDC", "ETH", "2000", "--with-approval", "--json").json
    assert all(each["data"] in out.split() for each in document["transactions"])


def test_starknet_tells_calls_with_their_entry_points_and_felts() -> None:
    words = (
        "starknet",
        "STRK",
        "USDC",
        "100",
        "--destination",
        "0x123456789012345678901234567890123456789012345678901234567890",
        "--with-approval",
    )
    document = run_swapcli("calldata", *words, "--json").json
    assert "missing" not in document
    approve, swap = document["transactions"]
    assert list(swap) == ["to", "entrypoint", "calldata", "value", "what"]
    assert [(each["what"], each["entrypoint"]) for each in (approve, swap)] == [("approve",) * 2, ("swap",) * 2]
    call = deserialise_call([int(felt) for felt in swap["calldata"]])
    assert call.route.min_received == int(document["route"]["min_received"])
    assert int(call.route.recipient, 16) == 0x123456789012345678901234567890123456789012345678901234567890
    assert [int(felt) for felt in approve["calldata"]] == [int(swap["to"], 16), 100 * 10**18, 0]
    plain = run_swapcli("calldata", *words, "--format=plain").stdout
    assert " ".join(swap["calldata"]) in plain


@pytest.mark.parametrize("full", [True, False])
def test_only_on_request_is_calldata_without_its_middle(full: bool) -> None:
    sending = RenderedTransaction(Purpose.SWAP, ROUTER, "0x" + "ab" * 1000, "0")
    ((_, _), (_, _), (_, shown)) = build_recorded_view([sending], full=full).transactions[0].lines
    assert (shown == sending.calldata) == full
    if not full:
        assert shown == f"{sending.calldata[:18]}…{sending.calldata[-8:]} (2,002 characters; -v shows all)"


def test_what_is_short_is_never_cut() -> None:
    sending = RenderedTransaction(Purpose.SWAP, ROUTER, "0x" + "ab" * 30, str(2**256 - 1))
    lines = dict(build_recorded_view([sending], full=False).transactions[0].lines)
    assert lines == {"to": ROUTER, "value": str(2**256 - 1), "calldata": sending.calldata}


# What is warned of.


def test_a_payload_of_state_that_is_not_live_is_not_to_be_signed(
    build: Run, execute: Run, found: Callable[..., bytes]
) -> None:
    warning = "warning: do not sign: these are not live prices"
    for ran in (build("ETH", "USDC", "1"), build("ETH", "USDC", "1", "--json"), execute(found("ETH", "USDC", "1"))):
        assert ran.stderr.splitlines().count(warning) == 1


def test_the_public_router_is_warned_of_and_ones_own_is_not() -> None:
    words = ("calldata", "base", "ETH", "USDC", "1", *TO_WALLET)
    assert "simulate first: the router has no deadline" in run_swapcli(*words).stderr
    assert "simulate first: the router has no deadline" in run_swapcli(*words, "--get", "to").stderr
    own = run_swapcli(*words, "--json", env={"SWAPCLI_NETWORKS_BASE_ROUTER": ROUTER})
    assert "simulate" not in own.stderr
    assert own.json["to"].lower() == ROUTER


def test_errors_stand_alone_on_stderr_in_json(tmp_path: Path) -> None:
    document = document_with_router()
    document["pools"][0]["reserves"] = ["-1", "1"]
    file = tmp_path / "market.json"
    file.write_text(json.dumps(document))
    words = ("--market", str(file), "--json", *TO_WALLET)
    assert run_swapcli("calldata", "testnet", "ETH", "USDC", "1", *words).error["code"] == "POOL_STATE_ERROR"
    assert run_swapcli("route", "testnet", "ETH", "USDC", "1", *words).error["code"] == "POOL_STATE_ERROR"


@pytest.mark.parametrize("deadline", ["20m", "+1200", "1.5h", "3d", "+30s", "4000000000"])
def test_a_deadline_ahead_is_said_not_to_bind(execute: Run, found: Callable[..., bytes], deadline: str) -> None:
    ran = execute(found("ETH", "USDC", "1"), "--deadline", deadline)
    assert ran.exit_code == 0
    assert "warning: the router's swap has no deadline" in ran.stderr


@pytest.mark.parametrize(
    "deadline", ["1", "0", "0m", "+0", "-1", "soon", "1.5", "3x", "", "9" * 30, "9" * 12 + "h", "１"]
)
def test_a_deadline_that_is_none_or_has_passed_is_refused(
    execute: Run, found: Callable[..., bytes], deadline: str
) -> None:
    ran = execute(found("ETH", "USDC", "1"), f"--deadline={deadline}", "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_DEADLINE")


def test_a_deadline_in_milliseconds_is_recognised(execute: Run, found: Callable[..., bytes]) -> None:
    meant_s = int(time.time()) + 900
    ran = execute(found("ETH", "USDC", "1"), f"--deadline={meant_s}123", "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_DEADLINE")
    assert f"{meant_s}123 looks like milliseconds" in ran.error["message"]
    assert ran.error["hint"] == f"write {meant_s}"


def test_one_stdin_is_not_read_twice(found: Callable[..., bytes]) -> None:
    ran = run_swapcli("execute", "-", "--market", "-", *TO_WALLET, stdin=found("ETH", "USDC", "1"))
    assert ran.stderr.startswith("error: the route and --market cannot both be read from stdin")


def test_the_tokens_of_a_call_are_named_as_they_were_ordered(execute: Run, found: Callable[..., bytes]) -> None:
    out = execute(found("USDC", "ETH", "2000")).stdout
    assert re.match(r"2,000 USDC → 0\.\d{6} ETH on testnet ", out)
    assert f"Recipient  {WALLET}" in out


def test_the_wrapped_token_is_not_the_native_one(build: Run) -> None:
    assert build("WETH", "DAI", "1", "--get", "value").stdout == "0\n"
    assert signed(build("WETH", "DAI", "1", "--json").json).route.token_in == WETH
    assert signed(build("ETH", "DAI", "1", "--json").json).route.token_out == DAI
