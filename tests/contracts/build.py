"""Compiles the project's own contracts and writes their artifacts: `python -m tests.contracts.build`.

The compiler, its settings and the sources alone decide what comes out: no paths, no metadata, no time. With `--input`
and the name of a contract it prints what the compiler is given, for tools that want to compile themselves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from swapcli.evm import router, simulation, transfer_probe
from tests.contracts.evm import NODE_MODULES, run_solc

SETTINGS = {
    # Nothing that came later is needed, and no chain lacks this. The lock does without transient storage.
    "evmVersion": "paris",
    # Deployed once, called often.
    "optimizer": {"enabled": True, "runs": 1_000_000},
    "viaIR": True,
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
}


class Source(NamedTuple):
    """A contract in the folder `contracts` of a package; `code` is what is kept of it: what deploys it (`bytecode`), or
    what runs (`runtime`)."""

    contract: str
    home: Path
    code: str

    @property
    def artifact(self) -> Path:
        """The file that is written."""
        return self.home / "artifact.json"

    @property
    def folder(self) -> Path:
        """Where its Solidity is."""
        return self.home / "contracts"


ROUTER = Source("SwapRouter", Path(router.__file__).parent, "bytecode")
SIMULATION = Source("Simulation", Path(simulation.__file__).parent, "runtime")
TRANSFER_PROBE = Source("TransferProbe", Path(transfer_probe.__file__).parent, "runtime")
SOURCES = (ROUTER, SIMULATION, TRANSFER_PROBE)


def build(source: Source) -> str:
    """The artifact as text."""
    contract = json.loads(run_solc([f"{source.contract}.sol"], SETTINGS, source.folder))[source.contract]
    artifact = {
        "contract": source.contract,
        "compiler": json.loads((NODE_MODULES / "solc" / "package.json").read_text())["version"],
        "settings": SETTINGS,
        "abi": contract["abi"],
        source.code: f"0x{contract[source.code]}",
    }
    return json.dumps(artifact, indent=1) + "\n"


def standard_input(source: Source) -> str:
    """All sources and settings in solc's own format, asking for all that it can tell."""
    sources = {file.name: {"content": file.read_text()} for file in sorted(source.folder.glob("*.sol"))}
    told = ["abi", "metadata", "devdoc", "userdoc", "evm.bytecode", "evm.deployedBytecode"]
    settings = {**SETTINGS, "outputSelection": {"*": {"": ["ast"], "*": told}}}
    return json.dumps({"language": "Solidity", "sources": sources, "settings": settings})


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--input"]:
        (source,) = [each for each in SOURCES if each.contract == arguments[1]]
        print(standard_input(source))
        return
    for source in SOURCES:
        source.artifact.write_text(build(source))
        print(f"{source.contract}: {len(json.loads(source.artifact.read_text())[source.code]) // 2 - 1} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
