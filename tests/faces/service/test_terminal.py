"""A service on a terminal, a real pseudo-terminal here: what it says there, and that it ends with it."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.support.command import clean_environment
from tests.support.service_process import SWAPCLI_COMMAND
from tests.support.waiting import until

TIMEOUT_S = 30
SERVE = [*SWAPCLI_COMMAND, "serve", "--port", "0", "--networks", "base"]


class TerminalService:
    """A service that was started on a terminal, whose controlling terminal it is."""

    def __init__(self, command: list[str]) -> None:
        self._terminal, end = pty.openpty()
        os.set_blocking(self._terminal, False)
        command = ["setsid", "--ctty", *command]
        self.process = subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=clean_environment())
        os.close(end)
        self.shown = ""

    def read(self) -> str:
        """Return all that the terminal has shown so far."""
        try:
            while read := os.read(self._terminal, 65_536):
                self.shown += read.decode()
        except BlockingIOError:
            pass
        return self.shown

    def wait_for(self, pattern: str) -> str:
        """Return the first group of a pattern once the terminal shows it."""
        until(lambda: re.search(pattern, self.read()))
        return re.search(pattern, self.shown)[1]  # type: ignore[index]

    def wait_until_ready(self) -> str:
        """Return the address of the page, which the terminal shows when the service is ready."""
        return self.wait_for(r"Quotes:\s+(\S+),\s+API\s+docs:\s+\S+/docs\.\s+Press\s+Ctrl-C\s+to\s+stop\.")

    def type(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def close_terminal(self) -> None:
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1


@contextmanager
def on_terminal(*options: str, before: tuple[str, ...] = ()) -> Iterator[TerminalService]:
    service = TerminalService([*before, *SERVE, *options])
    try:
        yield service
    finally:
        service.close_terminal()
        if service.process.poll() is None:
            service.process.kill()
        service.process.wait(TIMEOUT_S)


def test_it_says_where_the_page_is_and_ctrl_c_ends_it() -> None:
    with on_terminal() as service:
        url = service.wait_until_ready()
        assert httpx.get(url, headers={"Accept": "text/html"}).status_code == 200
        service.type(b"\x03")
        assert service.process.wait(TIMEOUT_S) == 0


@pytest.mark.parametrize("options", [(), pytest.param(("--workers", "2"), marks=pytest.mark.slow)])
def test_it_reloads_on_a_hangup_and_ends_with_its_terminal(options: tuple[str, ...]) -> None:
    with on_terminal(*options) as service:
        url = service.wait_until_ready()
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(r'("reload"): ?"done"')
        assert httpx.get(url + "livez").status_code == 200
        service.close_terminal()
        assert service.process.wait(TIMEOUT_S) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)


@pytest.mark.slow
def test_nohup_keeps_it_when_its_terminal_is_closed() -> None:
    # nohup itself moves the output to a file, and leaves nothing else to the program than a SIGHUP that is ignored.
    with on_terminal(before=("sh", "-c", "trap '' HUP; exec \"$@\"", "sh")) as service:
        url = service.wait_until_ready()
        service.close_terminal()
        assert httpx.get(url + "livez").status_code == 200
        assert service.process.poll() is None
        service.process.terminate()
        assert service.process.wait(TIMEOUT_S) == 0
