"""The file of what nodes have answered about final blocks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import Process
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError
from swapcli.state.read_cache.cache_file import CacheFile, Scope, call_key

BLOCK, OTHER = Scope(1, b"\1" * 32), Scope(1, b"\2" * 32)
_PARTS = st.lists(st.one_of(st.binary(max_size=8), st.text(max_size=8), st.integers(), st.none()), max_size=4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "cache.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[CacheFile]:
    with closing(CacheFile(path)) as opened:
        yield opened


@given(_PARTS, _PARTS)
def test_other_parts_have_another_key(first: list[bytes | str | int], second: list[bytes | str | int]) -> None:
    """But for a number, which is as its text."""

    def named(parts: list[bytes | str | int]) -> list[object]:
        return [str(each) if isinstance(each, int) else each for each in parts]

    assert (call_key(*first) == call_key(*second)) == (named(first) == named(second))


def test_what_was_put_is_found_in_its_scope_by_others_too(cache: CacheFile, path: Path) -> None:
    keys = [call_key(number) for number in range(100)]
    cache.put(BLOCK, [(key, key[:3]) for key in keys[:50]])
    assert cache.get(BLOCK, keys) == {key: key[:3] for key in keys[:50]}
    assert cache.get(OTHER, keys) == cache.get(Scope(2, BLOCK.block), keys) == {}
    with closing(CacheFile(path)) as second:
        assert second.get(BLOCK, keys[49:51]) == {keys[49]: keys[49][:3]}


def _write(path: Path, first: int) -> None:
    with closing(CacheFile(path)) as cache:
        for number in range(first, first + 200):
            cache.put(BLOCK, [(call_key(number), str(number).encode())])


def test_processes_that_fill_one_file_at_once_lose_nothing(path: Path) -> None:
    workers = [Process(target=_write, args=(path, first)) for first in (0, 100, 100, 100)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(60)
        assert each.exitcode == 0
    with closing(CacheFile(path)) as cache:
        assert len(cache.get(BLOCK, [call_key(number) for number in range(300)])) == 300


@pytest.mark.parametrize("content", [b"no database" * 100, b""], ids=["text", "other tables"])
def test_another_file_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    if not content:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE mine (row)")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="cannot be used") as caught:
        CacheFile(path)
    assert "--no-cache" in str(caught.value.hint)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"):
        CacheFile(tmp_path / "file" / "cache.sqlite")


def test_a_full_file_is_said_once_and_still_read(path: Path) -> None:
    said: list[str] = []
    with closing(CacheFile(path, said.append)) as cache:
        cache.put(BLOCK, [(call_key(1), b"1")])
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TRIGGER full BEFORE INSERT ON reads BEGIN SELECT RAISE(ABORT, 'full'); END")
            other.commit()
        for number in (2, 3):
            cache.put(BLOCK, [(call_key(number), b"")])
        assert cache.get(BLOCK, [call_key(1), call_key(2)]) == {call_key(1): b"1"}
    assert len(said) == 1
    assert "full" in said[0]


def test_a_file_damaged_in_use_is_reported_once_and_not_read(path: Path) -> None:
    said: list[str] = []
    with closing(CacheFile(path, said.append)) as cache:
        cache.put(BLOCK, [(call_key(number), b"1" * 500) for number in range(100)])
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE reads")
        assert cache.get(BLOCK, [call_key(1)]) == {}
        assert cache.get(BLOCK, [call_key(2)]) == {}
        cache.put(BLOCK, [(call_key(1), b"1")])
    assert len(said) == 1
    assert f"the cache of past blocks {path} cannot be used" in said[0]
