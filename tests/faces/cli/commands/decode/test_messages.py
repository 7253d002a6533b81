"""`swapcli decode` on messages to sign: each kind as honest software asks for it, and as somebody who steals does."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from swapcli.faces.cli import exit_codes
from swapcli.payload.evm.permit import PermitTerms, permit2_message, token_message
from tests.support.command import CommandResult, run_swapcli
from tests.support.unchecked import UNCHECKED_CODES

Json = dict[str, Any]

ME, OTHER = "0x" + "1" * 40, "0x" + "22" * 20
UNIVERSAL_ROUTER = "0x6fF5693b99212Da76ad316178A184AB56D299b43"
MONAD_UNIVERSAL_ROUTER = "0x0D97Dc33264bfC1c226207428A79b26757fb9dc3"
PUBLIC_ROUTER = "0x274602a953847d807231d2370072F5f4E4594B44"
PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
DAI = "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb"
AERO = "0x940181a94A35A4569E4529A3CDfB74e38FD98631"
WETH = "0x4200000000000000000000000000000000000006"
SOON_S = int(time.time()) + 1_800
LATER_S = int(time.time()) + 30 * 86_400
MAX_UINT48, MAX_UINT160, MAX_UINT256 = (1 << 48) - 1, (1 << 160) - 1, (1 << 256) - 1

DOMAIN = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
DETAILS = {"token": "address", "amount": "uint160", "expiration": "uint48", "nonce": "uint48"}
PERMISSIONS = {"token": "address", "amount": "uint256"}


def typed(primary_type: str, types: Json, domain: Json, message: Json) -> Json:
    """Typed data as wallets take it, of structs by name and type of their fields."""
    structs: Json = {"EIP712Domain": {name: kind for name, kind in DOMAIN.items() if name in domain}, **types}
    return {
        "types": {
            name: [{"name": field, "type": kind} for field, kind in fields.items()] for name, fields in structs.items()
        },
        "primaryType": primary_type,
        "domain": domain,
        "message": message,
    }


def permit(token: str = USDC, name: str = "USD Coin", spender: str = UNIVERSAL_ROUTER, **changes: Any) -> Json:
    types = {"owner": "address", "spender": "address", "value": "uint256", "nonce": "uint256", "deadline": "uint256"}
    message = {"owner": ME, "spender": spender, "value": "1000000", "nonce": "0", "deadline": str(SOON_S)} | changes
    domain = {"name": name, "version": "2", "chainId": 8453, "verifyingContract": token}
    return typed("Permit", {"Permit": types}, domain, message)


def dai_permit(spender: str = UNIVERSAL_ROUTER, **changes: Any) -> Json:
    types = {"holder": "address", "spender": "address", "nonce": "uint256", "expiry": "uint256", "allowed": "bool"}
    message = {"holder": ME, "spender": spender, "nonce": 0, "expiry": SOON_S, "allowed": True} | changes
    domain = {"name": "Dai Stablecoin", "version": "1", "chainId": 8453, "verifyingContract": DAI}
    return typed("Permit", {"Permit": types}, domain, message)


PERMIT2_DOMAIN = {"name": "Permit2", "chainId": 8453, "verifyingContract": PERMIT2}


def details(token: str = USDC, amount: int = MAX_UINT160, expiration: int = LATER_S) -> Json:
    return {"token": token, "amount": str(amount), "expiration": str(expiration), "nonce": "0"}


def permit_single(spender: str = UNIVERSAL_ROUTER, deadline: int = SOON_S, **changes: Any) -> Json:
    types = {
        "PermitSingle": {"details": "PermitDetails", "spender": "address", "sigDeadline": "uint256"},
        "PermitDetails": DETAILS,
    }
    message = {"details": details(**changes), "spender": spender, "sigDeadline": str(deadline)}
    return typed("PermitSingle", types, PERMIT2_DOMAIN, message)


def permit_batch(
    spender: str = UNIVERSAL_ROUTER, deadline: int = SOON_S, tokens: tuple[str, ...] = (USDC, WETH)
) -> Json:
    types = {
        "PermitBatch": {"details": "PermitDetails[]", "spender": "address", "sigDeadline": "uint256"},
        "PermitDetails": DETAILS,
    }
    message = {"details": [details(each) for each in tokens], "spender": spender, "sigDeadline": str(deadline)}
    return typed("PermitBatch", types, PERMIT2_DOMAIN, message)


def transfer(spender: str = UNIVERSAL_ROUTER, deadline: int = SOON_S, *, is_batch: bool = False) -> Json:
    name, suffix = ("PermitBatchTransferFrom", "[]") if is_batch else ("PermitTransferFrom", "")
    types = {
        name: {
            "permitted": f"TokenPermissions{suffix}",
            "spender": "address",
            "nonce": "uint256",
            "deadline": "uint256",
        },
        "TokenPermissions": PERMISSIONS,
    }
    permitted: Any = {"token": USDC, "amount": "1000000"}
    message = {
        "permitted": [permitted, {"token": WETH, "amount": "5"}] if is_batch else permitted,
        "spender": spender,
        "nonce": "1",
        "deadline": str(deadline),
    }
    return typed(name, types, PERMIT2_DOMAIN, message)


def safe_transaction(data: str, to: str, **changes: Any) -> Json:
    types = {
        "to": "address", "value": "uint256", "data": "bytes", "operation": "uint8", "safeTxGas": "uint256",
        "baseGas": "uint256", "gasPrice": "uint256", "gasToken": "address", "refundReceiver": "address",
        "nonce": "uint256",
    }  # fmt: skip
    nobody = "0x" + "0" * 40
    message = {
        "to": to, "value": "0", "data": data, "operation": 0, "safeTxGas": "0", "baseGas": "0", "gasPrice": "0",
        "gasToken": nobody, "refundReceiver": nobody, "nonce": 7,
    } | changes  # fmt: skip
    return typed("SafeTx", {"SafeTx": types}, {"chainId": 8453, "verifyingContract": ME}, message)


def decode(document: object, *options: str) -> CommandResult:
    return run_swapcli("decode", "-", "--offline", "--json", *options, stdin=json.dumps(document).encode())


def codes(ran: CommandResult) -> set[str]:
    assert ran.exit_code == (exit_codes.UNSAFE if ran.json.get("dangers", []) else exit_codes.OK), ran.stderr
    return {warning["code"] for warning in ran.json.get("warnings", [])} - {"STATE_MODELLED"} - UNCHECKED_CODES


def request(document: Json, method: str = "eth_signTypedData_v4", account: str = ME) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": [account, json.dumps(document)]}


# --- permits


class Kind(NamedTuple):
    """A kind of permit: an honest one, one for a stranger, and those whose deadlines never come."""

    honest: Json
    to_stranger: Json
    endless: tuple[Json, ...]
    passed: Json
    harmless: frozenset[str] = frozenset()


UNLIMITED = frozenset({"ALLOWANCE_UNLIMITED"})
IN_MS = SOON_S * 1000
KINDS = {
    "EIP-2612": Kind(
        permit(),
        permit(spender=OTHER),
        (permit(deadline=str(IN_MS)), permit(deadline=str(MAX_UINT256)), permit(deadline=str(1 << 255))),
        permit(deadline="1600000000"),
    ),
    "EIP-2612 for Permit2": Kind(
        permit(spender=PERMIT2), permit(spender=ME), (permit(deadline=hex(MAX_UINT256)),), permit(deadline=1)
    ),
    "DAI": Kind(
        dai_permit(),
        dai_permit(OTHER),
        (dai_permit(expiry=0), dai_permit(expiry=IN_MS), dai_permit(expiry=str(MAX_UINT256))),
        dai_permit(expiry=1_600_000_000),
        UNLIMITED,
    ),
    "PermitSingle": Kind(
        permit_single(),
        permit_single(OTHER),
        (permit_single(deadline=IN_MS), permit_single(expiration=MAX_UINT48), permit_single(expiration=IN_MS)),
        permit_single(deadline=1_600_000_000),
        UNLIMITED,
    ),
    "PermitBatch": Kind(
        permit_batch(),
        permit_batch(OTHER),
        (permit_batch(deadline=IN_MS), permit_batch(deadline=MAX_UINT256)),
        permit_batch(deadline=1_600_000_000),
        UNLIMITED,
    ),
    "PermitTransferFrom": Kind(
        transfer(), transfer(OTHER), (transfer(deadline=IN_MS), transfer(deadline=MAX_UINT256)), transfer(deadline=1)
    ),
    "PermitBatchTransferFrom": Kind(
        transfer(is_batch=True),
        transfer(OTHER, is_batch=True),
        (transfer(deadline=IN_MS, is_batch=True),),
        transfer(deadline=1, is_batch=True),
    ),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_permit_for_a_known_router_passes_in_every_form(kind: Kind) -> None:
    shown = kind.honest
    without_domain: Json = {
        **shown,
        "types": {name: each for name, each in shown["types"].items() if name != "EIP712Domain"},
    }
    forms: list[Any] = [
        shown,
        *(request(shown, method) for method in ("eth_signTypedData", "eth_signTypedData_v3", "eth_signTypedData_v4")),
        {"method": "eth_signTypedData_v4", "params": [ME, shown]},
        without_domain,
        {"domain": shown["domain"], "types": without_domain["types"], "values": shown["message"]},
        {**without_domain, "account": ME},
        {"params": {"chainId": "eip155:8453", "request": {"method": "eth_signTypedData_v4", "params": [ME, shown]}}},
        [shown, request(shown)],
    ]
    for document in forms:
        ran = decode(document, "--from", ME)
        assert codes(ran) <= kind.harmless, (document, ran.stderr)
        assert (ran.json["network"], ran.json["function"]) == ("base", "permit")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_permit_for_a_stranger_is_dangerous_in_every_form(kind: Kind) -> None:
    shown = kind.to_stranger
    for document in (shown, request(shown), [kind.honest, shown], [shown, kind.honest], [request(shown), kind.honest]):
        assert "SPENDER_UNKNOWN" in codes(decode(document))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_deadlines_are_judged_as_those_of_calls(kind: Kind) -> None:
    for endless in kind.endless:
        assert codes(decode(endless)) - kind.harmless == {"DEADLINE_NONE"}
    assert "DEADLINE_PASSED" in codes(decode(kind.passed))


def altered(shown: Json) -> Iterator[tuple[str, Json]]:
    """Yield the message with each change after which it is not of its standard, with what is changed."""

    def change(*path: Any, value: Any) -> Json:
        changed = deepcopy(shown)
        place: Any = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        return changed

    primary_type = shown["primaryType"]
    fields = shown["types"][primary_type]
    domain_type = shown["types"]["EIP712Domain"]
    yield "another primary type", change("primaryType", value="Mail")
    yield "an empty primary type", change("primaryType", value="")
    yield "a field more", change("types", primary_type, value=[*fields, {"name": "to", "type": "address"}])
    yield "a field less", change("types", primary_type, value=fields[:-1])
    yield "fields in another order", change("types", primary_type, value=fields[::-1])
    yield "another type", change("types", primary_type, value=[{**fields[0], "type": "bytes32"}, *fields[1:]])
    yield "a field given twice", change("types", primary_type, value=[*fields, fields[-1]])
    yield "a type more", change("types", "More", value=fields)
    yield "no types", change("types", value={})
    yield "a value more", change("message", "more", value="1")
    yield "a value less", change("message", value=dict(list(shown["message"].items())[:-1]))
    yield "an unreadable spender", change("message", "spender", value=5)
    yield "a spender with a wrong checksum", change("message", "spender", value="0x" + "aB" * 20)
    yield "no message", change("message", value=None)
    yield "no domain", change("domain", value=None)
    yield "no chain", change("domain", "chainId", value=None)
    yield "no contract", change("domain", "verifyingContract", value=None)
    yield "a salt", change("domain", "salt", value="0x" + "00" * 32)
    yield "a domain without its chain", change("types", "EIP712Domain", value=domain_type[:-2] + domain_type[-1:])
    yield (
        "a domain with a field more",
        change("types", "EIP712Domain", value=[*domain_type, {"name": "salt", "type": "bytes32"}]),
    )
    yield (
        "a domain of other types",
        change("types", "EIP712Domain", value=[{**each, "type": "string"} for each in domain_type]),
    )
    yield "more than the message", {**shown, "to": OTHER, "data": "0x1234"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_message_that_is_not_of_its_standard_is_dangerous(kind: Kind) -> None:
    for what, document in altered(kind.honest):
        for form in (document, request(document)):
            assert "MESSAGE_UNKNOWN" in codes(decode(form, "--network", "base")), what


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_wallet_needs_the_primary_type(kind: Kind) -> None:
    unnamed = {name: value for name, value in kind.honest.items() if name != "primaryType"}
    assert "MESSAGE_UNKNOWN" in codes(decode(request(unnamed)))
    assert "MESSAGE_UNKNOWN" not in codes(decode(unnamed))  # libraries find it


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_message_for_something_else_is_dangerous(kind: Kind) -> None:
    def with_domain(**changes: Any) -> Json:
        return {**kind.honest, "domain": kind.honest["domain"] | changes}

    assert "CHAIN_DIFFERS" in codes(decode(with_domain(chainId=1), "--network", "base"))
    assert codes(decode(with_domain(chainId=77_777_777))) & {"NETWORK_UNKNOWN", "CHAIN_DIFFERS"}
    assert codes(decode(with_domain(verifyingContract=OTHER))) & {"TOKEN_UNKNOWN", "ROUTER_UNKNOWN"}
    assert "MESSAGE_UNKNOWN" in codes(decode(with_domain(name="Coinbase Wrapped BTC")))
    assert "MESSAGE_UNKNOWN" in codes(decode(request(kind.honest), "--from", OTHER))
    session = {"params": {"chainId": "eip155:1", "request": request(kind.honest)}}
    assert "MESSAGE_UNKNOWN" in codes(decode(session))


@pytest.mark.parametrize("document", [permit(), dai_permit()])
def test_the_owner_is_the_account_that_signs(document: Json) -> None:
    for options in (("--from", ME), ()):
        assert "MESSAGE_UNKNOWN" not in codes(decode(request(document), *options))
    assert "MESSAGE_UNKNOWN" in codes(decode(document, "--from", OTHER))
    assert "MESSAGE_UNKNOWN" in codes(decode(request(document, account=OTHER)))
    assert "MESSAGE_UNKNOWN" in codes(decode(request(document), "--from", OTHER))


@pytest.mark.parametrize(
    ("token", "name", "is_honest"),
    [
        (USDC, "USD Coin", True),
        (AERO, "Aerodrome", True),  # the catalogue has it as Aerodrome Finance
        (USDC, "Dai Stablecoin", False),
        (USDC, "USD Base Coin", False),
        (USDC, "", False),
        (DAI, "USD Coin", False),
        (AERO, "Wrapped Ether", False),
    ],
)
def test_the_domain_has_the_name_of_the_token(token: str, name: str, is_honest: bool) -> None:
    assert ("MESSAGE_UNKNOWN" not in codes(decode(permit(token, name)))) is is_honest


@pytest.mark.parametrize(
    ("network", "chain_id", "token", "name", "router"),
    [
        ("base", 8453, USDC, "USD Coin", PUBLIC_ROUTER),
        ("monad", 143, "0xe7cd86e13AC4309349F30B3435a9d337750fC82D", "USD₮0", PUBLIC_ROUTER),
        ("monad", 143, "0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDC", MONAD_UNIVERSAL_ROUTER),
        ("hyperevm", 999, "0xb88339CB7199b77E23DB6E890353E22632Ba630f", "USDC", PUBLIC_ROUTER),
        ("citrea", 4114, "0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839", "Bridged USDC (LayerZero)", PUBLIC_ROUTER),
    ],
)  # fmt: skip
def test_the_permits_that_the_commands_print_pass(
    network: str, chain_id: int, token: str, name: str, router: str
) -> None:
    terms = PermitTerms(token.lower(), ME, router.lower(), 1_000_000, SOON_S)
    domain = {"name": name, "version": "1", "chainId": chain_id, "verifyingContract": token.lower()}
    for message in (token_message(terms, 3, domain), permit2_message(terms, 3, chain_id)):
        ran = decode(message.document())
        assert codes(ran) == set(), ran.stderr
        assert ran.json["network"] == network


# --- what is never judged

ORDERS: dict[str, tuple[str, str, Json]] = {
    "CoW": (
        "Order",
        "Gnosis Protocol",
        {"sellToken": USDC, "buyToken": WETH, "receiver": OTHER, "sellAmount": "1000000", "buyAmount": "1"},
    ),
    "1inch": (
        "Order",
        "1inch Aggregation Router",
        {"maker": ME, "receiver": OTHER, "makerAsset": USDC, "takerAsset": WETH, "makingAmount": "1000000",
         "takingAmount": "1"},
    ),
    "0x": (
        "LimitOrder",
        "ZeroEx",
        {"makerToken": USDC, "takerToken": WETH, "makerAmount": "1000000", "takerAmount": "1", "maker": OTHER},
    ),
    "UniswapX": (
        "PermitWitnessTransferFrom",
        "Permit2",
        {"permitted": {"token": USDC, "amount": "1000000"}, "spender": OTHER,
         "witness": {"baseOutputs": [{"token": WETH, "minAmount": "1", "recipient": OTHER}]}},
    ),
    "Seaport": (
        "OrderComponents",
        "Seaport",
        {"offerer": ME, "offer": [{"token": USDC, "startAmount": "1000000"}],
         "consideration": [{"token": WETH, "endAmount": "1", "recipient": OTHER}]},
    ),
}  # fmt: skip


def guessed_types(primary_type: str, message: Json) -> Json:
    """Types that fit the values of a message, as far as a test needs them."""
    return {primary_type: {name: "uint256" if str(value).isdecimal() else "address" for name, value in message.items()}}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_an_order_by_signature_is_dangerous_and_described(order: tuple[str, str, Json]) -> None:
    primary_type, name, message = order
    contract = PERMIT2 if name == "Permit2" else OTHER
    domain = {"name": name, "chainId": 8453, "verifyingContract": contract}
    document = typed(primary_type, guessed_types(primary_type, message), domain, message)
    for form in (document, request(document), [permit(), document], [document, permit()]):
        ran = decode(form)
        assert "MESSAGE_UNKNOWN" in codes(ran)
        (found,) = [each["message"] for each in ran.json.get("warnings", []) if "it gives" in each["message"]]
        assert "it gives 1 USDC for at least 0.000000000000000001 WETH to 0x2222222222222222" in found


@pytest.mark.parametrize(
    "primary_type",
    ["TransferWithAuthorization", "ReceiveWithAuthorization", "ForwardRequest", "MetaTransaction", "Delegation",
     "SafeMessage", "UserOperation", "PermitForAll", "Vote", "Mail", ""],
)  # fmt: skip
def test_every_other_message_is_dangerous(primary_type: str) -> None:
    message = {"from": ME, "to": OTHER, "value": "5", "validAfter": "0", "validBefore": str(SOON_S)}
    domain = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": USDC}
    document = typed(primary_type, guessed_types(primary_type, message), domain, message)
    for form in (document, request(document), [document], [permit(), document]):
        ran = decode(form)
        assert "MESSAGE_UNKNOWN" in codes(ran)
        assert ran.json.get("dangers", [])[0] == "MESSAGE_UNKNOWN"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("personal_sign", ["0x" + "ab" * 32, ME]),
        ("personal_sign", ["example.com wants you to sign in with your Ethereum account", ME]),
        ("eth_sign", [ME, "0x" + "ab" * 32]),
        ("eth_signTypedData", [[{"type": "string", "name": "text", "value": "hello"}], ME]),
        ("eth_signTypedData_v4", [ME]),
        ("eth_signTypedData_v4", [ME, "{"]),
        ("eth_signTypedData_v4", [ME, "[]"]),
        ("eth_signTypedData_v4", [ME, OTHER, "{}"]),
        ("eth_signTypedData_v4", []),
        ("eth_signTypedData_v5", [ME, "{}"]),
        ("wallet_grantPermissions", [{"signer": {"type": "account", "data": {"address": OTHER}}}]),
        ("wallet_signAuthorization", [{"address": OTHER, "chainId": 0}]),
        ("wallet_createDelegation", [{}]),
    ],
)
def test_a_request_to_sign_something_else_is_dangerous(method: str, params: list[Any]) -> None:
    for document in ({"method": method, "params": params}, [{"method": method, "params": params}]):
        assert "MESSAGE_UNKNOWN" in codes(decode(document, "--network", "base"))
    assert decode({"method": method, "params": params}).exit_code == exit_codes.UNSAFE


def test_messages_of_starknet_are_dangerous() -> None:
    account = "0x123456789012345678901234567890123456789012345678901234567890"
    document = {
        "types": {
            "StarknetDomain": [{"name": "name", "type": "shortstring"}, {"name": "chainId", "type": "shortstring"}],
            "OutsideExecution": [{"name": "Caller", "type": "ContractAddress"}],
        },
        "primaryType": "OutsideExecution",
        "domain": {"name": "Account.execute_from_outside", "chainId": "SN_MAIN", "version": "2", "revision": "1"},
        "message": {"Caller": "0x1"},
    }
    for form in (document, {"type": "wallet_signTypedData", "params": document}):
        for options in ((), ("--network", "starknet"), ("--network", "starknet", "--from", account)):
            ran = decode(form, *options)
            assert "MESSAGE_UNKNOWN" in codes(ran), ran.stderr


# --- messages beside a transaction


@pytest.fixture(scope="module")
def swap() -> Json:
    ran = run_swapcli("calldata", "base", "USDC", "ETH", "100", "--offline", "--json", "--destination", ME)
    return dict(ran.json)


def test_messages_inside_a_document_are_judged_too(swap: Json) -> None:
    def beside(document: Json) -> tuple[object, ...]:
        return (
            {**swap, "permit2": {"type": "Permit2", "hash": "0x12", "eip712": document}},
            {**swap, "permitData": document},
            {**swap, "signatures": [{"request": request(document)}]},
            [{key: swap[key] for key in ("to", "value", "calldata")} | {"permit2": {"eip712": document}}],
        )

    for form in beside(permit(owner=ME)):
        assert codes(decode(form, "--from", ME)) == set()
    for code, document in (
        ("SPENDER_UNKNOWN", permit(spender=OTHER)),
        ("SPENDER_UNKNOWN", permit_batch(OTHER)),
        ("MESSAGE_UNKNOWN", permit(owner=OTHER)),
        ("MESSAGE_UNKNOWN", {**permit(), "primaryType": "Mail"}),
        ("CHAIN_DIFFERS", {**permit(), "domain": {**permit()["domain"], "chainId": 77_777_777}}),
    ):
        for form in beside(document):
            assert code in codes(decode(form, "--from", ME))
    elsewhere = {**permit(), "domain": {**permit()["domain"], "chainId": 1}}
    for form in beside(elsewhere):  # the chain that the message names is a known one
        assert decode(form, "--from", ME).json["verdict"]["status"] == "danger"
        assert "CHAIN_DIFFERS" in codes(decode(form, "--from", ME, "--network", "base"))


@pytest.fixture(scope="module", params=["fibrous", "universal-router"])
def sale(request: pytest.FixtureRequest) -> Json:
    words = ("calldata", "base", "USDC", "ETH", "100", "--offline", "--json", "--destination", ME)
    ran = run_swapcli(*words, "--router-dialect", request.param)
    return {"from": ME, **{key: ran.json[key] for key in ("to", "value", "calldata")}}


def test_the_permit_that_a_swap_needs_may_precede_it(sale: Json) -> None:
    exact = {"owner": ME, "value": str(100 * 10**6)}
    honest = permit(spender=sale["to"], **exact)
    typed = [permit_single(sale["to"], amount=str(100 * 10**6))] if sale["to"].lower() == UNIVERSAL_ROUTER else []
    for document in (honest, request(honest), *typed):
        for form in ([document, sale], {"transactions": [document, sale]}):
            assert codes(decode(form, "--from", ME)) == set()
    for code, others in (
        ("TRANSACTIONS_DIFFER", [permit(spender=sale["to"], **exact | {"value": str(100 * 10**6 + 1)})]),
        ("TRANSACTIONS_DIFFER", [permit(WETH, "Wrapped Ether", spender=sale["to"], **exact)]),
        ("TRANSACTIONS_DIFFER", [permit(spender=PERMIT2, **exact)]),
        ("SPENDER_UNKNOWN", [permit(spender=OTHER, **exact)]),
        ("MESSAGE_UNKNOWN", [permit(spender=sale["to"], **exact | {"owner": OTHER})]),
        ("MESSAGE_UNKNOWN", [{**honest, "primaryType": "Mail"}]),
        ("CHAIN_DIFFERS", [{**honest, "domain": {**honest["domain"], "chainId": 77_777_777}}]),
        ("CHAIN_DIFFERS", [{**honest, "domain": {**honest["domain"], "chainId": 1}}]),
    ):
        assert code in codes(decode([*others, sale], "--from", ME))
    assert "TRANSACTIONS_DIFFER" in codes(decode([sale, honest], "--from", ME))


# --- transactions of a Safe


def test_a_swap_of_a_safe_is_judged_as_the_swap(swap: Json) -> None:
    honest = safe_transaction(swap["calldata"], swap["to"])
    for form in (honest, request(honest, account=OTHER)):
        ran = decode(form)
        assert codes(ran) == set(), ran.stderr
        assert ran.json["order"]["recipient"].lower() == ME
    to_other = swap["calldata"].replace(ME[2:], OTHER[2:])
    assert to_other != swap["calldata"]
    approval = f"0x095ea7b3{OTHER[2:]:0>64}{5:064x}"
    for code, document in (
        ("RECIPIENT_DIFFERS", safe_transaction(to_other, swap["to"])),
        ("ROUTER_UNKNOWN", safe_transaction(swap["calldata"], OTHER)),
        ("CALL_UNUSUAL", safe_transaction(swap["calldata"], swap["to"], operation=1)),
        ("CALL_UNUSUAL", safe_transaction(swap["calldata"], swap["to"], gasPrice="1", refundReceiver=OTHER)),
        ("VALUE_DIFFERS", safe_transaction(swap["calldata"], swap["to"], value="5")),
        ("FUNCTION_UNKNOWN", safe_transaction("0x", OTHER, value="5")),
        ("FUNCTION_UNKNOWN", safe_transaction("0xdeadbeef", swap["to"])),
        ("SPENDER_UNKNOWN", safe_transaction(approval, USDC)),
    ):
        for form in (document, request(document, account=OTHER)):
            assert code in codes(decode(form)), code
    for what, document in altered_safe(honest):
        assert "MESSAGE_UNKNOWN" in codes(decode(document, "--network", "base")), what


def altered_safe(shown: Json) -> Iterator[tuple[str, Json]]:
    fields = shown["types"]["SafeTx"]
    yield "a field less", {**shown, "types": {**shown["types"], "SafeTx": fields[:-1]}}
    yield "a value more", {**shown, "message": {**shown["message"], "more": 1}}
    yield "no chain", {**shown, "domain": {"verifyingContract": ME}}
    yield "a name", {**shown, "domain": {**shown["domain"], "name": "Safe"}}


# --- the JSON, and what people read


def test_the_json_has_the_message() -> None:
    ran = decode(request(permit_batch()))
    message = ran.json["message"]
    assert (message["title"], message["type"]) == ("a permit of Permit2 for several tokens", "PermitBatch")
    assert (message.get("owner"), message["account"], message.get("deadline")) == (None, ME, None)
    assert [each["token"]["symbol"] for each in message["approvals"]] == ["USDC", "WETH"]
    assert {each["spender"] for each in message["approvals"]} == {UNIVERSAL_ROUTER}
    primary_type, name, values = ORDERS["CoW"]
    domain = {"name": name, "chainId": 8453, "verifyingContract": OTHER}
    order = decode(typed(primary_type, guessed_types(primary_type, values), domain, values)).json["message"]
    assert (order["sells"], order["recipients"]) == (
        [{"token": {"address": USDC, "symbol": "USDC", "decimals": 6}, "amount": "1000000"}],
        [OTHER],
    )
    assert [(each["token"]["symbol"], each["amount"]) for each in order["buys"]] == [("WETH", "1")]
    unknown = decode({"method": "personal_sign", "params": ["hello", ME]}).json
    assert unknown["message"] == {"type": "personal_sign", "account": ME, "deadlineEnforcer": "nobody"}


def test_the_view_names_the_message() -> None:
    def shown(document: Json) -> str:
        return run_swapcli("decode", "-", "--offline", stdin=json.dumps(document).encode()).stdout

    assert "a message to sign, permit on base\n" in shown(permit_batch())
    assert shown(permit_batch()).count("Spender") == 2
    assert re.search("Until +never", shown(dai_permit(expiry=0)))
    assert "a message to sign, personal_sign" in shown({"method": "personal_sign", "params": ["hello", ME]})


def test_the_view_shows_what_an_order_trades() -> None:
    primary_type, name, message = ORDERS["CoW"]
    domain = {"name": name, "chainId": 8453, "verifyingContract": OTHER}
    document = typed(primary_type, guessed_types(primary_type, message), domain, message)
    shown = run_swapcli("decode", "-", "--offline", stdin=json.dumps(document).encode()).stdout
    for row in ("You sell +1 USDC", "At least +0.000000000000000001 WETH", "To +0x2222"):
        assert re.search(row, shown)
