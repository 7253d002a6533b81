"""Revert data is described in words, for any bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.payload.evm.router import read_artifact
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.testing.evm import selector
from tests.contracts.evm import load_artifact

ERROR, PANIC = selector("Error(string)"), selector("Panic(uint256)")


def word(value: int) -> bytes:
    return value.to_bytes(32)


def test_revert_reasons_are_described_in_words() -> None:
    address = "0x" + "ab" * 20
    reasons = {
        b"": "no reason given",
        b"\x12": "an error with selector 0x12",
        bytes.fromhex("12345678") + word(1): "an error with selector 0x12345678",
        ERROR + word(32) + word(3) + b"abc": '"abc"',
        ERROR + word(32) + word(9) + b"a\x1b[31m\nb".ljust(32, b"\0"): '"a[31m b"',
        ERROR + word(2**200): "an error with selector 0x08c379a0",
        ERROR: "an error with selector 0x08c379a0",
        PANIC + word(0x11): "panic 0x11, arithmetic out of range",
        PANIC + word(0x99): "panic 0x99, of an unknown kind",
        selector("RateZero()"): "RateZero",
        selector("NothingBought(address)") + word(int(address, 16)): f"NothingBought (pool {address})",
        selector("NothingBought(address)") + word(2**255): f"an error with selector "
        f"0x{selector('NothingBought(address)').hex()}",
        selector("UnknownProtocol(int24)") + b"\xff" * 32: "UnknownProtocol (protocol_id -1)",
        selector("WrongValue(uint256,uint256)") + word(1) + word(2): "WrongValue (sent 1, expected 2)",
    }
    assert {output: describe_revert(output) for output in reasons} == reasons
    long = describe_revert(ERROR + word(32) + word(5_000) + b"x" * 5_024)
    assert len(long) < 200


@given(st.sampled_from([ERROR, PANIC, selector("WrongPool(address)"), b""]), st.binary(max_size=200))
def test_any_revert_data_gives_one_printable_line(beginning: bytes, rest: bytes) -> None:
    reason_text = describe_revert(beginning + rest)
    assert reason_text.isprintable()
    assert 0 < len(reason_text) < 200


def test_every_error_of_the_router_is_known_by_name() -> None:
    for entry in read_artifact().abi:
        if entry["type"] == "error":
            inputs = entry["inputs"]
            assert isinstance(inputs, list)
            signature = f"{entry['name']}({','.join(each['type'] for each in inputs)})"
            reason_text = describe_revert(selector(signature) + word(1) * len(inputs))
            assert reason_text.split(" ")[0] == entry["name"]
            assert all(each["name"] in reason_text for each in inputs)


POSITIONS = {"InvalidAction", "NotAuthorizedForToken", "OnlyMintAllowed"}
"""Errors of the Universal Router for positions of liquidity, which no swap has."""


def test_every_error_of_the_universal_router_is_known() -> None:
    for entry in load_artifact(
        "@uniswap/universal-router/artifacts/contracts/UniversalRouter.sol/UniversalRouter.json"
    ).abi:
        if entry["type"] == "error" and entry["name"] not in POSITIONS | {"ExecutionFailed"}:
            signature = f"{entry['name']}({','.join(each['type'] for each in entry['inputs'])})"
            text = describe_revert(selector(signature) + word(1) * len(entry["inputs"]))
            assert text.split(" ")[0] == entry["name"]


def test_the_revert_of_a_command_says_which_and_why() -> None:
    inner = selector("V3TooLittleReceived()")
    failed = selector("ExecutionFailed(uint256,bytes)") + word(1) + word(64) + word(4) + inner.ljust(32, b"\0")
    assert describe_revert(failed) == "command 2 of the call: V3TooLittleReceived"
    settler = (
        selector("ActionInvalid(uint256,bytes4,bytes)") + word(3) + b"\x12\x34\x56\x78".ljust(32, b"\0") + word(96)
    )
    assert describe_revert(settler + word(0)) == "ActionInvalid (number 3, action 0x12345678)"
    endless = failed
    for _ in range(5):
        endless = failed[:4] + word(0) + word(64) + word(len(endless)) + endless + bytes(-len(endless) % 32)
    assert len(describe_revert(endless)) < 200
