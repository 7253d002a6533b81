"""Safe batches and wallet requests: read by Safe's rules and viem, with the types of both, and by `decode`."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

import swapcli
from tests.contracts.evm import NODE_MODULES
from tests.examples import examples
from tests.payload.handoff.orders import SAFE, Handed, handed_swaps

ORDERS = examples(28, full=200)
"""At least four of each router."""
DAY_S = 86_400


@pytest.fixture(scope="module")
def handed() -> list[Handed]:
    return list(handed_swaps(Random("handed on"), ORDERS))


@pytest.fixture(scope="module")
def read(handed: list[Handed]) -> list[dict[str, Any]]:
    """What Safe's rules and viem make of each document."""
    lines = [
        json.dumps({"batch": each.prepared.safe_batch(), "request": each.prepared.wallet_calls()}) for each in handed
    ]
    command = ["node", str(NODE_MODULES.parent / "handoffs.mjs")]
    ran = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_the_transaction_builder_imports_exactly_the_transactions(
    handed: list[Handed], read: list[dict[str, Any]]
) -> None:
    assert len(read) == ORDERS
    methods = set()
    for each, found in zip(handed, read, strict=True):
        batch = each.prepared.safe_batch()
        expected = [
            {"to": transaction["to"], "value": str(int(str(transaction["value"]), 0)), "data": transaction["data"]}
            for transaction in each.prepared.transactions
        ]
        assert found["imported"] == expected, batch
        assert found["checksum"] == batch["meta"].get("checksum")
        methods |= {entry["contractMethod"] and entry["contractMethod"]["name"] for entry in batch["transactions"]}
    # Every ABI of these payloads is published.
    assert methods == {"approve", "swap", "swapBefore", "execute", "exec"}


def test_viem_sends_the_same_request(handed: list[Handed], read: list[dict[str, Any]]) -> None:
    for each, found in zip(handed, read, strict=True):
        request = each.prepared.wallet_calls()
        (params,) = request["params"]
        # viem leaves out a value of zero, which the standard allows.
        calls = [
            {name: value for name, value in call.items() if (name, value) != ("value", "0x0")}
            for call in params["calls"]
        ]
        assert found["sent"] == {"method": request["method"], "params": [{**params, "calls": calls}]}
        assert (params["version"], params["atomicRequired"]) == ("2.0.0", True)
        assert int(params["chainId"], 16) == each.prepared.network.chain_id
        assert [call["data"] for call in params["calls"]] == [sent["data"] for sent in each.prepared.transactions]


@pytest.mark.slow
def test_the_types_of_safe_and_viem_accept_them(handed: list[Handed], tmp_path: Path) -> None:
    """`tsc --strict`, with `WalletSendCallsParameters` of viem and `MetaTransactionData` of Safe's types-kit."""
    (tmp_path / "node_modules").symlink_to(NODE_MODULES)
    kept = handed[::4]
    batches = ",\n".join(json.dumps(_without_null(each.prepared.safe_batch())) for each in kept)
    requests = ",\n".join(json.dumps(each.prepared.wallet_calls()) for each in kept)
    (tmp_path / "handoffs.ts").write_text(
        f"""import type {{ MetaTransactionData }} from "@safe-global/types-kit";
import type {{ WalletRpcSchema, WalletSendCallsParameters }} from "viem";

type Input = {{ internalType: string; name: string; type: string; components?: Input[] }};
type Transaction = Omit<MetaTransactionData, "data" | "operation"> & Partial<Pick<MetaTransactionData, "data">> & {{
  contractMethod?: {{ inputs: Input[]; name: string; payable: boolean }};
  contractInputsValues?: Record<string, string>;
}};
type Batch = {{
  version: string; chainId: string; createdAt: number; transactions: Transaction[];
  meta: {{
    txBuilderVersion?: string; checksum?: string; createdFromSafeAddress?: string; createdFromOwnerAddress?: string;
    name: string; description?: string;
  }};
}};
type SendCalls = Extract<WalletRpcSchema[number], {{ Method: "wallet_sendCalls" }}>;

export const batches: Batch[] = [{batches}];
export const requests: {{ method: SendCalls["Method"]; params: WalletSendCallsParameters }}[] = [{requests}];
"""
    )
    options = ("--strict", "--noEmit", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler")
    ran = subprocess.run(
        [NODE_MODULES / ".bin/tsc", *options, "--target", "es2022", "handoffs.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def _without_null(value: Any) -> Any:
    """Return a document as JavaScript's types have it: Safe's own files have null where its types have nothing."""
    if isinstance(value, dict):
        return {name: _without_null(each) for name, each in value.items() if each is not None}
    return [_without_null(each) for each in value] if isinstance(value, list) else value


def test_decode_reads_all_of_them_back(handed: list[Handed]) -> None:
    for each in handed[::5]:
        plain, batch, calls = (
            _meaning(each, json.dumps(document))
            for document in (
                {"transactions": each.prepared.transactions},
                each.prepared.safe_batch(),
                each.prepared.wallet_calls(),
            )
        )
        assert batch == calls == plain
        assert plain["order"]["minReceived"] == str(each.prepared.payload.call.route.min_received)


def _meaning(each: Handed, text: str) -> dict[str, Any]:
    decoded = swapcli.decode(text, sender=SAFE, offline=True, settings=each.router.settings)
    document: dict[str, Any] = dict(decoded.document())
    fields = ("order", "swaps", "payments", "permit", "approval", "trailingBytes", "transactions", "dangers")
    found = {name: document.get(name, []) for name in fields}
    for transaction in found["transactions"]:
        transaction.pop("chainId", None)  # a batch has it once, for all of them
    return found | {"codes": sorted(warning["code"] for warning in document.get("warnings", []))}


def test_a_day_is_left_to_sign_or_nobody_ends_it(handed: list[Handed]) -> None:
    lifetimes = []
    for each in handed:
        batch, payload = each.prepared.safe_batch(), each.prepared.payload
        end_s, created_s = payload.call.deadline_s, batch["createdAt"] // 1000
        assert "DEADLINE_SHORT" not in {finding.code for finding in each.prepared.warnings}
        assert (end_s is None) != each.router.expires
        document = each.prepared.document()
        assert document["deadlineEnforcer"] == ("nobody" if end_s is None else each.router.dialect)
        if end_s is None:
            assert batch["meta"]["description"].endswith(", without a deadline")
            continue
        lifetimes.append(end_s - created_s)
        assert batch["meta"]["description"].endswith(f", until {datetime.fromtimestamp(end_s, UTC):%Y-%m-%d %H:%M} UTC")
        for approval in payload.approvals:
            assert approval.expiration_s in (None, end_s)  # Permit2's ends with the swap
    assert len(lifetimes) > ORDERS / 2
    assert DAY_S <= min(lifetimes) <= max(lifetimes) < 2 * DAY_S
