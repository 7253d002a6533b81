"""Tokens that do not transfer what is sent, on the command line: refused, warned of, listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import USDC, WETH, build_market_document

ORDER = ("testnet", "ETH", "USDC", "25")
FEE = {"kind": "fee", "buy_fee_ppm": 10_000, "sell_fee_ppm": 30_000}
LISTED_FEE = {"kind": "fee", "buyFeePpm": 10_000, "sellFeePpm": 30_000}


def marked(folder: Path, **changes: Any) -> str:
    """The small market in a file, its USDC marked."""
    document = build_market_document(**changes)
    for entry in document["tokens"]:
        if entry["address"] == USDC:
            entry["transfers"] = FEE
    file = folder / "marked.json"
    file.write_text(json.dumps(document))
    return str(file)


def test_an_order_for_a_fee_token_fails_with_the_fee(tmp_path: Path) -> None:
    refused = run_swapcli("route", *ORDER, "--market", marked(tmp_path), "--json")
    assert (refused.exit_code, refused.error["code"]) == (3, "FEE_ON_TRANSFER")
    assert refused.error["message"] == (
        "USDC takes a fee of 1% when it is bought, of 3% when it is sold, so its amount cannot be guaranteed"
    )
    assert refused.error["details"] == {"token": USDC, **LISTED_FEE, "transferFeePpm": 0}


def test_tokens_lists_transfer_behaviour(tmp_path: Path) -> None:
    file = marked(tmp_path)
    listed = {entry["symbol"]: entry for entry in run_swapcli("tokens", "testnet", "--market", file, "--json").json}
    assert listed["USDC"]["transfers"] == LISTED_FEE
    assert "transfers" not in listed["WETH"]
    assert (
        "takes a fee of 1% when it is bought"
        in run_swapcli("tokens", "testnet", "--market", file, "--format=plain").stdout
    )
    stores = str(tmp_path / "stores")
    assert run_swapcli("market", "import", file, "--store", stores).exit_code == 0
    stored = {entry["symbol"]: entry for entry in run_swapcli("tokens", "testnet", "--store", stores, "--json").json}
    assert stored["USDC"]["transfers"] == LISTED_FEE
    (reported,) = run_swapcli("market", "info", "--store", stores, "--json").json
    assert reported["transfers"] == {"unknown": len(build_market_document()["tokens"]) - 1, "fee": 1}
    assert json.loads(run_swapcli("market", "export", "testnet", "--store", stores).stdout)["tokens"] == [
        {**entry, **({"transfers": FEE} if entry["address"] == USDC else {})}
        for entry in build_market_document()["tokens"]
    ]


def settled(folder: Path, marks: str) -> CommandResult:
    """The order, on a store, with the settings that mark tokens of its network."""
    stores = folder / "stores"
    document = json.dumps(build_market_document()).encode()
    assert run_swapcli("market", "import", "-", "--store", str(stores), stdin=document).exit_code == 0
    config = folder / "config.yaml"
    native = "native: {symbol: ETH, name: Ether, decimals: 18}"
    config.write_text(
        f"store_dir: {stores}\nnetworks:\n  testnet:\n    chain_id: 31337\n    {native}\n"
        f"    wrapped_native: {WETH}\n    {marks}\n"
    )
    return run_swapcli("route", *ORDER, "--json", env={"SWAPCLI_CONFIG": str(config)})


@pytest.mark.parametrize("address", [USDC, f'"{USDC}"'])
def test_the_settings_may_mark_a_token_with_a_fee(tmp_path: Path, address: str) -> None:
    refused = settled(tmp_path, f"transfer_fees_ppm: {{{address}: 20000}}")
    assert (refused.exit_code, refused.error["code"]) == (3, "FEE_ON_TRANSFER")
    assert refused.error["message"].startswith("USDC takes a fee of 2% on transfers")


def test_the_settings_may_mark_a_token_that_keeps_shares(tmp_path: Path) -> None:
    reported = settled(tmp_path, f"share_tokens: [{USDC}]")
    assert reported.exit_code == 0
    (warning,) = (each for each in reported.json["warnings"] if each["code"] == "SHARE_TOKEN")
    assert warning["message"].startswith("USDC keeps balances as shares: each transfer can lose up to 2 base units")
    assert reported.json["exact"] is False
    assert int(reported.json["outputAmount"]) > 0


def test_the_settings_may_block_a_token(tmp_path: Path) -> None:
    refused = settled(tmp_path, f"blocked_tokens: [{USDC}]")
    assert (refused.exit_code, refused.error["code"]) == (3, "TOKEN_BLOCKED")
    assert refused.error["message"] == "USDC is blocked in the settings"
