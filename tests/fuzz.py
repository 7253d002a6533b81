"""Search for failures with new examples: property tests, fuzzers and comparisons with real bytecode, in rounds with a
seed each.

    python -m tests.fuzz --minutes 10
    python -m tests.fuzz --seed 17 tests/faces/cli/test_fuzz.py    # repeat one round, of these tests

Ends with status 1 after a round in which something failed. Each failure prints its example, and the last line how to
repeat the test. Failing examples also stay in `.hypothesis/`, and later rounds begin with them.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time

from tests.examples import FUZZ_SEED
from tests.fuzzing import UNTIL

NOTHING_COLLECTED = 5


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the property tests with new examples.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long new tests begin [default: 10]")
    parser.add_argument("--seed", type=int, help="repeat the round with this seed")
    parser.add_argument("--workers", default="2", help="pytest's workers [default: 2]")
    parser.add_argument("tests", nargs="*", default=["tests"], help="files or tests [default: all]")
    options = parser.parse_args()
    until_s = time.time() + options.minutes * 60
    rounds = 0
    while rounds == 0 or (options.seed is None and time.time() < until_s):
        seed = secrets.randbits(32) if options.seed is None else options.seed
        print(f"round {rounds + 1}, seed {seed}", flush=True)
        status = run_round(seed, until_s, options.workers, options.tests)
        rounds += 1
        if status:
            print(f"to repeat a test: {sys.executable} -m tests.fuzz --seed {seed} TEST")
            return 1
    print(f"{rounds} round{'s' if rounds > 1 else ''} without a failure")
    return 0


def run_round(seed: int, until_s: float, workers: str, tests: list[str]) -> int:
    """Run the tests once, as far as the time allows.

    Return the exit status of pytest, 0 if the time was too short for any test."""
    env = os.environ | {"HYPOTHESIS_PROFILE": "fuzz", UNTIL: str(until_s), FUZZ_SEED: str(seed)}
    command = [sys.executable, "-m", "pytest", "-n", workers, "-m", "hypothesis or fuzz", "-p", "tests.fuzzing"]
    command += ["--timeout=0"]  # a test may take all of the time
    status = subprocess.run([*command, f"--hypothesis-seed={seed}", *tests], env=env, check=False).returncode
    return 0 if status == NOTHING_COLLECTED and time.time() > until_s else status


if __name__ == "__main__":
    sys.exit(main())
