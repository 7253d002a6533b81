"""A small in-process EVM for differential tests: read a compiled contract, deploy it, and call it.

    chain = Chain()
    token = chain.deploy(read_artifact(Path("out/Token.sol/Token.json")), 10**30)
    token.send("transfer", bob, 5)
    (balance,) = token.call("balanceOf", bob)

The EVM is pyrevm, which the extra `testing` installs.
"""

from __future__ import annotations

import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import decode, encode
from eth_abi.exceptions import EncodingError
from eth_utils.abi import function_signature_to_4byte_selector

if sys.version_info < (3, 13):
    import pyrevm

DEPLOYER = "0x" + "d0" * 20
"""The default sender."""
NO_EVM = "pyrevm has no wheel for this Python"
"""The reason why tests with a `Chain` are skipped."""
_BLOCK_GAS = 2**63
_ETHER_SUPPLY = 2**120
_REVERTED = re.compile(r"output: 0x([0-9a-f]*)")


class RevertedError(Exception):
    """A call reverted or ran out of gas. `data` is the return data, and the message is the revert reason, if any."""

    def __init__(self, data: bytes, detail: str) -> None:
        super().__init__(_decode_reason(data) or detail)
        self.data = data


@dataclass(frozen=True)
class ContractArtifact:
    """A contract that can be deployed: its ABI and creation bytecode."""

    abi: tuple[Mapping[str, Any], ...]
    bytecode: bytes


class BaseChain(ABC):
    """A chain on which to deploy contracts. `DEPLOYER` is the default sender."""

    @abstractmethod
    def fund(self, address: str, wei: int) -> None:
        """Set the native balance of `address`."""

    @abstractmethod
    def native_balance(self, address: str) -> int:
        """Return the native balance of `address` in wei."""

    @abstractmethod
    def create(self, code: bytes, sender: str = DEPLOYER) -> str:
        """Run creation code and return the address of the new contract. Raises `RevertedError`."""

    @abstractmethod
    def place(self, address: str, artifact: ContractArtifact) -> Contract:
        """Put a contract without constructor arguments at a given address, as for system contracts."""

    @abstractmethod
    def send(self, to: str, calldata: bytes, *, value: int = 0, sender: str = DEPLOYER) -> bytes:
        """Send a transaction and return its return data.

        Raises `RevertedError`, in which case the state does not change.
        """

    @abstractmethod
    def call(self, to: str, calldata: bytes, *, sender: str = DEPLOYER) -> bytes:
        """Call a contract like `send`, but without changing the state."""

    def call_all(self, calls: Sequence[tuple[str, bytes]]) -> list[bytes]:
        """Return the return data of calls (to, calldata), all on the same state."""
        return [self.call(to, calldata) for to, calldata in calls]

    def deploy(self, artifact: ContractArtifact, *arguments: object, sender: str = DEPLOYER) -> Contract:
        """Deploy a contract with constructor arguments. Raises `RevertedError`, and `TypeError` for arguments that do
        not fit the constructor."""
        types = next((_types(f["inputs"]) for f in artifact.abi if f["type"] == "constructor"), [])
        try:
            encoded = encode(types, arguments)
        except (EncodingError, ValueError, TypeError) as error:
            raise TypeError(f"constructor({','.join(types)}) does not take {arguments}: {error}") from error
        return self.at(self.create(artifact.bytecode + encoded, sender), artifact)

    def at(self, address: str, artifact: ContractArtifact) -> Contract:
        """Return the contract at `address` with the ABI of `artifact`."""
        return Contract(self, address.lower(), artifact)

    @abstractmethod
    def revert_after(self) -> AbstractContextManager[None]:
        """Revert every state change made inside the context."""


class Chain(BaseChain):
    """An in-process EVM with its own state; gas is free and unlimited."""

    def __init__(self, timestamp: int = 1_700_000_000) -> None:
        if sys.version_info >= (3, 13):
            pytest.skip(NO_EVM, allow_module_level=True)
        self._evm = pyrevm.EVM(gas_limit=_BLOCK_GAS, spec_id="CANCUN")
        self.last_revert = ""
        """The reason why the last transaction or call reverted; empty if it did not."""
        self.fund(DEPLOYER, _ETHER_SUPPLY)
        self.set_time(timestamp)

    def fund(self, address: str, wei: int) -> None:
        """Set the native balance of `address`."""
        self._evm.set_balance(address, wei)

    def set_time(self, timestamp: int, number: int = 1) -> None:
        """Set the block timestamp (Unix seconds) and number."""
        self._evm.set_block_env(pyrevm.BlockEnv(number=number, timestamp=timestamp, gas_limit=_BLOCK_GAS))

    def native_balance(self, address: str) -> int:
        """See `BaseChain.native_balance`."""
        return int(self._evm.get_balance(address))

    def create(self, code: bytes, sender: str = DEPLOYER) -> str:
        """See `BaseChain.create`."""
        try:
            with _raise_reverted():
                return str(self._evm.deploy(sender, code)).lower()
        finally:
            self._evm.reset_transient_storage()

    def call(self, to: str, calldata: bytes, *, sender: str = DEPLOYER) -> bytes:
        """See `BaseChain.call`."""
        with self.revert_after():
            return self.send(to, calldata, sender=sender)

    @property
    def logs(self) -> list[tuple[str, list[str], bytes]]:
        """The logs of the last transaction: (address, topics in hex, data)."""
        result = self._evm.result
        assert result is not None
        return [(log.address.lower(), list(log.topics), bytes(log.data[1])) for log in result.logs]

    def send(self, to: str, calldata: bytes, *, value: int = 0, sender: str = DEPLOYER) -> bytes:
        """Send a transaction and return its return data.

        Raises `RevertedError`, in which case the state does not change.
        """
        try:
            self.last_revert = ""
            with _raise_reverted():
                return bytes(self._evm.message_call(sender, to, calldata=calldata, value=value))
        except RevertedError as error:
            self.last_revert = str(error)
            raise
        finally:
            self._evm.reset_transient_storage()

    def set_code(self, address: str, code: bytes) -> None:
        """Set the code of `address`; its balance does not change."""
        self._evm.insert_account_info(address, pyrevm.AccountInfo(self.native_balance(address), code=code))

    def place(self, address: str, artifact: ContractArtifact) -> Contract:
        """See `BaseChain.place`."""
        code = self.code(self.create(artifact.bytecode))
        self._evm.insert_account_info(address, pyrevm.AccountInfo(code=code))
        return self.at(address, artifact)

    def code(self, address: str) -> bytes:
        """Return the runtime code of a contract."""
        return bytes(self._evm.get_code(address) or b"")

    def storage(self, address: str, slot: int) -> int:
        """Return the storage word of a contract at `slot`."""
        return int(self._evm.storage(address, slot))

    @contextmanager
    def revert_after(self) -> Iterator[None]:
        """Revert every state change made inside the context."""
        snapshot = self._evm.snapshot()
        try:
            yield
        finally:
            self._evm.revert(snapshot)


class Contract:
    """A deployed contract. `call` and `send` take a function name, or a full signature to select an overload."""

    def __init__(self, chain: BaseChain, address: str, artifact: ContractArtifact) -> None:
        self.chain, self.address, self._artifact = chain, address, artifact
        self._functions: dict[str, _Function] = {}

    @property
    def abi(self) -> tuple[Mapping[str, Any], ...]:
        """The ABI of the contract."""
        return self._artifact.abi

    def send(self, function: str, *arguments: object, value: int = 0, sender: str = DEPLOYER) -> tuple[Any, ...]:
        """Send a transaction that calls `function`; return its decoded outputs. Raises `RevertedError`."""
        coder = self._coder(function)
        calldata = coder.selector + coder.encode(arguments)
        return coder.decode(self.chain.send(self.address, calldata, value=value, sender=sender))

    def call(self, function: str, *arguments: object, sender: str = DEPLOYER) -> tuple[Any, ...]:
        """Call a function like `send`, but without changing the state."""
        coder = self._coder(function)
        return coder.decode(self.chain.call(self.address, coder.selector + coder.encode(arguments), sender=sender))

    def decode_output(self, function: str, output: bytes) -> tuple[Any, ...]:
        """Decode the return data of `function`."""
        return self._coder(function).decode(output)

    def calldata(self, function: str, *arguments: object) -> bytes:
        """Return the calldata of a call: the selector and the encoded arguments."""
        coder = self._coder(function)
        return coder.selector + coder.encode(arguments)

    def _coder(self, function: str) -> _Function:
        coder = self._functions.get(function)
        if coder is None:
            coder = self._functions[function] = _find_function(self._artifact, function)
        return coder


@dataclass(frozen=True)
class _Function:
    selector: bytes
    encode: Callable[[Sequence[object]], bytes]
    decode: Callable[[bytes], tuple[Any, ...]]


def read_artifact(file: Path) -> ContractArtifact:
    """Read a contract from the output of a compiler.

    `file` is the JSON of Foundry, Hardhat or Truffle, or the `.bin` file of `solc` or `solcjs` with the `.abi` file
    beside it.
    """
    if file.suffix == ".bin":
        abi = json.loads(file.with_suffix(".abi").read_text())
        return ContractArtifact(tuple(abi), parse_bytecode(file.read_text().strip()))
    return artifact_of(json.loads(file.read_text()))


def artifact_of(document: Mapping[str, Any]) -> ContractArtifact:
    """Return the contract in a JSON document in the format of Foundry, Hardhat or Truffle."""
    return ContractArtifact(tuple(document["abi"]), parse_bytecode(document["bytecode"]))


def parse_bytecode(value: str | Mapping[str, Any]) -> bytes:
    """Parse creation bytecode: hex text, `{"object": hex}` or `{"creationCode": hex}`, with libraries linked."""
    text = value if isinstance(value, str) else value.get("object") or value["creationCode"]
    return bytes.fromhex(text.removeprefix("0x"))


def selector(signature: str) -> bytes:
    """Return the first four bytes of the Keccak-256 of `name(type,...)`."""
    return bytes(function_signature_to_4byte_selector(signature))


@contextmanager
def _raise_reverted() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        match = _REVERTED.search(str(error))
        raise RevertedError(bytes.fromhex(match[1]) if match else b"", str(error)) from None


def _decode_reason(data: bytes) -> str | None:
    if data[:4] == selector("Error(string)"):
        return str(decode(["string"], data[4:])[0])
    return f"0x{data.hex()}" if data else None


def _find_function(artifact: ContractArtifact, name: str) -> _Function:
    for entry in artifact.abi:
        if entry["type"] != "function":
            continue
        inputs = _types(entry["inputs"])
        signature = f"{entry['name']}({','.join(inputs)})"
        if name in (entry["name"], signature):
            return _Function(selector(signature), _encoder(inputs), _decoder(_types(entry["outputs"])))
    raise KeyError(f"no function {name} in the ABI")


def _types(parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    return [_signature_type(p) for p in parameters]


def _signature_type(parameter: Mapping[str, Any]) -> str:
    kind = str(parameter["type"])
    if not kind.startswith("tuple"):
        return kind
    return f"({','.join(_types(parameter['components']))}){kind.removeprefix('tuple')}"


# eth_abi takes tens of microseconds per call, and most arguments of thousands of swaps are plain words.
_INTEGER = re.compile(r"(u?)int\d+").fullmatch


def _encoder(types: Sequence[str]) -> Callable[[Sequence[object]], bytes]:
    if all(_INTEGER(kind) or kind in ("address", "bool") for kind in types):
        return lambda arguments: b"".join(map(_word, arguments))
    return lambda arguments: encode(types, arguments)


def _word(value: object) -> bytes:
    number = int(value, 16) if isinstance(value, str) else value
    assert isinstance(number, int)
    return number.to_bytes(32, "big", signed=number < 0)


def _decoder(types: Sequence[str]) -> Callable[[bytes], tuple[Any, ...]]:
    signs = [_INTEGER(kind) for kind in types]
    if not all(signs):
        return lambda data: tuple(decode(types, data))
    signed = [sign is not None and not sign[1] for sign in signs]
    return lambda data: tuple(
        int.from_bytes(data[32 * i : 32 * i + 32], "big", signed=negative) for i, negative in enumerate(signed)
    )
