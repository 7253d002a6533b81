"""A report describes the machine, without its name or folders."""

from __future__ import annotations

from pathlib import Path

from bench.report.machine import machine, processor, revision


def test_a_report_describes_the_machine(tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text("processor\t: 0\nmodel name\t: Fast One\n")
    assert processor(described) == "Fast One"
    assert processor(tmp_path / "missing")
    assert revision(tmp_path) == "unknown"
    names = [name for name, _ in machine({"Node": "v20"})]
    assert names == ["processor", "memory", "system", "Python", "Node"]
