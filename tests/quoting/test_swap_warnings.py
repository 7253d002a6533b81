"""Warnings on a transaction: on its router, the reading of it, and the checks, without a node."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from swapcli.core.model.router_findings import RouterFinding, RouterFindings
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.evm import decode_call
from swapcli.state.router_findings_file import RouterFindingsFile
from tests.support.command import CommandResult, run_swapcli

WALLET = ("--destination", "0x" + "11" * 20)
HOURS_S = 3_600


def calldata(folder: Path, *words: str) -> CommandResult:
    ran = run_swapcli("calldata", "base", *words, *WALLET, "--offline", env={"SWAPCLI_STORE_DIR": str(folder)})
    assert ran.exit_code == 0, ran.stderr
    return ran


def codes(ran: CommandResult) -> list[str]:
    return [each["code"] for each in ran.json["warnings"] if each["code"].startswith("READING_")]


def remember(folder: Path, rates: tuple[RateVariant, ...], forms: tuple[ExtraDataForm, ...]) -> None:
    """Write findings about every protocol of Base, three hours old."""
    network = find_network("base")
    assert network.router
    found = RouterFinding(rates, forms, 123, int(time.time()) - 3 * HOURS_S)
    findings = RouterFindings("0x01", {protocol.id: found for protocol in network.protocols})
    RouterFindingsFile(folder / "router-readings.json").save(network.chain_id, network.router, findings)


def test_an_unknown_reading_is_said_to_be_assumed(tmp_path: Path) -> None:
    assert codes(calldata(tmp_path, "ETH", "USDC", "1", "--json")) == ["READING_ASSUMED"]
    message = "simulate first: swapcli assumes how the router reads rates and extra data"
    assert message in calldata(tmp_path, "ETH", "USDC", "1").stderr


def test_a_wrap_is_the_same_in_every_reading(tmp_path: Path) -> None:
    assert codes(calldata(tmp_path, "ETH", "WETH", "1", "--json")) == ["READING_SHARED"]


def test_a_remembered_reading_is_used_and_dated(tmp_path: Path) -> None:
    order = ("ETH", "USDC", "100")
    before = decode_call(calldata(tmp_path, *order, "--get", "calldata").stdout.strip())
    remember(tmp_path, (RateVariant.ABSOLUTE,), (ExtraDataForm.WORD,))
    ran = calldata(tmp_path, *order, "--json")
    assert codes(ran) == ["READING_REMEMBERED"]
    (message,) = (each["message"] for each in ran.json["warnings"] if each["code"] == "READING_REMEMBERED")
    assert message == "an earlier simulation, 3 hours old, showed how the router reads rates and extra data"
    after = decode_call(ran.json["calldata"])
    assert {len(swap.extra_data) for swap in after.swaps} <= {32, 160}
    sold = [swap.rate for swap in after.swaps if swap.token_in == after.route.token_in]
    assert sum(sold) == 1_000_000
    assert len(sold) > 1
    assert [swap.rate for swap in before.swaps] != [swap.rate for swap in after.swaps]
    assert after.route.amount_out == int(ran.json["route"]["outputAmount"])


@pytest.mark.parametrize("rates", [(RateVariant.RELATIVE, RateVariant.ABSOLUTE_INPUT)])
def test_findings_that_leave_a_doubt_are_not_enough(tmp_path: Path, rates: tuple[RateVariant, ...]) -> None:
    remember(tmp_path, rates, (ExtraDataForm.TWO_BYTES,))
    assert codes(calldata(tmp_path, "ETH", "USDC", "100", "--json")) == ["READING_ASSUMED"]


def test_other_dialects_have_no_reading(tmp_path: Path) -> None:
    remember(tmp_path, (RateVariant.ABSOLUTE,), (ExtraDataForm.WORD,))
    network = "SWAPCLI_NETWORKS_BASE_ROUTER"
    own = {network: "0x" + "22" * 20, f"{network}_DIALECT": "own", "SWAPCLI_STORE_DIR": str(tmp_path)}
    ran = run_swapcli("calldata", "base", "ETH", "USDC", "100", *WALLET, "--offline", "--json", env=own)
    assert ran.exit_code == 0, ran.stderr
    assert not codes(ran)
    call = decode_call(ran.json["calldata"])
    sold = [swap.rate for swap in call.swaps if swap.token_in == call.route.token_in]
    assert sum(sold) > sold[-1] == 1_000_000
