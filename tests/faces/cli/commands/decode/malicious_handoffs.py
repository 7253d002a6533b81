"""More malicious payloads by kind, from a seed: hand-offs that hide something, or differ from what the user gives.

They are made of the same honest payloads as those of `malicious_payloads`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any, Final

from eth_abi.abi import encode
from eth_account import Account

from swapcli.payload.evm import decode_call, encode_call
from tests.faces.cli.commands.decode import malicious_payloads as base_kinds
from tests.faces.cli.commands.decode.malicious_payloads import (
    BASES,
    CBBTC,
    CHAIN_ID,
    DAI,
    LATER,
    ME,
    PERMIT2,
    STARKNET_ME,
    UNIVERSAL_ROUTER,
    USDC,
    WETH,
    ZERO,
    Base,
    Case,
    Fields,
    base_payload,
    call,
    enveloped,
    random_base,
    stranger,
)
from tests.payload.decode.forms import account_felts, evm_forms, starknet_forms

_KEY: Final = "0x" + "46" * 32
_SIGNER: Final = Account.from_key(_KEY).address
_NAMES: Final = (
    "then", "meta", "hook", "postSwap", "extra", "approval", "next", "permitData", "items", "fallback", "simulate",
    "context", "x", "metadata", "capabilities", "tip", "callback", "rescue", "followUp", "bundle",
)  # fmt: skip


def _wei(value: str | int) -> int:
    return int(value, 0) if isinstance(value, str) else value


def _approval(rng: Random, spender: str) -> Fields:
    token = rng.choice([USDC, WETH, DAI, CBBTC])
    data = call("approve(address,uint256)", spender, rng.choice([1, 10**9, 2**256 - 1]))
    return {"to": token, "data": data, "value": "0"}


def signed(fields: Fields) -> str:
    """Return the bytes of a transaction that another account has signed."""
    to = bytes.fromhex(fields["to"][2:])
    whole = {
        "to": to, "data": fields["data"], "value": _wei(fields["value"]), "gas": 400_000, "nonce": 3,
        "chainId": CHAIN_ID, "maxFeePerGas": 10**8, "maxPriorityFeePerGas": 10**6,
    }  # fmt: skip
    return f"0x{bytes(Account.from_key(_KEY).sign_transaction(whole).raw_transaction).hex()}"


def form_of(rng: Random, base: Base) -> tuple[str, Any]:
    """Return a form of wallets, nodes and services with the swap, and its name."""
    forms = evm_forms(base.swap["to"], base.swap["data"], _wei(base.swap["value"]))
    name = rng.choice([each for each in forms if not isinstance(forms[each], str)])
    return name, deepcopy(forms[name])


# What differs from what the user gives.


def given(rng: Random) -> Case:
    """Return a document with another contract, sender or value than the user gives by options."""
    base, other = random_base(rng), stranger(rng)
    name, form = form_of(rng, base)
    value = _wei(base.swap["value"])
    change = rng.choice(["--to", "--from", "--value"])
    options = {"--to": base.swap["to"], "--from": ME, "--value": str(value)}[change]
    text = json.dumps(form)
    if change == "--to":
        text = text.replace(base.swap["to"], other)
    elif change == "--from":
        text = text.replace(ME, other)
    else:
        more = str(value + rng.choice([1, 10**15, 10**18]))
        forms = evm_forms(base.swap["to"], base.swap["data"], int(more))
        text = json.dumps(forms[name])
    return Case("given", f"{change} {name}", text, options=(change, options))


# What a document hides.


def _hidden(rng: Random) -> tuple[str, Any]:
    other = stranger(rng)
    evil = _approval(rng, other)
    sent = {"from": ME, **evil}
    permit = {"owner": ME, "spender": other, "value": str(2**256 - 1), "deadline": str(LATER)}
    choices: dict[str, Any] = {
        "call": evil,
        "call without value": {"to": evil["to"], "data": evil["data"]},
        "calldata alone": {"data": evil["data"]},
        "payment": {"to": other, "value": str(10**18)},
        "list": [evil, evil],
        "request": {"method": "eth_sendTransaction", "params": [sent]},
        "batch request": {"method": "wallet_sendCalls", "params": [{"calls": [evil], "chainId": hex(CHAIN_ID)}]},
        "signature request": {"method": "personal_sign", "params": ["0x1234", ME]},
        "digest request": {"method": "eth_sign", "params": [ME, "0x" + "12" * 32]},
        "call to encode": {"contract": evil["to"], "method": "approve", "args": [other, str(2**256 - 1)]},
        "call of viem": {"address": evil["to"], "functionName": "approve", "args": [other, "1"]},
        "call of ethers": {"target": evil["to"], "fn": "approve(address,uint256)", "params": [other, "1"]},
        "text": json.dumps(evil),
        "text of a list": json.dumps([evil]),
        "text in a text": json.dumps(json.dumps({"a": evil})),
        "text of a call to encode": json.dumps({"contract": other, "method": "approve", "args": [other, "1"]}),
        "permit": {"primaryType": "Permit", "domain": {}, "types": {}, "message": permit},
        "permit without types": permit,
        "spender": {"spender": other, "token": USDC},
        "spenders": {"spenders": [other]},
        "approval address": {"approvalAddress": other},
        "delegate call": {"operation": 1, "note": "x"},
        "authorization": {"authorizationList": [{"address": other, "chainId": 0}]},
        "approval as bytes": evil["data"],
        "signed transaction": signed(evil),
        "signed transaction under its name": {"rawTransaction": signed(evil)},
        "list of words": ["approve", USDC, other, "1000"],
        "approvals": {"approvals": [[USDC, other, "1000"]]},
        "shell text": f"cast send {USDC} {evil['data']}",
        "link of an application": f"wallet://send?to={other}",
        "JSON as a key": {json.dumps(evil): 1},
        "link": f"ethereum:{USDC}@{CHAIN_ID}/transfer?address={other}&uint256=1",
        "call on Starknet": {"contract_address": other, "entry_point": "transfer", "calldata": ["1", "2"]},
        "other letters": {"TO": other, "Data": evil["data"]},
        "operation of an account": {"sender": ME, "initCode": "0x", "callData": evil["data"]},
    }
    name = rng.choice(list(choices))
    return name, choices[name]


def _objects(value: Any) -> list[Fields]:
    found = [value] if isinstance(value, dict) else []
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found += _objects(each)
    return found


def hidden(rng: Random) -> Case:
    """Return an honest form in which an object has something more that could be signed."""
    base = random_base(rng)
    name, form = form_of(rng, base)
    change, added = _hidden(rng)
    document = deepcopy(base.document) if rng.random() < 0.3 else form
    place = rng.choice(_objects(document))
    key = rng.choice(_NAMES)
    place[key] = added
    return Case("hidden", f"{change} as {key} in {name}", json.dumps(document))


# Lists.


def batch(rng: Random) -> Case:
    """Return a list that has more than the approvals that its swap needs, or has them otherwise."""
    base, other = random_base(rng), stranger(rng)
    listed = [{**each, "from": ME} for each in base.transactions]
    evil = {**_approval(rng, other), "chainId": CHAIN_ID}
    known = {**_approval(rng, rng.choice([PERMIT2, UNIVERSAL_ROUTER, base.swap["to"]])), "chainId": CHAIN_ID}
    revoke = {"to": USDC, "data": call("approve(address,uint256)", base.swap["to"], 0), "value": "0"}
    at = rng.randint(0, len(listed))
    messages: list[Fields] = [
        {"method": "personal_sign", "params": ["0x68656c6c6f", ME]},
        {"method": "eth_sign", "params": [ME, "0x" + "12" * 32]},
        {"method": "eth_signTypedData_v4", "params": [ME, base_kinds.message(rng).text]},
        {"method": "wallet_grantPermissions", "params": [{"signer": {"data": {"address": other}}}]},
        {"method": "wallet_addEthereumChain", "params": [{"chainId": "0x2105", "rpcUrls": ["http://x.example"]}]},
        {"method": "wallet_switchEthereumChain", "params": [{"chainId": "0x1"}]},
    ]
    swap = listed[-1]
    lists: dict[str, list[Any]] = {
        "an approval more": [*listed[:at], evil, *listed[at:]],
        "an approval for a known contract after the swap": [*listed, known],
        "the swap twice": [*listed, swap],
        "two swaps": [*listed, {**random_base(rng).swap, "from": ME}],
        "a sender of its own": [*listed[:-1], swap | {"from": other}],
        "another sender first": [{**evil, "from": other}, *listed],
        "a gap of nonces": [{**each, "nonce": 5 * k} for k, each in enumerate([revoke, *listed])],
        "value on another": [known | {"value": "7"}, *listed],
        "a revocation after it": [*listed, revoke],
        "a list in a list": [{"calls": [evil]}, *listed],
        "a payment": [{"to": other, "value": str(10**15)}, *listed],
        "a deployment": [{"from": ME, "data": "0x6001600155", "value": "0"}, *listed],
        "a delegate call": [*listed[:-1], swap | {"operation": 1}],
        "a message": [*listed[:at], rng.choice(messages), *listed[at:]],
        "on another chain": [*listed[:-1], swap | {"chainId": 1}],
        "on another chain first": [{**evil, "chainId": 10}, *listed],
        "text in it": [json.dumps(evil), *listed],
        "signed": [{"raw": signed(evil)}, *listed],
        "a user operation": [{"sender": ME, "nonce": "0x0", "initCode": "0x", "callData": evil["data"]}, *listed],
    }
    change = rng.choice(list(lists))
    found = lists[change]
    wraps: list[Callable[[], Any]] = [
        lambda: found,
        lambda: {"transactions": found},
        lambda: {"calls": found, "chainId": CHAIN_ID},
        lambda: {"method": "wallet_sendCalls", "params": [{"calls": found, "from": ME, "chainId": hex(CHAIN_ID)}]},
        lambda: {"data": {"txs": found}},
        lambda: {"txs": found, "tx": swap},
        lambda: {"transaction": swap, "transactions": found},
        lambda: {"steps": [{"items": [{"data": each, "status": "incomplete"}]} for each in found]},
        lambda: {"transactionRequest": swap, "steps": [{"items": [{"data": each}]} for each in found]},
    ]
    number = rng.randrange(len(wraps))
    if number == 0 and rng.random() < 0.3:
        return Case("batch", f"{change} by line", "\n".join(map(json.dumps, found)))
    return Case("batch", f"{change} {number}", json.dumps(wraps[number]()))


# Requests.


def request(rng: Random) -> Case:
    """Return a request of a wallet for something that is no swap, alone or beside one."""
    base, other = random_base(rng), stranger(rng)
    evil = {"from": ME, **_approval(rng, other)}
    swap = {"from": ME, "to": base.swap["to"], "data": base.swap["data"], "value": hex(_wei(base.swap["value"]))}
    requests: dict[str, Any] = {
        "personal_sign": {"method": "personal_sign", "params": ["0x" + "12" * 32, ME]},
        "eth_sign": {"method": "eth_sign", "params": [ME, "0x" + "12" * 32]},
        "typed data of version 1": {
            "method": "eth_signTypedData", "params": [[{"type": "string", "name": "m", "value": "hi"}], ME],
        },
        "permissions": {"method": "wallet_grantPermissions", "params": [{"chainId": "0x2105", "expiry": LATER}]},
        "user operation": {
            "method": "eth_sendUserOperation", "params": [{"sender": ME, "callData": swap["data"]}, stranger(rng)],
        },
        "authorization": {"method": "wallet_signAuthorization", "params": [{"contractAddress": other, "chainId": 0}]},
        "two transactions": {"method": "eth_sendTransaction", "params": [swap, evil]},
        "another transaction": {"method": "eth_sendTransaction", "params": [evil]},
        "type 4": {"method": "eth_sendTransaction", "params": [swap | {"type": "0x4"}]},
        "another sender": {"method": "eth_sendTransaction", "params": [swap | {"from": other}]},
        "no contract": {"method": "eth_sendTransaction", "params": [{**swap, "to": None}]},
        "an empty contract": {"method": "eth_sendTransaction", "params": [{**swap, "to": ""}]},
        "another chain": {"method": "eth_sendTransaction", "params": [swap | {"chainId": "0x1"}]},
        "another chain in WalletConnect": {
            "params": {"request": {"method": "eth_sendTransaction", "params": [swap]}, "chainId": "eip155:1"},
        },
        "another sender of calls": {
            "method": "wallet_sendCalls",
            "params": [{"from": other, "chainId": "0x2105", "calls": [swap]}],
        },
        "calls on another chain": {
            "method": "wallet_sendCalls", "params": [{"from": ME, "chainId": "0xa", "calls": [swap]}],
        },
        "signed by another": {"method": "eth_sendRawTransaction", "params": [signed(base.swap)]},
        "signed approval": {"method": "eth_sendRawTransaction", "params": [signed(evil)]},
        "signed, with other fields": {"raw": signed(base.swap | {"to": other}), "tx": swap},
        "both names of calldata": {"method": "eth_sendTransaction", "params": [swap | {"input": evil["data"]}]},
        "both names of a contract": {"method": "eth_sendTransaction", "params": [swap | {"TO": other}]},
        "hidden letters": {"method": "eth_sendTransaction", "params": [swap | {"to\u200b": other}]},
        "blobs": {"method": "eth_sendTransaction", "params": [swap | {"type": "0x3", "gas": hex(10**9)}]},
        "gas": {"method": "eth_sendTransaction", "params": [swap | {"gas": hex(10**9)}]},
    }  # fmt: skip
    change = rng.choice(list(requests))
    asked = requests[change]
    if rng.random() < 0.3:
        honest = {"method": "eth_sendTransaction", "params": [swap]}
        asked = rng.sample([honest, asked], 2)
        change = f"{change}, and a swap"
    return Case("request", change, json.dumps(asked))


# Plans of the Universal Router.

_V3_IN, _V3_OUT, _FROM_PERMIT2, _V2_IN, _PERMIT, _WRAP, _UNWRAP, _SUB_PLAN = (
    0x00,
    0x01,
    0x02,
    0x08,
    0x0A,
    0x0B,
    0x0C,
    0x21,
)
_SENDER, _ROUTER = "0x" + "1".zfill(40), "0x" + "2".zfill(40)
_THREE = ["address", "address", "uint256"]
_SWAP_TYPES = ["address", "uint256", "uint256", "bytes", "bool"]


def _path(*parts: str | int) -> bytes:
    return b"".join(bytes.fromhex(each[2:]) if isinstance(each, str) else each.to_bytes(3) for each in parts)


def plan(rng: Random) -> Case:
    """Return a plan of V3 and V2 swaps, permits and plans within it, which pays less than it says, or others."""
    other, amount = stranger(rng), rng.randint(1, 300) * 10**15
    least = amount * 3_100 * 10**6 // 10**18 * 994 // 1000
    there, back = _path(WETH, 500, USDC), _path(USDC, 500, WETH)
    to = rng.choice([other, stranger(rng)])

    def swap(
        recipient: str, path: bytes, sold: int, minimum: int, *, pulls: bool, code: int = _V3_IN
    ) -> tuple[int, bytes]:
        return code, encode(_SWAP_TYPES, [recipient, sold, minimum, path, pulls])

    wrap = (_WRAP, encode(["address", "uint256"], [_ROUTER, amount]))
    honest = swap(_SENDER, there, amount, least, pulls=False)
    to_router = swap(_ROUTER, there, amount, least, pulls=False)
    permit = encode(
        ["((address,uint160,uint48,uint48),address,uint256)", "bytes"],
        [((rng.choice([USDC, WETH]), 2**160 - 1, 2**48 - 1, 0), other, LATER), b"\x01" * 65],
    )
    sweep = (0x04, encode(_THREE, [USDC, _SENDER, 0]))
    inner = encode(["bytes", "bytes[]"], [bytes([0x05]), [encode(_THREE, [USDC, other, 1 << 255])]])
    plans: dict[str, list[tuple[int, bytes]]] = {
        "recipient": [wrap, swap(to, there, amount, least, pulls=False)],
        "no minimum": [wrap, swap(_SENDER, there, amount, rng.choice([0, 1]), pulls=False)],
        "there and back": [wrap, to_router, swap(_SENDER, back, 1 << 255, 0, pulls=False)],
        "there, back, and there": [
            wrap, to_router, swap(_ROUTER, back, least, 0, pulls=False),
            swap(_SENDER, there, 1 << 255, 0, pulls=False),
        ],
        "unknown pool": [wrap, swap(_SENDER, _path(WETH, 500, other, 500, USDC), amount, least, pulls=False)],
        "unknown fee": [wrap, swap(_SENDER, _path(WETH, 777, USDC), amount, least, pulls=False)],
        "unknown pair": [wrap, (_V2_IN, encode(
            ["address", "uint256", "uint256", "address[]", "bool"],
            [_SENDER, amount, least, [WETH, other, USDC], False],
        ))],
        "permit": [(_PERMIT, permit), wrap, honest],
        "from Permit2": [
            wrap, honest, (_FROM_PERMIT2, encode(["address", "address", "uint160"], [USDC, other, 10**9])),
        ],
        "plan within": [wrap, to_router, (_SUB_PLAN, inner), sweep],
        "sweep may fail": [wrap, to_router, (0x84, sweep[1])],
        "swap may fail": [wrap, (0x80, honest[1])],
        "left in the router": [wrap, to_router],
        "wrap to another": [(_WRAP, encode(["address", "uint256"], [other, amount])), honest],
        "unwrap to another": [wrap, honest, (_UNWRAP, encode(["address", "uint256"], [other, 0]))],
        "exact output with an absurd maximum": [
            (_V3_OUT, encode(_SWAP_TYPES, [_SENDER, 10**6, 2**200, _path(USDC, 500, WETH), True])),
        ],
        "exact output at twice the price": [wrap, (_V3_OUT, encode(
            _SWAP_TYPES, [_SENDER, least // 2, amount, _path(USDC, 500, WETH), False],
        ))],
        "sold from the sender": [wrap, honest, swap(to, back, 10**9, 0, pulls=True)],
        "transfer": [wrap, to_router, (0x05, encode(_THREE, [USDC, other, least // 2])), sweep],
        "share": [wrap, to_router, (0x06, encode(_THREE, [USDC, other, 3_000])), sweep],
        "ends in another token": [wrap, swap(_SENDER, _path(WETH, 500, other), amount, least, pulls=False)],
        "longer input": [wrap, (honest[0], honest[1] + bytes.fromhex(other[2:].zfill(64)))],
    }  # fmt: skip
    change = rng.choice(list(plans))
    return Case("plan", change, base_kinds.plan_of(rng, amount, plans[change]))


# Calldata of the router, and what wraps it.


def call_around(rng: Random) -> Case:
    """Return the swap inside a call of another function, or with an address of it replaced."""
    base, other = random_base(rng), stranger(rng)
    swap = base.swap
    data, value = bytes.fromhex(swap["data"][2:]), _wei(swap["value"])
    inner = (swap["to"], value, data)
    wrapped: dict[str, tuple[str, str]] = {
        "multicall": (swap["to"], call("multicall(bytes[])", [data, bytes.fromhex(_approval(rng, other)["data"][2:])])),
        "multicall with a deadline": (swap["to"], call("multicall(uint256,bytes[])", LATER, [data])),
        "aggregate3": ("0xca11bde05977b3631167028862be2a173976ca11", f"0x82ad56cb{data.hex()}"),
        "Safe": (ME, call(
            "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
            *inner, 1, 0, 0, 0, ZERO, ZERO, b"\x01" * 65)),
        "account": (ME, call("execute(address,uint256,bytes)", *inner)),
        "another's execute": (other, swap["data"]),
    }  # fmt: skip
    change = rng.choice([*wrapped, "replaced"])
    if change != "replaced":
        to, calldata = wrapped[change]
        return Case("call", change, enveloped(rng, [{**swap, "to": to, "data": calldata}]))
    if base.dialect == "universal-router":
        known = {ME[2:], USDC[2:], WETH[2:], CBBTC[2:], DAI[2:]}
        found = [each for each in known if each in swap["data"]] or ["0" * 39 + "1"]
        old = rng.choice(found)
        data_text = swap["data"].replace(old, other[2:])
        return Case("call", "replaced, universal-router", enveloped(rng, [swap | {"data": data_text}]))
    parsed = decode_call(swap["data"])
    step = rng.randrange(len(parsed.swaps))
    swaps = list(parsed.swaps)
    change = rng.choice(["pool", "token", "rate", "protocol", "dropped", "destination", "amount"])
    if change == "pool":
        swaps[step] = swaps[step]._replace(pool_address=other)
    elif change == "token":
        swaps[step] = swaps[step]._replace(token_out=other)
    elif change == "rate":
        swaps[step] = swaps[step]._replace(rate=rng.choice([0, 1, 2_000_000]))
    elif change == "protocol":
        swaps[step] = swaps[step]._replace(protocol_id=rng.choice([99, 200]))
    elif change == "dropped":  # one path of several may be missing without harm
        swaps = [each for each in swaps if each.token_out != parsed.route.token_out]
    route = parsed.route
    if change == "destination":
        route = route._replace(recipient=other)
    elif change == "amount":
        route = route._replace(amount_in=route.amount_in * 10)
    try:
        data_text = encode_call(parsed._replace(swaps=tuple(swaps), route=route))
    except Exception:
        data_text = "0x8619b04e"
    return Case("call", change, enveloped(rng, [swap | {"data": data_text}]))


# Starknet.


def starknet(rng: Random) -> Case:
    """Return calls of a Starknet account of which one is not what the swap needs."""
    base = base_payload("starknet", rng.randrange(BASES))
    other = str(rng.getrandbits(240) | 1 << 239)
    calls: list[Fields] = deepcopy(base.document["transactions"])
    approve, swap = calls[0], calls[-1]
    changes: dict[str, list[Fields]] = {
        "recipient": [approve, {**swap, "calldata": [
            other if int(str(each), 0) == int(STARKNET_ME, 16) else each for each in swap["calldata"]]}],
        "spender": [{**approve, "calldata": [other, *approve["calldata"][1:]]}, swap],
        "more allowance": [{**approve, "calldata": [
            approve["calldata"][0], str(int(approve["calldata"][1]) * 10), "0"]}, swap],
        "high part": [{**approve, "calldata": [*approve["calldata"][:2], "1"]}, swap],
        "token": [{**approve, "to": hex(int(other))}, swap],
        "router": [approve, {**swap, "to": hex(int(other))}],
        "another router, approved": [
            {**approve, "calldata": [other, *approve["calldata"][1:]]}, {**swap, "to": hex(int(other))}],
        "transfer": [{**approve, "entrypoint": "transfer", "calldata": [other, "1000", "0"]}, approve, swap],
        "transfer after": [approve, swap, {**approve, "entrypoint": "transfer", "calldata": [other, "1000", "0"]}],
        "approval after": [approve, swap, {**approve, "calldata": [other, "1", "0"]}],
        "entry point": [approve, {**swap, "entrypoint": "set_owner"}],
        "felt more": [approve, {**swap, "calldata": [*swap["calldata"], "1"]}],
        "felt less": [approve, {**swap, "calldata": swap["calldata"][:-1]}],
        "minimum": [approve, {**swap, "calldata": [
            "1" if int(str(each), 0) == base.minimum else each for each in swap["calldata"]]}],
        "upgrade": [approve, swap, {"to": STARKNET_ME, "entrypoint": "upgrade", "calldata": [other]}],
        "beyond the field": [approve, {**swap, "calldata": [str(2**251 + 17 * 2**192 + 1), *swap["calldata"][1:]]}],
    }  # fmt: skip
    change = rng.choice(list(changes))
    listed = changes[change]
    known = {"approve", "swap"}
    forms: Mapping[str, Any] = starknet_forms(listed) if all(each["entrypoint"] in known for each in listed) else {
        "list": listed, "calls": {"calls": listed}, "request": {
            "type": "wallet_addInvokeTransaction",
            "params": {"calls": [{"contract_address": each["to"], "entry_point": each["entrypoint"],
                                  "calldata": each["calldata"]} for each in listed]},
        },
    }  # fmt: skip
    name = rng.choice(list(forms))
    document: Any = deepcopy(forms[name])
    if name in ("version 3", "version 1", "Cairo 0"):
        assert document["calldata"] == account_felts(listed, is_table=name == "Cairo 0")
    return Case("starknet", f"{change} {name}", json.dumps(document), STARKNET_ME, ("--network", "starknet"))


# Our own documents and texts.


def own(rng: Random) -> Case:
    """Return a document of `calldata` whose fields say something else than its calldata, or the other way round."""
    base, other = random_base(rng, "fibrous"), stranger(rng)
    document: Fields = deepcopy(base.document)
    changes: dict[str, Callable[[], Any]] = {
        "minimum": lambda: document.update(minReceived=str(base.minimum * 2)),
        "output": lambda: document["route"].update(outputAmount=str(int(document["route"]["outputAmount"]) * 2)),
        "destination": lambda: document["route"].update(destination=other),
        "input": lambda: document["route"].update(inputAmount="1"),
        "contract": lambda: document.update(to=other),
        "value": lambda: document.update(value=str(_wei(document["value"]) + 1)),
        "contract of the last": lambda: document["transactions"][-1].update(to=other),
        "value of the last": lambda: document["transactions"][-1].update(value="12345"),
        "calldata of the last": lambda: document["transactions"][-1].update(data=_approval(rng, other)["data"]),
        "one more": lambda: document["transactions"].append(_approval(rng, other)),
        "one before": lambda: document["transactions"].insert(0, _approval(rng, other)),
        "one less": document["transactions"].pop,
        "network": lambda: document.update(network="ethereum"),
        "token": lambda: document["route"]["outputToken"].update(address=other),
        "chain": lambda: document["transactions"][0].update(chainId=1),
        "steps": lambda: document.update(steps=[{"items": [{"data": _approval(rng, other)}]}]),
        "txs": lambda: document.update(txs=[_approval(rng, other)]),
    }
    change = rng.choice(list(changes))
    changes[change]()
    return Case("own", change, json.dumps(document))


def _with_stranger(file: Any, other: str) -> Any:
    """Return the inputs of the last transaction with a stranger in place of the recipient."""
    inputs = file["transactions"][-1]["contractInputsValues"]
    return json.loads(re.sub(ME[2:], other[2:], json.dumps(inputs), flags=re.IGNORECASE))


def text(rng: Random) -> Case:
    """Return a file for a Safe, a script for web3, or lines of shell text that is changed inside the grammar."""
    base, other = random_base(rng), stranger(rng)
    form = rng.choice(["safe", "web3", "sh", "cast", "raw", "explorer", "printed"])
    if form == "safe":
        file = json.loads(base.formats["safe"])
        evil = {**_approval(rng, other), "contractMethod": None, "contractInputsValues": None}
        method = {"name": "approve", "inputs": [], "payable": False}
        changes: dict[str, Callable[[], Any]] = {
            "one more": lambda: file["transactions"].append(evil),
            "one before": lambda: file["transactions"].insert(0, evil),
            "method": lambda: file["transactions"][-1].update(contractMethod=method, contractInputsValues={"a": other}),
            "data beside the method": lambda: file["transactions"][-1].update(data=evil["data"]),
            "another method": lambda: file["transactions"][-1]["contractMethod"].update(name="multicall"),
            "no method": lambda: file["transactions"][-1].update(contractMethod=None),
            "an input": lambda: file["transactions"][-1].update(contractInputsValues=_with_stranger(file, other)),
            "chain": lambda: file.update(chainId="1"),
            "Safe": lambda: file["meta"].update(createdFromSafeAddress=other),
            "contract": lambda: file["transactions"][-1].update(to=other),
            "operation": lambda: file["transactions"][0].update(operation=1),
        }
        change = rng.choice(list(changes))
        changes[change]()
        return Case("text", f"safe {change}", json.dumps(file))
    if form == "web3":
        lines = [json.loads(each) for each in base.formats["web3"].splitlines() if each.strip()]
        lines.insert(rng.randint(0, len(lines)), {**_approval(rng, other), "chainId": CHAIN_ID})
        return Case("text", "web3", "\n".join(map(json.dumps, lines)))
    if form == "raw":
        changed = {**base.swap, "to": other} if rng.random() < 0.5 else base.swap
        raw = signed(changed)
        raw = rng.choice([raw, json.dumps(raw), json.dumps({"raw": raw}), json.dumps({"signedTransaction": raw})])
        return Case("text", "raw, signed by another", raw)
    if form == "printed":
        swap, evil = base.swap, _approval(rng, other)
        block = f"to {swap['to']}\nvalue {_wei(swap['value'])}\ncalldata {swap['data']}\n"
        more = f"to {evil['to']}\nvalue 0\ncalldata {evil['data']}\n"
        blocks = {
            "contract": block.replace(swap["to"], other),
            "value": block.replace("value ", "value 9"),
            "one more": f"{block}\n{more}",
            "one before": f"{more}\n{block}",
            "JSON": block + json.dumps(evil),
            "bytes": f"{block}and then {signed(evil)}\n",
            "fees": block.replace("calldata", f"max fee {10**15}\ncalldata"),
        }
        change = rng.choice(list(blocks))
        return Case("text", f"printed {change}", blocks[change])
    if form == "explorer":
        data = _approval(rng, other)["data"]
        words = [f"[{k}]:  {data[10 + 64 * k : 74 + 64 * k]}" for k in range(2)]
        return Case("text", "explorer", "\n".join(["Function: swap(...)", f"MethodID: {data[:10]}", *words]))
    shown = base.formats[form]
    if form == "sh":
        changes = {
            "contract": lambda: _assigned(shown, "SWAP_TO", other),
            "value": lambda: _assigned(shown, "SWAP_VALUE", str(10**18 + 1)),
            "chain": lambda: _assigned(shown, "SWAP_CHAIN_ID", "1"),
            "network": lambda: _assigned(shown, "SWAP_NETWORK", "ethereum"),
            "calldata": lambda: _assigned(shown, "SWAP_CALLDATA", _approval(rng, other)["data"]),
            "approval": lambda: _assigned(shown, "SWAP_APPROVALS", "1") + (
                f"SWAP_APPROVAL_1_TO={USDC}\nSWAP_APPROVAL_1_CALLDATA={_approval(rng, other)['data']}\n"
            ),
        }  # fmt: skip
        change = rng.choice(list(changes))
        return Case("text", f"sh {change}", changes[change]())
    swap = base.swap
    cast = f"cast send --chain 8453 --value {_wei(swap['value'])}"
    evil_data = _approval(rng, other)["data"]
    lines_of = {
        "approval": f"cast send --chain 8453 --value 0 {USDC} {evil_data}\n{cast} {swap['to']} {swap['data']}",
        "contract": f"{cast} {other} {swap['data']}",
        "chain": f"{cast.replace('8453', '1')} {swap['to']} {swap['data']}",
        "payment": f"{cast} {swap['to']} {swap['data']}\ncast send --chain 8453 --value 1000 {other}",
        "sender": f"{cast} --from {other} {swap['to']} {swap['data']}",
        "gas price": f"{cast} --gas-price {10**14} {swap['to']} {swap['data']}",
        "priority": f"{cast} --priority-gas-price {10**14} {swap['to']} {swap['data']}",
        "gas": f"{cast} --gas-limit {10**10} {swap['to']} {swap['data']}",
        "value": f"{cast.replace('--value ', '--value 9')} {swap['to']} {swap['data']}",
        "signature": f"{cast} {USDC} 'approve(address,uint256)' {other} 1",
        "another command": f"cast wallet sign 0x1234\n{cast} {swap['to']} {swap['data']}",
        "published": f"cast publish {signed(_approval(rng, other))}\n{cast} {swap['to']} {swap['data']}",
    }
    change = rng.choice(list(lines_of))
    return Case("text", f"cast {change}", lines_of[change] + "\n")


def _assigned(shown: str, name: str, value: str) -> str:
    lines = [f"{name}={value}" if each.startswith(f"{name}=") else each for each in shown.splitlines()]
    return "\n".join(lines) + "\n"


KINDS: Final[Mapping[str, Callable[[Random], Case]]] = {
    "given": given,
    "hidden": hidden,
    "batch": batch,
    "request": request,
    "plan": plan,
    "call": call_around,
    "starknet": starknet,
    "own": own,
    "text": text,
}
