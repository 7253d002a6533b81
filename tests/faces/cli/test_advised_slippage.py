"""`calldata` advises a slippage on real state, and applies none of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from swapcli.interface.slippage import V1_SLIPPAGE, parse_slippage_ppm
from swapcli.state.markets.format import parse_market
from swapcli.state.store import create_store
from tests.support.command import run_swapcli
from tests.support.testnet import DIRECT_V2, build_market_document, raise_unknown_network

ROUTER = "0x2222222222222222222222222222222222222223"
WALLET = "0x9999999999999999999999999999999999999999"


def calldata(folder: Path, amount: str, *options: str, provenance: str = "recorded", gas_price_wei: int = 10**9) -> str:
    document = build_market_document(provenance=provenance, gas_price_wei=str(gas_price_wei))
    document["network"]["router"] = ROUTER
    file = folder / "market.json"
    file.write_text(json.dumps(document))
    order = ("testnet", "ETH", "USDC", amount, "--market", str(file), "--destination", WALLET, "--max-impact", "90")
    ran = run_swapcli("calldata", *order, *options)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def advice_of(folder: Path, amount: str, **changes: Any) -> dict[str, Any]:
    advice: dict[str, Any] = json.loads(calldata(folder, amount, "--json", **changes))["advisedSlippage"]
    return advice


def test_the_advice_is_in_the_document_and_the_table(tmp_path: Path) -> None:
    advice = advice_of(tmp_path, "10")
    (row,) = [row for row in calldata(tmp_path, "10").splitlines() if row.startswith("Advised slippage")]
    assert f"{advice['slippagePercent']:g}%" in row
    for reason in advice["reasons"]:
        assert reason in row


def test_advice_changes_no_transaction(tmp_path: Path) -> None:
    real, modelled = (
        json.loads(calldata(tmp_path, "10", "--json", "--slippage", "0.7", "--offline", provenance=provenance))
        for provenance in ("recorded", "modelled")
    )
    assert real["advisedSlippage"]["slippagePercent"] != 0.7
    assert (real["calldata"], real["minReceived"]) == (modelled["calldata"], modelled["minReceived"])


def test_modelled_state_gives_no_advice(tmp_path: Path) -> None:
    assert "advisedSlippage" not in json.loads(calldata(tmp_path, "10", "--json", "--offline", provenance="modelled"))


@pytest.mark.parametrize("amount", ["0.1", "10", "300"])
def test_dearer_gas_never_lowers_the_advice(tmp_path: Path, amount: str) -> None:
    advised = [advice_of(tmp_path, amount, gas_price_wei=10**power) for power in (6, 9, 11)]
    values = [parse_slippage_ppm(str(advice["slippagePercent"])) for advice in advised]
    assert values == sorted(values)
    assert values[0] >= V1_SLIPPAGE.min_ppm


def test_a_synced_store_shows_how_far_the_output_fell(tmp_path: Path) -> None:
    """The pool pays a hundredth less in the second of three blocks, and as much as before in the third."""
    document = build_market_document(provenance="synced", gas_price_wei=str(10**9))
    document["network"]["router"] = ROUTER
    market = parse_market(json.dumps(document), networks=raise_unknown_network).market
    now_s = int(time.time())
    direct = market.pools[DIRECT_V2]
    with create_store(str(tmp_path / "testnet.sqlite"), market.network, raise_unknown_network) as store:
        for number, reserve in enumerate((2_000_000, 1_980_000, 2_000_000)):
            with store.write_block(1_000 + number, f"0x{number:x}", now_s - 30 + 10 * number) as writer:
                writer.put_tokens(market.tokens.values())
                reserves = [str(1_000 * 10**18), str(reserve * 10**6)]
                writer.put_pools([direct.from_state(direct.identity, {"reserves": reserves})])
    ran = run_swapcli(
        "calldata", "testnet", "ETH", "USDC", "1", "--store", str(tmp_path), "--destination", WALLET, "--json"
    )
    advice = ran.json["advisedSlippage"]
    assert advice["parts"]["movement"] == {"fallPercent": 1.0001, "windowS": 60, "historyS": 20, "blocks": 3}
    assert advice["slippagePercent"] == 1.01
    assert advice["reasons"][0] == "the output of this route fell by up to 1.0001% within 60 s, in 3 blocks over 20 s"
