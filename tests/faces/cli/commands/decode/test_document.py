"""`swapcli decode` on whole documents: what is signed must be what the swap needs, in every form that carries it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from swapcli.faces.cli import exit_codes
from swapcli.payload.evm.permit import PermitTerms, permit2_message, token_message
from tests.examples import examples, few, generator
from tests.support.command import CommandResult, run_swapcli
from tests.support.unchecked import UNCHECKED_CODES

ME, OTHER = "0x" + "1" * 40, "0x" + "22" * 20
DIALECTS = ("fibrous", "universal-router", "settler")
TOKENS = {
    "base": ("ETH", "USDC", "cbBTC", "AERO", "WETH", "cbETH", "DAI"),
    "monad": ("MON", "USDC", "WMON", "WETH", "AUSD", "WBTC"),
    "hyperevm": ("HYPE", "USDT0", "WHYPE", "UBTC", "USDe"),
    "citrea": ("cBTC", "WcBTC", "USDC.e", "ctUSD", "JUSD"),
    "starknet": ("ETH", "STRK", "USDC", "USDT"),
}
HAND_OFFS = ("cast", "safe", "sh", "wallet-calls", "web3")
HARMLESS = {"STATE_MODELLED", "DEADLINE_NONE", *UNCHECKED_CODES}


class Router(NamedTuple):
    """A router of a network, with the further options of its commands."""

    network: str = "base"
    dialect: str = "fibrous"
    options: tuple[str, ...] = ()


ROUTERS = (
    *(Router(dialect=dialect) for dialect in (*DIALECTS, "own")),
    Router(options=("--api-version", "v1")),
    Router(dialect="universal-router", options=("--deadline", "+3600")),
    Router(options=("--slippage", "0.3")),
    Router("monad"),
    Router("monad", "universal-router"),
    Router("hyperevm"),
    Router("citrea"),
    Router("starknet"),
)

Json = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings with the address of a router, for the dialects that need one."""
    folder, digits = tmp_path_factory.mktemp("settings"), "55" * 20
    with pytest.MonkeyPatch.context() as patch:
        for dialect in ("settler", "own"):
            file = folder / f"{dialect}.yaml"
            file.write_text(f'networks: {{base: {{router: "0x{digits}", router_dialect: {dialect}}}}}')
            patch.setitem(SETTINGS, dialect, str(file))
        yield


SETTINGS: dict[str, str] = {}
"""The settings file of each dialect that needs one."""


def build(*order: str, router: Router = ROUTERS[0], output_format: str = "json", key: str = "") -> CommandResult:
    network, dialect, options = router
    recipient = "0x123456789012345678901234567890123456789012345678901234567890" if network == "starknet" else ME
    by_dialect = ("--config", SETTINGS[dialect]) if dialect in SETTINGS else ("--router-dialect", dialect)
    words = (network, *order, "--destination", recipient, "--offline", "--format", output_format)
    return run_swapcli("calldata", *words, *options, *by_dialect, env={"SWAPCLI_API_KEY": key} if key else {})


def document(*order: str, dialect: str = "fibrous") -> Json:
    built = build(*order, router=Router(dialect=dialect))
    assert built.exit_code == 0, built.stderr
    return dict(built.json)


def decode(text: str | Json | list[Any], *options: str, dialect: str = "fibrous") -> CommandResult:
    text = text if isinstance(text, str) else json.dumps(text)
    more = ("--config", SETTINGS[dialect]) if dialect in SETTINGS else ()
    return run_swapcli("decode", "-", "--offline", "--json", *options, *more, stdin=text.encode())


def codes(ran: CommandResult) -> set[str]:
    return {warning["code"] for warning in ran.json.get("warnings", [])} - HARMLESS


def messages(ran: CommandResult, code: str) -> list[str]:
    return [warning["message"] for warning in ran.json.get("warnings", []) if warning["code"] == code]


# --- what is honest


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("order", few([("USDC", "ETH", "3000"), ("ETH", "USDC", "1")], 1))
def test_hand_off_files_are_read_whole(dialect: str, order: tuple[str, ...]) -> None:
    for output_format in HAND_OFFS:
        text = build(*order, router=Router(dialect=dialect), output_format=output_format).stdout
        ran = decode(text, dialect=dialect)
        assert codes(ran) == set(), (output_format, ran.stdout)
        count = 1 if order[0] == "ETH" else 3 if dialect == "universal-router" else 2
        listed = 0 if (output_format, count) == ("web3", 1) else count  # one object is no list
        assert len(ran.json.get("transactions", [])) == listed, output_format
        assert ran.json["order"]["recipient"] == ME
        assert (ran.json["network"], ran.json["dialect"]) == ("base", dialect)


def test_what_nodes_wallets_and_terminals_write_is_read() -> None:
    shown = document("ETH", "USDC", "1")
    plain = {"to": shown["to"], "input": shown["calldata"], "value": hex(10**18), "chainId": "0x2105", "from": ME}
    mined = {**plain, "hash": "0x" + "ab" * 32, "nonce": "0x5", "gas": "0x5208f", "type": "0x2", "blockNumber": "0x10"}
    calldata = shown["calldata"]
    for text in (
        {"jsonrpc": "2.0", "id": 1, "result": mined},
        mined,
        {"jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": [plain]},
        {
            "version": "2.0.0",
            "chainId": "0x2105",
            "from": ME,
            "calls": [{k: plain[k] for k in ("to", "input", "value")}],
        },
        [mined],
        "\n".join(textwrap.wrap(calldata, 80)),
        "\n".join(textwrap.wrap(calldata[2:].upper(), 64)),
        f"  {calldata}\n",
    ):
        ran = decode(text)
        assert ran.exit_code == 0, (text, ran.stdout, ran.stderr)
        assert codes(ran) == set()
        assert ran.json["order"]["inputAmount"] == str(10**18)


@pytest.mark.parametrize("output_format", ["plain", "table"])
def test_what_is_printed_for_people_is_read(output_format: str) -> None:
    for router in (*(Router(dialect=dialect) for dialect in DIALECTS), Router("starknet")):
        options = ("--with-approval", "--verbose")
        text = build("USDC", "ETH", "30", router=router._replace(options=options), output_format=output_format).stdout
        ran = decode(text, dialect=router.dialect)
        assert codes(ran) == set(), (router, text, ran.stdout)
        assert ran.json["network"] == router.network
        assert len(ran.json["transactions"]) == (3 if router.dialect == "universal-router" else 2)
        spender = ran.json["transactions"][0]["approval"]["spender"]
        digits = spender[2:].lower()
        if router.network == "base" and output_format == "plain":
            changed = text.lower().replace(f"{digits:0>64}", f"{OTHER[2:]:0>64}", 1)
            assert "TRANSACTIONS_DIFFER" in codes(decode(changed, "--network", "base", dialect=router.dialect))


def test_printed_text_that_is_not_whole_is_an_error() -> None:
    text = build("ETH", "USDC", "1", output_format="plain").stdout
    begin, _, end = text.partition("calldata")
    for changed, word in (
        (begin, "felt"),
        (f"{begin}calldata  0x12…34 (900 characters; -v shows all)", "shortened"),
        (f"{begin}to        {OTHER}\ncalldata{end}", "twice"),
        (f"{text}\nto        {OTHER}\nvalue     5", "no calldata"),
        (text.replace("value     1", "value     1.5"), "value"),
    ):
        ran = decode(changed)
        assert ran.exit_code == 2
        assert word in ran.error["message"]


def test_printed_text_with_more_is_dangerous() -> None:
    text = build("ETH", "USDC", "1", output_format="plain").stdout
    for more in (f'{{"to": "{OTHER}", "data": "0xdeadbeef"}}', f"then 0x{'ab' * 100}", f"[{OTHER}]"):
        for changed in (f"{text}{more}\n", f"Swap\n{more}\n{text}"):
            assert "HANDOFF_UNUSUAL" in codes(decode(changed, "--network", "base"))
    assert codes(decode(f"{text}\nat 0x{'ab' * 32}\n", "--network", "base")) == set()


@pytest.mark.parametrize("output_format", few([*HAND_OFFS, "json", "plain"], 3))
def test_files_of_windows_are_read(output_format: str) -> None:
    text = build("USDC", "ETH", "30", router=Router(options=("--with-approval",)), output_format=output_format).stdout
    lines = text.replace("\n", "\r\n")
    for content in (f"\ufeff{text}".encode(), lines.encode(), lines.encode("utf-16")):
        ran = run_swapcli("decode", "-", "--offline", "--json", stdin=content)
        assert codes(ran) == set(), (content, ran.stderr)
        assert len(ran.json["transactions"]) == 2


def test_calls_of_starknet_accounts_are_read() -> None:
    approve, swap = build("ETH", "USDC", "1", router=Router("starknet")).json["transactions"]
    for to, entrypoint in (("contractAddress", "entrypoint"), ("contract_address", "entry_point")):
        calls = [
            {to: each["to"], entrypoint: each["entrypoint"], "calldata": each["calldata"]} for each in (approve, swap)
        ]
        for text in (calls, {"calls": calls}, {"method": "wallet_addInvokeTransaction", "params": [{"calls": calls}]}):
            ran = decode(text)
            assert codes(ran) == set()
            assert len(ran.json["transactions"]) == 2
        calls[1][to] = "0x1234"
        assert "ROUTER_UNKNOWN" in codes(decode(calls))


USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
UNIVERSAL_ROUTER = "0x6ff5693b99212da76ad316178a184ab56d299b43"
LATER_S = 4_000_000_000


def permits() -> Iterator[tuple[str, Json]]:
    """Yield a permit of Permit2 and one of a token, as `--permit` prints them."""
    terms = PermitTerms(USDC, ME, UNIVERSAL_ROUTER, 30_000_000, LATER_S)
    yield "PermitSingle", permit2_message(terms, 0, 8453).document()
    domain = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": USDC}
    yield "Permit", token_message(terms, 5, domain).document()


def test_permits_to_sign_are_read() -> None:
    for name, shown in permits():
        request = {"method": "eth_signTypedData_v4", "params": [ME, json.dumps(shown)]}
        for text in (shown, in_other_case(shown, upper=True), request):
            ran = decode(text)
            assert codes(ran) == set(), ran.stdout
            found = ran.json["approval"]
            assert (found["token"]["symbol"], found["amount"], found["deadline"]) == ("USDC", "30000000", LATER_S)
            assert (ran.json["network"], ran.json["function"]) == ("base", "permit")
        lines = run_swapcli("decode", "-", "--offline", stdin=json.dumps(shown).encode()).stdout.splitlines()
        assert lines[0].startswith("No danger found: 0x"), name
        assert lines[0].endswith(" may take 30 USDC, until 2096-10-02 07:06 UTC"), name
        assert "Call     a message to sign, permit on base" in lines, name


def test_permits_that_are_tampered_with_are_dangerous() -> None:
    def change(shown: Json, *path: str, value: object) -> Json:
        changed = deepcopy(shown)
        at(changed, path[:-1])[path[-1]] = value
        return changed

    for name, shown in permits():
        assert "SPENDER_UNKNOWN" in codes(decode(change(shown, "message", "spender", value=OTHER)))
        assert "CHAIN_DIFFERS" in codes(decode(change(shown, "domain", "chainId", value=1), "--network", "base"))
        contract = "ROUTER_UNKNOWN" if name == "PermitSingle" else "TOKEN_UNKNOWN"
        assert contract in codes(decode(change(shown, "domain", "verifyingContract", value=OTHER)))
        amount = ("message", "details", "amount") if name == "PermitSingle" else ("message", "value")
        assert "ALLOWANCE_UNLIMITED" in codes(decode(change(shown, *amount, value=str(2**160 - 1))))
        for unreadable in (
            change(shown, "primaryType", value="Order"),
            change(shown, "types", name, value=[]),
            change(shown, "types", "More", value=[{"name": "x", "type": "uint256"}]),
            change(shown, "message", "more", value="1"),
            change(shown, *amount, value="much"),
            change(shown, "domain", "chainId", value=None),
            {**shown, "domain": None},
        ):
            assert "MESSAGE_UNKNOWN" in codes(decode(unreadable)), unreadable


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "safe.json"
    file.write_text(build("USDC", "ETH", "5", output_format="safe").stdout)
    ran = run_swapcli("decode", str(file), "--offline", "--json")
    assert codes(ran) == set()
    assert [each["function"] for each in ran.json["transactions"]] == ["approve", "swap"]


VALUES: tuple[Callable[[int], Any], ...] = (
    hex,
    str,
    int,
    lambda value: f"{value}n",
    lambda value: {"type": "BigNumber", "hex": hex(value)},
    lambda value: {"_hex": hex(value), "_isBigNumber": True},
    lambda value: {"_hex": hex(value)},
    lambda value: {"__type": "bigint", "value": str(value)},
)


@pytest.mark.parametrize("write", few(VALUES, 3))
def test_value_and_chain_are_compared_however_they_are_written(write: Callable[[int], Any]) -> None:
    shown = document("ETH", "USDC", "1")
    honest = {"to": shown["to"], "data": shown["calldata"], "value": write(10**18), "chainId": write(8453)}
    assert codes(decode(honest)) == set()
    assert "VALUE_DIFFERS" in codes(decode({**honest, "value": write(10**18 + 1)}))
    for text in (
        {**shown, "chainId": write(1)},
        {**honest, "chainId": write(1), "network": "base"},
        {"transactions": [{**honest, "chainId": write(1)}], "network": "base"},
    ):
        assert "CHAIN_DIFFERS" in codes(decode(text))
    assert "CHAIN_DIFFERS" in codes(decode({**honest, "chainId": write(143)}, "--network", "base"))


def test_the_chain_id_names_the_network() -> None:
    ran = decode({"data": document("ETH", "USDC", "1")["calldata"], "chainId": 8453, "value": str(10**18)})
    assert ran.json["network"] == "base"
    unknown = decode({"data": "0xdeadbeef", "chainId": 987654})
    assert "FUNCTION_UNKNOWN" in codes(unknown)


# --- what cannot be read


@pytest.mark.parametrize(
    "text",
    [
        '{"data": "0xdeadbeef", "data": "0xdeadbee0"}',
        '{"data": "0xdeadbeef", "input": "0xdeadbee0"}',
        '{"data": "0xdeadbeef", "Data": "0xdeadbee0"}',
        '{"data": "0xdeadbeef", "chainId": 8453, "chain_id": "0x1"}',
        '{"data": "0xdeadbeef", "value": 0, "Value": "0x1"}',
        '{"data": "0xdeadbeef", "gas": "0x5208", "gasLimit": "0x5209"}',
        '{"transactions": [{"data": "0xdeadbeef"}], "calls": [{"data": "0xdeadbee0"}]}',
        '{"to": "0x1", "value": 1, "transactions": [{"data": "0xdeadbeef"}]}',
        '{"data": "0xdeadbeef", "value": "1.5"}',
        '{"data": "0xdeadbeef", "value": -1}',
        '{"data": "0xdeadbeef", "value": true}',
        '{"data": "0xdeadbeef", "value": {"hex": "0x1", "unit": "ether"}}',
        '{"data": "0xdeadbeef", "value": ""}',
        '{"data": "0xdeadbeef", "chainId": "base"}',
        '{"data": "0xdeadbeef", "to": 5}',
        '{"data": "0xdeadbeef", "to": "0x12"}',
        '{"data": "0xdeadbeef", "gas": "much"}',
        '{"data": "0xdeadbeef", "nonce": []}',
        '{"data": {"type": "Buffer", "data": [1]}}',
        '{"transactions": []}',
        '{"transactions": {"to": "0x1"}}',
        '{"transactions": ["0xdeadbeef"]}',
        '{"transactions": [{"to": null}]}',
        '{"jsonrpc": "2.0", "id": 1, "result": null}',
        '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}}',
        '{"method": "eth_sendTransaction", "params": []}',
        '{"transactions": [{"to": "0x1", "data": null, "contractMethod": {"name": "approve"}}]}',
        "cast send 0x" + "1" * 40 + " 'approve(address,uint256)' 0x1 2",
        "cast send --value 1ether 0x" + "1" * 40 + " 0xdeadbeef",
        "SWAP_TO=0x" + "1" * 40,
        "SWAP_TO=0x1\nSWAP_TO=0x2",
    ],
)
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    ran = decode(text, "--network", "base")
    assert (ran.exit_code, ran.stdout) == (2, ""), ran.stdout
    assert ran.error["message"]


# --- what is tampered with


def approval(token: str, spender: str, amount: int) -> Json:
    return {"to": token, "data": f"0x095ea7b3{spender[2:].lower():0>64}{amount:064x}", "value": 0, "chainId": 8453}


Change = Callable[[list[Json]], object]
CHANGES: dict[str, Change] = {
    "an approval of more": lambda sent: sent[0].update(data=sent[0]["data"][:-64] + "f" * 64),
    "an approval of a unit more": lambda sent: sent[0].update(
        data=sent[0]["data"][:-64] + f"{int(sent[0]['data'][-64:], 16) + 1:064x}"
    ),
    "another spender": lambda sent: sent[0].update(data=sent[0]["data"].replace(sent[0]["data"][34:74], OTHER[2:])),
    "another token": lambda sent: sent[0].update(to="0x4200000000000000000000000000000000000006"),
    "a value": lambda sent: sent[0].update(value=1),
    "an approval for another account": lambda sent: sent.insert(0, approval(sent[0]["to"], OTHER, 1)),
    "a transfer": lambda sent: sent.insert(
        1, {"to": sent[0]["to"], "data": f"0xa9059cbb{OTHER[2:]:0>64}{1:064x}", "value": 0, "chainId": 8453}
    ),
    "native currency to another account": lambda sent: sent.insert(0, {"to": OTHER, "value": 1, "chainId": 8453}),
    "a call after the swap": lambda sent: sent.append({"to": OTHER, "data": "0xdeadbeef", "value": 0}),
    "the swap twice": lambda sent: sent.append(sent[-1]),
    "another order": lambda sent: sent.reverse(),
    "no approval": lambda sent: sent.pop(0),
    "another router": lambda sent: sent[-1].update(to=OTHER),
    "no contract": lambda sent: sent[-1].pop("to"),
    "another chain": lambda sent: sent[0].update(chainId=1),
    "a value with the swap": lambda sent: sent[-1].update(value=hex(10**18)),
    "another call": lambda sent: sent[-1].update(data=sent[-1]["data"][:-1] + "1"),
    "a revocation that stays": lambda sent: sent.append(approval(sent[0]["to"], ME, 0)),
    "the account of a contract": lambda sent: sent[-1].update(authorizationList=[{"address": OTHER}]),
    "a refund by a Safe": lambda sent: sent[-1].update(gasPrice=1, safeTxGas=0, refundReceiver=OTHER),
    "fees of millions": lambda sent: sent[-1].update(gas=300_000, maxFeePerGas=10**16, maxPriorityFeePerGas=1),
    "a huge gas limit": lambda sent: sent[-1].update(gas=50_000_000),
    "a priority fee above the fee": lambda sent: sent[-1].update(maxFeePerGas=1, maxPriorityFeePerGas=2),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_change_of_the_transactions_is_dangerous(dialect: str) -> None:
    shown = document("USDC", "AERO", "3000", dialect=dialect)
    assert codes(decode(shown, dialect=dialect)) == set()
    for name, change in CHANGES.items():
        changed = deepcopy(shown)
        change(changed["transactions"])
        ran = decode(changed, dialect=dialect)
        found = codes(ran)
        expected = {"TRANSACTIONS_DIFFER", "CHAIN_DIFFERS", "CALL_UNUSUAL", "FEES_UNUSUAL"}
        assert found & expected, name
        assert found <= expected, (name, found)


def test_an_allowance_may_be_revoked_first() -> None:
    for dialect in DIALECTS:
        shown = document("USDC", "AERO", "3000", dialect=dialect)
        granted = shown["transactions"][0]
        spender = "0x" + granted["data"][34:74]
        shown["transactions"].insert(0, approval(granted["to"], spender, 0))
        assert codes(decode(shown, dialect=dialect)) == set()
        del shown["transactions"][1]
        assert "TRANSACTIONS_DIFFER" in codes(decode(shown, dialect=dialect))


def test_tokens_of_the_settings_are_revoked_first(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"networks: {{base: {{revoke_first_tokens: ['{USDC}']}}}}")
    for dialect in ("fibrous", "universal-router"):
        router = Router(dialect=dialect, options=("--config", str(file), "--with-approval"))
        for output_format in (*HAND_OFFS, "json", "plain"):
            built = build("USDC", "AERO", "3000", router=router, output_format=output_format)
            ran = decode(built.stdout, dialect=dialect)
            assert codes(ran) == set(), (output_format, ran.stdout)
            amounts = [each["approval"]["amount"] for each in ran.json["transactions"] if "approval" in each]
            assert amounts[:2] == ["0", "3000000000"], output_format
        assert "1. revoke the current approval for " in built.stdout.lower()
    assert len(build("AERO", "USDC", "3", router=router).json["transactions"]) == 3


def test_sentences_say_who_may_take_what() -> None:
    shown = document("USDC", "AERO", "3000")
    CHANGES["another spender"](shown["transactions"])
    (first, *_) = messages(decode(shown), "TRANSACTIONS_DIFFER")
    assert first == (
        "transaction 1 lets 0x2222222222222222222222222222222222222222 take 3,000 USDC, which the swap does not need"
    )


def test_a_batch_without_a_swap_is_judged_call_by_call() -> None:
    usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    router = document("ETH", "USDC", "1")["to"]
    ran = decode([approval(usdc, OTHER, 5), approval(usdc, router, 5)])
    assert messages(ran, "SPENDER_UNKNOWN")[0].startswith("transaction 1: the spender 0x2222")


# --- what contradicts the route


def test_the_route_is_that_of_the_calldata_or_dangerous() -> None:
    shown = document("USDC", "ETH", "3000")
    changes: dict[str, Callable[[Json], object]] = {
        "minimum": lambda d: d.update(minReceived=str(int(d["minReceived"]) - 1)),
        "slippage": lambda d: d.update(slippage=0.6),
        "output": lambda d: d["route"].update(outputAmount=str(int(d["route"]["outputAmount"]) + 1)),
        "recipient": lambda d: d["route"].update(destination=OTHER),
        "router": lambda d: d.update(router_address=OTHER),
        "rate": lambda d: d["swap_parameters"][0].update(rate=str(int(d["swap_parameters"][0]["rate"]) + 1)),
        "no route": lambda d: d["route"].update(success=False),
        "decimals": lambda d: d["route"]["inputToken"].update(decimals=7),
        "pool": lambda d: d["route"]["route"][0]["swaps"][0][0].update(poolName="Uniswap V2"),
        "fee": lambda d: d["route"]["route"][0]["swaps"][0][0]["extraData"].update(fee=101),
    }
    for name, change in changes.items():
        changed = deepcopy(shown)
        change(changed)
        assert "DOCUMENT_DIFFERS" in codes(decode(changed)), name


UNCHECKED = {
    "time", "price", "estimatedGasUsed", "estimatedGasUsedInUsd", "bestQuotesByProtocols", "initial", "timestamp",
    "name", "apiVersion",
}  # fmt: skip
"""Fields of a route that neither decide what is signed nor say what it does."""


def leaves(found: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(found, dict | list):
        for key, value in found.items() if isinstance(found, dict) else enumerate(found):
            if key not in UNCHECKED:
                yield from leaves(value, (*path, key))
    elif found is not None:
        yield path


def changed_unit(value: Any, rng: Random) -> Any:
    """Return a value with one unit, digit or character changed."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + rng.choice((-1, 1)) if value else value + 1
    text = str(value)
    if text.endswith("%"):
        hundredths = round(float(text[:-1]) * 100) + rng.choice((-1, 1))
        return f"{hundredths // 100}.{hundredths % 100:02d}%"
    if text == "0x":
        return "0x00"
    if text.startswith("0x"):
        text = text.lower()
        position = rng.randrange(2, len(text))
        digit = rng.choice([each for each in "0123456789abcdef" if each != text[position]])
        return text[:position] + digit + text[position + 1 :]
    return str(int(text) + rng.choice((-1, 1)) if int(text) else 1) if text.isdecimal() else f"{text}x"


def at(found: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        found = found[key]
    return found


def change_one(shown: Json, rng: Random) -> tuple[Json, str]:
    """Return a document with one unit changed: the calldata everywhere, or one field."""
    changed = deepcopy(shown)
    if rng.random() < 0.4:
        sent = changed["transactions"][-1]
        name = "data" if "data" in sent else "calldata"
        data = shown["calldata"]
        if isinstance(data, str):
            data = changed_unit(data, rng)
        else:
            position = rng.randrange(len(data))
            data = [*data[:position], changed_unit(data[position], rng), *data[position + 1 :]]
        changed["calldata"] = sent[name] = data
        return changed, f"calldata, {data}"
    names = ("route", "quote", "swap", "swap_parameters", "transactions", "to", "value", "calldata", "minReceived",
             "router_address", "integrator_data")  # fmt: skip
    paths = [path for name in names if name in changed for path in leaves(changed[name], (name,))]
    path = rng.choice(paths)
    before = at(changed, path)
    at(changed, path[:-1])[path[-1]] = changed_unit(before, rng)
    return changed, f"{path}: {before} -> {at(changed, path)}"


def random_documents(seed: str, count: int, routers: Sequence[Router] = ROUTERS) -> Iterator[tuple[Router, Json]]:
    rng = generator(seed)
    while count:
        router = routers[count % len(routers)]
        amount = str(10 ** rng.randint(-3, 0) * rng.randint(1, 9))
        built = build(*rng.sample(TOKENS[router.network], 2), amount, router=router)
        if built.exit_code == 0 and int(built.json["minReceived"]) > 1000:
            yield router, built.json
            count -= 1


def is_flagged(ran: CommandResult) -> bool:
    if ran.exit_code == exit_codes.USAGE:
        return True
    assert ran.stdout, ran.stderr
    assert ran.exit_code == (exit_codes.UNSAFE if ran.json.get("dangers", []) else exit_codes.OK)
    return ran.exit_code == exit_codes.UNSAFE


@pytest.mark.fuzz
def test_every_change_of_one_unit_is_found() -> None:
    count, a_document = examples(10, full=300, fuzz=2_000), 5
    rng = generator("one unit")
    for router, shown in random_documents("documents to change", count // a_document):
        assert not is_flagged(decode(shown, dialect=router.dialect))
        for _ in range(a_document):
            changed, what = change_one(shown, rng)
            ran = decode(changed, dialect=router.dialect)
            assert is_flagged(ran), (router, what)


def test_a_route_that_was_executed_later_is_checked_too() -> None:
    rng = Random("executed")
    found = run_swapcli("route", "base", "USDC", "ETH", "3000", "--offline", "--json")
    words = ("execute", "-", "--offline", "--json", "--destination", ME)
    shown = run_swapcli(*words, stdin=found.stdout.encode()).json
    assert not is_flagged(decode(shown))
    for _ in range(examples(6, full=200)):
        changed, what = change_one(shown, rng)
        assert is_flagged(decode(changed)), what


# --- what is honest, in all that others make of it


def shuffled(found: Any, rng: Random) -> Any:
    """Return a document with the keys of its objects in another order."""
    if isinstance(found, dict):
        return {key: shuffled(found[key], rng) for key in rng.sample(list(found), len(found))}
    return [shuffled(each, rng) for each in found] if isinstance(found, list) else found


def in_other_case(found: Any, upper: bool) -> Any:
    """Return a document with all hexadecimal digits in one case."""
    if isinstance(found, dict):
        return {key: in_other_case(value, upper) for key, value in found.items()}
    if isinstance(found, list):
        return [in_other_case(each, upper) for each in found]
    if isinstance(found, str) and found.startswith("0x"):
        return f"0x{found[2:].upper() if upper else found[2:].lower()}"
    return found


def in_wallet_numbers(shown: Json, rng: Random) -> Json:
    """Return a document whose transactions have their numbers in another form."""
    write = rng.choice(VALUES)
    for sent in shown["transactions"]:
        for name in {"value", "chainId", "gas", "nonce", "maxFeePerGas"} & sent.keys():
            sent[name] = write(int(str(sent[name]), 0))
    return shown


def with_fields_of_a_node(shown: Json, rng: Random) -> Json:
    """Return a document as `--from` gives it: fees, nonces, and only the approvals that are missing."""
    if shown["network"] == "starknet":
        return shown
    *approvals, swap = shown["transactions"]
    granted = approvals and rng.choice((approvals, approvals[1:], [], revoked_first(approvals)))
    shown["transactions"] = [*granted, swap]
    for number, sent in enumerate(shown["transactions"]):
        gas = int(int(shown["gasUnits"]) * 1.25) if sent is swap else 60_000
        sent.update(
            {"from": ME, "nonce": 7 + number, "gas": gas, "maxFeePerGas": 20_000_000, "maxPriorityFeePerGas": 1_000}
        )
    return shown


def revoked_first(approvals: list[Json]) -> list[Json]:
    first = approvals[0]
    if not first["data"].startswith("0x095ea7b3"):
        return approvals
    return [{**first, "data": f"{first['data'][:-64]}{0:064x}", "what": "revoke"}, *approvals]


def rewritten(shown: Json, rng: Random) -> str:
    """Return an honest document as another program may hand it on."""
    changed = deepcopy(shown)
    if rng.random() < 0.5:
        changed = with_fields_of_a_node(changed, rng)
    if rng.random() < 0.5:
        changed = in_wallet_numbers(changed, rng)
    if rng.random() < 0.5:
        changed = in_other_case(changed, rng.random() < 0.5)
    if rng.random() < 0.5:
        changed = shuffled(changed, rng)
    part = rng.choice((changed, changed, changed, changed["transactions"], changed["transactions"][-1]))
    if rng.random() < 0.3 and isinstance(part, dict):
        part = {"jsonrpc": "2.0", "id": rng.randrange(99), "result": part}
    return json.dumps(part, indent=rng.choice((None, None, 2, 1)), ensure_ascii=rng.random() < 0.5)


@pytest.mark.fuzz
def test_no_honest_document_is_dangerous() -> None:
    count, rng = examples(16, full=150, fuzz=500), generator("honest")
    for router, shown in random_documents("honest documents", count // 4):
        options = ("--network", router.network)
        texts = [rewritten(shown, rng) for _ in range(3)]
        for text in texts:
            ran = decode(text, *options, dialect=router.dialect)
            assert not is_flagged(ran), (router, text[:3000], ran.stdout, ran.stderr)
        if router.network == "starknet":
            continue
        order = shown.get("quote") or shown["route"]
        words = (order["inputToken"]["address"], order["outputToken"]["address"], "0.01")
        handed = build(*words, router=router, output_format=rng.choice((*HAND_OFFS, "plain")))
        if handed.exit_code == 0:
            ran = decode(handed.stdout, dialect=router.dialect)
            assert not is_flagged(ran), (router, handed.stdout, ran.stdout, ran.stderr)
