"""The log thread: lines arrive complete and in order, and a stalled reader blocks nothing."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from swapcli.faces.service import log_writer
from swapcli.faces.service.access_log import AccessLog, AccessRecord
from swapcli.faces.service.log_writer import DRAIN_TIMEOUT_S, LogStream, UnqueuedLog, log_stream
from tests.support.full_disk import full_disk
from tests.support.waiting import until

ACCESS = AccessRecord("id-1", "GET", "/livez", None, 200, 0.001, "loopback")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for each in (reading, writing):
        try:
            os.close(each)
        except OSError:
            continue


def read_lines(descriptor: int) -> list[str]:
    with open(descriptor, encoding="utf-8", closefd=False) as file:
        return file.read().splitlines()


def test_lines_arrive_whole_and_in_order(tmp_path: Path) -> None:
    with open(tmp_path / "log", "w") as file, log_stream(file) as stream:
        for number in range(20_000):
            stream.write(f"line {number}\n")
    assert (tmp_path / "log").read_text().splitlines() == [f"line {number}" for number in range(20_000)]


def test_lines_are_written_again_once_the_disk_has_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "RETRY_S", 0.05)
    path = tmp_path / "log"
    with open(path, "w") as file, log_stream(file) as stream:
        log = AccessLog(stream)

        def is_logged(request_id: str) -> bool:
            log.write(ACCESS._replace(request_id=request_id), 0.0)
            return request_id in path.read_text()

        until(lambda: is_logged("before") and path.stat().st_size > 8_192)
        with full_disk():
            until(lambda: not is_logged("meanwhile") and log.dropped)
        until(lambda: is_logged("after"))
    assert "meanwhile" not in path.read_text()


@contextmanager
def writing_to(descriptor: int) -> Iterator[LogStream]:
    with open(descriptor, "w", closefd=False) as file, log_stream(file) as stream:
        yield stream


def test_lines_arrive_soon_and_in_few_writes(pipe: tuple[int, int]) -> None:
    """None waits for a later one, or for the end."""
    reading, writing = pipe
    reads, received, expected = 0, b"", b"".join(b"line %d\n" % number for number in range(1_000))
    with writing_to(writing) as stream:
        stream.write("alone\n")
        assert os.read(reading, 2**16) == b"alone\n"
        for line in expected.splitlines(keepends=True):
            stream.write(line.decode())
        while len(received) < len(expected):
            received += os.read(reading, 2**16)
            reads += 1
    assert received == expected
    assert reads < 100


def test_an_unread_pipe_drops_lines_and_counts_them(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "MAX_LINES", 1_000)
    reading, writing = pipe
    with writing_to(writing) as stream:
        log = AccessLog(stream)
        started_s = time.monotonic()
        for _ in range(5_000):
            log.write(ACCESS, 0.0)
        assert time.monotonic() - started_s < 10
        assert 1_000 < log.dropped < 5_000
        ended_s = time.monotonic()
    assert time.monotonic() - ended_s < 5 * DRAIN_TIMEOUT_S
    os.set_blocking(reading, False)
    received = os.read(reading, 2**20).splitlines()
    assert {json.loads(line)["request_id"] for line in received[:-1]} == {"id-1"}


def test_a_log_without_a_thread_drops_rather_than_blocks(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    with open(writing, "w", closefd=False) as file:
        log = AccessLog(UnqueuedLog(file))
        count = 0
        while not log.dropped:
            log.log_process(f"worker {count}", "was killed by SIGKILL", 0.0)
            count += 1
        os.set_blocking(reading, False)
        lines = [json.loads(line) for line in os.read(reading, 2**20).splitlines()]
        assert [line["process"] for line in lines] == [f"worker {number}" for number in range(count - 1)]
        log.log_process("the last", "failed with exit status 1", 0.0)
        assert json.loads(os.read(reading, 2**20))["message"] == "failed with exit status 1"


def test_a_reader_who_comes_back_reads_on(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "MAX_LINES", 1_000)
    reading, writing = pipe
    count = 3_000
    with writing_to(writing) as stream:
        log = AccessLog(stream)
        for _ in range(count):
            log.write(ACCESS, 0.0)
        before, received = log.dropped, b""
        assert before > 0
        while received.count(b"\n") < count - before:  # all that were queued: a line more has room for sure
            received += os.read(reading, 65_536)
        log.write(AccessRecord("id-2", "GET", None, None, 200, 0.0, "other"), 0.0)
        while b"id-2" not in received:
            received += os.read(reading, 65_536)
    assert received.count(b"\n") == count - before + 1
    assert log.dropped == before


def test_a_reader_who_has_gone_is_no_error(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.close(reading)
    with writing_to(writing) as stream:
        log = AccessLog(stream)
        until(lambda: (log.write(ACCESS, 0.0), log.dropped)[1])  # type: ignore[func-returns-value]


def test_a_non_blocking_descriptor_is_waited_for(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.set_blocking(writing, False)
    received = b""
    with writing_to(writing) as stream:
        for _ in range(2_000):
            stream.write("x" * 99 + "\n")
        while len(received) < 200_000:
            received += os.read(reading, 65_536)
    assert received.count(b"\n") == 2_000


def test_lines_of_several_writers_are_not_mixed(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    received, letters = b"", "abcd"
    with ExitStack() as stack:
        streams = [stack.enter_context(writing_to(writing)) for _ in letters]
        for length in range(1_000, 1_500):
            for letter, stream in zip(letters, streams, strict=True):
                stream.write(letter * length + "\n")
        while received.count(b"\n") < 500 * len(letters):
            received += os.read(reading, 65_536)
    assert all(len(set(line)) == 1 for line in received.splitlines())


def test_what_libraries_log_is_reduced_to_where_it_comes_from(tmp_path: Path) -> None:
    with open(tmp_path / "log", "w") as file, log_stream(file):
        logging.getLogger("asyncio").error("request of %s", "203.0.113.7", exc_info=KeyError("secret"))
    (line,) = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert line == {"logger": "asyncio", "level": "error", "error": "KeyError"}
