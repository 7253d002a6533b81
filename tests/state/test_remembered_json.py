"""A small file remembers what was written; a damaged one is as none."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.state.remembered_json import read_json_file, write_json_file


def test_entries_survive_a_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "nodes.json"
    write_json_file(file, "nodes", {"a": [1, None], "b": {}})
    assert read_json_file(file, "nodes") == {"a": [1, None], "b": {}}
    assert read_json_file(file, "others") == {}
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"nodes": 1}', b"\xff", b"[" * 100_000, b" " * (2**20 + 1)])
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "nodes.json"
    file.write_bytes(content)
    assert read_json_file(file, "nodes") == {}


def test_what_cannot_be_written_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    write_json_file(tmp_path / "file" / "nodes.json", "nodes", {})
    (tmp_path / "folder").mkdir()
    write_json_file(tmp_path / "folder", "nodes", {})
    assert {each.name for each in tmp_path.iterdir()} == {"file", "folder"}
