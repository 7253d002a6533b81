"""What is warned of and what is refused before anybody signs, in every form and from every source."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import few, few_rows
from tests.support.command import CommandResult, run_swapcli
from tests.support.fake_service import fake_service
from tests.support.testnet import build_market_document

WALLET = ("--destination", "0x" + "81" * 20)
ROUTER = "0x" + "c0" * 20
TOO_MUCH = ("base", "ETH", "USDC", "50000")
"""More than half is lost. A search that drains every pool would take fifty times as long."""
ALL_THERE_IS = ("base", "ETH", "USDC", "1000000000")
"""$3 trillion for $8 million."""
MUCH = ("base", "ETH", "USDC", "10000")
"""An impact between what is warned of and what is refused."""
LITTLE = ("base", "ETH", "USDC", "1")


@pytest.fixture(scope="module")
def foreign() -> Iterator[str]:
    """A service of the interface that knows nothing of our headers."""
    with fake_service("base") as running:
        yield running.url


def codes(document: dict[str, Any]) -> list[str]:
    assert all(list(each) == ["code", "message"] for each in document["warnings"])
    return [each["code"] for each in document["warnings"]]


def lines(ran: CommandResult) -> list[str]:
    """The warnings on stderr."""
    return [line.removeprefix("warning: ") for line in ran.stderr.splitlines() if line.startswith("warning: ")]


def calldata(*words: str, **more: Any) -> CommandResult:
    return run_swapcli("calldata", *words, *WALLET, **more)


def execute(route: CommandResult, *words: str) -> CommandResult:
    return run_swapcli("execute", "-", *WALLET, *words, stdin=route.stdout.encode())


# Price impact.


def test_a_route_warns_of_the_impact_and_is_shown_all_the_same() -> None:
    ran = run_swapcli("route", *TOO_MUCH)
    assert ran.exit_code == 0
    assert lines(ran)[0].startswith("price impact of 6")
    assert codes(run_swapcli("route", *TOO_MUCH, "--json").json) == ["PRICE_IMPACT_HIGH", "STATE_MODELLED"]
    assert codes(run_swapcli("route", *LITTLE, "--json").json) == ["STATE_MODELLED"]


def test_a_batch_warns_in_each_result() -> None:
    order: dict[str, object] = {"tokenIn": "ETH", "tokenOut": "USDC"}
    batch = [order | {"id": size, "inputAmount": str(10**18 * size)} for size in (1, 10_000)]
    ran = run_swapcli("route", "base", "--batch", "-", stdin="\n".join(map(json.dumps, batch)).encode())
    results = [json.loads(line)["result"] for line in ran.stdout.splitlines()]
    assert [codes(each) for each in results] == [["STATE_MODELLED"], ["PRICE_IMPACT_HIGH", "STATE_MODELLED"]]
    assert ran.stderr == ""


@pytest.mark.parametrize("form", ["--format=plain", "--format=table", "--json"])
def test_no_payload_is_built_above_the_highest_impact(form: str) -> None:
    route = run_swapcli("route", *TOO_MUCH, "--json")
    for ran in (calldata(*TOO_MUCH, form), execute(route, form)):
        assert (ran.exit_code, ran.stdout) == (7, "")
        assert "--max-impact" in ran.stderr


@pytest.mark.slow
def test_an_order_that_drains_every_pool_is_refused_with_its_figures() -> None:
    details = calldata(*ALL_THERE_IS, "--json").error["details"]
    assert details["priceImpactPercent"] > 99.99
    assert details["soldUsd"] > 1e12 > 1e8 > details["boughtUsd"] > 0


def test_the_refusal_says_the_figures() -> None:
    error = calldata(*TOO_MUCH, "--json").error
    assert (error["code"], error["exitCode"]) == ("PRICE_IMPACT_TOO_HIGH", 7)
    details = error["details"]
    assert 50 < details["priceImpactPercent"] < 80
    assert (details["maxImpactPercent"], details["basis"]) == (15.0, "pools")
    assert "15% is allowed" in error["message"]


def test_a_refusal_by_usd_prices_says_both_values() -> None:
    error = calldata(*MUCH, "--max-impact", "5", "--json").error
    details = error["details"]
    assert (details["maxImpactPercent"], details["basis"]) == (5.0, "usd")
    assert 3.3e7 > details["soldUsd"] > 3e7 > details["boughtUsd"] > 2.7e7
    lost = 1 - details["boughtUsd"] / details["soldUsd"]
    assert details["priceImpactPercent"] == pytest.approx(lost * 100, abs=1e-3)
    assert f"${details['boughtUsd']:,.2f} for ${details['soldUsd']:,.2f}; 5% is allowed" in error["message"]


def test_what_is_allowed_is_built_and_warned_of_once() -> None:
    for ran in (calldata(*TOO_MUCH, "--max-impact", "100"), calldata(*MUCH)):
        assert ran.exit_code == 0
        assert sum("price impact of" in line for line in ran.stderr.splitlines()) == 1
    document = calldata(*TOO_MUCH, "--max-impact", "100", "--json").json
    assert codes(document) == ["PRICE_IMPACT_HIGH", "STATE_MODELLED", "ROUTER_UNVERIFIED", "READING_ASSUMED"]
    assert document["calldata"].startswith("0x")


@pytest.mark.parametrize("bought", ["5000", "0.000001"])
def test_an_exact_output_names_its_guarantee(bought: str) -> None:
    document = calldata("base", "ETH", "USDC", bought, "--reverse", "--json").json
    messages = {each["code"]: each["message"] for each in document["warnings"]}
    least = int(document["minReceived"])
    assert ("OUTPUT_NOT_GUARANTEED" in messages) == (least < int(float(bought) * 1e6))
    if bought == "5000":
        assert "less than the 5,000 USDC to buy, but at least 4,975 USDC" in messages["OUTPUT_NOT_GUARANTEED"]
        assert "OUTPUT_NOT_GUARANTEED" not in codes(calldata(*LITTLE, "--json").json)


def test_max_impact_allows_a_route_that_was_refused() -> None:
    route = run_swapcli("route", *TOO_MUCH, "--json")
    document = execute(route, "--max-impact", "100", "--json").json
    assert codes(document) == ["PRICE_IMPACT_HIGH", "STATE_MODELLED", "ROUTER_UNVERIFIED", "READING_ASSUMED"]


@pytest.mark.parametrize(("allowed", "status"), [("6.5", 7), ("7.5", 0), ("750bps", 0), ("0", 7)])
def test_how_much_is_allowed_is_an_option_and_a_setting(allowed: str, status: int) -> None:
    assert calldata(*MUCH, "--max-impact", allowed).exit_code == status
    assert calldata(*MUCH, env={"SWAPCLI_MAX_IMPACT": allowed}).exit_code == status


@pytest.mark.parametrize(("above", "warned"), [("6.5", True), ("7.5", False)])
def test_what_is_warned_of_is_a_setting(above: str, warned: bool) -> None:
    document = run_swapcli("route", *MUCH, "--json", env={"SWAPCLI_IMPACT_WARNING": above}).json
    assert ("PRICE_IMPACT_HIGH" in codes(document)) == warned


def test_what_loses_nothing_may_have_no_impact_at_all() -> None:
    assert calldata("base", "ETH", "WETH", "5", "--max-impact", "0").exit_code == 0


# Every form of output.

FORMS = {
    ("route", *TOO_MUCH): ("outputAmount", ("--format=mermaid",)),
    ("price", "base", "ETH"): ("prices.0.priceUsd", ("--format", "csv")),
    ("pools", "base", "ETH", "USDC", "--limit", "2"): ("pools.0.price", ("--format", "csv")),
    ("depth", "base", "DAI", "USDC", "--amounts", "1"): ("points.0.outputAmount", ("--format=csv",)),
    ("compare", *MUCH): ("alternatives.0.outputAmount", ("--format", "csv")),
    ("calldata", *MUCH, *WALLET, "--slippage", "5"): ("value", ("--format", "cast")),
}
"""Commands with a field of their JSON, and a form of their own."""


@pytest.mark.parametrize("command", few(sorted(FORMS), 3))
def test_warnings_are_on_stderr_in_every_form(command: tuple[str, ...]) -> None:
    field, own_form = FORMS[command]
    expected = run_swapcli(*command, "--json")
    messages = [each["message"] for each in expected.json["warnings"]]
    assert messages
    assert lines(expected) == messages
    for form in (("--get", field), ("--format=plain",), ("--format=table",), own_form):
        ran = run_swapcli(*command, *form)
        is_labelled = command[0] != "calldata" and form[0] in ("--format=plain", "--format=table", "--format=mermaid")
        others = [each for each in messages if "not live prices" not in each]
        assert (ran.exit_code, lines(ran)) == (0, others if is_labelled else messages), form
        assert "warning" not in ran.stdout.splitlines()[0].split(",")[0]


@pytest.mark.parametrize("command", [each for each, (_, form) in FORMS.items() if form[-1] == "csv"])
def test_each_row_of_a_csv_has_its_state_and_warnings(command: tuple[str, ...]) -> None:
    document = run_swapcli(*command, "--json").json
    rows = list(csv.DictReader(run_swapcli(*command, "--format", "csv").stdout.splitlines()))
    assert rows
    assert {(row["state"], row["warnings"]) for row in rows} == {("modelled", ";".join(codes(document)))}


def test_a_batch_has_warnings_in_its_csv_and_once_beside_a_field() -> None:
    order: dict[str, object] = {"tokenIn": "ETH", "tokenOut": "USDC"}
    batch = [order | {"id": size, "inputAmount": str(10**18 * size)} for size in (1, 10_000, 2)]
    stdin = "\n".join(map(json.dumps, [*batch, order | {"id": 4, "inputAmount": "0"}])).encode()
    ran = run_swapcli("route", "base", "--batch", "-", "--format", "csv", stdin=stdin)
    cells = [row["warnings"] for row in csv.DictReader(ran.stdout.splitlines())]
    assert cells == ["STATE_MODELLED", "PRICE_IMPACT_HIGH;STATE_MODELLED", "STATE_MODELLED", ""]
    assert lines(ran) == []
    ran = run_swapcli("route", "base", "--batch", "-", "--get", "id", stdin=stdin)
    assert [line[:9] for line in lines(ran)] == ["the pool ", "price imp"]


# Slippage.


@pytest.mark.parametrize(
    ("slippage", "status"), few_rows([("20", 0), ("30bps", 0), ("20.0001", 7), ("30", 7), ("49%", 7)], 3)
)
def test_no_payload_is_built_above_the_highest_slippage(slippage: str, status: int) -> None:
    route = run_swapcli("route", *LITTLE, "--json")
    for ran in (calldata(*LITTLE, "--slippage", slippage), execute(route, "--slippage", slippage)):
        assert ran.exit_code == status
        assert ("SLIPPAGE" in ran.stderr or "slippage of" in ran.stderr) == (slippage != "30bps")


def test_the_hint_says_how_basis_points_are_written() -> None:
    ran = calldata(*LITTLE, "--slippage", "30", "--json")
    assert (ran.exit_code, ran.error["code"]) == (7, "SLIPPAGE_TOO_HIGH")
    assert "30 is 30 percent: write 30bps" in ran.error["hint"]
    assert ran.error["details"] == {"slippagePercent": 30.0, "maxSlippagePercent": 20.0}


def test_a_higher_slippage_can_be_allowed_and_is_warned_of() -> None:
    for ran in (
        calldata(*LITTLE, "--slippage", "30", "--max-slippage", "30", "--json"),
        calldata(*LITTLE, "--slippage", "30", "--json", env={"SWAPCLI_MAX_SLIPPAGE": "30"}),
        run_swapcli("route", *LITTLE, "--slippage", "30", "--json"),
    ):
        assert "SLIPPAGE_HIGH" in codes(ran.json)
        assert any(line.startswith("a slippage of 30%") for line in lines(ran))
    quiet = run_swapcli("route", *LITTLE, "--slippage", "30", "--json", env={"SWAPCLI_SLIPPAGE_WARNING": "30"})
    assert "SLIPPAGE_HIGH" not in codes(quiet.json)


@pytest.mark.parametrize(("sold", "bought"), [("ETH", "WETH"), ("WETH", "ETH")])
@pytest.mark.parametrize("dialect", ["fibrous", "universal-router"])
def test_wrapping_has_no_slippage(sold: str, bought: str, dialect: str) -> None:
    order, router = ("base", sold, bought, "1.5"), ("--router-dialect", dialect, "--slippage", "5")
    amount = 15 * 10**17
    route = run_swapcli("route", *order, *router, "--json")
    assert (route.json["minReceived"], route.json["slippage"]) == (str(amount), 0)
    executed = ("execute", "-", *WALLET, *router, "--json")
    for ran in (
        calldata(*order, *router, "--json"),
        run_swapcli(*executed, stdin=route.stdout.encode()),
    ):
        decoded = run_swapcli("decode", "-", "--json", stdin=ran.stdout.encode()).json
        assert (decoded["order"]["minReceived"], decoded.get("dangers", [])) == (str(amount), [])
        assert "ROUTE_WORSE" not in codes(decoded)
        assert "SLIPPAGE_HIGH" not in codes(ran.json)


@pytest.mark.parametrize("text", ["-1", "101", "all", "", "NaN"])
def test_an_impact_that_is_no_percentage_is_refused(text: str) -> None:
    assert calldata(*LITTLE, f"--max-impact={text}").exit_code == 2


@pytest.fixture
def unpriced(tmp_path: Path) -> Callable[..., CommandResult]:
    """The small market, whose network knows no dollar, so that no token has a price in USD."""
    document = build_market_document(provenance="recorded")
    document["network"]["router"] = ROUTER
    file = tmp_path / "market.json"
    file.write_text(json.dumps(document))
    return lambda *words: run_swapcli(*words, "--market", str(file))


def test_without_usd_prices_the_impact_comes_from_the_pools(unpriced: Callable[..., CommandResult]) -> None:
    small, large = (unpriced("route", "testnet", "ETH", "USDC", amount, "--json").json for amount in ("0.01", "3000"))
    assert small["inputToken"]["price"] is None
    assert ["PRICE_IMPACT_HIGH" in codes(each) for each in (small, large)] == [False, True]
    refused = unpriced("calldata", "testnet", "ETH", "USDC", "3000", *WALLET, "--json").error
    assert (refused["code"], refused["details"]["basis"]) == ("PRICE_IMPACT_TOO_HIGH", "pools")
    shown = unpriced("route", "testnet", "ETH", "USDC", "3000", "-v")
    assert "compared with a small order in the same pools" in shown.stdout
    assert "relative to the price of a small order" in lines(shown)[0]


# A service.


def test_a_remote_payload_on_modelled_state_warns_as_well(service_url: str) -> None:
    there = ("--api-url", service_url)
    route = run_swapcli("route", *LITTLE, "--json")
    for words in ((), ("--json",), ("--get", "calldata")):
        for ran in (calldata(*LITTLE, *there, *words), execute(route, *there, *words)):
            assert ran.exit_code == 0
            assert lines(ran).count("do not sign: these are not live prices") == 1
    assert codes(calldata(*LITTLE, *there, "--json").json) == ["STATE_MODELLED", "ROUTER_UNVERIFIED"]
    state = execute(route, *there, "--json").json["state"]
    assert (state["service"], state["kind"]) == (service_url, "modelled")


def test_a_payload_of_a_service_is_refused_as_one_made_here(service_url: str, foreign: str) -> None:
    route = run_swapcli("route", *TOO_MUCH, "--json")
    for url in (service_url, foreign):
        for ran in (calldata(*TOO_MUCH, "--api-url", url, "--json"), execute(route, "--api-url", url, "--json")):
            assert (ran.exit_code, ran.error["code"]) == (7, "PRICE_IMPACT_TOO_HIGH")
        assert calldata(*TOO_MUCH, "--api-url", url, "--max-impact", "100").exit_code == 0


def test_of_a_service_that_does_not_say_the_state_is_unknown(foreign: str) -> None:
    ran = calldata(*LITTLE, "--api-url", foreign)
    assert lines(ran)[0] == f"{foreign} does not report the state of its quotes"
    document = calldata(*LITTLE, "--api-url", foreign, "--json").json
    assert codes(document) == ["STATE_UNKNOWN", "ROUTER_UNVERIFIED"]
    assert document["state"]["kind"] is None


def test_a_service_without_prices_is_said_to_give_none() -> None:
    def without_prices(_: str, document: Any) -> Any:
        for found in (document, document.get("route", {})):
            for end in ("inputToken", "outputToken"):
                if end in found:
                    found[end]["price"] = 0
        return document

    with fake_service("base", without_prices) as running:
        url = running.url
        assert "PRICE_IMPACT_UNKNOWN" in codes(calldata("base", "ETH", "AERO", "1", "--api-url", url, "--json").json)
        # The worth of dollars is known all the same.
        dollars = ("base", "USDC", "USDbC", "1000", "--api-url", url, "--json")
        assert "PRICE_IMPACT_UNKNOWN" not in codes(calldata(*dollars).json)


@pytest.mark.parametrize("amount", few(["100000000", "1000000000"], 1))
def test_a_service_cannot_hide_the_impact_of_a_stable_swap(amount: str) -> None:
    def worthless(_: str, document: Any) -> Any:
        for found in (document, document.get("route", {})):
            if "inputToken" in found:
                found["inputToken"]["price"] = 1e-9
        return document

    with fake_service("base", worthless) as running:
        ran = calldata("base", "USDC", "USDbC", amount, "--api-url", running.url, "--json")
        assert (ran.exit_code, ran.error["code"]) == (7, "PRICE_IMPACT_TOO_HIGH")


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [("fibrous", ["ROUTER_UNVERIFIED", "DEADLINE_NOT_ENFORCED"]), ("universal-router", [])],
)
def test_a_published_router_with_deadlines_needs_no_warning(dialect: str, expected: list[str]) -> None:
    ran = calldata(*LITTLE, "--router-dialect", dialect, "--deadline", "20m", "--json")
    found = codes(ran.json)
    assert [code for code in ("ROUTER_UNVERIFIED", "DEADLINE_NOT_ENFORCED") if code in found] == expected
