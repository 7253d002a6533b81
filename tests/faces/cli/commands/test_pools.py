"""`swapcli pools`: figures that agree with quotes, and reasons for what quotes leave out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.networks.catalogue import network_names
from tests.support.command import run_swapcli
from tests.support.testnet import DAI, EMPTY_V2, TWIN_A, USDC, WETH, build_market_document


def pools(*arguments: str) -> list[dict[str, Any]]:
    ran = run_swapcli("pools", *arguments, "--json")
    assert ran.exit_code == 0, ran.stderr
    listed = ran.json["pools"]
    assert isinstance(listed, list)
    return listed


@pytest.mark.parametrize("name", network_names())
def test_all_pools_of_a_market_are_listed_the_deepest_first(name: str) -> None:
    listed = pools(name, "--limit", "0")
    exported = json.loads(run_swapcli("market", "export", name).stdout)["pools"]
    assert len(listed) == len(exported)
    depths = [pool["liquidityUsd"] or 0.0 for pool in listed]
    assert depths == sorted(depths, reverse=True)
    assert [pool["pool"] for pool in pools(name, "--limit", "7")] == [pool["pool"] for pool in listed[:7]]
    assert not any("skippedReason" in pool for pool in listed)


def test_tokens_select_the_pools_that_trade_them() -> None:
    every = pools("base", "--limit", "0")
    with_usdc = pools("base", "USDC", "--limit", "0")
    with_both = pools("base", "USDC", "ETH", "--limit", "0")
    usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    assert {pool["pool"] for pool in with_usdc} == {pool["pool"] for pool in every if usdc in pool["tokens"]}
    assert all(pool["pair"] == ["USDC", "WETH"] for pool in with_both)
    assert {pool["pool"] for pool in with_both} == {pool["pool"] for pool in pools("base", "ETH", "USDC")}


def test_a_store_lists_the_pools_of_its_market(tmp_path: Path) -> None:
    exported = run_swapcli("market", "export", "citrea").stdout.encode()
    assert run_swapcli("market", "import", "-", "--store", str(tmp_path), stdin=exported).exit_code == 0
    for tokens in ((), ("CBTC",), ("CBTC", "ctUSD")):
        stored = pools("citrea", *tokens, "--store", str(tmp_path), "--limit", "0")
        direct = pools("citrea", *tokens, "--limit", "0")
        assert stored
        prices = {pool["pool"]: pool["price"] for pool in stored}
        assert prices == {pool["pool"]: pool["price"] for pool in direct}
        depths = {pool["pool"]: pool["liquidityUsd"] for pool in stored}
        # A store prices tokens by the deepest pools alone.
        assert depths == pytest.approx({pool["pool"]: pool["liquidityUsd"] for pool in direct}, rel=0.02)


def test_pool_prices_are_those_of_small_orders() -> None:
    for pool in pools("base", "ETH", "USDC")[:3]:
        quoted = run_swapcli("route", "base", "ETH", "USDC", "0.1", "--gas-price", "0", "--get", "outputAmount")
        assert float(quoted.stdout) / 1e6 * 10 == pytest.approx(pool["price"], rel=3e-3)


def test_reasons_for_pools_that_quotes_leave_out(tmp_path: Path) -> None:
    document = build_market_document()
    fees = {"kind": "fee", "buy_fee_ppm": 20_000, "sell_fee_ppm": 20_000, "transfer_fee_ppm": 20_000}
    facts: dict[str, dict[str, object]] = {DAI: {"transfers": fees}, USDC: {"price_usd": 1.0}}
    document["tokens"] = [token | facts.get(token["address"], {}) for token in document["tokens"]]
    dust, twin = "0x" + "d5" * 20, "0x" + "d6" * 20
    file = tmp_path / "market.json"
    document["pools"].append(
        {"address": dust, "protocol": "uniswapV2", "family": "constant_product", "tokens": [WETH, USDC],
         "fee_ppm": 3000, "reserves": ["1000000000", "2"]}
    )  # fmt: skip
    document["pools"].append(
        {"address": twin, "protocol": "uniswapV2", "family": "constant_product", "tokens": [DAI, TWIN_A],
         "fee_ppm": 3000, "reserves": [str(10**24), str(10**24)]}
    )  # fmt: skip
    file.write_text(json.dumps(document))
    reasons = {pool["pool"].lower(): pool.get("skippedReason") for pool in pools("testnet", "--market", str(file))}
    assert reasons[twin] == "Dai takes a fee of 2% on transfers"
    assert [str(reasons[key]).split(":")[0] for key in (dust, EMPTY_V2)] == ["dust", "dust"]


def test_pools_that_the_router_cannot_execute_say_so() -> None:
    listed = pools("base", "--limit", "0", "--router-dialect", "universal-router")
    refused = {pool["protocol"] for pool in listed if "skippedReason" in pool}
    assert "aerodromeV3" in refused
    assert not refused & {"uniswapV3", "uniswapV4"}


@pytest.mark.parametrize(
    "arguments",
    [("base", "ETH", "USDC", "DAI"), ("base", "ETH", "WETH"), ("base", "--limit", "x"), ("base", "nosuch"), ()],
)
def test_wrong_pools_are_one_sentence(arguments: tuple[str, ...]) -> None:
    ran = run_swapcli("pools", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "Traceback" not in ran.stderr


def test_csv_has_one_row_a_pool_and_a_price() -> None:
    rows = list(csv.DictReader(io.StringIO(run_swapcli("pools", "base", "ETH", "USDC", "--format", "csv").stdout)))
    assert [row["pool"] for row in rows] == [pool["pool"] for pool in pools("base", "ETH", "USDC")]
    rows = list(csv.DictReader(io.StringIO(run_swapcli("price", "base", "ETH", "AERO", "--format", "csv").stdout)))
    assert [row["symbol"] for row in rows] == ["ETH", "AERO"]


def test_ids_are_short_in_a_table_and_whole_elsewhere() -> None:
    words = ("pools", "base", "ETH", "USDC")
    ids = [pool["pool"] for pool in pools(*words[1:])]
    assert any(len(each) == 66 and each == each.lower() for each in ids)
    table, full, plain = (
        run_swapcli(*words, *options).stdout for options in (("--format=table",), ("--format=table", "--verbose"), ())
    )
    assert [each in plain and each in full for each in ids] == [True] * len(ids)
    assert [f"{each[:6]}…{each[-4:]}".lower() in table for each in ids] == [True] * len(ids)
    assert not any(each in table for each in ids)
