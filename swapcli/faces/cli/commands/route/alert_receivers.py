"""Receivers of alerts: an HTTP URL, or a command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from shutil import which
from typing import TYPE_CHECKING, Any, Final

from swapcli import InvalidOption, UpstreamError, UpstreamRejected
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable
from swapcli.core.encoding.url import origin_of, split_url
from swapcli.faces.cli.commands.route.alert import Alert, AlertingDisplay, AlertQueue, Condition, Receiver, alert_json
from swapcli.faces.cli.output import print_to_stderr
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.faces.cli.commands.route.watch import WatchDisplay
    from swapcli.faces.cli.session import Session

TIMEOUT_S: Final = 15.0
COMMAND_TIMEOUT_S: Final = 60.0
_RETRIED: Final = (408, 425, 429)
"""HTTP statuses below 500 after which another attempt may succeed."""
_MAX_VALUE: Final = 1_000
"""Maximum characters of a variable's value."""


@contextmanager
def alerting(
    condition: Condition, receiver: Receiver, display: WatchDisplay, session: Session
) -> Iterator[WatchDisplay]:
    """Yield a display that sends alerts for quotes that meet the condition."""
    max_age_s, color = session.settings.max_age_s or session.settings.route_ttl_s, session.output.color

    def warn(sentence: str) -> None:
        print_to_stderr(f"warning: {printable(sentence)}", color)

    queue = AlertQueue(receiver, warn, SYSTEM_CLOCK, max_age_s)
    with queue.delivering():
        yield AlertingDisplay(display, condition, queue.add, warn, max_age_s)


class HttpReceiver:
    """A receiver that posts alerts as JSON. Messages show only the URL's host, because the rest may be secret."""

    def __init__(self, url: str) -> None:
        from swapcli.state.rpc.http_connection import HttpConnection
        from swapcli.state.rpc.proxy_from_environment import find_proxy

        hint = "for example https://hooks.example/abc"
        try:
            parts = split_url(url)
        except ValueError:
            raise InvalidOption("--notify: not a URL", hint=hint) from None
        if parts.scheme not in ("http", "https"):
            raise InvalidOption("--notify: the URL must begin with http:// or https://", hint=hint)
        self._shown = origin_of(parts)
        self._connection = HttpConnection(url, self._shown, proxy=find_proxy(url, os.environ))

    def deliver(self, alert: Alert) -> None:
        """Same as `Receiver.deliver`."""
        try:
            status = self._connection.post(alert_json(alert), TIMEOUT_S).status
        finally:
            self._connection.close()
        if 200 <= status < 300:
            return
        problem = f"{self._shown} responded with status {status}"
        if status < 500 and status not in _RETRIED:
            raise UpstreamRejected(problem)
        raise UpstreamError(problem)


class CommandReceiver:
    """A receiver that runs a command, without a shell. The command gets the quote on stdin and its fields in the
    environment.

    Its output goes to stderr, because quotes are printed to stdout.
    """

    def __init__(self, command: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidOption(f"--run: {error}") from None
        if not self._words:
            raise InvalidOption("--run: no command given")
        self._check_command()

    def _check_command(self) -> None:
        """Raise `InvalidOption` if the command cannot be run: finding out at an alert hours later would be too late."""
        command = self._words[0]
        if which(command) is not None:
            return
        name = printable(command)
        if os.path.isdir(command):
            raise InvalidOption(f"--run: {name} is a folder")
        if os.path.exists(command) and os.path.dirname(command):
            raise InvalidOption(f"--run: {name} is not executable", hint=f"chmod +x {name}")
        raise InvalidOption(f"--run: no command {name}", hint="check the name; for a script, give its path")

    def deliver(self, alert: Alert) -> None:
        """Same as `Receiver.deliver`."""
        name = printable(self._words[0])
        variables = {"ALERT_WHEN": alert.when, "ALERT_FIELD": alert.field, "ALERT_VALUE": f"{alert.value:f}"}
        try:
            ran = subprocess.run(
                self._words,
                input=to_json(alert.quote).encode() + b"\n",
                env={**os.environ, **dict(_variables("QUOTE", alert.quote)), **variables},
                stdout=sys.stderr.fileno(),
                timeout=COMMAND_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError:
            raise UpstreamRejected(f"no command {name}") from None
        except subprocess.TimeoutExpired:
            raise UpstreamError(f"{name} did not exit within {COMMAND_TIMEOUT_S:g} seconds") from None
        except OSError as error:
            raise UpstreamRejected(f"{name} cannot be run: {error.strerror}") from None
        if ran.returncode:
            raise UpstreamError(f"{name} exited with status {ran.returncode}")


def _variables(prefix: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the scalar values of a document as variables: `outputAmount` is QUOTE_OUTPUT_AMOUNT."""
    for name, value in fields.items():
        variable = f"{prefix}_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).upper()}"
        if isinstance(value, Mapping):
            yield from _variables(variable, value)
        elif value is not None and not isinstance(value, list | tuple):
            yield variable, printable(value if isinstance(value, str) else to_json(value))[:_MAX_VALUE]
