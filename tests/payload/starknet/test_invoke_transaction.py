"""The transaction of an account: its bounds and its fee are those of starknet.js (vectors/README.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import swapcli
from swapcli.core.errors import InvalidOption
from swapcli.core.model.signing_figures import FeeEstimate
from swapcli.core.model.transaction import Transaction
from swapcli.payload.starknet.account_transactions import parse_account_calls, serialise_account_calls
from swapcli.payload.starknet.invoke_transaction import bounds_of, in_strk
from tests.payload.starknet.fake_node import Account
from tests.payload.starknet.test_live_commands import RECIPIENT, Scene, scene_in
from tests.support.command import CommandResult

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "bounds.json").read_text())
CASES: list[dict[str, Any]] = RECORDED["cases"]
SENDER = f"0x{0x7A11CE0123456789012345678901234567890123456789012345678901234:064x}"
NONCE = 7
ORDER = ("starknet", "STRK", "ETH", "1000")


@contextmanager
def account_scene(folder: Path, **options: Any) -> Iterator[Scene]:
    """Yield a synchronized scene in which the sender is an account."""
    with scene_in(folder, **options) as scene:
        scene.chain.contracts[int(SENDER, 16)] = Account(NONCE)
        scene.chain.mine()
        assert scene.run("sync", "starknet").exit_code == 0
        yield scene


def calldata(scene: Scene, *options: str) -> CommandResult:
    return scene.run("calldata", *ORDER, "--destination", SENDER, "--from", SENDER, *options)


def estimate_of(case: dict[str, Any]) -> FeeEstimate:
    return FeeEstimate(**{name: int(value, 16) for name, value in case["estimate"].items()})


def numbers(bounds: Any) -> dict[str, dict[str, int]]:
    return {name: {key: int(value, 16) for key, value in bound.items()} for name, bound in bounds.items()}


@pytest.mark.parametrize("case", CASES)
def test_bounds_and_fee_are_those_of_starknet_js(case: dict[str, Any]) -> None:
    bounds = bounds_of(estimate_of(case))
    assert {name: bound._asdict() for name, bound in bounds._asdict().items()} == numbers(case["resource_bounds"])
    assert bounds.max_fee == int(case["overall_fee"])


def test_an_account_gets_the_calls_as_from_starknet_js() -> None:
    account = RECORDED["account"]
    calls = [
        Transaction(
            f"0x{int(each['contractAddress'], 16):064x}",
            felts=tuple(int(felt, 0) for felt in each["calldata"]),
            entrypoint=each["entrypoint"],
        )
        for each in account["calls"]
    ]
    felts = serialise_account_calls(calls)
    assert [hex(felt) for felt in felts] == account["calldata"]
    assert parse_account_calls(felts) == tuple(calls)


@pytest.mark.parametrize(
    ("fri", "strk"), [(0, "0"), (1, "0.000000000000000001"), (10**16, "0.01"), (10**18, "1"), (12 * 10**17, "1.2")]
)
def test_fees_are_written_in_whole_strk(fri: int, strk: str) -> None:
    assert in_strk(fri) == strk


def test_every_output_shows_the_bounds_and_decode_reads_them(tmp_path: Path) -> None:
    case = CASES[-1]
    with account_scene(tmp_path, estimate=case["estimate"]) as scene:
        ran = calldata(scene, "--json")
        assert ran.exit_code == 0, ran.stderr
        document = ran.json
        expected = numbers(case["resource_bounds"])
        assert numbers(document["resource_bounds"]) == expected
        assert (int(document["sender_address"], 16), document["nonce"]) == (int(SENDER, 16), hex(NONCE))
        largest = int(case["overall_fee"])
        assert document["fee"] == {
            "estimated": str(int(case["estimate"]["overall_fee"], 16)),
            "max": str(largest),
            "estimatedStrk": in_strk(int(case["estimate"]["overall_fee"], 16)),
            "maxStrk": in_strk(largest),
        }
        table = calldata(scene).stdout
        for name, bound in expected.items():
            assert f"{name} " in table
            assert f"up to {bound['max_amount']:,} units at up to {bound['max_price_per_unit']:,} fri" in table
        assert f"at most {in_strk(largest)} STRK" in table
        invoke = json.loads(calldata(scene, "--format", "web3").stdout)
        assert numbers(invoke["resource_bounds"]) == expected
        assert (invoke["type"], invoke["version"], invoke["nonce"]) == ("INVOKE", "0x3", hex(NONCE))
        approve, swap = parse_account_calls([int(felt, 16) for felt in invoke["calldata"]])
        assert (approve.entrypoint, swap.entrypoint) == ("approve", "swap")
        for given in (document, invoke):
            file = tmp_path / "given.json"
            file.write_text(json.dumps(given))
            decoded = scene.run("decode", str(file), "--network", "starknet", "--from", SENDER, "--json")
            assert decoded.exit_code == 0, decoded.stderr
            assert "dangers" not in decoded.json
            dear = {"l2_gas": {"max_amount": "0x1", "max_price_per_unit": hex(10**21)}}
            file.write_text(json.dumps(given | {"resource_bounds": dear}))
            costly = scene.run("decode", str(file), "--network", "starknet", "--from", SENDER)
            assert costly.exit_code == 7
            assert "may cost 1,000.00 STRK" in costly.stdout


def test_the_library_has_the_same_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with account_scene(tmp_path, estimate=CASES[-1]["estimate"]) as scene:
        for name, value in scene.env.items():
            monkeypatch.setenv(name, value)
        shown = calldata(scene, "--json").json
        with swapcli.Market.live("starknet") as market:
            prepared = market.prepare(market.quote("STRK", "ETH", "1000"), destination=SENDER, sender=SENDER)
            document: Any = prepared.document()
            with pytest.raises(InvalidOption, match="simulate works on EVM networks only"):
                market.prepare(market.quote("STRK", "ETH", "1000"), destination=SENDER, simulate=True)
    names = ("sender_address", "nonce", "tip", "resource_bounds", "fee")
    assert {name: document[name] for name in names} == {name: shown[name] for name in names}


def test_what_cannot_be_estimated_is_one_sentence(tmp_path: Path) -> None:
    with account_scene(tmp_path, estimate=CASES[-1]["estimate"]) as scene:
        assert "--format web3 needs the account" in calldata_without_sender(scene, "--format", "web3").stderr
        assert "--format cast is for EVM networks only" in calldata(scene, "--format", "cast").stderr
        assert "--simulate works on EVM networks only" in calldata(scene, "--simulate").stderr
        nobody = scene.run("calldata", *ORDER, "--destination", RECIPIENT, "--from", RECIPIENT)
        assert nobody.exit_code == 7
        assert f"no account is deployed at {RECIPIENT}" in nobody.stderr
        scene.node.reverts_with = "u256_sub Overflow"
        reverted = calldata(scene)
        assert reverted.exit_code == 7
        assert "the transaction reverts: Transaction execution error: u256_sub Overflow" in reverted.stderr
        scene.node.reverts_with, scene.node.estimate = None, None
        unknown = calldata(scene)
        assert unknown.exit_code == 5
        assert "cannot estimate the fee: it does not have the method starknet_estimateFee" in unknown.stderr
    offline = scene.run("calldata", *ORDER, "--destination", SENDER, "--from", SENDER, "--offline")
    assert offline.exit_code == 2
    assert "needs a node" in offline.stderr


def calldata_without_sender(scene: Scene, *options: str) -> CommandResult:
    return scene.run("calldata", *ORDER, "--destination", SENDER, *options)
