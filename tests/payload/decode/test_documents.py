"""Every honest form of a transaction is read whole, and each thing that is added to it, or left out, is noticed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from eth_account import Account

from swapcli.core.errors import InvalidInput
from swapcli.payload.decode.documents import parse_payload
from swapcli.payload.evm.permit import PermitTerms, permit2_message
from tests.examples import examples, generator
from tests.payload.decode.forms import HASH, ME, STRANGER, Json, account_felts, evm_forms, starknet_forms

ROUTER, DATA, VALUE = "0x" + "55" * 20, "0x8619b04e" + "07" * 320, 10**18
FORMS = evm_forms(ROUTER, DATA, VALUE)
CALL = {"to": ROUTER, "data": DATA, "value": hex(VALUE)}
SENT = {"from": ME, **CALL, "chainId": "0x2105"}
EVIL = {"to": STRANGER, "data": "0xdeadbeef"}
STARKNET_CALLS: list[Json] = [
    {"to": "0x4718f5a", "entrypoint": "approve", "calldata": ["246", "1000", "0"]},
    {"to": "0xf6f4cf6", "entrypoint": "swap", "calldata": ["1", "2", "1000", "0", "9", "0", "4660", "1", "7"]},
]
STARKNET_FORMS = starknet_forms(STARKNET_CALLS)


def text_of(form: Any) -> str:
    return form if isinstance(form, str) else json.dumps(form)


@pytest.mark.parametrize("name", FORMS)
def test_every_honest_form_is_read_whole(name: str) -> None:
    given = parse_payload(text_of(FORMS[name]))
    payload = given.payload
    assert (payload.to, payload.calldata, payload.value, payload.sender) == (ROUTER, DATA, VALUE, ME)
    assert payload.is_whole
    assert (given.oddities, payload.oddities) == ((), ())
    assert (given.chain_ids, given.chain_names) == ((8453,), ())


@pytest.mark.parametrize("name", STARKNET_FORMS)
def test_every_honest_form_of_starknet_is_read_whole(name: str) -> None:
    given = parse_payload(text_of(STARKNET_FORMS[name]))
    assert given.oddities == ()
    assert [each.entrypoint for each in given.listed] == ["approve", "swap"]
    for each, call in zip(given.listed, STARKNET_CALLS, strict=True):
        assert (int(each.to or "", 16), each.felts) == (int(call["to"], 16), tuple(map(int, call["calldata"])))
    assert given.position == 1
    assert set(given.chain_ids) <= {int.from_bytes(b"SN_MAIN")}


@pytest.mark.parametrize("name", ["eth_sendTransaction", "wallet_sendCalls", "LI.FI", "node, alone", "Safe, kit"])
def test_a_list_of_one_is_that_one(name: str) -> None:
    given = parse_payload(json.dumps([FORMS[name]]))
    assert (given.payload.to, given.payload.calldata, given.payload.value) == (ROUTER, DATA, VALUE)
    assert given.oddities == ()
    twice = parse_payload(json.dumps([FORMS[name]] * 2))
    assert (len(twice.listed), twice.oddities) == (2, ())
    lines = parse_payload("\n".join(map(json.dumps, [FORMS[name]] * 2)))
    assert lines.listed == twice.listed


@pytest.mark.parametrize("name", ["get-starknet", "version 3", "Cairo 0", "node"])
def test_a_list_of_one_of_starknet_is_that_one(name: str) -> None:
    for form in ([STARKNET_FORMS[name]], {"jsonrpc": "2.0", "id": 1, "result": [STARKNET_FORMS[name]]}):
        given = parse_payload(json.dumps(form))
        assert [each.entrypoint for each in given.listed] == ["approve", "swap"]
        assert given.oddities == ()


# --- what is left out


def without(form: Any, *names: str) -> Any:
    """Return a form whose objects lack some fields."""
    if isinstance(form, list):
        return [without(each, *names) for each in form]
    if not isinstance(form, dict):
        return form
    return {name: without(each, *names) for name, each in form.items() if name not in names}


@pytest.mark.parametrize("name", [each for each in FORMS if not isinstance(FORMS[each], str)])
def test_no_contract_is_a_deployment_and_no_value_is_zero(name: str) -> None:
    deployment = parse_payload(text_of(without(FORMS[name], "to"))).payload
    assert (deployment.to, deployment.is_whole, deployment.calldata) == (None, True, DATA)
    assert parse_payload(text_of(without(FORMS[name], "value"))).payload.value == 0


@pytest.mark.parametrize("nothing", [None, "", "0x"])
def test_nothing_may_be_written_out(nothing: str | None) -> None:
    assert parse_payload(json.dumps({**SENT, "to": nothing})).payload.to is None
    assert parse_payload(json.dumps({**SENT, "value": None})).payload.value == 0


@pytest.mark.parametrize(
    "text", [DATA, json.dumps(DATA), json.dumps({"data": DATA}), json.dumps({"calldata": DATA, "network": "base"})]
)
def test_calldata_alone_is_not_a_transaction(text: str) -> None:
    payload = parse_payload(text).payload
    assert (payload.calldata, payload.is_whole, payload.to, payload.value) == (DATA, False, None, None)


# --- other chains


@pytest.mark.parametrize(
    "chain",
    [
        {"chain": {"id": 1}}, {"chain": {"chainId": "0x1", "name": "Base"}}, {"chain": 1}, {"chain": "1"},
        {"chain": "0x1"}, {"chain": "eip155:1"}, {"caip2": "eip155:1"}, {"network_id": 1}, {"networkId": "1"},
        {"network_id": "0x1"}, {"network": {"chainId": 1}}, {"network": 1}, {"network": "eip155:1"}, {"chain_id": 1},
        {"chainID": "1n"}, {"chainId": {"type": "BigNumber", "hex": "0x1"}},
    ],
)  # fmt: skip
def test_a_chain_has_many_names(chain: Json) -> None:
    for form in (
        {**CALL, **chain},
        {"tx": CALL, **chain},
        {"method": "eth_sendTransaction", "params": [CALL], **chain},
        {"method": "wallet_sendCalls", "params": [{"calls": [CALL], **chain}]},
        {"transactions": [{**CALL, **chain}]},
        {"params": {"request": {"method": "eth_sendTransaction", "params": [CALL]}, **chain}},
    ):
        assert parse_payload(json.dumps(form)).chain_ids == (1,), form


def test_a_chain_may_have_a_name_only() -> None:
    for chain in ({"chain": "ethereum"}, {"chain": {"name": "ethereum"}}, {"network": {"name": "ethereum"}}):
        assert parse_payload(json.dumps({**CALL, **chain})).chain_names == ("ethereum",)
    assert parse_payload(json.dumps({**CALL, "network": "ethereum"})).network == "ethereum"


# --- what is added


SIGNED = Account.from_key(HASH).sign_transaction(
    {"to": STRANGER, "gas": 21_000, "gasPrice": 1, "nonce": 0, "chainId": 1}
)
ADDED: dict[str, Any] = {
    "a call": EVIL,
    "a call of calldata": {"to": STRANGER, "calldata": "0xdeadbeef"},
    "a call of input": {"to": STRANGER, "input": "0xdeadbeef"},
    "calldata alone": {"data": "0xdeadbeef"},
    "felts": {"calldata": ["1", "2", "3"]},
    "a payment": {"to": STRANGER, "value": "1"},
    "an approval": {"spender": STRANGER, "amount": "1"},
    "a call in other letters": {"TO": STRANGER, "Data": "0xdeadbeef"},
    "a list": [{"note": "x"}, EVIL],
    "a call far below": {"a": [{"b": {"c": EVIL}}]},
    "a permit": {"types": {}, "primaryType": "Permit", "domain": {}, "message": {"spender": STRANGER, "value": "1"}},
    "a call on Starknet": {"contract_address": STRANGER, "entry_point": "transfer", "calldata": ["1"]},
    "a delegate call": {"operation": 1},
    "a delegate call as text": {"operation": "0x1"},
    "a delegate call by name": {"operation": "DELEGATE_CALL"},
    "an authorization": {"authorizationList": [{"address": STRANGER, "chainId": 0}]},
    "a call to encode": {"contract": STRANGER, "method": "approve", "args": [STRANGER, "1"]},
    "a call of viem": {"address": STRANGER, "abi": [], "functionName": "approve", "args": [STRANGER, "1"]},
    "a call of web3": {"address": STRANGER, "function": "approve(address,uint256)", "params": {"spender": STRANGER}},
    "a request": {"method": "wallet_addEthereumChain", "params": [{"chainId": "0x2105", "rpcUrls": ["http://x"]}]},
    "a text": json.dumps(EVIL),
    "a text in a text": json.dumps(json.dumps([{"then": EVIL}])),
    "a message in a text": json.dumps({"primaryType": "Order", "types": {}, "message": {}}),
    "a text that is not JSON": f"{{to: {STRANGER}, data: 0xdeadbeef}}",
    "a link": f"ethereum:{STRANGER}@8453/transfer?address={STRANGER}&uint256=1",
    "an approval as text": "0x095ea7b3" + "01" * 64,
    "a signed transaction": f"0x{bytes(SIGNED.raw_transaction).hex()}",
    "a call in a list": ["approve", STRANGER, STRANGER, "1"],
    "a call by its signature": [["transfer(address,uint256)", STRANGER, "1"]],
    "approvals as a list": {"approvals": [[STRANGER, STRANGER, "1"]]},
    "an approval as a line": {"approve": f"{STRANGER},1"},
    "shell text": f"cast send {STRANGER} 0xdeadbeef",
    "a link of an application": f"wallet://send?to={STRANGER}",
    "a link of the web": f"https://wallet.example/send/{STRANGER}@8453/transfer?uint256=1",
    "a session": "wc:7f6e504bfad60b485450578e05678ed3e8e8c4751d3c6160be17160d63ec90f9@2?relay-protocol=irn",
    "JSON as a key": {json.dumps(EVIL): 1},
    "whom to approve": {"approvalAddress": STRANGER},
    "an authorization in other letters": {"authorization_list": [{"address": STRANGER}]},
}
HARMLESS: dict[str, Any] = {
    "a note": {"note": "x", "data": "a text for people", "operation": "swap"},
    "a normal call": {"operation": 0},
    "no authorization": {"authorizationList": []},
    "token addresses": {"fromToken": STRANGER, "toToken": STRANGER, "toAddress": ME},
    "the router as the spender": {"spender": ROUTER},
    "a header": {"authorization": "Bearer x"},
    "a text": "[the route] {of 3 pools}",
    "a text of JSON": json.dumps({"note": "x", "symbols": ["ETH"], "id": HASH}),
    "the router to approve": {"approvalAddress": ROUTER, "allowanceTarget": "0x" + "0" * 40},
    "names of chains": {"chains": ["starknet:SN_MAIN", "eip155:1"], "coin": f"ethereum:{STRANGER}"},
    "a token to approve": {"approvalToken": STRANGER, "needsApproval": True, "allowance": "0"},
    "a list of names": ["transfer", "swap"],
    "a description": {
        "dataDecoded": {"method": "swap", "parameters": [{"name": "a", "type": "uint256", "value": "1"}]}
    },
    "a signature": "0x" + "11" * 65,
    "a link": "https://example.org/tx/0x" + "11" * 32,
}


def at_each_place(form: Any, added: Any) -> list[Any]:
    """Return the form once for each of its objects, to which a key is added."""
    objects = list[tuple[Any, ...]]()

    def walk(value: Any, path: tuple[Any, ...]) -> None:
        if isinstance(value, dict):
            objects.append(path)
        for key, each in (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        ):
            walk(each, (*path, key))

    walk(form, ())
    found = []
    for path in objects:
        changed = deepcopy(form)
        place = changed
        for key in path:
            place = place[key]
        place["more"] = added
        found.append(changed)
    return found


PLACES = (
    "eth_sendTransaction",
    "wallet_sendCalls",
    "WalletConnect",
    "viem",
    "node",
    "Safe, kit",
    "LI.FI",
    "0x",
    "list",
)


@pytest.mark.parametrize("added", ADDED)
def test_content_under_unknown_keys_is_named_wherever_it_is(added: str) -> None:
    for name in PLACES:
        for changed in at_each_place(FORMS[name], ADDED[added]):
            given = parse_payload(json.dumps(changed))
            named = any("more" in each for each in given.oddities)
            assert named or given.messages, (name, changed)
    for changed in at_each_place(STARKNET_FORMS["get-starknet"], ADDED[added]):
        given = parse_payload(json.dumps(changed))
        assert given.oddities or given.messages, changed


@pytest.mark.parametrize("added", HARMLESS)
def test_harmless_content_is_not_named(added: str) -> None:
    for name in PLACES:
        if name == "0x":  # the steps of its route have known keys and no others
            continue
        for changed in at_each_place(FORMS[name], HARMLESS[added]):
            assert parse_payload(json.dumps(changed)).oddities == (), (name, changed)


@pytest.mark.parametrize(
    "form",
    [
        {"tx": CALL, "transaction": EVIL},
        {"tx": CALL, "transactions": [EVIL]},
        {**CALL, "tx": EVIL},
        {"method": "eth_sendTransaction", "params": [CALL], **EVIL},
        {"jsonrpc": "2.0", "result": CALL, "params": [EVIL]},
        {"params": {"request": {"method": "eth_sendTransaction", "params": [CALL]}, "then": EVIL}},
        {"issues": {"allowance": {"spender": STRANGER}}, "transaction": CALL},
        {"route": {"fills": [{**EVIL, "source": "x"}]}, "transaction": CALL},
        {"transactions": [{**EVIL, "calls": [CALL]}]},
        {"result": {**CALL, "rawTransaction": "0x02" + "ab" * 100}},
        {"calls": [CALL], "operation": 1},
        [{"calls": [CALL], **EVIL}, CALL],
    ],
)
def test_two_transactions_are_never_read_as_one(form: Any) -> None:
    assert parse_payload(json.dumps(form)).oddities


@pytest.mark.parametrize(
    "field", [{"operation": 1}, {"operation": True}, {"authorizationList": [{}]}, {"type": "0x4"}, {"type": 4}]
)
def test_a_transaction_that_does_more_says_so(field: Json) -> None:
    assert parse_payload(json.dumps({**SENT, **field})).payload.oddities
    assert parse_payload(json.dumps({"tx": {**SENT, **field}})).payload.oddities


def test_a_list_has_the_sender_of_its_transactions() -> None:
    for sender, is_odd in ((ME, False), (ME.upper().replace("X", "x"), False), (STRANGER, True)):
        calls = {"from": sender, "calls": [SENT, SENT], "chainId": 8453}
        forms = (calls, {"method": "wallet_sendCalls", "params": [calls]}, [calls, SENT], [calls, calls])
        for form in forms:
            assert bool(parse_payload(json.dumps(form)).oddities) == is_odd
    below = parse_payload(json.dumps([{"from": STRANGER, "calls": [CALL]}, SENT]))
    assert [each.sender for each in below.listed] == [STRANGER, ME]


# --- felts


def test_an_extra_felt_in_an_account_transaction_is_named() -> None:
    invoke = STARKNET_FORMS["version 3"]
    for felts in ([*invoke["calldata"], "0x0"], invoke["calldata"][:-1], ["0x3", *invoke["calldata"][1:]]):
        given = parse_payload(json.dumps({**invoke, "calldata": felts}))
        assert "not only calls of an account" in given.oddities[0]
        assert given.payload.entrypoint == "__execute__"


def test_more_calls_of_an_account_are_listed() -> None:
    invoke = STARKNET_FORMS["version 3"]
    calls = [STARKNET_CALLS[0], *STARKNET_CALLS]
    given = parse_payload(json.dumps({**invoke, "calldata": account_felts(calls)}))
    assert [each.entrypoint for each in given.listed] == ["approve", "approve", "swap"]
    deployed = parse_payload(json.dumps({**invoke, "account_deployment_data": ["0x1"]}))
    assert "also deploys the account" in deployed.listed[0].oddities[0]


# --- what is of another type

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**70, "", "0x", "x", HASH, [], {}, [1], ["0x1"], [[]], [{}], {"a": 1}, {"to": "x"},
    {"id": None}, {"address": None}, {"method": 1}, CALL,
)  # fmt: skip
KEYS = (
    "to", "data", "calldata", "method", "params", "result", "calls", "transactions", "chain", "chainId", "network",
    "type", "operation", "raw", "tx", "account", "jsonrpc", "request", "value", "from", "authorizationList",
)  # fmt: skip


def test_fields_of_any_type_are_read_or_an_error() -> None:
    rng = generator("fields of any type")
    forms = [each for each in (*FORMS.values(), *STARKNET_FORMS.values()) if isinstance(each, dict)]
    for _ in range(examples(120, full=4_000)):
        changed = rng.choice(at_each_place(rng.choice(forms), None))
        place = rng.choice(list(objects_in(changed)))
        place[rng.choice((*place, *KEYS))] = rng.choice(VALUES)
        with suppress(InvalidInput):
            parse_payload(json.dumps(changed))


def objects_in(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(each)


# --- messages in envelopes


def test_a_message_is_read_in_the_envelopes_of_transactions() -> None:
    terms = PermitTerms(STRANGER, ME, ROUTER, 30_000_000, 4_000_000_000)
    message = permit2_message(terms, 0, 8453).document()
    request = {"method": "eth_signTypedData_v4", "params": [ME, json.dumps(message)]}
    for form in (message, request, {"params": {"request": request, "chainId": "eip155:8453"}}):
        given = parse_payload(json.dumps(form))
        found = given.payload.message
        assert found is not None
        assert ([each.spender for each in found.approvals], given.chain_ids) == ([ROUTER], (8453,))
        assert (found.problems, given.oddities) == ((), ())
    wrapped = parse_payload(json.dumps({"params": {"request": request, "chainId": "eip155:1"}}))
    assert wrapped.payload.message is not None
    assert wrapped.payload.message.problems == ("the request is for chain 1, but the message is for chain 8453",)
    more = parse_payload(json.dumps({**message, "more": EVIL})).payload.message
    assert more is not None
    assert more.problems == ("the document has more than the message: more",)
