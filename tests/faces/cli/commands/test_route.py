"""`swapcli route`: what it answers, in every form, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.token import whole_tokens
from swapcli.core.routing.replay import replay
from swapcli.interface.route import parse_result
from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import DIRECT_V2, LONELY, TWIN_A, TWIN_B, USDC, WETH, build_testnet_market, write_market_file

Route = Callable[..., CommandResult]
KEY = {"SWAPCLI_API_KEY": "a-key"}
WALLET = "0x" + "9" * 40


def test_the_json_is_one_route_result_that_replays_to_the_unit(route: Route) -> None:
    ran = route("ETH", "USDC", "1.5", "--json")
    result = parse_result(ran.json, build_testnet_market().network)
    done = replay(build_testnet_market().pools, result.route, result.input_amount)
    assert (ran.exit_code, ran.stderr.count("\n"), ran.stderr[:9]) == (0, 1, "warning: ")
    assert result.input_amount == 15 * 10**17
    assert done.amount_out == result.output_amount


def test_people_read_the_same_amount_as_programs(route: Route) -> None:
    units = int(route("ETH", "USDC", "1.5", "--json").json["outputAmount"])
    first, *_ = route("ETH", "USDC", "1.5").stdout.splitlines()
    assert f"→ {units // 10**6:,}.{units // 10**4 % 100:02d} USDC on testnet" in first
    everything = route("ETH", "USDC", "1.5", "--verbose").stdout
    assert f"{units} base units" in everything
    assert f"{units // 10**6:,}.{units % 10**6:06d}".rstrip("0") in everything


def test_a_one_hop_order_takes_few_lines() -> None:
    for order in (("ETH", "USDC", "1"), ("USDC", "ETH", "500"), ("USDC", "DAI", "1000")):
        ran = run_swapcli("route", "base", *order, "--offline", "--format=table")
        lines = ran.stdout.splitlines()
        assert (len(lines) <= 12, max(map(len, lines)) <= 80) == (True, True)
        assert (ran.stdout + ran.stderr).count("modelled") == 1


def test_the_first_line_labels_prices_that_are_not_real(route: Route) -> None:
    for form in ("--format=plain", "--format=table"):
        ran = route("ETH", "USDC", "1.5", form)
        assert "synthetic, not live prices" in ran.stdout.splitlines()[0]
        assert (ran.stdout.count("synthetic"), ran.stderr) == (1, "")


def test_a_pipe_gets_plain_text_and_may_ask_for_a_table(route: Route) -> None:
    assert route("ETH", "USDC", "1.5").stdout == route("ETH", "USDC", "1.5", "--format=plain").stdout
    assert "\x1b" not in route("ETH", "USDC", "1.5", "--format=table").stdout
    assert "\x1b[1;32m" in route("ETH", "USDC", "1.5", "--format=table", "--color", "always").stdout


def test_no_color_is_respected_unless_an_option_says_otherwise(route: Route) -> None:
    env = {"NO_COLOR": "1", "FORCE_COLOR": "1"}
    assert "\x1b[1;32m" not in route("ETH", "USDC", "1.5", "--format=table", env=env).stdout
    assert "\x1b[1;32m" in route("ETH", "USDC", "1.5", "--format=table", "--color", "always", env=env).stdout
    assert "\x1b" not in route("ETH", "USDC", "1.5", "--format=table", "--color", "never", env=env).stdout


@pytest.mark.parametrize("amount", ["1.5", "1500000000000000000 --raw"])
def test_amounts_are_whole_tokens_unless_raw(route: Route, amount: str) -> None:
    assert route("ETH", "USDC", *amount.split(), "--json").json["inputAmount"] == "1500000000000000000"


@pytest.mark.parametrize("name", ["eth", "ETH", "0x" + "0" * 40, "0x" + "e" * 40, "0x" + "E" * 40, "0XeE" + "e" * 38])
def test_the_native_token_has_many_names(route: Route, name: str) -> None:
    assert route(name, "USDC", "1", "--json").json["routeSwapType"] == 0


@pytest.mark.parametrize("name", ["WETH", "weth", WETH])
def test_a_token_is_named_by_symbol_or_address(route: Route, name: str) -> None:
    assert route(name, "dai", "1", "--json").json["routeSwapType"] == 2


def test_both_generations_write_the_native_token_their_own_way(route: Route) -> None:
    v1, v2 = (route("USDC", "ETH", "100", "--json", "--api-version", v).json for v in ("v1", "v2"))
    assert (v1["routeSwapType"], v1["outputToken"]["address"]) == (0, "0x" + "0" * 40)
    assert (v2["routeSwapType"], v2["outputToken"]["address"]) == (1, WETH)
    assert "meta" in v2
    assert "meta" not in v1


def test_wrapping_is_one_to_one_and_needs_no_pool(route: Route) -> None:
    wrap, unwrap = route("ETH", "WETH", "2", "--json").json, route("WETH", "ETH", "2", "--json").json
    assert wrap["outputAmount"] == wrap["inputAmount"] == "2000000000000000000"
    assert [wrap["routeSwapType"], unwrap["routeSwapType"]] == [0, 1]
    (swap,) = wrap["route"][0]["swaps"][0]
    assert (swap["protocol"], swap["poolAddress"]) == (0, WETH)


def test_reverse_finds_the_least_input_for_the_wanted_output(route: Route) -> None:
    document = route("ETH", "USDC", "1000", "--reverse", "--json").json
    assert int(document["outputAmount"]) >= 1_000_000_000
    forward = route("ETH", "USDC", document["inputAmount"], "--raw", "--json").json
    assert abs(int(forward["outputAmount"]) - 1_000_000_000) < 1_000_000


def test_direct_uses_one_hop(route: Route) -> None:
    document = route("ETH", "USDC", "100", "--direct", "--json").json
    assert {len(segment["swaps"]) for segment in document["route"]} == {1}
    assert route("USDC", TWIN_A, "1", "--direct", "--json").exit_code == 3


def test_fewer_hops_are_as_direct(route: Route) -> None:
    direct, one = (route("ETH", "USDC", "100", *o, "--json").json for o in (["--direct"], ["--max-hops", "1"]))
    assert direct["route"] == one["route"]


@pytest.mark.parametrize("excluded", [["5"], ["uniswapV3"], ["UNISWAPV3"], ["0,5"], ["0", "--exclude-protocols", "5"]])
def test_excluded_protocols_are_not_used(route: Route, excluded: list[str]) -> None:
    document = route("ETH", "USDC", "100", "--exclude-protocols", *excluded, "--json").json
    used = {swap["protocol"] for segment in document["route"] for hop in segment["swaps"] for swap in hop}
    assert used == {4}


@pytest.mark.parametrize("allowed", [["4"], ["uniswapV2"], ["UNISWAPV2,0"], ["0", "--only-protocols", "4"]])
def test_only_allowed_protocols_are_used(route: Route, allowed: list[str]) -> None:
    """The wrapper (0) trades nothing in this order."""
    excluded = route("ETH", "USDC", "100", "--exclude-protocols", "0,5", "--json").json
    document = route("ETH", "USDC", "100", "--only-protocols", *allowed, "--json").json
    assert document["outputAmount"] == excluded["outputAmount"]
    assert document["route"] == excluded["route"]


def test_allowed_protocols_are_explained_in_errors(route: Route) -> None:
    error = route("ETH", "USDC", "1", "--only-protocols", "uniswapV9, 5,77", "--json").error
    assert (error["code"], error["details"]["unknown"]) == ("UNKNOWN_PROTOCOL", ["uniswapV9", "77"])
    refused = route("ETH", "USDC", "1", "--only-protocols", "4", "--exclude-protocols", "4")
    assert (refused.exit_code, refused.stderr.splitlines()[0]) == (
        2,
        "error: every allowed protocol is also excluded: uniswapV2",
    )
    unjoined = route("ETH", "USDC", "1", "--only-protocols", "0", "--json").error
    assert unjoined["message"] == "no route from ETH to USDC in at most 8 hops with only wrapper: 0 pools tried"
    assert unjoined["hint"] == "allow more protocols"


@pytest.mark.parametrize(
    ("settings", "options", "hint"),
    [
        (["only"], ["exclude"], "exclude fewer protocols, or allow others in the setting only_protocols"),
        (["exclude"], ["only"], "exclude fewer protocols in the setting exclude_protocols, or allow others"),
        ([], ["only", "exclude"], "exclude fewer protocols, or allow others"),
    ],
)
def test_the_setting_that_leaves_no_protocol_is_named(
    market_file: str, settings: list[str], options: list[str], hint: str
) -> None:
    order = ("route", "testnet", "ETH", "USDC", "1", "--market", market_file, "--json")
    env = {f"SWAPCLI_{each.upper()}_PROTOCOLS": "4" for each in settings}
    error = run_swapcli(*order, *(f"--{each}-protocols=4" for each in options), env=env).error
    assert (error["message"], error["hint"]) == ("every allowed protocol is also excluded: uniswapV2", hint)


def test_unknown_protocols_are_all_named(route: Route) -> None:
    error = route("ETH", "USDC", "1", "--exclude-protocols", "uniswapV9, 5,77", "--json").error
    assert error["code"] == "UNKNOWN_PROTOCOL"
    assert error["details"]["unknown"] == ["uniswapV9", "77"]


@pytest.mark.parametrize(
    ("slippage", "ppm"), [("0.5", 5_000), ("0.5%", 5_000), ("50bps", 5_000), ("0", 0), ("1.2345", 12_345)]
)
def test_slippage_bounds_what_is_received_exactly(route: Route, slippage: str, ppm: int) -> None:
    output = int(route("ETH", "USDC", "1", "--json").json["outputAmount"])
    out = route("ETH", "USDC", "1", "--slippage", slippage, "--verbose").stdout
    least = next(line for line in out.splitlines() if line.startswith("At least"))
    assert least.split()[2] == whole_tokens(output - output * ppm // 1_000_000, 6)


@pytest.mark.parametrize(("slippage", "version"), [("49.0001", "v2"), ("0.05", "v1"), ("100.1", "v1")])
def test_slippage_out_of_its_generations_range_is_refused(route: Route, slippage: str, version: str) -> None:
    ran = route("ETH", "USDC", "1", "--slippage", slippage, "--api-version", version)
    assert ran.exit_code == 2
    assert "slippage" in ran.stderr


def test_gas_price_has_units_and_counts(route: Route) -> None:
    wei, gwei = (route("ETH", "USDC", "1", "--gas-price", p, "--json").json for p in ("2500000000", "2.5gwei"))
    assert wei["estimatedGasUsed"] == gwei["estimatedGasUsed"] != "0"
    units = int(
        route("ETH", "USDC", "1", "--gas-price", "2.5gwei", "--api-version", "v1", "--json").json["estimatedGasUsed"]
    )
    assert int(wei["estimatedGasUsed"]) == units * 2_500_000_000


def test_a_certificate_bounds_what_any_router_could_do(route: Route) -> None:
    document = route("ETH", "USDC", "100", "--certify", "--json").json
    assert int(document["certificate"]["bound"]) >= int(document["outputAmount"])
    assert document["certificate"]["gapBps"] < 1
    assert "Optimality" in route("ETH", "USDC", "100", "--certify").stdout


def test_an_integrator_fee_comes_off_the_output(route: Route) -> None:
    options = ["--integrator-address", WALLET, "--integrator-fee-bps", "100"]
    document = route("WETH", "ETH", "1", *options, "--json", env=KEY).json
    assert document["outputAmountAfterFee"] == "990000000000000000"
    assert document["integratorFeePercentageBps"] == 100
    assert document["integratorAddress"] == WALLET
    people = route("WETH", "ETH", "1", *options, "--slippage", "1", env=KEY).stdout
    assert "  after fee 0.99 " in people


WRONG_CHECKSUM = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"
INTEGRATORS: list[tuple[dict[str, str], dict[str, str], str, int]] = [
    ({"address": WALLET}, {}, "INTEGRATOR_ERROR", 4),
    ({"fee_bps": "1"}, {}, "INTEGRATOR_ERROR", 4),
    ({"address": WALLET, "fee_bps": "1", "surplus_bps": "1"}, KEY, "INTEGRATOR_ERROR", 4),
    ({"fee_bps": "1"}, KEY, "INTEGRATOR_ERROR", 4),
    ({"address": WALLET, "fee_bps": "1"}, KEY | {"SWAPCLI_API_VERSION": "v1"}, "INTEGRATOR_ERROR", 4),
    ({"address": "0x12"}, KEY, "INVALID_ADDRESS", 2),
    ({"address": WRONG_CHECKSUM}, KEY, "INVALID_ADDRESS", 2),
    ({"fee_bps": "501"}, KEY, "CONFIG_ERROR", 2),
    ({"surplus_bps": "5001"}, KEY, "CONFIG_ERROR", 2),
    ({"fee_bps": "-1"}, KEY, "CONFIG_ERROR", 2),
]


@pytest.mark.parametrize("given_by", ["options", "environment", "file"])
@pytest.mark.parametrize(("integrator", "env", "code", "status"), INTEGRATORS)
def test_integrator_rules_hold_wherever_they_are_given(
    route: Route, tmp_path: Path, integrator: dict[str, str], env: dict[str, str], code: str, status: int, given_by: str
) -> None:
    options: list[str] = []
    if given_by == "options":
        options = [f"--integrator-{name.replace('_', '-')}={value}" for name, value in integrator.items()]
    elif given_by == "environment":
        env = env | {f"SWAPCLI_INTEGRATOR_{name.upper()}": value for name, value in integrator.items()}
    else:
        file = tmp_path / "config.yaml"
        file.write_text("".join(["integrator:\n", *(f"  {name}: {value}\n" for name, value in integrator.items())]))
        options = ["--config", str(file)]
    ran = route("ETH", "USDC", "1", *options, "--json", env=env)
    assert (ran.error["code"], ran.exit_code) == (code, status)


def test_an_option_switches_off_what_the_settings_give(route: Route) -> None:
    env = KEY | {"SWAPCLI_INTEGRATOR_ADDRESS": WALLET, "SWAPCLI_INTEGRATOR_FEE_BPS": "10"}
    options = ["--integrator-fee-bps", "0", "--integrator-surplus-bps", "7"]
    document = route("ETH", "USDC", "1", *options, "--json", env=env).json
    assert document["integratorSurplusPercentageBps"] == 7
    assert "integratorFeePercentageBps" not in document


def test_a_network_without_v2_says_why_there_is_no_integrator() -> None:
    env = KEY | {"SWAPCLI_INTEGRATOR_ADDRESS": WALLET, "SWAPCLI_INTEGRATOR_FEE_BPS": "10"}
    error = run_swapcli("route", "starknet", "STRK", "USDC", "1", "--json", env=env).error
    assert (error["code"], error["hint"]) == ("INTEGRATOR_ERROR", "remove them: starknet does not support v2")


def test_the_api_key_may_be_in_a_file(route: Route, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("a-key\n")
    options = ["--integrator-address", WALLET, "--json"]
    assert route("ETH", "USDC", "1", *options, env={"SWAPCLI_API_KEY_FILE": str(file)}).exit_code == 0
    file.write_text("\n")
    assert route("ETH", "USDC", "1", *options, env={"SWAPCLI_API_KEY_FILE": str(file)}).exit_code == 4
    assert route("ETH", "USDC", "1", *options, env={"SWAPCLI_API_KEY_FILE": "/nonexistent"}).exit_code == 2


def test_an_integrator_share_of_zero_counts_as_none(route: Route) -> None:
    ran = route("ETH", "USDC", "1", "--integrator-fee-bps", "0", "--integrator-surplus-bps", "0", "--json")
    assert ran.exit_code == 0
    assert not [key for key in ran.json if key.startswith("integrator")]


REFUSED: list[tuple[list[str], str, int]] = [
    (["ETH", "ETH", "1"], "SAME_TOKEN", 2),
    (["ETH", "0x" + "0" * 40, "1"], "SAME_TOKEN", 2),
    (["ETH", "USDQ", "1"], "UNKNOWN_TOKEN", 2),
    (["ETH", "0x" + "77" * 20, "1"], "UNKNOWN_TOKEN", 2),
    (["ETH", "0x123", "1"], "INVALID_ADDRESS", 2),
    (["ETH", "TWIN", "1"], "AMBIGUOUS_TOKEN", 2),
    (["ETH", "USDC", "0"], "INVALID_AMOUNT", 2),
    (["ETH", "USDC", "1.0000000000000000001"], "INVALID_AMOUNT", 2),
    (["ETH", "USDC", str(2**256), "--raw"], "INVALID_AMOUNT", 2),
    (["ETH", "USDC", "1e18"], "INVALID_AMOUNT", 2),
    (["ETH", "USDC", "-1"], "USAGE", 2),
    (["ETH", "USDC"], "USAGE", 2),
    (["ETH", "USDC", "1", "2"], "USAGE", 2),
    (["ETH", "USDC", "1", "--nonsense"], "USAGE", 2),
    (["ETH", "USDC", "1", "--json=yes"], "USAGE", 2),
    (["ETH", "USDC", "1", "--slippage", "abc"], "CONFIG_ERROR", 2),
    (["ETH", "USDC", "1", "--max-hops", "0"], "CONFIG_ERROR", 2),
    (["ETH", "USDC", "1", "--gas-price", "1.5"], "CONFIG_ERROR", 2),
    (["ETH", "USDC", "1", "--api-version", "v3"], "CONFIG_ERROR", 2),
    (["ETH", "USDC", "1", "--color", "blue"], "CONFIG_ERROR", 2),
    (["ETH", "USDC", "1", "--destination", "nobody"], "INVALID_ADDRESS", 2),
    (["ETH", "USDC", "1", "--format=plain"], "INVALID_OPTION", 2),
    (["ETH", "USDC", "1", "--config", "/nonexistent/config.yaml"], "CONFIG_ERROR", 2),
    (["ETH", LONELY, "1"], "NO_ROUTE", 3),
    (["ETH", TWIN_B, "1"], "NO_ROUTE", 3),
    (["ETH", TWIN_A, "1"], "NO_ROUTE", 3),
]


@pytest.mark.parametrize(("arguments", "code", "status"), REFUSED)
def test_what_cannot_be_done_is_one_json_object_on_stderr(
    route: Route, arguments: list[str], code: str, status: int
) -> None:
    ran = route(*arguments, "--json")
    assert (ran.error["code"], ran.exit_code, ran.stdout) == (code, status, "")
    keys = ["code", "message", "details", "hint", "retryable", "exitCode"]
    assert list(ran.error) == [key for key in keys if key in {"code", "message", "retryable", "exitCode", *ran.error}]
    assert ran.error["exitCode"] == status


def test_an_invalid_address_names_its_option(route: Route) -> None:
    assert route("ETH", "USDC", "1", "--destination", "0x12").stderr.startswith(
        'error: --destination: "0x12" is not an'
    )
    ran = route("ETH", "USDC", "1", "--integrator-address", WRONG_CHECKSUM, env=KEY)
    assert ran.stderr.startswith("error: integrator address: ")


def test_people_get_a_sentence_and_a_hint(route: Route) -> None:
    ran = route("ETH", "USDQ", "1")
    assert ran.stderr == 'error: no token "USDQ" on testnet\nhint:  did you mean USDC? Or give an address\n'
    assert ran.stdout == ""


def test_an_ambiguous_symbol_lists_the_candidates(route: Route) -> None:
    assert route("ETH", "twin", "1", "--json").error["details"]["candidates"] == [TWIN_A, TWIN_B]


def test_no_route_says_what_was_tried(route: Route) -> None:
    ran = route("ETH", LONELY, "1", "--max-hops", "2")
    assert ran.exit_code == 3
    assert ran.stderr == "error: no route from ETH to LONELY in at most 2 hops: 5 pools tried\nhint:  allow more hops\n"


def test_the_exact_symbol_wins(tmp_path: Path) -> None:
    document = json.loads(Path(write_market_file(tmp_path)).read_text())
    next(token for token in document["tokens"] if token["address"] == LONELY)["symbol"] = "usdc"
    (tmp_path / "market.json").write_text(json.dumps(document))
    arguments = ("1", "--market", str(tmp_path / "market.json"), "--json")
    assert run_swapcli("route", "testnet", "ETH", "USDC", *arguments).json["outputToken"]["address"] == USDC
    assert run_swapcli("route", "testnet", "ETH", "Usdc", *arguments).error["code"] == "AMBIGUOUS_TOKEN"


def test_a_market_file_is_of_one_network(market_file: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "--market", market_file)
    assert ran.exit_code == 2
    assert '"testnet", not for "base"' in ran.stderr
    assert run_swapcli("route", "31337", "ETH", "USDC", "1", "--market", market_file).exit_code == 0


def test_a_market_can_come_from_stdin(market_file: str) -> None:
    ran = run_swapcli(
        "route", "testnet", "ETH", "USDC", "1", "--market", "-", "--json", stdin=Path(market_file).read_bytes()
    )
    assert ran.exit_code == 0


@pytest.mark.parametrize("name", ["/nonexistent", ".", "bad\udcffname"])
def test_a_market_file_that_cannot_be_read_is_said_so(name: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "--market", name)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: cannot read ")


def broken_market(tmp_path: Path, **of_pool: Any) -> str:
    file = Path(write_market_file(tmp_path))
    document = json.loads(file.read_text())
    document["pools"][0].update(of_pool)
    file.write_text(json.dumps(document))
    return str(file)


def test_a_bad_pool_is_named_with_a_way_to_skip_it(tmp_path: Path) -> None:
    arguments = ("route", "testnet", "ETH", "USDC", "1", "--market", broken_market(tmp_path, reserves=["-1", "1"]))
    refused = run_swapcli(*arguments)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"error: {arguments[-1]}: pool 0xa1")
    assert "reserves" in refused.stderr
    assert refused.stderr.endswith("hint:  swapcli market import FILE --skip-bad-pools stores the others\n")


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    file = write_market_file(tmp_path, format="swap-market/2")
    arguments = ("route", "testnet", "ETH", "USDC", "1", "--market")
    problem = 'format: expected "swap-market/1", not "swap-market/2"\n'
    assert run_swapcli(*arguments, file).stderr == f"error: {file}: {problem}"
    assert run_swapcli(*arguments, "-", stdin=Path(file).read_bytes()).stderr == f"error: stdin: {problem}"


def test_a_drained_pool_is_routed_around(tmp_path: Path) -> None:
    file = broken_market(tmp_path, reserves=["0", "0"])
    ran = run_swapcli("route", "testnet", "ETH", "USDC", "1", "--market", file, "--json")
    assert ran.exit_code == 0
    assert DIRECT_V2 not in ran.stdout.lower()


def test_settings_hold_where_no_option_speaks(route: Route) -> None:
    env = {"SWAPCLI_SLIPPAGE": "3", "SWAPCLI_OUTPUT": "json"}
    assert route("ETH", "USDC", "1", env=env).json["success"]
    assert "3% slippage" in route("ETH", "USDC", "1", "--format=plain", env=env).stdout
    assert "1% slippage" in route("ETH", "USDC", "1", "--format=plain", "--slippage", "1", env=env).stdout


@pytest.mark.parametrize("command", [("route",), ("quote",), ("calldata", "--destination", "0x" + "8" * 40)])
def test_the_network_may_come_from_the_settings(command: tuple[str, ...]) -> None:
    name, *options = command
    env = {"SWAPCLI_NETWORK": "base"}
    short = run_swapcli(name, "ETH", "USDC", "1", "--json", *options, env=env)
    assert short.exit_code == 0, short.stderr
    whole = run_swapcli(name, "base", "ETH", "USDC", "1", "--json", *options)
    assert [ran.json.get("outputAmount") for ran in (short, whole)] == [whole.json.get("outputAmount")] * 2
    missing = run_swapcli(name, "ETH", "USDC", "1", "--json", *options)
    assert (missing.exit_code, missing.error["code"]) == (2, "USAGE")
    assert missing.error["message"].startswith("no network given: write it first, as in swapcli route base")
    for words in (("base", "ETH", "USDC"), ("8453", "ETH", "USDC")):  # a network's name is the network
        ran = run_swapcli(name, *words, "--json", *options, env=env)
        assert ran.error["message"].startswith("TOKEN_IN, TOKEN_OUT and AMOUNT are required")


@pytest.mark.parametrize(
    ("written", "note"),
    [
        ("2k", "note: 2k is 2,000 ETH"),
        ("1,000.5", "note: 1,000.5 is 1,000.5 ETH"),
        ("1_000", "note: 1_000 is 1,000 ETH"),
        ("$1000", "note: $1000 is 0.320542006596768445 ETH at a price of $3,119.72 for 1 ETH"),
        ("1.5", None),
    ],
)
def test_a_friendly_amount_is_echoed_first(written: str, note: str | None) -> None:
    plain = run_swapcli("route", "base", "ETH", "USDC", written)
    notes = [line for line in plain.stderr.splitlines() if line.startswith("note: ")]
    assert notes == ([note] if note else [])
    assert note is None or plain.stderr.startswith(note)
    piped = run_swapcli("route", "base", "ETH", "USDC", written, "--json")
    assert piped.json["success"] is True
    assert note is None or note in piped.stderr


def test_raw_amounts_have_no_friendly_forms() -> None:
    for written in ("2k", "$1", "1_000", "1,000", "1usd"):
        assert run_swapcli("route", "base", "ETH", "USDC", written, "--raw", "--json").error["code"] == "INVALID_AMOUNT"


LARGE = ("route", "base", "ETH", "USDC", "500", "--offline")


def test_a_table_folds_small_paths_and_shortens_ids() -> None:
    brief, plain, whole = (run_swapcli(*LARGE, *form).stdout for form in (["--format=table"], [], ["--verbose"]))
    folded = re.search(r"([\d.]+)%  (\d+) more paths", brief)
    assert folded
    assert brief.split() == plain.split()
    assert re.search(r"%  \S+ \S+ \S+ +0x[0-9a-f]{4}…[0-9a-f]{4}$", brief, re.MULTILINE)
    assert not re.search(r"more paths|0x\w{4}…", whole)
    shares = [float(share) for share in re.findall(r"^ *([\d.]+)%  \S+ → ", whole, re.MULTILINE)]
    small = [share for share in shares if share < 1]
    assert len(small) == int(folded[2])
    assert sum(small) == pytest.approx(float(folded[1]), abs=0.05)


@pytest.mark.parametrize("words", ["1.5 ETH USDC", "1.5ETH USDC", "ETH/USDC 1.5", "ETH-USDC 1.5", "1.5 ETH/USDC"])
def test_the_amount_may_stand_where_people_put_it(words: str) -> None:
    usual = run_swapcli("route", "base", "ETH", "USDC", "1.5", "--get", "outputAmount")
    ran = run_swapcli("route", "base", *words.split(), "--get", "outputAmount")
    assert ran.stdout == usual.stdout
    assert "note: read as ETH USDC 1.5" in ran.stderr
    assert "read as" not in usual.stderr


@pytest.mark.parametrize("words", ["1INCH USDC", "USDC A-B", "A/B C", "ETH 1INCH"])
def test_a_forgotten_amount_is_not_made_up(words: str) -> None:
    ran = run_swapcli("route", "base", *words.split())
    assert "TOKEN_IN, TOKEN_OUT and AMOUNT are required" in ran.stderr


def test_a_pair_may_have_a_symbol_that_begins_with_a_digit() -> None:
    assert "read as 1INCH USDC 5" in run_swapcli("route", "base", "1INCH/USDC", "5").stderr


def test_depth_takes_its_words_as_they_are() -> None:
    assert "read as" not in run_swapcli("depth", "base", "1INCH", "USDC").stderr


def test_an_address_is_no_amount_with_a_token() -> None:
    ran = run_swapcli("route", "base", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "ETH")
    assert "TOKEN_IN, TOKEN_OUT and AMOUNT are required" in ran.stderr


def test_csv_has_the_figures_of_one_order() -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1.5", "--format", "csv")
    document = run_swapcli("route", "base", "ETH", "USDC", "1.5", "--json").json
    (row,) = csv.DictReader(io.StringIO(ran.stdout))
    assert (row["outputAmount"], row["state"]) == (document["outputAmount"], "modelled")
    assert row["network"] == "base"
    assert (row["inputToken"], row["inputTokenDecimals"]) == ("ETH", "18")
    assert (row["outputToken"], row["outputTokenDecimals"]) == ("USDC", "6")
    assert row["outputTokenAddress"] == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    assert "not live prices" in ran.stderr


def test_quiet_leaves_out_notes_and_keeps_warnings() -> None:
    words = ("route", "base", "USDC", "ETH", "2k", "--json")
    loud, quiet = (run_swapcli(*words, *more).stderr for more in ((), ("--quiet",)))
    assert "note: 2k is 2,000 USDC" in loud
    assert quiet == "".join(line for line in loud.splitlines(keepends=True) if not line.startswith("note: "))
    assert "warning: " in quiet


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("base", "WETH", "USDC"), "the amount comes last: swapcli route base WETH USDC 1.5"),
        (("base", "2.5", "DAI"), "the amount comes last: swapcli route base DAI USDC 2.5"),
        (("base", "2.5", "USDC"), "the amount comes last: swapcli route base USDC ETH 2.5"),
        (("base",), "the amount comes last: swapcli route base ETH USDC 1.5"),
        (("base", "1gwie", "DAI", "USDC"), "the amount comes last: swapcli route base DAI USDC 1.5"),
        (("base", "DAI", "USDC", "1gwie"), "did you mean gwei?"),
    ],
)
def test_a_missing_word_is_shown_at_its_place(words: tuple[str, ...], shown: str) -> None:
    ran = run_swapcli("route", *words)
    assert (ran.exit_code, shown in ran.stderr) == (2, True)


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("--gas-price", "1gwie", "1gwei"),
        ("--slippage", "50bsp", "50bps"),
        ("--block", "latset", "latest"),
        ("--router-dialect", "fibrus", "fibrous"),
        ("--shares", "whle", "whole"),
    ],
)
def test_a_mistyped_value_of_an_option_is_told(option: str, value: str, meant: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", option, value)
    assert (ran.exit_code, f"did you mean {meant}?" in ran.stderr) == (2, True)


def test_help_suggests_commands_and_topics() -> None:
    assert "did you mean route" in run_swapcli("help", "rout").stderr
    assert "did you mean calldata?" in run_swapcli("help", "caldata").stderr


def test_few_pools_cost_what_the_answer_says() -> None:
    order = ("route", "base", "ETH", "USDC", "50")
    free = run_swapcli(*order, "--json").json
    for options, simple in ((("--max-pools", "2"), False), (("--simple",), True)):
        ran = run_swapcli(*order, *options, "--json").json
        limit = ran["poolLimit"]
        pools = {swap["poolAddress"] for segment in ran["route"] for hop in segment["swaps"] for swap in hop}
        assert len(pools) <= 2
        assert limit["amountWithout"] == free["outputAmount"]
        lost = int(free["outputAmount"]) - int(ran["outputAmount"])
        assert limit["costBps"] == round(lost / int(free["outputAmount"]) * 1e4, 4) > 0
        assert limit["simple"] is simple
        shown = run_swapcli(*order, *options).stdout
        assert f"costs {limit['costBps']:,.2f} bps" in shown
    assert "poolLimit" not in free


@pytest.mark.parametrize("count", ["0", "-1", "x", "1.5", ""])
def test_a_number_of_pools_is_whole_and_above_zero(count: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", f"--max-pools={count}")
    assert (ran.exit_code, "--max-pools: expected a whole number above zero" in ran.stderr) == (2, True)


def test_an_order_may_wrap_whatever_protocols_it_allows() -> None:
    words = ("ETH", "WETH", "1", "--only-protocols", "uniswapV3", "--offline", "--json")
    assert run_swapcli("route", "base", *words).json["outputAmount"] == str(10**18)
    allowed = "juiceSwapStableCoinBridge,juiceSwapVault"
    ran = run_swapcli("route", "citrea", "cBTC", "USDC.e", "1", "--only-protocols", allowed, "--offline")
    assert "with only juiceSwapStableCoinBridge, juiceSwapVault: " in ran.stderr
    assert "hint:  allow more protocols\n" in ran.stderr


def test_many_excluded_protocols_are_counted_in_an_error() -> None:
    listed = run_swapcli("protocols", "base", "--json").json
    names = {each["protocol"] for each in listed if not each["extended"]} - {"wrapper"}
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "--offline", "--exclude-protocols", ",".join(names))
    assert f"without {len(names)} excluded protocols: 0 pools tried" in ran.stderr
    few = ",".join(sorted(names)[:6])
    ran = run_swapcli("route", "base", "AERO", "DEGEN", "1", "--offline", "--direct", "--exclude-protocols", few)
    assert "in one hop without 6 excluded protocols: " in ran.stderr
    assert "hint:  allow more hops, or exclude fewer protocols" in ran.stderr
