"""`make test` runs the same examples on every machine; `make fuzz` runs new ones, and says how to repeat a failure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import FUZZ_SEED, examples, fuzzed_seeds, generator

ROOT = Path(__file__).parent.parent

DRAWING = """
import importlib, pkgutil
from hypothesis import given, strategies as st
import swapcli

drawn = []

@given(st.text(), st.integers(), st.floats())
def draw(text, number, rate):
    drawn.append((text, number, repr(rate)))

def test_prints_its_examples():
    if {imports}:
        for module in pkgutil.walk_packages(swapcli.__path__, "swapcli."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    draw()
    print("EXAMPLES", ascii(drawn))
"""


def pytest_on(file: Path, **env: str) -> str:
    """Return what pytest prints of a file beside the project's own tests, with their profiles."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:schemathesis", "-c", "pyproject.toml"]
    clean = {name: value for name, value in os.environ.items() if name not in ("CI", "HYPOTHESIS_PROFILE")}
    ran = subprocess.run(
        [*command, "--rootdir", str(file.parent), "-s", str(file)],
        cwd=ROOT, env=clean | env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ran.stdout + ran.stderr


def examples_of(folder: Path, *, imports: bool, **env: str) -> str:
    folder.mkdir()
    file = folder / "test_drawing.py"
    file.write_text(DRAWING.format(imports=imports))
    drawn = re.search(r"EXAMPLES (.+)", pytest_on(file, **env))
    assert drawn is not None
    return drawn[1]


@pytest.mark.slow
def test_examples_are_the_same_everywhere_unless_fuzzing(tmp_path: Path) -> None:
    first = examples_of(tmp_path / "plain", imports=False)
    assert len(first) > 500
    assert examples_of(tmp_path / "imported", imports=True, CI="true") == first
    assert examples_of(tmp_path / "fuzzed", imports=False, HYPOTHESIS_PROFILE="fuzz") != first


def test_long_series_are_for_fuzzing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FUZZ_SEED, raising=False)
    known = [each.values[0] for each in fuzzed_seeds(1, full=3, fuzz=5)]
    assert known == [0, 1, 2]
    assert examples(1, full=2, fuzz=9) in (1, 2)
    assert generator("a").random() == Random("a").random()
    monkeypatch.setenv(FUZZ_SEED, "17")
    new = fuzzed_seeds(1, full=3, fuzz=5)
    assert [each.values[0] for each in new] == [17, 18, 19, 20, 21]
    assert all([mark.name for mark in each.marks] == ["fuzz"] for each in new)
    assert examples(1, full=2, fuzz=9) == 9
    assert examples(1, full=2) in (1, 2), "a property has as many as its profile says"
    assert generator("a").random() != Random("a").random()


FAILING = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**9))
def test_is_small(number):
    assert number < 10**6
"""


def fuzz(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz", "--workers", "0", *options, str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_failure_is_repeated_with_its_printed_seed(tmp_path: Path) -> None:
    file = tmp_path / "test_failing.py"
    file.write_text(FAILING)
    ran = fuzz(file)
    assert ran.returncode == 1
    assert "number = 1000000" in ran.stdout
    seed = re.search(r"to repeat a test: .* --seed (\d+) TEST", ran.stdout)
    assert seed is not None
    again = fuzz(file, "--seed", seed[1])
    assert again.returncode == 1
    assert f"--seed {seed[1]} TEST" in again.stdout


@pytest.mark.slow
def test_fuzzing_ends_when_its_time_is_up(tmp_path: Path) -> None:
    file = tmp_path / "test_failing.py"
    file.write_text(FAILING)
    ran = fuzz(file, "--minutes", "0")
    assert ran.returncode == 0, ran.stdout
    assert "failed" not in ran.stdout


@given(st.integers())
def fails(number: int) -> None:
    assert number < 10**6


def test_a_failure_is_reported_with_its_values() -> None:
    """Schemathesis, which other tests import, would omit them."""
    with pytest.raises(AssertionError) as failure:
        fails()
    assert any("number=1000000" in note for note in failure.value.__notes__)
