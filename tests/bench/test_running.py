"""The benchmark runs programs without settings, and reports what fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.running import BenchmarkFailed, clean_environment, run


def test_a_failed_program_is_reported_with_its_stderr() -> None:
    with pytest.raises(BenchmarkFailed, match="status 4: no such luck"):
        run([sys.executable, "-c", "import sys; print('no such luck', file=sys.stderr); sys.exit(4)"])
    with pytest.raises(BenchmarkFailed, match="cannot run no-such-program"):
        run(["no-such-program"])


def test_the_environment_of_commands_has_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPCLI_MAX_HOPS", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/settings")
    env = clean_environment(tmp_path)
    assert env["HOME"] == str(tmp_path)
    assert not {"SWAPCLI_MAX_HOPS", "XDG_CONFIG_HOME"} & set(env)
