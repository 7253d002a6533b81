"""`swapcli decode` names all that leaves a swap for others than its recipient, in every dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swapcli.core.encoding.abi import encode_address, encode_uint
from swapcli.payload.evm import decode_call, encode_call
from swapcli.payload.evm.settler_actions import encode_basic
from tests.payload.evm.sdk.test_sdk_payloads import CASES
from tests.support.command import CommandResult, run_swapcli
from tests.support.unchecked import UNCHECKED_CODES

ME, OTHER, INTEGRATOR = "0x" + "1" * 40, "0x" + "22" * 20, "0x" + "99" * 20
ROUTER = "0x" + "55" * 20
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
DIALECTS = ("fibrous", "universal-router", "settler")
KEY = {"SWAPCLI_API_KEY": "k"}


def settings(address: str, fee_bps: int = 0, surplus_bps: int = 0) -> dict[str, str]:
    shares = {"FEE_BPS": str(fee_bps), "SURPLUS_BPS": str(surplus_bps)}
    return {f"SWAPCLI_INTEGRATOR_{name}": value for name, value in (("ADDRESS", address), *shares.items())}


@pytest.fixture(scope="module", autouse=True)
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Settings with the address of a Settler."""
    file = tmp_path_factory.mktemp("settings") / "config.yaml"
    file.write_text(f'networks: {{base: {{router: "{ROUTER}", router_dialect: settler}}}}')
    CONFIG["settler"] = ("--config", str(file))
    return str(file)


CONFIG: dict[str, tuple[str, ...]] = {}


def build(dialect: str, env: dict[str, str]) -> dict[str, Any]:
    options = CONFIG.get(dialect, ("--router-dialect", dialect))
    words = ("calldata", "base", "ETH", "USDC", "1", "--destination", ME, "--json", "--offline", *options)
    ran = run_swapcli(*words, env=KEY | env)
    assert ran.exit_code == 0, ran.stderr
    document: dict[str, Any] = ran.json
    return {name: document[name] for name in ("network", "to", "value", "calldata")}


def decode(document: dict[str, Any], *more: str, env: dict[str, str] | None = None) -> CommandResult:
    options = CONFIG["settler"] if document["to"] == ROUTER else ()
    words = ("decode", "-", "--from", ME, "--offline", *options, *more)
    return run_swapcli(*words, stdin=json.dumps(document).encode(), env=env or {})


def codes(ran: CommandResult) -> set[str]:
    return {warning["code"] for warning in ran.json.get("warnings", [])} - UNCHECKED_CODES


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fee_is_dangerous_unless_the_settings_have_it(dialect: str) -> None:
    document = build(dialect, settings(INTEGRATOR, 100))
    allowed = decode(document, "--json", env=settings(INTEGRATOR, 100))
    assert allowed.json.get("dangers", []) == []
    (payment,) = allowed.json["payments"]
    assert (payment["recipient"], payment.get("sharePercent"), payment.get("amount")) == (INTEGRATOR, 1.0, None)
    assert payment["token"]["symbol"] == "USDC"
    for env in ({}, settings(OTHER, 100), settings(INTEGRATOR, 99)):
        ran = decode(document, "--json", env=env)
        assert (ran.exit_code, ran.json.get("dangers", [])) == (7, ["PAYMENT_UNKNOWN"])
    assert f"1.00% of the USDC goes to {INTEGRATOR}" in " ".join(w["message"] for w in ran.json.get("warnings", []))
    assert "more than the integrator in the settings may take" in str(ran.json.get("warnings", []))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_fresh_quote_is_before_the_fees_of_strangers(dialect: str) -> None:
    document = build(dialect, settings(INTEGRATOR, 300))
    allowed = decode(document, "--json", env=settings(INTEGRATOR, 300)).json
    strange = decode(document, "--json").json
    assert int(allowed["freshOutputAmount"]) == pytest.approx(int(strange["freshOutputAmount"]) * 0.97, abs=2)
    assert strange["belowFreshPercent"] > allowed["belowFreshPercent"] + 2.5


def test_a_share_of_the_surplus_is_a_payment() -> None:
    document = build("fibrous", settings(INTEGRATOR, surplus_bps=5_000))
    ran = decode(document, "--json")
    assert ran.json.get("dangers", []) == ["PAYMENT_UNKNOWN"]
    assert [each["surplusSharePercent"] for each in ran.json["payments"]] == [50.0]
    assert decode(document, env=settings(INTEGRATOR, surplus_bps=5_000)).exit_code == 0


def test_the_view_has_a_line_for_each_payment() -> None:
    document = build("universal-router", settings(INTEGRATOR, 100))
    lines = decode(document).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("Payment")]
    assert line.split() == ["Payment", "1.00%", "of", "the", "USDC", "to", INTEGRATOR]
    allowed = decode(document, env=settings(INTEGRATOR, 100)).stdout
    assert "Integrator" in allowed
    assert "Payment" not in allowed


@pytest.mark.parametrize(("command", "word"), [("06", 9_900), ("05", 1_000_000), ("07", 99 * 10**16)])
def test_commands_that_pay_others_are_seen(command: str, word: int) -> None:
    document = build("universal-router", {})
    document["calldata"] = with_command(
        document["calldata"], int(command, 16), encode_address(USDC, "t") + encode_address(OTHER, "r") + f"{word:064x}"
    )
    ran = decode(document, "--json")
    assert ran.json.get("dangers", []) == ["PAYMENT_UNKNOWN"]
    (payment,) = ran.json["payments"]
    assert payment["recipient"] == OTHER
    assert (payment.get("sharePercent"), payment.get("amount")) == (
        None if command == "05" else 99.0,
        None if command != "05" else "1000000",
    )


def with_command(calldata: str, code: int, content: str) -> str:
    """Return the call of a Universal Router with a command before its last one."""
    from swapcli.payload.evm.decoding.arguments import Arguments
    from swapcli.payload.evm.universal_router.commands import Command, encode_execute

    words = Arguments(bytes.fromhex(calldata[10:]))
    codes, inputs = words.content(0, "commands"), [each.hex() for each in words.contents(1, "inputs")]
    commands = list(map(Command, codes, inputs))
    commands.insert(len(commands) - 1, Command(code, content))
    return encode_execute(commands, words.uint(2, "deadline"))


@pytest.mark.parametrize(("expected", "shares"), [(None, (99.0, None)), (1, (100.0, None)), (10**12, (None, 100.0))])
def test_actions_of_settler_that_pay_others_are_seen(
    expected: int | None, shares: tuple[float | None, float | None]
) -> None:
    """A surplus over less than the minimum is a share of the whole output."""
    from swapcli.payload.evm.decoding.arguments import Arguments
    from swapcli.payload.evm.settler_actions import encode_execute

    document = build("settler", {})
    words = Arguments(bytes.fromhex(document["calldata"][10:]))
    actions = [each.hex() for each in words.contents(3, "actions")]
    paid = encode_address(OTHER, "to")
    extra = f"34ee90ca{paid}{encode_address(USDC, 't')}{expected or 0:064x}{10_000:064x}"
    transfer = encode_basic(USDC, 9_900, USDC, 36, f"a9059cbb{paid}{encode_uint(0, 256, 'a')}")
    actions.append(transfer if expected is None else extra)
    recipient, token, minimum = words.address(0, "r"), words.address(1, "t"), words.uint(2, "m")
    document["calldata"] = encode_execute(recipient, token, minimum, actions)
    ran = decode(document, "--json")
    assert ran.json.get("dangers", []) == ["PAYMENT_UNKNOWN"]
    assert [
        (each["recipient"], each.get("sharePercent"), each.get("surplusSharePercent")) for each in ran.json["payments"]
    ] == [(OTHER, *shares)]


def test_shares_that_cost_output_warn() -> None:
    words = ("calldata", "base", "ETH", "USDC", "3000", "--destination", ME, "--json", "--offline")
    document = run_swapcli(*words, "--router-dialect", "fibrous", "--max-impact", "100").json
    call = decode_call(document["calldata"])
    assert codes(decode(document, "--json")) == set()
    deepest, *rest = call.swaps
    assert len(rest) > 1
    changed = call._replace(swaps=(rest[0]._replace(rate=900_000), *rest[1:], deepest._replace(rate=1_000_000)))
    bare = {name: document[name] for name in ("network", "to", "value")} | {"calldata": encode_call(changed)}
    ran = decode(bare, "--json")
    assert codes(ran) == {"ROUTE_WORSE"}
    assert ran.exit_code == 0


def test_v4_swaps_of_another_release_are_dangerous() -> None:
    document = build("universal-router", {})
    for version, expected in (("2.0", []), ("2.1.2", ["CALL_UNUSUAL"])):
        case = next(each for each in CASES if (each["version"], each["kind"], each["fee"]) == (version, "v4", None))
        ran = decode(
            document | {"calldata": case["calldata"], "value": case["value"]},
            "--from",
            case["recipient"] or ME,
            "--json",
        )
        assert ran.json.get("dangers", []) == expected


def test_a_settler_that_the_settings_lack_is_dangerous() -> None:
    document = build("settler", {})
    stdin = json.dumps(document).encode()
    ran = run_swapcli("decode", "-", "--from", ME, "--offline", "--json", stdin=stdin)
    assert ran.json.get("dangers", []) == ["ROUTER_UNKNOWN"]


@pytest.mark.parametrize("dialect", ["universal-router", "settler"])
def test_amounts_and_shares_of_other_routers_are_replayed(dialect: str) -> None:
    options = CONFIG.get(dialect, ("--router-dialect", dialect))
    words = (
        "calldata",
        "base",
        "ETH",
        "USDC",
        "1500",
        "--destination",
        ME,
        "--json",
        "--offline",
        "--max-impact",
        "100",
    )
    document = run_swapcli(*words, *options).json
    document = {name: document[name] for name in ("network", "to", "value", "calldata")}
    ran = decode(document, "--json")
    assert codes(ran) == set()
    shown = ran.json
    if dialect == "universal-router":
        amounts = sorted(int(swap["inputAmount"]) for swap in shown["swaps"] if "inputAmount" in swap)
        moved = amounts[-1] * 9 // 10
        changed = document["calldata"].replace(f"{amounts[-1]:064x}", f"{amounts[-1] - moved:064x}")
        changed = changed.replace(f"{amounts[0]:064x}", f"{amounts[0] + moved:064x}")
    else:
        at = document["calldata"].index("8d68a156") + 8 + 64  # the share of the first UNISWAPV3
        changed = f"{document['calldata'][:at]}{9_000:064x}{document['calldata'][at + 64 :]}"
    ran = decode(document | {"calldata": changed}, "--json")
    assert codes(ran) & {"ROUTE_WORSE", "ROUTE_BROKEN"}
