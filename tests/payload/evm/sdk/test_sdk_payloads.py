"""Payloads of Uniswap's own SDK decode to the orders that they were made from, by `make_payloads.mjs`."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.decoded_call import SENDER, DecodedCall, DecodedPayment
from swapcli.payload.evm.decoding.decode import decode_calldata
from tests.examples import examples
from tests.support.command import run_swapcli

CASES: list[dict[str, Any]] = json.loads(lzma.decompress((Path(__file__).parent / "payloads.json.xz").read_bytes()))
WETH = "0x4200000000000000000000000000000000000006"
NATIVE = "0x" + "0" * 40


def decode(case: dict[str, Any]) -> DecodedCall:
    return decode_calldata(case["calldata"], WETH, int(case["value"]))


def check(case: dict[str, Any], call: DecodedCall) -> None:
    """Check that a call is what the SDK made it from."""
    order, fee = call.order, case["fee"]
    assert order is not None
    assert (call.oddities, call.trailing_bytes) == ((), 0)
    for token, is_native, requested in (
        (order.token_in, order.is_native_in, case["tokenIn"]),
        (order.token_out, order.is_native_out, case["tokenOut"]),
    ):
        assert ("ETH" if is_native else token) == requested
        assert token != NATIVE
    tolerance = int(case["tolerance"])
    assert int(case["amountIn"]) - tolerance <= order.amount_in <= int(case["amountIn"])
    assert abs(order.min_received - int(case["minimum"])) <= tolerance
    assert (order.promised_received, order.max_amount_in) == (None, None)
    assert order.recipient == (case["recipient"] or SENDER)
    assert (order.deadline_s, order.is_exact_out) == (case["deadline"], case["exactOut"])
    assert len(call.swaps) == sum(case["hops"])
    if fee is None:
        assert (call.payments, call.fee) == ((), None)
        return
    share_e18, amount = (int(fee[name]) if name in fee else None for name in ("shareE18", "amount"))
    (payment,) = call.payments
    assert payment == DecodedPayment(payment.token, fee["recipient"], share_e18, amount)
    assert payment.token in (order.token_out, NATIVE)
    if share_e18 is not None:
        assert call.fee is not None
        assert (call.fee.recipient, call.fee.fee_bps) == (fee["recipient"], share_e18 / 10**14)


def test_payloads_of_the_sdk_are_read_as_ordered() -> None:
    assert len(CASES) >= 200
    for case in CASES:
        check(case, decode(case))


def test_the_payloads_have_every_form() -> None:
    forms = {(case["kind"], case["exactOut"]) for case in CASES}
    kinds = ("v2", "v3", "v4", "mixed")
    assert forms == {(kind, exact) for kind in kinds for exact in (False, True)} - {("mixed", True)}
    assert {case["version"] for case in CASES} == {"2.0", "2.1.1", "2.1.2"}
    assert {(case["tokenIn"] == "ETH", case["tokenOut"] == "ETH") for case in CASES} >= {(True, False), (False, True)}
    assert {len(case["hops"]) for case in CASES} >= {1, 2, 3}


@pytest.mark.parametrize("known", [True, False])
def test_an_amount_that_is_the_balance_is_that_of_the_value(known: bool) -> None:
    case = next(each for each in CASES if each["tokenIn"] == "ETH" and each["kind"] == "v3" and each["hops"] == [1])
    whole = f"{1 << 255:064x}"
    calldata = case["calldata"].replace(f"{int(case['amountIn']):064x}", whole)
    assert calldata.count(whole) == 2
    call = decode_calldata(calldata, WETH, int(case["value"]) if known else None)
    assert call.order is not None
    assert call.order.amount_in == (int(case["amountIn"]) if known else 0)
    assert call.order.is_native_in


@pytest.mark.parametrize("case", CASES[:: 240 // examples(10, full=120)])
def test_no_payload_of_the_sdk_is_called_dangerous(case: dict[str, Any]) -> None:
    document = {"network": "base", "value": case["value"], "calldata": case["calldata"]}
    sender, fee = case["recipient"] or "0x" + "11" * 20, case["fee"]
    words = ("decode", "-", "--from", sender, "--json", "--offline")
    ran = run_swapcli(*words, stdin=json.dumps(document).encode())
    assert (ran.exit_code, ran.json.get("dangers", [])) == ((7, ["PAYMENT_UNKNOWN"]) if fee else (0, []))
    assert ran.json["order"]["exactOutput"] == case["exactOut"]
    assert all(swap["protocol"] for swap in ran.json["swaps"])
    if fee and "shareE18" in fee:
        env = {"SWAPCLI_INTEGRATOR_ADDRESS": fee["recipient"], "SWAPCLI_INTEGRATOR_FEE_BPS": "100"}
        assert run_swapcli(*words, stdin=json.dumps(document).encode(), env=env).exit_code == 0


def test_the_view_says_what_an_exact_output_costs_at_most() -> None:
    case = next(each for each in CASES if each["exactOut"] and each["fee"] is None)
    ran = run_swapcli("decode", case["calldata"], "--network", "base", "--value", case["value"], "--offline", "-v")
    assert ran.exit_code == 0
    assert f"{case['minimum']} base units" in ran.stdout
    lines = ran.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines if " base units" in line] == ["At most", "You buy"]
