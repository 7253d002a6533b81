"""The log thread: lines arrive complete and in order, and a stalled reader blocks nothing."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from swapcli.faces.service.access_log import AccessLog, AccessRecord
from swapcli.faces.service.log_writer import LogWriter, UnqueuedLog, log_stream

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


def test_lines_arrive_soon_and_in_few_writes(pipe: tuple[int, int]) -> None:
    """None waits for a later one, or for the end."""
    reading, writing = pipe
    writer = LogWriter(writing)
    writer.write("alone\n")
    assert os.read(reading, 2**16) == b"alone\n"
    reads, received, expected = 0, b"", b"".join(b"line %d\n" % number for number in range(1_000))
    for line in expected.splitlines(keepends=True):
        writer.write(line.decode())
    while len(received) < len(expected):
        received += os.read(reading, 2**16)
        reads += 1
    assert received == expected
    assert reads < 100
    writer.close()


def test_an_unread_pipe_drops_lines_and_counts_them(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    writer = LogWriter(writing, max_bytes=100_000)
    log = AccessLog(writer)
    started_s = time.monotonic()
    for _ in range(5_000):
        log.write(ACCESS, 0.0)
    assert time.monotonic() - started_s < 5
    assert 1_000 < log.dropped < 5_000
    writer.close()
    assert time.monotonic() - started_s < 10
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


def test_a_reader_who_comes_back_reads_on(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    writer = LogWriter(writing, max_bytes=100_000)
    log = AccessLog(writer)
    for _ in range(3_000):
        log.write(ACCESS, 0.0)
    before, received = log.dropped, b""
    while received.count(b"\n") < 3_000 - before:  # all that were queued: a line more has room for sure
        received += os.read(reading, 65_536)
    log.write(AccessRecord("id-2", "GET", None, None, 200, 0.0, "other"), 0.0)
    while b"id-2" not in received:
        received += os.read(reading, 65_536)
    writer.close()
    assert received.count(b"\n") == 3_000 - before + 1
    assert log.dropped == before


def test_a_reader_who_has_gone_is_no_error(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.close(reading)
    writer = LogWriter(writing)
    log = AccessLog(writer)
    for _ in range(200):
        log.write(ACCESS, 0.0)
        time.sleep(0.001)
    assert log.dropped > 0
    writer.close()


def test_a_non_blocking_descriptor_is_waited_for(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.set_blocking(writing, False)
    writer = LogWriter(writing)
    for _ in range(2_000):
        writer.write("x" * 99 + "\n")
    received = b""
    while len(received) < 200_000:
        received += os.read(reading, 65_536)
    writer.close()
    assert received.count(b"\n") == 2_000


def test_what_libraries_log_is_reduced_to_where_it_comes_from(tmp_path: Path) -> None:
    with open(tmp_path / "log", "w") as file, log_stream(file):
        logging.getLogger("asyncio").error("request of %s", "203.0.113.7", exc_info=KeyError("secret"))
    (line,) = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert line == {"logger": "asyncio", "level": "ERROR", "error": "KeyError"}
