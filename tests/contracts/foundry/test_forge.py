"""The invariants of the router hold on its committed bytecode, notice a broken router, and gas is as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from swapcli.families.row import RouterPoolKind
from tests.contracts.build import ROUTER
from tests.contracts.foundry.forge import CACHE, FOLDER, run_forge
from tests.contracts.foundry.mutants import Mutant, compile_mutant, fails_invariants, find_mutants, write_artifact

SAMPLE = {"FOUNDRY_INVARIANT_RUNS": "8"}
FULL = {"FOUNDRY_INVARIANT_RUNS": "400", "FOUNDRY_INVARIANT_DEPTH": "60"}
SEEDS = ("0x1", "0x2", "0x3")
INVARIANT = re.compile(r"\[PASS\] invariant_\w+\(\) \(runs: (\d+), calls: (\d+), reverts: 0\)")
LOCK = "Callbacks.sol: if (_state != IDLE) revert Reentered(); => if (false && (_state != IDLE)) revert Reentered();"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that the invariants may read."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as name:
        yield Path(name)


def check_invariants(env: dict[str, str], calls: int) -> None:
    ran = run_forge("--match-contract", "RouterInvariants", env=env)
    found = INVARIANT.search(ran.stdout)
    assert ran.returncode == 0, ran.stdout
    assert found is not None
    assert int(found[2]) == calls


def test_a_sample_of_random_calls_keeps_the_invariants() -> None:
    check_invariants(SAMPLE, 8 * 40)


def test_two_units_may_stay_behind_and_no_third() -> None:
    ran = run_forge("--match-contract", "RouterRounding")
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.count("[PASS]") == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_many_random_calls_keep_the_invariants(seed: str) -> None:
    check_invariants({**FULL, "FOUNDRY_FUZZ_SEED": seed}, 400 * 60)


@pytest.mark.slow
def test_a_router_without_a_lock_breaks_an_invariant(folder: Path) -> None:
    (mutant,) = (each for each in find_mutants() if each.name == LOCK)
    assert outcome(mutant, folder)


def outcome(mutant: Mutant, folder: Path) -> bool:
    """Return whether the invariants fail on a mutant."""
    sources = folder / "contracts"
    sources.mkdir(exist_ok=True)
    code = compile_mutant(mutant, sources)
    assert code is not None
    return fails_invariants(write_artifact(code, folder / "artifact.json"), folder)


def test_the_gas_of_calls_is_that_of_the_snapshot() -> None:
    """After a change of the router that is meant, `make gas`."""
    ran = run_forge("--match-contract", "RouterGas", env={"FORGE_SNAPSHOT_CHECK": "true"})
    assert ran.returncode == 0, ran.stdout
    # One for each family but the wrapper, which does nothing.
    names = json.loads((FOLDER / "snapshots" / "router.json").read_text())
    assert len(names) >= len(RouterPoolKind) - 1


def test_the_invariants_run_on_the_committed_bytecode() -> None:
    assert json.loads(ROUTER.artifact.read_text())["bytecode"].startswith("0x")
    text = (FOLDER / "test" / "World.sol").read_text()
    (path,) = re.findall(r"string\(\"([./\w]+\.json)\"\)", text)
    assert (FOLDER / path).resolve() == ROUTER.artifact.resolve()
