"""A local anvil node for tests, reached over plain JSON-RPC."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, NamedTuple

from swapcli.testing.evm import DEPLOYER, BaseChain, Contract, ContractArtifact, RevertedError
from tests.contracts.evm import NODE_MODULES, MissingPackagesError

CHAIN_ID = 31_337
START_S = 1_700_000_000
_BLOCK_S = 12
_GAS = 30_000_000
_ETHER_SUPPLY = 2**120
_TIMEOUT_S = 60.0
_LISTENING = re.compile(r"Listening on 127\.0\.0\.1:(\d+)")
_TRIES = 5_000
_PAUSE_S = 0.001


class Receipt(NamedTuple):
    """The outcome of a transaction; `created` is the address of the contract that it deployed, if any."""

    succeeded: bool
    gas_used: int
    created: str | None = None


class Node:
    """One connection to a node."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)

    def ask(self, method: str, *params: object) -> Any:
        """The result of one request. Raises `RevertedError` with the data of a call that reverted."""
        return _result(self._post(_request(0, method, params)))

    def ask_all(self, requests: Sequence[tuple[str, Sequence[object]]]) -> list[Any]:
        """The results of many requests in one round trip, in their order."""
        if not requests:
            return []
        answers = self._post([_request(k, method, params) for k, (method, params) in enumerate(requests)])
        return [_result(answer) for answer in sorted(answers, key=lambda each: int(each["id"]))]

    def close(self) -> None:
        self._connection.close()

    def _post(self, body: object) -> Any:
        self._connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
        return json.loads(self._connection.getresponse().read())


def _request(number: int, method: str, params: Sequence[object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _result(answer: Mapping[str, Any]) -> Any:
    if "error" not in answer:
        return answer["result"]
    error = answer["error"]
    data = error.get("data")
    raise RevertedError(bytes.fromhex(data[2:]) if isinstance(data, str) else b"", str(error.get("message")))


class AnvilChain(BaseChain):
    """Contracts on a node, which signs for any sender without a key. Every transaction is a block of its own."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.fund(DEPLOYER, _ETHER_SUPPLY)

    def fund(self, address: str, wei: int) -> None:
        """Like `BaseChain.fund`."""
        self.node.ask("anvil_setBalance", address, hex(wei))

    def native_balance(self, address: str) -> int:
        """Like `BaseChain.native_balance`."""
        return int(self.node.ask("eth_getBalance", address, "latest"), 16)

    def create(self, code: bytes, sender: str = DEPLOYER) -> str:
        """Like `BaseChain.create`."""
        call = {"from": sender, "data": f"0x{code.hex()}", "gas": hex(_GAS)}
        receipt = self.receipt(self.node.ask("eth_sendTransaction", call))
        if not receipt.succeeded or receipt.created is None:
            raise RevertedError(b"", "the contract was not created")
        return receipt.created

    def place(self, address: str, artifact: ContractArtifact) -> Contract:
        """Like `BaseChain.place`."""
        code = self.node.ask("eth_getCode", self.create(artifact.bytecode), "latest")
        self.node.ask("anvil_setCode", address, code)
        return self.at(address, artifact)

    def send(self, to: str, calldata: bytes, *, value: int = 0, sender: str = DEPLOYER) -> bytes:
        """Like `BaseChain.send`."""
        call = {"from": sender, "to": to, "data": f"0x{calldata.hex()}", "value": hex(value), "gas": hex(_GAS)}
        returned = self.node.ask("eth_call", call, "latest")
        assert self.receipt(self.node.ask("eth_sendTransaction", call)).succeeded
        return bytes.fromhex(returned[2:])

    def send_with_receipt(self, to: str, calldata: bytes, *, sender: str = DEPLOYER) -> Receipt:
        """Send a call that may revert, and return its receipt instead of its result."""
        call = {"from": sender, "to": to, "data": f"0x{calldata.hex()}", "gas": hex(_GAS)}
        return self.receipt(self.node.ask("eth_sendTransaction", call))

    def call(self, to: str, calldata: bytes, *, sender: str = DEPLOYER) -> bytes:
        """Like `BaseChain.call`."""
        (request,) = _calls([(to, calldata)], sender, "latest")
        return bytes.fromhex(self.node.ask(request[0], *request[1])[2:])

    def call_all(self, questions: Sequence[tuple[str, bytes]]) -> list[bytes]:
        """Like `BaseChain.call_all`: one batch, pinned to one block."""
        block = self.node.ask("eth_blockNumber")
        return [bytes.fromhex(each[2:]) for each in self.node.ask_all(_calls(questions, DEPLOYER, block))]

    def send_raw(self, signed: bytes) -> Receipt:
        """Send a signed transaction and have it mined."""
        return self.receipt(self.node.ask("eth_sendRawTransaction", f"0x{signed.hex()}"))

    def receipt(self, transaction: str) -> Receipt:
        """Return the receipt of a transaction that was sent."""
        found = self._wait_for_receipt(transaction)
        created = found.get("contractAddress")
        return Receipt(found["status"] == "0x1", int(found["gasUsed"], 16), str(created).lower() if created else None)

    def _wait_for_receipt(self, transaction: str) -> Any:
        """Wait for a receipt: the node answers slightly before it has mined."""
        for _ in range(_TRIES):
            found = self.node.ask("eth_getTransactionReceipt", transaction)
            if found is not None:
                return found
            sleep(_PAUSE_S)
        raise RuntimeError(f"{transaction} was not mined")

    @contextmanager
    def revert_after(self) -> Iterator[None]:
        """Like `BaseChain.revert_after`."""
        mark = self.snapshot()
        try:
            yield
        finally:
            self.revert(mark)

    def snapshot(self) -> str:
        """Where `revert` may go, once."""
        return str(self.node.ask("evm_snapshot"))

    def revert(self, snapshot: str) -> None:
        """Restore the chain to a snapshot."""
        assert self.node.ask("evm_revert", snapshot)
        # Anvil would treat a new transaction as a duplicate of one that is still in its pool.
        self.node.ask("anvil_dropAllTransactions")
        # Anvil keeps the base fee of the blocks that it reverted.
        self.node.ask("anvil_setNextBlockBaseFeePerGas", "0x0")


def _calls(
    questions: Sequence[tuple[str, bytes]], sender: str, block: str
) -> list[tuple[str, tuple[dict[str, str], str]]]:
    return [
        ("eth_call", ({"from": sender, "to": to, "data": f"0x{calldata.hex()}"}, block)) for to, calldata in questions
    ]


@contextmanager
def running_anvil(
    chain_id: int = CHAIN_ID,
    ipc_path: Path | None = None,
    max_states: int | None = None,
    hardfork: str = "cancun",
) -> Iterator[AnvilChain]:
    """Run a fresh node for the duration of the block, with an IPC socket at `ipc_path` if given.

    `max_states` are the latest blocks whose state it keeps; its default is 3,600.
    """
    command = [
        str(anvil_binary()),
        *("--port", "0", "--accounts", "1", "--chain-id", str(chain_id), "--hardfork", hardfork),
        *("--auto-impersonate", "--order", "fifo", "--gas-limit", "1000000000", "--base-fee", "0", "--gas-price", "0"),
        *("--timestamp", str(START_S), "--disable-code-size-limit"),
        *(("--ipc", str(ipc_path)) if ipc_path else ()),
        *(("--max-persisted-states", str(max_states)) if max_states else ()),
    ]
    # Anvil logs a line per request. A pipe that is never drained would block it; a file does not.
    with (
        TemporaryDirectory() as home,
        Path(home, "log").open("w") as log,
        subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env={"PATH": os.defpath, "HOME": home}
        ) as child,
    ):
        node = None
        try:
            node = Node(_port(child, Path(home, "log")))
            # A fixed block interval makes gas repeatable: what a pair writes depends on the elapsed time.
            node.ask("anvil_setBlockTimestampInterval", _BLOCK_S)
            yield AnvilChain(node)
        finally:
            if node:
                node.close()
            child.terminate()


def _port(child: subprocess.Popen[bytes], log: Path) -> int:
    for _ in range(_TRIES):
        if found := _LISTENING.search(log.read_text()):
            return int(found[1])
        if child.poll() is not None:
            break
        sleep(_PAUSE_S)
    raise RuntimeError(f"anvil did not start:\n{log.read_text()}")


def anvil_binary() -> Path:
    """Return the native binary: the wrapper that npm installs loses exit codes."""
    found = sorted(NODE_MODULES.glob("@foundry-rs/anvil-*/bin/anvil*"))
    if not found:
        raise MissingPackagesError(NODE_MODULES / "@foundry-rs")
    return found[0]
