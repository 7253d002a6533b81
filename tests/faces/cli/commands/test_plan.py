"""`swapcli plan`: the plan as its outputs show it, its files, and the part that is due."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.examples import but_slow, few
from tests.support.command import CommandResult, run_swapcli

ME = "0x1111111111111111111111111111111111111111"
ORDER = ("base", "ETH", "USDC", "30")
PLAN = ("plan", *ORDER, "--over", "4h", "--parts", "3", "--offline")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    ran = run_swapcli(*PLAN, "--save", str(path))
    assert ran.exit_code == 0, ran.stderr
    return path


def build(file: Path, *options: str, to: str = ME) -> CommandResult:
    return run_swapcli("plan", "--next", str(file), "--offline", "--destination", to, *options)


def test_the_amounts_of_a_plan_are_quotes(tmp_path: Path) -> None:
    orders = tmp_path / "orders.jsonl"
    plan = run_swapcli(*PLAN, "--json", "--orders", str(orders)).json
    assert sum(int(part["inputAmount"]) for part in plan["parts"]) == int(plan["inputAmount"]) == 30 * 10**18
    lines = [json.loads(line) for line in orders.read_text().splitlines()]
    assert [line["inputAmount"] for line in lines] == [part["inputAmount"] for part in plan["parts"]]
    batch = run_swapcli("route", "base", "--batch", str(orders), "--offline", "--json")
    results = [json.loads(line)["result"] for line in batch.stdout.splitlines()]
    assert [result["inputAmount"] for result in results] == [line["inputAmount"] for line in lines]
    assert results[0]["outputAmount"] == plan["parts"][0]["outputAmount"]
    built = run_swapcli(
        "calldata", "base", "--order", str(orders), "--id", "2", "--offline", "--destination", ME, "--json"
    )
    assert built.json["value"] == lines[1]["inputAmount"]
    whole = run_swapcli("route", *ORDER, "--offline", "--json").json
    assert plan["oneShot"]["outputAmount"] == whole["outputAmount"]
    assert [part["status"] for part in plan["parts"]] == ["planned"] * 3


def test_offline_it_is_modelled_and_shows_both_extremes() -> None:
    shown = run_swapcli(*PLAN, "--format=plain")
    assert (shown.stdout + shown.stderr).count("modelled") == 1
    assert all(
        words in shown.stdout for words in ("plan, no refill", "plan, full refill", "single swap now", "unknown")
    )
    plan = run_swapcli(*PLAN, "--json").json
    assert plan["extremes"].keys() == {"noRefill", "fullRefill"}
    assert "frontier" not in plan
    refused = run_swapcli(*PLAN, "--format", "svg")
    assert refused.exit_code == 2
    assert "needs the refill rate and the volatility: these prices have no past blocks" in refused.stderr
    assert "use a node or a synced store" in refused.stderr


def test_a_part_has_the_price_impact_of_its_quote(file: Path) -> None:
    part = json.loads(file.read_text())["parts"][0]
    route = run_swapcli(*("route", *ORDER[:3], part["inputAmount"], "--raw"), "--offline", "--json").json
    assert part["outputAmount"] == route["outputAmount"]
    assert part["priceImpact"] == pytest.approx(route["priceImpact"], abs=0.001)
    assert route["priceImpact"] > 0.01


def test_the_maximum_impact_includes_pool_fees() -> None:
    large = ("base", "ETH", "USDC", "2000", "--over", "4h", "--offline", "--json")
    parts = run_swapcli("plan", *large, "--max-impact", "0.12").json["parts"]
    route = run_swapcli("route", *large[:3], parts[0]["inputAmount"], "--raw", "--offline", "--json").json
    assert 0.06 < route["priceImpact"] <= 0.12
    refused = run_swapcli("plan", *large, "--max-impact", "0.001")
    assert (refused.exit_code, "keeps the price impact of each part below 0.001%" in refused.stderr) == (2, True)


def test_parts_that_leave_the_band_without_refill_are_named() -> None:
    words = ("plan", *ORDER[:3], "2000", "--over", "4h", "--parts", "4", "--band", "0.8", "--offline")
    plan = run_swapcli(*words, "--json").json
    prices = [int(part["outputAmount"]) * 10**12 / int(part["inputAmount"]) for part in plan["parts"]]
    low, high = (float(plan["priceBand"][name]) for name in ("low", "high"))
    assert [low <= price <= high for price in prices] == [True, True, False, False]
    shown = run_swapcli(*words, "--format=plain").stdout
    assert "parts 3 to 4 will be outside the price band: --next will reject them. In that case" in shown
    assert "will be outside" not in run_swapcli(*PLAN, "--format=plain").stdout


def test_after_a_part_the_next_command_is_shown(file: Path) -> None:
    note = f"note: after you have executed it, run: swapcli plan --done {file}\n"
    for options in ((), ("--json",), ("--format", "cast")):
        assert note in build(file, *options).stderr


def test_the_saved_plan_is_the_document(file: Path) -> None:
    saved = json.loads(file.read_text())
    assert saved["parts"][0].keys() == {"part", "time", "inputAmount", "outputAmount", "priceImpact", "status"}
    assert saved["cowTwap"]["n"] == 3
    assert int(saved["cowTwap"]["partSellAmount"]) * 3 + int(saved["cowTwap"]["unsold"]) == 30 * 10**18


def test_the_due_part_is_what_calldata_builds(file: Path) -> None:
    part = json.loads(file.read_text())["parts"][0]
    built = build(file, "--json")
    assert built.exit_code == 0, built.stderr
    direct = run_swapcli(
        "calldata", "base", "ETH", "USDC", part["inputAmount"], "--raw", "--offline", "--destination", ME, "--json"
    ).json
    document = built.json
    assert document["planPart"]["part"] == 1
    assert not document["planPart"]["repeated"]
    assert document.keys() - {"planPart"} == direct.keys()
    assert document["calldata"] == direct["calldata"]
    assert {each["code"] for each in document["warnings"]} == {each["code"] for each in direct["warnings"]}


@pytest.mark.parametrize("output_format", few(["safe", "wallet-calls", "web3", "cast", "sh"], 2))
def test_a_repeated_part_is_the_same_in_each_format(file: Path, output_format: str) -> None:
    first = build(file, "--format", output_format)
    assert first.exit_code == 0, first.stderr
    again = build(file, "--format", output_format)
    assert again.stdout == first.stdout
    assert "this is the same payload" in again.stderr
    shown = build(file, "--format=plain")
    assert shown.exit_code == 0, shown.stderr
    assert json.loads(file.read_text())["parts"][0]["payload"]["document"]["calldata"] in shown.stdout


def test_a_part_is_done_when_the_user_says_so(file: Path) -> None:
    early = run_swapcli("plan", "--done", str(file))
    assert (early.exit_code, "part 1 is not built" in early.stderr) == (2, True)
    build(file)
    done = run_swapcli("plan", "--done", str(file), "--format=plain")
    assert done.exit_code == 0
    assert re.search(r"Next +part 2 at 20", done.stdout)
    refused = build(file)
    assert refused.exit_code == 6
    assert "part 2 of 3 is not due before 20" in refused.stderr


def test_a_price_outside_the_band_has_its_status(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    run_swapcli(*PLAN, "--band", "0.0001", "--save", str(path))
    before = path.read_bytes()
    refused = build(path, "--exclude-protocols", "uniswapV3,uniswapV4")
    assert refused.exit_code == 7, refused.stderr
    assert "USDC per ETH, below the plan's price band" in refused.stderr
    assert path.read_bytes() == before


BAD_INPUT: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no duration": ((*ORDER,), 2, "a plan needs a duration: --over is missing"),
    "no time": ((*ORDER, "--over", "0s"), 2, '--over: expected a duration from 60s to 30d, such as 4h, not "0s"'),
    "an endless time": ((*ORDER, "--over", "9999d"), 2, "--over: expected a duration"),
    "no parts": ((*ORDER, "--over", "1h", "--parts", "0"), 2, "--parts: expected auto or a whole number from 1"),
    "half a part": ((*ORDER, "--over", "1h", "--parts", "1.5"), 2, "--parts: expected auto or a whole number from 1"),
    "the past": ((*ORDER, "--over", "1h", "--start", "1700000000"), 2, "--start: 1700000000 has passed"),
    "no impact": ((*ORDER, "--over", "1h", "--max-impact", "0"), 2, "--max-impact: expected a percentage above 0"),
    "an unknown risk": ((*ORDER, "--over", "1h", "--risk", "some"), 2, "--risk: expected one of none, low, medium"),
    "no band": ((*ORDER, "--over", "1h", "--band", "0%"), 2, "--band: expected a percentage above 0"),
    "the same token": (("base", "ETH", "ETH", "1", "--over", "1h"), 2, "Token in and token out cannot be the same"),
    "an unknown token": (("base", "ETH", "NOPE", "1", "--over", "1h"), 2, "NOPE"),
    "dust": (("base", "ETH", "USDC", "0.000000000000000009", "--over", "1h"), 3, "it is too small"),
    "more than there is": (
        ("base", "ETH", "USDC", "1000000000000", "--over", "1h"),
        2,
        "the pools cannot fill the whole order",
    ),
    "no amount": (("base", "ETH", "USDC", "--over", "1h"), 2, "TOKEN_IN, TOKEN_OUT and AMOUNT are required"),
    "a reverse order": ((*ORDER, "--over", "1h", "--reverse"), 2, "--reverse cannot be combined with a plan"),
    "two saved plans": (("--next", "a", "--done", "b"), 2, "--next and --done cannot be combined"),
    "words beside a file": ((*ORDER, "--next", "a"), 2, "--next takes the order from the plan file"),
    "a missing file": (("--next", "/nonexistent/plan.json"), 2, "cannot read /nonexistent/plan.json"),
    "a folder": (("--next", "/tmp"), 2, "cannot read /tmp"),
}


@pytest.mark.parametrize("name", but_slow(BAD_INPUT, "more than there is"))
def test_bad_input_is_one_sentence(name: str) -> None:
    words, status, message = BAD_INPUT[name]
    ran = run_swapcli("plan", *words, "--json", "--offline")
    assert ran.exit_code == status, ran.stderr
    error: dict[str, Any] = ran.error
    assert message in error["message"]
    assert "\n" not in error["message"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--id", "1"), "--id needs --order"),
        (("ETH", "USDC", "1", "--order", "FILE"), "--order takes the order from its file"),
        (("--order", "FILE"), "has 2 orders, not one"),
        (("--order", "FILE", "--id", "3"), 'has no order with the id "3"'),
    ],
)
def test_calldata_names_what_is_wrong_with_an_order_of_a_file(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_text('{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}\n' * 2)
    given = [str(file) if word == "FILE" else word for word in words]
    ran = run_swapcli("calldata", "base", *given, "--offline", "--destination", ME)
    assert (ran.exit_code, message in ran.stderr) == (2, True), ran.stderr
