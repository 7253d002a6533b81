"""Each quote of a backtest is what `route --block` prints, and a second run asks nothing."""

from __future__ import annotations

import csv
from typing import Any

from jsonschema_rs import Draft202012Validator

from swapcli.interface.json_schemas import build_document_schema
from tests.faces.cli.commands.backtest.backtest_command import BacktestCommand
from tests.support.command import run_swapcli


def check_schema(name: str, document: Any) -> None:
    assert [str(each) for each in Draft202012Validator(build_document_schema(name)).iter_errors(document)] == []


def test_quotes_are_those_of_their_blocks_and_asked_for_once(command: BacktestCommand) -> None:
    ran = command.run("--every", "3", "--json")
    assert ran.exit_code == 0, ran.stderr
    first = ran.json
    check_schema("backtest", first)
    check_schema("backtest-results", first["quotes"][0])
    blocks = list(range(command.first, command.last + 1, 3))
    assert [quote["block"] for quote in first["quotes"]] == [block for block in blocks for _ in range(3)]
    assert (first["blocks"], first["quoted"] + first["failed"]) == (len(blocks), 3 * len(blocks))
    assert len({quote["outputAmount"] for quote in first["quotes"] if quote["id"] == "buy"}) > 1
    block = str(blocks[-1])
    words = ("route", command.name, "ETH", "USDC", "1.5", "--block", block, "--json")
    route = run_swapcli(*words, env={"SWAPCLI_CONFIG": str(command.settings)}).json
    (quote,) = [each for each in first["quotes"] if (each["id"], str(each["block"])) == ("buy", block)]
    assert quote["outputAmount"] == route["outputAmount"]
    assert quote["singlePathOutputAmount"] == route["singlePath"]["outputAmount"]
    rates = first["orders"][0]["rate"]
    assert rates["p05"] <= rates["median"] <= rates["p95"]
    assert 0 <= first["winShare"] <= 1

    command.proxy.methods.clear()
    assert command.run("--every", "3", "--json").json == first
    two = command.run("--every", "3", "--json", "--workers", "2")
    assert two.exit_code == 0, two.stderr
    assert two.json == first
    assert command.proxy.methods == []
    rows = list(csv.DictReader(command.run("--every", "3", "--format", "csv").stdout.splitlines()))
    assert [row.get("outputAmount") for row in rows] == [quote.get("outputAmount") or "" for quote in first["quotes"]]
    orders = {each["id"]: each for each in first["orders"]}
    for row, quote in zip(rows, first["quotes"], strict=True):
        order = orders[row["id"]]
        assert (row["network"], row["block"], row["inputAmount"]) == (
            command.name,
            str(quote["block"]),
            order["inputAmount"],
        )
        for end in ("inputToken", "outputToken"):
            described = {name: row[f"{end}{name}"] for name in ("", "Address", "Decimals")}
            token = order[end]
            assert described == {"": token["symbol"], "Address": token["address"], "Decimals": str(token["decimals"])}
