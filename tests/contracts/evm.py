"""Contracts for the tests: bytecode of packages, and Solidity compiled with solc.

    token = Chain().deploy(load_artifact("@uniswap/v4-core/out/TestERC20.sol/TestERC20.json"), 10**30)

Artifacts are read from `node_modules` beside this file. Contracts without published bytecode are compiled with solc and
cached in `node_modules/.cache`. None of this is committed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from swapcli.testing.evm import ContractArtifact, artifact_of, parse_bytecode

HERE = Path(__file__).parent
NODE_MODULES = HERE / "node_modules"
SOLC, OLD_SOLC = "solc", "solc-0.7"
"""npm packages of the two compiler versions."""
_EVM_VERSIONS = {SOLC: "cancun", OLD_SOLC: "istanbul"}


class MissingPackagesError(RuntimeError):
    """The npm packages with the contracts are not installed."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} not match: run `npm ci` in {HERE}")


@cache
def load_artifact(path: str) -> ContractArtifact:
    """Read the artifact at `path` under `node_modules`, in the format of Truffle, Hardhat, Foundry or solc."""
    return artifact_of(load_json(path))


def load_json(path: str) -> Any:
    """Read the JSON file at `path` under `node_modules`. Raises `MissingPackagesError`."""
    file = NODE_MODULES / path
    if not file.is_file():
        raise MissingPackagesError(file)
    return json.loads(file.read_text())


@cache
def compile_solidity(
    *entries: str, runs: int = 200, solc: str = SOLC, root: Path | None = None, via_ir: bool = False
) -> dict[str, ContractArtifact]:
    """Compile the Solidity files `entries`, paths under this folder or `node_modules`; return their contracts by name.

    Files may also import those of the folder `root`.

    A pinned `solc` compiles new sources (about a second); the result is cached in `node_modules/.cache`.
    """
    cached_file = NODE_MODULES / ".cache" / "swapcli" / f"{_fingerprint(entries, runs, solc, root, via_ir)}.json"
    if not cached_file.is_file():
        settings: dict[str, object] = {
            "evmVersion": _EVM_VERSIONS[solc],
            "optimizer": {"enabled": True, "runs": runs},
        }
        if via_ir:
            settings["viaIR"] = True
        with _locked(cached_file.with_suffix(".lock")):  # the other processes of the tests need the same contracts
            if not cached_file.is_file():
                _write_atomically(cached_file, run_solc(entries, settings, root, solc))
    contracts = json.loads(cached_file.read_text())
    return {name: ContractArtifact(tuple(c["abi"]), parse_bytecode(c["bytecode"])) for name, c in contracts.items()}


def solidity(*entries: str) -> Callable[[], dict[str, ContractArtifact]]:
    """Return `compile_solidity` of the files, to be called when a test needs them.

    A call while tests are collected would have all processes wait for the compiler.
    """
    return partial(compile_solidity, *entries)


def _fingerprint(entries: Sequence[str], runs: int, solc: str, root: Path | None, via_ir: bool) -> str:
    # All imports come from these folders or from packages that the lock file pins.
    content = [
        *sorted(HERE.glob("*.sol")),
        *(sorted(root.glob("*.sol")) if root else []),
        HERE / "compile.cjs",
        HERE / "package-lock.json",
    ]
    digest = hashlib.sha256(json.dumps([entries, runs, solc, via_ir]).encode())
    for file in content:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:32]


def run_solc(entries: Sequence[str], settings: Mapping[str, object], root: Path | None = None, solc: str = SOLC) -> str:
    """Compile `entries` with a pinned solc; return JSON: `{contract: {abi, bytecode, runtime}}`.

    Paths are relative to `root`, this folder or `node_modules`. With `root`, warnings are errors.
    """
    if not (NODE_MODULES / solc).is_dir():
        raise MissingPackagesError(NODE_MODULES / solc)
    request = json.dumps({"entries": entries, "settings": settings, "root": str(root) if root else None, "solc": solc})
    done = subprocess.run(
        ["node", HERE / "compile.cjs"], input=request, capture_output=True, text=True, check=False, cwd=HERE
    )
    if done.returncode or done.stderr:
        raise RuntimeError(f"solc failed for {', '.join(entries)}:\n{done.stderr}")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that one process has at a time; one that is killed lets go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).replace(path)
