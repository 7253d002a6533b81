"""The page and its history are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.report.files import history_of, read_text, replace_files
from bench.running import BenchmarkFailed


def test_files_are_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    page.chmod(0o640)
    replace_files({history_of(page): "tables", page: "new"})
    assert (page.read_text(), history_of(page).read_text()) == ("new", "tables")
    assert page.stat().st_mode & 0o777 == 0o640
    assert {each.name for each in tmp_path.rglob("*")} == {"page.md", "bench", "HISTORY.md"}


def test_an_interruption_while_writing_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    first.write_text("old a")
    second.write_text("old b")
    real = os.replace

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_files({first: "new a", second: "new b"})
    monkeypatch.setattr(os, "replace", real)
    assert (first.read_text(), second.read_text()) == ("old a", "old b")
    assert {each.name for each in tmp_path.iterdir()} == {"a.md", "b.md"}


def test_what_cannot_be_written_or_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "bench").write_text("a file, not a folder")
    with pytest.raises(BenchmarkFailed, match="bench"):
        replace_files({history_of(tmp_path / "page.md"): "tables"})
    assert read_text(tmp_path / "none.md") == ""
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BenchmarkFailed, match=r"binary\.md: it cannot be read"):
        read_text(tmp_path / "binary.md")
