"""Any input gives a known exit status, no traceback, and with --json one JSON object for an error."""

from __future__ import annotations

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from swapcli.faces.cli.exit_codes import MEANING
from swapcli.faces.cli.typer_root import Root
from tests.examples import examples
from tests.generate.command_tree import command_nodes
from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import TWIN_A, USDC, WETH

OPTIONS = sorted({name for node in command_nodes() for option in node.options for name in option.names})
WORDS = [
    *OPTIONS, *Root.entries, "show", "path", "base", "testnet", "nowhere", "31337",
    "ETH", "WETH", "usdc", "TWIN", WETH, USDC, TWIN_A, "0x" + "0" * 40, "0x1",
    "0", "1", "1.5", "2k", "1,5", "1_000", "$5", "5usd", "50%", "all",
    "-1", "1e9", "0.5%", "50bps", "5gwei", str(2**256), "9" * 5_000,
    "v1", "v2", "v3", "always", "never", "-", "--", "", "=", "--json=1", "\x00", "\udcff", "٣", "🦄", "%s", "{0}",
]  # fmt: skip
words = st.sampled_from(WORDS) | st.text(max_size=8)
# These write files, ask nodes, or serve until they are stopped; none of it is a fuzzer's business.
LASTING = {"init", "create", "revoke", "serve", "sync", "import", "export"}
command_lines = st.lists(words, max_size=9).filter(lambda line: not LASTING.intersection(line))


def check(arguments: list[str], stdin: bytes) -> CommandResult:
    ran = run_swapcli(*arguments, stdin=stdin)
    assert ran.exit_code in MEANING
    assert ran.exit_code != 1, ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    if ran.exit_code and ran.stderr and "--json" in arguments[: (*arguments, "--").index("--")]:
        fields = ("code", "message", "details", "hint", "retryable", "exitCode")
        assert list(ran.error) == [each for each in fields if each not in ("details", "hint") or ran.error.get(each)]
        assert ran.error["exitCode"] == ran.exit_code
    return ran


@given(command_lines, st.binary(max_size=20))
@example(["--"], b"")
@example(["config"], b"")
@example(["route", "--json"], b"")
@example(["completion", "tcsh"], b"")
def test_any_command_line_ends_well(arguments: list[str], stdin: bytes) -> None:
    check(arguments, stdin)


@given(data=st.data())
@settings(max_examples=examples(25, full=200))
def test_any_route_command_line_ends_well(market_file: str, data: st.DataObject) -> None:
    order = data.draw(st.lists(words, min_size=2, max_size=4))
    options = data.draw(st.lists(words, max_size=4))
    check(["route", "testnet", *order, "--market", market_file, *options], b"")


@given(data=st.data())
@settings(max_examples=examples(20, full=100))
def test_any_payload_command_line_ends_well(market_file: str, data: st.DataObject) -> None:
    order = data.draw(st.lists(words, min_size=2, max_size=4))
    options = data.draw(st.lists(words, max_size=4))
    check(["calldata", "testnet", *order, "--market", market_file, "--destination", "0x" + "8" * 40, *options], b"")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
SOUND = run_swapcli("route", "base", "ETH", "USDC", "3", "--json").json


@given(st.dictionaries(st.sampled_from(sorted(SOUND)), json_values, max_size=3), st.booleans())
@settings(max_examples=examples(25, full=200))
def test_any_change_to_a_route_ends_well(changes: dict[str, object], v1: bool) -> None:
    document = {name: value for name, value in SOUND.items() if not (v1 and name == "meta")} | changes
    check(["execute", "--network", "base", "--destination", "0x" + "8" * 40, "--json"], json.dumps(document).encode())


@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:0', max_size=60).map(str.encode))
def test_anything_piped_in_as_a_route_ends_well(document: bytes) -> None:
    check(["execute", "--network", "base", "--destination", "0x" + "8" * 40, "--json"], document)


order_like = st.fixed_dictionaries(
    {},
    optional={
        "id": st.none() | st.integers() | st.text(max_size=3),
        "tokenIn": st.sampled_from([WETH, USDC, "ETH", "TWIN"]) | st.none() | st.text(max_size=4),
        "tokenOut": st.sampled_from([WETH, USDC, "ETH", TWIN_A]) | st.integers(),
        "inputAmount": st.integers() | st.integers(1, 10**20).map(str) | st.floats() | st.text(max_size=4),
    },
).map(json.dumps)
lines = st.lists(order_like.map(str.encode) | st.binary(max_size=30), max_size=4).map(b"\n".join)


@given(lines)
def test_any_batch_ends_well(market_file: str, batch: bytes) -> None:
    ran = check(["route", "testnet", "--market", market_file, "--batch", "-", "--json"], batch)
    answered = [json.loads(line)["result"]["success"] for line in ran.stdout.splitlines()]
    assert bool(ran.exit_code) == (not all(answered) or '"code"' in ran.stderr)  # notes are no errors


@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:0', max_size=60).map(str.encode))
def test_any_market_file_ends_well(document: bytes) -> None:
    check(["route", "testnet", "ETH", "USDC", "1", "--market", "-", "--json"], document)
