"""Compiles the project's own contracts and writes their artifacts and fingerprints: `python -m tests.contracts.build`.

The artifacts depend only on the compiler, its settings and the sources: not on paths, metadata or time. With `--input`
and the name of a contract it prints the compiler's standard JSON input, for other tools.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import NamedTuple

from swapcli.core.networks.address import hash_code
from swapcli.payload.evm import router, simulation
from swapcli.payload.evm.router.versions import without_arguments
from swapcli.state.transfers import transfer_probe
from swapcli.testing.evm import Chain, ContractArtifact
from tests.contracts.evm import NODE_MODULES, run_solc

SETTINGS = {
    # Every supported chain has Paris, and the contracts need no later opcode: their lock uses ordinary storage.
    "evmVersion": "paris",
    # The contracts are deployed once and called often.
    "optimizer": {"enabled": True, "runs": 1_000_000},
    "viaIR": True,
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
}


class Source(NamedTuple):
    """A contract in the folder `contracts` of a package.

    `code` says which code the artifact contains: the creation code (`bytecode`) or the runtime code (`runtime`).
    """

    contract: str
    home: Path
    code: str

    @property
    def artifact(self) -> Path:
        """The path of the artifact."""
        return self.home / "artifact.json"

    @property
    def folder(self) -> Path:
        """The folder of the Solidity sources."""
        return self.home / "contracts"


ROUTER = Source("SwapRouter", Path(router.__file__).parent, "bytecode")
SIMULATION = Source("Simulation", Path(simulation.__file__).parent, "runtime")
TRANSFER_PROBE = Source("TransferProbe", Path(transfer_probe.__file__).parent, "runtime")
COIN = Source("Coin", Path(__file__).parents[2] / "examples" / "local_chain", "bytecode")
SOURCES = (ROUTER, SIMULATION, TRANSFER_PROBE, COIN)


def build(source: Source) -> str:
    """Return the artifact as text."""
    contract = json.loads(run_solc([f"{source.contract}.sol"], SETTINGS, source.folder))[source.contract]
    artifact = {
        "contract": source.contract,
        "compiler": json.loads((NODE_MODULES / "solc" / "package.json").read_text())["version"],
        "settings": SETTINGS,
        "abi": contract["abi"],
        source.code: f"0x{contract[source.code]}",
    }
    return json.dumps(artifact, indent=1) + "\n"


FINGERPRINTS = Path(__file__).with_name("fingerprints.json")
"""What each committed artifact was compiled from, so that a test need not compile to see that a source has changed."""


def fingerprint(source: Source) -> str:
    """Return a hash of the sources and settings of an artifact, the compiler's version, and the artifact itself."""
    compiler = json.loads((NODE_MODULES / "solc" / "package.json").read_text())["version"]
    digest = hashlib.sha256(json.dumps([source.contract, source.code, SETTINGS, compiler]).encode())
    for file in [*sorted(source.folder.glob("*.sol")), source.artifact]:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def write_fingerprints() -> None:
    """Write the fingerprints of the committed artifacts, which must be newly compiled."""
    found = {source.contract: fingerprint(source) for source in SOURCES}
    FINGERPRINTS.write_text(json.dumps(found, indent=1) + "\n")


ROUTER_VERSIONS = Path(router.__file__).parent / "versions.json"
_PADDING_BYTES = 33
_ARGUMENTS = ("0x" + "a1" * 20, "0x" + "a2" * 20, int("a3" * 32, 16), int("a4" * 32, 16))
"""Constructor arguments that occur nowhere else in the code."""


def runtime_code(chain: Chain, address: str) -> bytes:
    """Return the code of a contract as a node returns it: revm pads what it executes by a pushed word."""
    padded = chain.code(address)
    assert padded[-_PADDING_BYTES:] == bytes(_PADDING_BYTES)
    return padded[:-_PADDING_BYTES]


def router_version() -> dict[str, object]:
    """Return the entry of `versions.json` for the committed artifact of the router, as it deploys."""
    document = json.loads(ROUTER.artifact.read_text())
    chain = Chain()
    deployed = chain.deploy(
        ContractArtifact(tuple(document["abi"]), bytes.fromhex(document["bytecode"][2:])), *_ARGUMENTS
    )
    code = runtime_code(chain, deployed.address)
    words = {(each if isinstance(each, int) else int(each, 16)).to_bytes(32) for each in _ARGUMENTS}
    found = tuple(at for at in range(len(code) - 31) if code[at : at + 32] in words)
    has_deadlines = any(each.get("name") == "swapBefore" for each in document["abi"])
    code_hash = hash_code(without_arguments(code, found))
    return {"has_deadlines": has_deadlines, "size": len(code), "arguments_at": list(found), "code_hash": code_hash}


def write_router_version() -> None:
    """Append the present version of the router to `versions.json`, unless it is there."""
    known, present = json.loads(ROUTER_VERSIONS.read_text()), router_version()
    if present not in known:
        ROUTER_VERSIONS.write_text("[\n" + ",\n".join(f" {json.dumps(each)}" for each in [*known, present]) + "\n]\n")


def standard_input(source: Source) -> str:
    """Return all sources and settings as standard JSON input of solc that selects every output."""
    sources = {file.name: {"content": file.read_text()} for file in sorted(source.folder.glob("*.sol"))}
    outputs = ["abi", "metadata", "devdoc", "userdoc", "evm.bytecode", "evm.deployedBytecode"]
    settings = {**SETTINGS, "outputSelection": {"*": {"": ["ast"], "*": outputs}}}
    return json.dumps({"language": "Solidity", "sources": sources, "settings": settings})


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--input"]:
        (source,) = [each for each in SOURCES if each.contract == arguments[1]]
        print(standard_input(source))
        return
    for source in SOURCES:
        source.artifact.write_text(build(source))
        print(f"{source.contract}: {len(json.loads(source.artifact.read_text())[source.code]) // 2 - 1} bytes")
    write_router_version()
    write_fingerprints()


if __name__ == "__main__":
    main(sys.argv[1:])
