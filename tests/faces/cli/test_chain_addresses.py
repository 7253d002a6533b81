"""Every option, argument and field for an address: one that names its chain, and one with a wrong checksum."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.examples import few
from tests.support.command import run_swapcli

WALLET = "0x" + "11" * 20
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ROUTER = "0x274602a953847d807231d2370072F5f4E4594B44"
OFFLINE = ("--offline", "--json")
CALLDATA = ("calldata", "base", "ETH", "USDC", "1", *OFFLINE, "--destination", WALLET)
KEY = {"SWAPCLI_API_KEY": "k"}

PLACES = {
    "--destination": (*CALLDATA[:-1], f"CHAIN{WALLET}"),
    "--allow-recipient": (*CALLDATA[:-1], USDC, "--allow-recipient", f"CHAIN{USDC}"),
    "--integrator-address": (*CALLDATA, "--integrator-fee-bps", "10", "--integrator-address", f"CHAIN{WALLET}"),
    "TOKEN_IN": ("route", "base", f"CHAIN{USDC}", "ETH", "10", *OFFLINE),
    "TOKEN_OUT": ("route", "base", "ETH", f"CHAIN{USDC}", "1", *OFFLINE),
    "price": ("price", "base", f"CHAIN{USDC}", *OFFLINE),
    "--in": ("price", "base", "ETH", "--in", f"CHAIN{USDC}", *OFFLINE),
    "pools": ("pools", "base", f"CHAIN{USDC}", *OFFLINE, "--limit", "1"),
    "tokens": ("tokens", "base", f"CHAIN{USDC}", "--json"),
    "decode --to": ("decode", "-", "--network", "base", *OFFLINE, "--to", f"CHAIN{ROUTER}", "--value", str(10**18)),
    "decode --from": ("decode", "-", "--network", "base", *OFFLINE, "--from", f"CHAIN{WALLET}"),
    "decode --destination": ("decode", "-", "--network", "base", *OFFLINE, "--destination", f"CHAIN{WALLET}"),
}


@pytest.fixture(scope="module")
def calldata() -> bytes:
    return str(run_swapcli(*CALLDATA).json["calldata"]).encode()


@pytest.mark.parametrize("place", few(PLACES, 5))
def test_an_address_may_name_its_chain(place: str, calldata: bytes) -> None:
    for chain in ("base:", "eip155:8453:"):
        ran = run_swapcli(*(word.replace("CHAIN", chain) for word in PLACES[place]), stdin=calldata, env=KEY)
        assert ran.exit_code == 0, ran.stderr
    for chain, named in (("eth:", "the chain eth"), ("eip155:143:", "the chain with ID 143")):
        ran = run_swapcli(*(word.replace("CHAIN", chain) for word in PLACES[place]), stdin=calldata, env=KEY)
        assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_ADDRESS")
        assert f"is for {named}, not for base" in ran.error["message"]


@pytest.mark.parametrize("place", [place for place in PLACES if place != "tokens"])
def test_no_hint_bypasses_a_wrong_checksum(place: str, calldata: bytes) -> None:
    """In lower case it would be accepted, and with it a mistyped or forged address. `tokens` searches for any text."""
    wrong = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"
    words = (word if "CHAIN" not in word else wrong for word in PLACES[place])
    ran = run_swapcli(*words, stdin=calldata, env=KEY)
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_ADDRESS")
    assert "is an address with a wrong checksum" in ran.error["message"]
    assert "from its source" in ran.error["hint"]
    assert "lower case" not in ran.stderr


def test_the_address_of_a_setting_has_its_checksum(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text('networks: {base: {router: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"}}')
    ran = run_swapcli("tokens", "base", "--json", "--config", str(file))
    assert ran.exit_code != 0
    assert "from its source" in ran.error["hint"]


def test_the_tokens_of_a_batch_may_name_their_chain() -> None:
    orders = [
        {"tokenIn": f"{chain}{USDC}", "tokenOut": "ETH", "inputAmount": "1000000"} for chain in ("", "base:", "eth:")
    ]
    lines = "\n".join(map(json.dumps, orders)).encode()
    plain, own, other = map(
        json.loads, run_swapcli("route", "base", "--batch", "-", *OFFLINE, stdin=lines).stdout.splitlines()
    )
    assert plain["result"]["outputAmount"] == own["result"]["outputAmount"]
    assert "is for the chain eth, not for base" in other["result"]["errorMessage"]


@pytest.mark.parametrize(
    "text", ["0x1111...1111", "0x1111\u20261111", f"https://basescan.org/address/{WALLET}", "a@b.eth"]
)
def test_what_is_no_name_is_not_looked_up(text: str) -> None:
    """Not even offline is the reason, since no node could resolve it."""
    ran = run_swapcli(*CALLDATA[:-1], text)
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_ADDRESS")
    assert "is not an EVM address" in ran.error["message"]
    assert ran.error["hint"]
