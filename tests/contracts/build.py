"""Compiles the router and writes its artifact: `python -m tests.contracts.build_router`.

The compiler, its settings and the sources alone decide what comes out: no paths, no metadata, no time. With `--input`
it prints what the compiler is given, for tools that want to compile themselves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from swapcli.evm import router
from tests.contracts.evm import NODE_MODULES, run_solc

HOME = Path(router.__file__).parent
ARTIFACT = HOME / "artifact.json"
CONTRACT = "SwapRouter"
SETTINGS = {
    # Nothing that came later is needed, and no chain lacks this. The lock does without transient storage.
    "evmVersion": "paris",
    # Deployed once, called often.
    "optimizer": {"enabled": True, "runs": 1_000_000},
    "viaIR": True,
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
}


def build() -> str:
    """The artifact as text."""
    contract = json.loads(run_solc([f"{CONTRACT}.sol"], SETTINGS, HOME / "contracts"))[CONTRACT]
    artifact = {
        "contract": CONTRACT,
        "compiler": json.loads((NODE_MODULES / "solc" / "package.json").read_text())["version"],
        "settings": SETTINGS,
        "abi": contract["abi"],
        "bytecode": f"0x{contract['bytecode']}",
    }
    return json.dumps(artifact, indent=1) + "\n"


def standard_input() -> str:
    """All sources and settings in solc's own format, asking for all that it can tell."""
    sources = {file.name: {"content": file.read_text()} for file in sorted((HOME / "contracts").glob("*.sol"))}
    told = ["abi", "metadata", "devdoc", "userdoc", "evm.bytecode", "evm.deployedBytecode"]
    settings = {**SETTINGS, "outputSelection": {"*": {"": ["ast"], "*": told}}}
    return json.dumps({"language": "Solidity", "sources": sources, "settings": settings})


def main(arguments: list[str]) -> None:
    if arguments == ["--input"]:
        print(standard_input())
        return
    ARTIFACT.write_text(build())
    print(f"{ARTIFACT.name}: {len(json.loads(ARTIFACT.read_text())['bytecode']) // 2 - 1} bytes of creation code")


if __name__ == "__main__":
    main(sys.argv[1:])
