"""Schemathesis in a separate process: it builds its requests during collection, which every worker would repeat."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import IS_FULL

ROOT = Path(__file__).parents[3]
REQUESTS = Path(__file__).with_name("described_requests.py")


@pytest.mark.timeout(3_600 if IS_FULL else 600)
def test_described_requests_get_described_responses() -> None:
    command = [sys.executable, "-m", "pytest", "-n", "0", "-m", "" if IS_FULL else "not slow", str(REQUESTS)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
