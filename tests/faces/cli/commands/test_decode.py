"""`swapcli decode`: a payload that was just built has no warnings, and each change of it has its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from swapcli.core.model.finding import FindingCode, Level
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.command_app import load_app
from swapcli.faces.cli.options import OutputOptions
from swapcli.faces.cli.overview import command_module
from tests.examples import examples, generator
from tests.payload.evm.hostile_router import NATIVE, Command, execute, settle, take_all, v4, v4_swap
from tests.support.command import CommandResult, run_swapcli
from tests.support.unchecked import UNCHECKED_CODES

ME, OTHER = "0x" + "1" * 40, "0x" + "22" * 20
ROUTER = "0x" + "55" * 20
DIALECTS = ("fibrous", "universal-router", "settler")
TOKENS = ("ETH", "USDC", "cbBTC", "AERO", "WETH", "cbETH", "DAI")
UNLIMITED = "f" * 64
LEAST_MINIMUM = 100_000
"""A smaller one may equal a length or an offset in the calldata, where tests replace it."""
MINIMUM_OF_WRAP = {
    ("fibrous", True): -1,
    ("fibrous", False): -1,
    ("universal-router", True): -1,
    ("universal-router", False): -1,
    ("settler", True): 0,
    ("settler", False): 1,
}
"""Which of its equal amounts is the minimum of a payload that wraps (True) or unwraps: it pays what it sells."""


class Built(NamedTuple):
    """A payload, with the options under which it was built."""

    document: dict[str, Any]
    options: tuple[str, ...]

    @property
    def calldata(self) -> str:
        return str(self.document["calldata"])


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Settings with the address of a Settler."""
    file = tmp_path_factory.mktemp("settings") / "config.yaml"
    file.write_text(f'networks: {{base: {{router: "{ROUTER}", router_dialect: settler}}}}')
    return str(file)


def random_payloads(dialect: str, config: str, count: int) -> Iterator[Built]:
    rng = generator(f"decode {dialect}")
    options = ("--config", config) if dialect == "settler" else ()
    while count:
        token_in, token_out = rng.sample(TOKENS, 2)
        amount = str(10 ** rng.randint(-3, 0) * rng.randint(1, 9))
        words = ("calldata", "base", token_in, token_out, amount, "--destination", ME, "--json", *options)
        more = () if dialect == "settler" else ("--router-dialect", dialect)
        ran = run_swapcli(*words, *more)
        if ran.exit_code == 0 and int(ran.json["minReceived"]) >= LEAST_MINIMUM:
            yield Built(ran.json, options)
            count -= 1


def decode(built: Built, *more: str, **changes: str) -> CommandResult:
    document = {key: built.document[key] for key in ("network", "to", "value", "calldata")} | changes
    return run_swapcli("decode", "-", *more, "--json", *built.options, stdin=json.dumps(document).encode())


def replace_minimum(built: Built, dialect: str, order: dict[str, Any], minimum: int) -> str:
    """Return the calldata with another minimum, and the same input."""
    calldata, word = built.calldata, f"{int(order['minReceived']):064x}"
    places = [found.start() for found in re.finditer(word, calldata)]
    if order["inputAmount"] == order["minReceived"]:
        places = [places[MINIMUM_OF_WRAP[dialect, not int(order["inputToken"]["address"], 16)]]]
    for place in places:
        calldata = f"{calldata[:place]}{minimum:064x}{calldata[place + len(word) :]}"
    return calldata


def codes(ran: CommandResult) -> list[str]:
    found = [warning["code"] for warning in ran.json.get("warnings", [])]
    assert ran.json.get("dangers", []) == [
        code for code in dict.fromkeys(found) if FindingCode(code).level is Level.BLOCK
    ]
    assert ran.exit_code == (exit_codes.UNSAFE if ran.json.get("dangers", []) else exit_codes.OK), ran.stderr
    return [code for code in found if code not in UNCHECKED_CODES]


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", DIALECTS)
def test_new_payloads_have_no_warnings_and_say_their_quote(dialect: str, config: str) -> None:
    for built in random_payloads(dialect, config, examples(4, full=20, fuzz=60)):
        ran = decode(built, "--from", ME)
        assert codes(ran) == []
        order, decoded = ran.json["order"], ran.json
        assert (decoded["network"], decoded["dialect"], order["recipient"]) == ("base", dialect, ME)
        assert (order["minReceived"], decoded["value"]) == (built.document["minReceived"], built.document["value"])
        hops = json.dumps([built.document.get(name) for name in ("route", "quote", "swap_parameters")])
        for swap in decoded["swaps"]:
            assert swap["protocol"]
            assert swap["pool"].lower() in hops.lower()


def test_the_wrapper_of_the_native_token_is_named() -> None:
    words = ("calldata", "base", "ETH", "WETH", "1", "--destination", ME, "--json", "--router-dialect", "fibrous")
    (swap,) = decode(Built(run_swapcli(*words).json, ())).json["swaps"]
    assert (swap["protocol"], swap["feePpm"]) == ("wrapper", 0)


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_change_of_a_payload_has_its_warning(dialect: str, config: str) -> None:
    for built in random_payloads(dialect, config, examples(2, full=10, fuzz=30)):
        calldata, swap = built.calldata, decode(built).json
        order = swap["order"]
        minimum, changed = int(order["minReceived"]), {}
        me, other = ME[2:], OTHER[2:]
        changed["RECIPIENT_DIFFERS"] = calldata.replace(f"{me:0>64}", f"{other:0>64}")
        changed["MINIMUM_ZERO"] = replace_minimum(built, dialect, order, 0)
        changed["MINIMUM_LOW"] = replace_minimum(built, dialect, order, minimum * 99 // 100)
        changed["MINIMUM_TOO_LOW"] = replace_minimum(built, dialect, order, minimum // 2)
        changed["MINIMUM_TOO_HIGH"] = replace_minimum(built, dialect, order, minimum * 2)
        token = next(
            each["address"][2:].lower()
            for each in (order["inputToken"], order["outputToken"])
            if int(each["address"], 16)
        )
        changed["TOKEN_UNKNOWN"] = calldata.replace(token, "77" * 20)
        changed["TRAILING_BYTES"] = calldata + "00" * 32
        changed["FUNCTION_UNKNOWN"] = "0xdeadbeef" + calldata[10:]
        if "deadline" in order:
            changed["DEADLINE_PASSED"] = calldata.replace(f"{order['deadline']:064x}", f"{1_600_000_000:064x}")
            changed["DEADLINE_NONE"] = calldata.replace(f"{order['deadline']:064x}", f"{order['deadline'] * 1000:064x}")
        for code, text in changed.items():
            assert text != calldata
            assert code in codes(decode(built, "--from", ME, calldata=text)), code
        assert "RECIPIENT_DIFFERS" in codes(decode(built, "--destination", OTHER))
        assert "VALUE_DIFFERS" in codes(decode(built, value=str(int(swap["value"]) + 1)))
        assert "ROUTER_UNKNOWN" in codes(decode(built, to=OTHER))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_cut_payload_is_an_error_that_says_so(dialect: str, config: str) -> None:
    for built in random_payloads(dialect, config, 2):
        for length in (10, len(built.calldata) // 4 * 2, len(built.calldata) - 2):
            ran = decode(built, calldata=built.calldata[:length])
            assert (ran.exit_code, ran.stdout) == (2, "")
            assert ran.error["message"].startswith("this is not a complete ")
            assert ran.error["hint"] == "check that all of it was copied"


def test_pools_that_the_market_lacks_are_named(config: str) -> None:
    (built,) = random_payloads("fibrous", config, 1)
    pool = decode(built).json["swaps"][0]["pool"][2:].lower()
    ran = decode(built, calldata=built.calldata.replace(pool[:40], "88" * 20))
    if len(pool) == 40:
        assert "POOL_UNKNOWN" in codes(ran)


def test_approvals_name_spender_and_limit() -> None:
    usdc, router = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "274602a953847d807231d2370072F5f4E4594B44".lower()
    exact = ("decode", f"0x095ea7b3{router:0>64}{5_000_000:064x}", "--network", "base", "--to", usdc)
    ran = run_swapcli(*exact, "--json")
    assert codes(ran) == []
    assert (ran.json["approval"]["token"]["symbol"], ran.json["approval"]["amount"]) == ("USDC", "5000000")
    unlimited = run_swapcli(
        "decode", f"0x095ea7b3{ME[2:]:0>64}{UNLIMITED}", "--network", "base", "--to", usdc, "--json"
    )
    assert codes(unlimited) == ["SPENDER_UNKNOWN", "ALLOWANCE_UNLIMITED"]
    assert "5 USDC" in run_swapcli(*exact).stdout


@pytest.mark.parametrize(
    ("selector", "word", "name", "found"),
    [
        # `cast sig` of increaseAllowance(address,uint256) and of setApprovalForAll(address,bool)
        ("39509351", f"{5_000_000:064x}", "increaseAllowance", ["SPENDER_UNKNOWN"]),
        ("39509351", UNLIMITED, "increaseAllowance", ["SPENDER_UNKNOWN", "ALLOWANCE_UNLIMITED"]),
        ("a22cb465", f"{1:064x}", "setApprovalForAll", ["SPENDER_UNKNOWN", "ALLOWANCE_UNLIMITED"]),
    ],
)
def test_further_kinds_of_approvals_name_their_spender(selector: str, word: str, name: str, found: list[str]) -> None:
    usdc, router = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "274602a953847d807231d2370072F5f4E4594B44".lower()
    at = ("--network", "base", "--to", usdc, "--json")
    ran = run_swapcli("decode", f"0x{selector}{ME[2:]:0>64}{word}", *at)
    assert (ran.exit_code, codes(ran), ran.json["approval"]["spender"].lower()) == (7, found, ME.lower())
    assert ran.json["function"] == name
    known = run_swapcli("decode", f"0x{selector}{router:0>64}{word}", *at)
    assert (known.exit_code, "SPENDER_UNKNOWN" in codes(known)) == (0, False)


def test_an_approval_without_a_network_names_its_spender_first() -> None:
    ran = run_swapcli("decode", f"0x095ea7b3{ME[2:]:0>64}{UNLIMITED}")
    assert ran.exit_code == 7
    assert ran.stdout.startswith(f"DANGER, do not sign: the spender {ME} may take all tokens; the network is unknown")


def test_transactions_of_a_swap_decode_without_warnings() -> None:
    for dialect in ("fibrous", "universal-router"):
        order = ("base", "USDC", "ETH", "1500", "--destination", ME, "--router-dialect", dialect)
        for transaction in run_swapcli("calldata", *order, "--json").json["transactions"]:
            ran = run_swapcli("decode", "-", "--network", "base", "--json", stdin=json.dumps(transaction).encode())
            assert codes(ran) == []


def test_starknet_calls_decode_from_json_and_from_felts() -> None:
    order = (
        "starknet",
        "STRK",
        "USDC",
        "5",
        "--destination",
        "0x123456789012345678901234567890123456789012345678901234567890",
    )
    document = run_swapcli("calldata", *order, "--json").json
    ran = run_swapcli(
        "decode",
        "-",
        "--from",
        "0x123456789012345678901234567890123456789012345678901234567890",
        "--json",
        stdin=json.dumps(document).encode(),
    )
    assert codes(ran) == []
    assert ran.json["order"]["minReceived"] == document["minReceived"]
    felts = document["calldata"]
    separated = run_swapcli("decode", ",".join(felts), "--json")
    assert separated.json["order"] == ran.json["order"]
    assert separated.json["network"] == "starknet"
    assert codes(run_swapcli("decode", " ".join([*felts, "7"]), "--json")) == ["CALL_UNUSUAL"]
    assert run_swapcli("decode", " ".join(felts[:-1]), "--json").exit_code == 2
    low = [*felts]
    low[4] = "0"
    assert "MINIMUM_ZERO" in codes(run_swapcli("decode", " ".join(low), "--json"))
    for call in document["transactions"]:
        assert (
            codes(run_swapcli("decode", "-", "--network", "starknet", "--json", stdin=json.dumps(call).encode())) == []
        )


def test_the_network_is_guessed_from_tokens_pools_and_routers(config: str) -> None:
    (built,) = random_payloads("fibrous", config, 1)
    ran = run_swapcli("decode", built.calldata)
    assert "read as a payload for base" in ran.stderr
    assert codes(run_swapcli("decode", "0xdeadbeef", "--json")) == ["FUNCTION_UNKNOWN"]
    unknown = run_swapcli("decode", f"0x095ea7b3{ME[2:]:0>64}{1:064x}", "--json")
    assert codes(unknown) == ["NETWORK_UNKNOWN"]


def test_a_dangerous_payload_ends_with_status_7_and_says_why(config: str) -> None:
    (built,) = random_payloads("fibrous", config, 1)
    words = ("decode", "-", "--network", "base", "--to", ROUTER)
    ran = run_swapcli(*words, stdin=built.calldata.encode())
    assert ran.exit_code == 7
    assert "At least" in ran.stdout
    assert "do not sign this: ROUTER_UNKNOWN" in ran.stderr
    only = run_swapcli(*words, "--get", "order.minReceived", stdin=built.calldata.encode())
    assert (only.exit_code, only.stdout) == (7, f"{built.document['minReceived']}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("hello",), ("0x",), ("0x123",), ("0xde",), ("{}",), ("{",), ("[1,2",), ('["x","y"]',), ("1,x",),
        ("0xdeadbeef", "--value", "x"), ("0xdeadbeef", "--network", "nosuch"),
        ("0xdeadbeef", "--network", "base", "--to", "0x12"), ("1,2,3", "--network", "base"),
        ("0xdeadbeef", "--network", "starknet")
    ],
)  # fmt: skip
def test_wrong_input_is_one_sentence_with_a_way_out(arguments: tuple[str, ...]) -> None:
    ran = run_swapcli("decode", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: ")
    assert "Traceback" not in ran.stderr


@pytest.mark.fuzz
def test_random_text_never_crashes() -> None:
    rng = generator("random text")
    alphabet = '0x123abc ,[]{}":\n\x00é' + "f" * 8
    for _ in range(examples(20, full=500, fuzz=2_000)):
        text = "".join(rng.choices(alphabet, k=rng.randrange(1, 80)))
        ran = run_swapcli("decode", "-", "--offline", stdin=text.encode())
        assert ran.exit_code in (0, 2, 7)


def test_a_network_of_the_settings_is_guessed_as_others_are(tmp_path: Path) -> None:
    weth, coin = "0x" + "78" * 20, "0x" + "98" * 20
    tokens = [{"address": weth, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18}]
    tokens.append({"address": coin, "symbol": "COIN", "name": "Coin", "decimals": 6})
    native = {"symbol": "ETH", "name": "Ether", "decimals": 18}
    own = {"chain_id": 987_654, "native": native, "wrapped_native": weth, "tokens": tokens, "protocols": []}
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({"networks": {"my-network": own | {"router": ROUTER}}}))
    approval = f"0x095ea7b3{ROUTER[2:]:0>64}{5_000_000:064x}"
    ran = run_swapcli("decode", approval, "--to", coin, "--config", str(file), "--json")
    assert (ran.json["network"], codes(ran)) == ("my-network", [])
    assert ran.json["approval"]["token"]["symbol"] == "COIN"
    other = run_swapcli("decode", approval.replace("55", "66"), "--to", coin, "--config", str(file), "--json")
    assert codes(other) == ["SPENDER_UNKNOWN"]


USDC, E18 = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 10**18
BUY = v4_swap(NATIVE, USDC, E18, 3_110_000_000)
PAY = settle(NATIVE, 0, False), take_all(USDC, 0)
SELL_AGAIN = v4_swap(USDC, NATIVE, 3_109_999_999, 0)


@pytest.mark.parametrize(
    ("commands", "minimum", "dangers"),
    [
        ([v4(BUY, *PAY)], "3110000000", set()),
        (
            [v4(BUY, SELL_AGAIN, v4_swap(NATIVE, USDC, 1, 0), *PAY, take_all(NATIVE, 0))],
            "1",
            {"MINIMUM_NOT_ENFORCED", "MINIMUM_TOO_LOW"},
        ),
        ([v4(v4_swap(NATIVE, USDC, E18, 1 << 127), *PAY)], str(1 << 127), {"RATE_ABSURD"}),
    ],
)
def test_the_minimum_is_what_the_router_enforces(commands: list[Command], minimum: str, dangers: set[str]) -> None:
    to = "0x6ff5693b99212da76ad316178a184ab56d299b43"
    document = {"network": "base", "to": to, "value": str(E18), "calldata": execute(commands)}
    words = ("decode", "-", "--from", ME, "--offline", "--json")
    ran = run_swapcli(*words, stdin=json.dumps(document).encode())
    assert ran.json["order"]["minReceived"] == minimum
    assert dangers <= set(ran.json.get("dangers", []))
    assert ran.exit_code == (exit_codes.UNSAFE if dangers else exit_codes.OK)


def test_a_defect_is_a_danger_in_each_format(capsys: pytest.CaptureFixture[str]) -> None:
    command = load_app(command_module("decode")).only_command
    assert command is not None
    assert command.on_defect is not None
    for options in (OutputOptions(json=True), OutputOptions(format="plain")):
        assert command.on_defect(KeyError("0xabc"), output=options, calldata="0x") == exit_codes.UNSAFE
        printed = capsys.readouterr()
        assert "internal error KeyError" in printed.out + printed.err
        assert "PAYLOAD_UNREAD" in printed.out + printed.err


def test_a_call_of_the_own_router_is_named_so() -> None:
    env = {"SWAPCLI_NETWORKS_BASE_ROUTER": "0x" + "34" * 20, "SWAPCLI_NETWORKS_BASE_ROUTER_DIALECT": "own"}
    built = run_swapcli(
        *("calldata", "base", "ETH", "USDC", "1.5", "--offline", "--destination", "0x" + "11" * 20), "--json", env=env
    )
    ran = run_swapcli("decode", built.json["calldata"], "--offline", "--network", "base", "--format=plain", env=env)
    assert "swapBefore of the router own on base" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize("verbose", [False, True])
def test_a_payload_shows_the_shares_of_its_quote(verbose: bool) -> None:
    more = ("--verbose",) if verbose else ()
    order, options = ("base", "ETH", "USDC", "5000"), ("--offline", "--max-pools", "6")
    quoted = run_swapcli("route", *order, *options, "--direct", "--format", "plain", *more).stdout
    built = run_swapcli("calldata", *order, *options, "--direct", "--destination", ME, "--json").stdout.encode()
    decoded = run_swapcli("decode", "-", "--offline", "--format", "plain", *more, stdin=built).stdout
    digits = 2 if verbose else 1
    of_quote, of_payload = (sorted(re.findall(rf" (\d+\.\d{{{digits}}}%) +[A-Z]", text)) for text in (quoted, decoded))
    assert len(of_payload) == 4
    assert of_payload == of_quote
