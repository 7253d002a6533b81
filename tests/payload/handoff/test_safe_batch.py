"""A Safe's batch: methods where their ABI is published, data elsewhere, and the sentence that says what it does."""

from __future__ import annotations

import json
from time import time
from typing import Any

import pytest

import swapcli
from swapcli import InvalidInput, InvalidOption
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import EncodedCall, Purpose, RouterRouteParam, UnsignedTransaction
from swapcli.payload.decode.safe_methods import encode_method
from swapcli.payload.handoff.safe_batch import BatchTexts, safe_batch_document
from swapcli.payload.handoff.swap_summary import round_down, summarize_swap
from swapcli.payload.transactions_to_send import RenderedTransaction
from tests.support.command import run_swapcli

OWNER = "0x" + "11" * 20
USDC = Token("0x" + "22" * 20, "USDC", "USD Coin", 6)
ETH = Token("0x" + "00" * 20, "ETH", "Ether", 18)
WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
BUILD = ("calldata", "base", "USDC", "ETH", "1500", "--offline", "--router-dialect", "universal-router")


def entry(calldata: str, to: str = WETH, value: str = "0") -> dict[str, Any]:
    transaction = RenderedTransaction(Purpose.SWAP, to, calldata, value)
    document = safe_batch_document([transaction], 1, 1_700_000_000_000, BatchTexts("name", "text"))
    return dict(document["transactions"][0])


def method_of(calldata: str) -> tuple[str, bool, dict[str, str]]:
    found = entry(calldata)
    assert found["data"] is None
    return found["contractMethod"]["name"], found["contractMethod"]["payable"], found["contractInputsValues"]


def test_wrapping_is_readable() -> None:
    assert method_of("0xd0e30db0") == ("deposit", True, {})
    assert method_of("0x2e1a7d4d" + f"{10**18:064x}") == ("withdraw", False, {"wad": "1000000000000000000"})


def test_approvals_are_readable() -> None:
    spender = "66" * 20
    assert method_of(f"0x095ea7b3{spender:>064}{1_500_000_000:064x}") == (
        "approve",
        False,
        {"spender": f"0x{spender}", "value": "1500000000"},
    )
    words = f"{'22' * 20:>064}{spender:>064}{5:064x}{1_800_000_000:064x}"
    assert method_of(f"0x87517c45{words}")[2]["expiration"] == "1800000000"


@pytest.mark.parametrize(
    "calldata",
    [
        "0x",
        "0x12345678",
        "0xd0e30db000",  # bytes after the end
        f"0x095ea7b3{'ff' * 32}{1:064x}"[:-2],  # cut short
        f"0x3593564c{2**255:064x}{2**255:064x}{0:064x}",  # offsets beyond the end
    ],
)
def test_what_is_no_whole_call_of_a_published_function_stays_data(calldata: str) -> None:
    found = entry(calldata)
    assert (found["data"], found["contractMethod"], found["contractInputsValues"]) == (calldata, None, None)


def test_the_sentence_says_what_the_swap_does() -> None:
    least, deadline_s = 478_316_697_542_474_605, 1_796_083_200
    route = RouterRouteParam(USDC.address, "", 1_500_000_000, least, least, OWNER, SwapType.TOKEN_TO_NATIVE)
    payload = UnsignedTransaction(EncodedCall(route, deadline_s=deadline_s), OWNER, 0)
    expected = f"1,500 USDC -> at least 0.478316 ETH to {OWNER}, until 2026-12-01 00:00 UTC"
    assert summarize_swap(payload, USDC, ETH) == expected
    endless = payload._replace(call=EncodedCall(route))
    assert summarize_swap(endless, USDC, ETH) == expected.replace("until 2026-12-01 00:00 UTC", "without a deadline")
    hidden = USDC._replace(symbol="US\u202eDC\n")
    assert summarize_swap(endless, hidden, ETH).isprintable()


@pytest.mark.parametrize(
    ("amount", "decimals", "shown"),
    [
        (1_999_999_999, 6, "1,999.99"),
        (1_234_567_890_123_456, 6, "1,234,567,890"),
        (999_999_999_999_999_999, 18, "0.999999"),
        (1_234_567, 18, "0.00000000000123456"),
        (1_500_000, 6, "1.5"),
        (7, 0, "7"),
        (0, 18, "0"),
    ],
)
def test_a_minimum_is_never_rounded_up(amount: int, decimals: int, shown: str) -> None:
    assert round_down(amount, Token(OWNER, "T", "T", decimals)) == shown


# --- methods that others wrote


def method(*inputs: tuple[str, str], name: str = "f") -> dict[str, Any]:
    fields = [{"internalType": kind, "type": kind, "name": given} for given, kind in inputs]
    return {"name": name, "inputs": fields, "payable": False}


@pytest.mark.parametrize(
    ("given", "values", "expected"),
    [
        (method(name="deposit"), {}, "0xd0e30db0"),
        (method(name="deposit"), None, "0xd0e30db0"),
        (method(("", "uint256"), name="withdraw"), {"0": " 0007 "}, f"0x2e1a7d4d{7:064x}"),
        # transfer(address,uint256), and setApprovalForAll(address,bool)
        (
            method(("to", "address"), ("value", "uint256"), name="transfer"),
            {"to": "0x" + "66" * 20, "value": "1"},
            f"0xa9059cbb{'66' * 20:>064}{1:064x}",
        ),
        (
            method(("a", "address"), ("b", "bool"), name="setApprovalForAll"),
            {"a": "0x" + "66" * 20, "b": "true"},
            f"0xa22cb465{'66' * 20:>064}{1:064x}",
        ),
    ],
)
def test_a_method_is_read_as_the_transaction_builder_encodes_it(
    given: dict[str, Any], values: dict[str, str] | None, expected: str
) -> None:
    assert encode_method(given, values, "") == expected


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (None, {}),
        ("deposit", {}),
        ({"name": "deposit"}, {}),
        (method(name="receive"), {}),
        (method(name="fallback"), {}),
        (method(name="f(uint256)"), {}),
        (method(("a", "uint256")), {}),
        (method(("a", "uint256")), {"a": ""}),
        (method(("a", "uint256")), {"a": 1}),
        (method(("a", "uint256")), {"a": "0x1"}),
        (method(("a", "uint256")), {"a": "1e3"}),
        (method(("a", "uint256")), {"a": "-1"}),
        (method(("a", "uint8")), {"a": "256"}),
        (method(("a", "int8")), {"a": "128"}),
        (method(("a", "uint7")), {"a": "1"}),
        (method(("a", "uint264")), {"a": "1"}),
        (method(("a", "string")), {"a": "x"}),
        (method(("a", "uint256[2]")), {"a": "[1,2]"}),
        (method(("a", "address")), {"a": "vitalik.eth"}),
        (method(("a", "address")), {"a": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756CC2"}),  # a wrong checksum
        (method(("a", "bytes")), {"a": "0x123"}),
        (method(("a", "bytes32")), {"a": "0x12"}),
        (method(("a", "bytes[]")), {"a": "0x12"}),
        (method(("a", "bytes[]")), {"a": "[[0x12]]"}),
        (method(("a", "uint256")), {"a": "1", "b": "2"}),
        (method(("a", "tuple")), {"a": "[]"}),
        ({**method(("a", "tuple")), "inputs": [{"name": "a", "type": "tuple", "components": []}]}, {"a": "[1]"}),
        (
            {"name": "f", "inputs": [{"name": "a", "type": "tuple", "components": method(("b", "uint8"))["inputs"]}]},
            {"a": "[1]"},  # a number that JSON may round
        ),
    ],
)
def test_a_method_that_may_be_read_in_another_way_is_refused(given: Any, values: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^contract(Method|InputsValues)|wrong checksum"):
        encode_method(given, values, "")


def test_data_beside_a_method_must_be_its_call() -> None:
    found = {**entry("0xd0e30db0"), "data": "0xd0e30db0"}
    assert swapcli.decode(_text(found), network="base", offline=True).document()["function"] == "deposit"
    for data in ("0xd0e30db1", "0xd0e30db000"):
        with pytest.raises(InvalidInput, match="does not call this method"):
            swapcli.decode(_text({**found, "data": data}), network="base", offline=True)


def _text(transaction: dict[str, Any]) -> str:
    return json.dumps({"chainId": "8453", "transactions": [transaction]})


# --- the command line


@pytest.mark.parametrize("output_format", ["safe", "wallet-calls"])
@pytest.mark.parametrize(
    ("deadline", "is_warned"),
    [((), False), (("--deadline", "3d"), False), (("--deadline", "24h"), False), (("--deadline", "20m"), True)],
)
def test_a_short_deadline_is_warned_of(output_format: str, deadline: tuple[str, ...], is_warned: bool) -> None:
    ran = run_swapcli(*BUILD, "--destination", OWNER, "--format", output_format, *deadline)
    assert ran.exit_code == 0, ran.stderr
    assert ("its signers may need 1 day" in ran.stderr) == is_warned


def test_the_library_gives_the_same_documents() -> None:
    with swapcli.Market.embedded("base", settings={"router_dialect": "universal-router"}) as market:
        quote = market.quote("USDC", "ETH", "1500")
        prepared = quote.prepare(destination=OWNER, handoff="wallet-calls")
        executed = market.execute(quote.document(), destination=OWNER, handoff="safe")
        with pytest.raises(InvalidOption, match="handoff"):
            quote.prepare(destination=OWNER, handoff="letter")  # type: ignore[arg-type]
        short = quote.prepare(destination=OWNER, handoff="safe", deadline="2h")
    assert [each.code for each in short.warnings if each.code.startswith("DEADLINE")] == ["DEADLINE_SHORT"]
    for each in (prepared, executed):
        assert each.deadline.enforcer == "universal-router"
        assert (each.deadline.end_s or 0) - time() > 86_400
    printed = run_swapcli(*BUILD, "--destination", OWNER, "--format", "safe").json
    assert without_times(printed) == without_times(executed.safe_batch()) == without_times(prepared.safe_batch())


def without_times(batch: Any) -> Any:
    """Return what a Safe executes, without the deadline."""
    calls = json.loads(json.dumps(batch["transactions"]))
    for call in calls:
        for name in ("deadline", "expiration"):
            call["contractInputsValues"].pop(name, None)
    return calls


def test_starknet_has_no_such_documents() -> None:
    with swapcli.Market.embedded("starknet") as market:
        prepared = market.quote("STRK", "USDC", "1000").prepare(destination="0x" + "1" * 63)
    for make in (prepared.safe_batch, prepared.wallet_calls):
        with pytest.raises(InvalidOption, match="EVM"):
            make()
    assert prepared.deadline == (None, "nobody")


def test_other_formats_keep_the_short_deadline() -> None:
    shown = run_swapcli(*BUILD, "--destination", OWNER, "--json").json
    assert shown["deadlineEnforcer"] == "universal-router"
    assert 0 < shown["swap"]["deadline"] - time() <= 60
    assert "DEADLINE_SHORT" not in {each["code"] for each in shown["warnings"]}


def test_a_deadline_that_nobody_enforces_is_no_deadline() -> None:
    words = ("calldata", "base", "USDC", "ETH", "1500", "--offline", "--destination", OWNER, "--deadline", "20m")
    ran = run_swapcli(*words, "--json", "--router-dialect", "fibrous")
    assert "deadline" not in ran.json
    assert ran.json["deadlineEnforcer"] == "nobody"
    assert "DEADLINE_NOT_ENFORCED" in {each["code"] for each in ran.json["warnings"]}
    shown = run_swapcli(*words, "--format=plain", "--router-dialect", "fibrous").stderr
    assert "the router's swap has no deadline, so the transaction does not expire" in shown
