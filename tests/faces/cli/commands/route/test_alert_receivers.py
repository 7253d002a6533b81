"""Receivers of alerts on a real server and with real commands; what is secret in an address is never shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidOption, UpstreamError, UpstreamRejected
from swapcli.faces.cli.commands.route.alert_receivers import CommandReceiver, HttpReceiver
from tests.faces.cli.commands.route.test_alert import ALERT, QUOTE
from tests.support.command import run_swapcli
from tests.support.loopback_server import http_response, loopback_server, respond_with


def test_an_address_gets_the_quote_as_json() -> None:
    with loopback_server(respond_with(http_response(204), http_response(503), http_response(404))) as server:
        receiver = HttpReceiver(f"{server.url}/secret-path?key=s3cret")
        receiver.deliver(ALERT)
        with pytest.raises(UpstreamError) as failed:
            receiver.deliver(ALERT)
        with pytest.raises(UpstreamRejected) as refused:
            receiver.deliver(ALERT)
        sent = server.exchanges[0]
    assert sent.target == "/secret-path?key=s3cret"
    assert json.loads(sent.body) == {
        "when": "outputAmount > 4", "field": "outputAmount", "value": "5", "quote": QUOTE
    }  # fmt: skip
    assert "503" in failed.value.message
    assert "secret" not in failed.value.message + refused.value.message
    assert "s3cret" not in failed.value.message + refused.value.message


def test_an_unreachable_address_is_not_shown() -> None:
    receiver = HttpReceiver("http://user:pass@127.0.0.1:9/secret-path")
    with pytest.raises(UpstreamError) as failed:
        receiver.deliver(ALERT)
    assert not {"user", "pass", "secret"} & set(failed.value.message.replace("/", " ").replace("@", " ").split())


def test_a_command_gets_the_quote_and_its_fields(tmp_path: Path) -> None:
    script, out = tmp_path / "told.py", tmp_path / "out.json"
    script.write_text(
        "import json, os, sys\n"
        "fields = {name: each for name, each in os.environ.items() if name.startswith(('QUOTE_', 'ALERT_'))}\n"
        f"open({str(out)!r}, 'w').write(json.dumps([json.load(sys.stdin), fields]))\n"
    )
    CommandReceiver(f"{sys.executable} {script}").deliver(ALERT)
    quote, fields = json.loads(out.read_text())
    assert quote == QUOTE
    assert fields == {
        "QUOTE_OUTPUT_AMOUNT": "5", "QUOTE_STATE_BLOCK": "7", "QUOTE_STATE_TIMESTAMP": "1000",
        "ALERT_WHEN": "outputAmount > 4", "ALERT_FIELD": "outputAmount", "ALERT_VALUE": "5",
    }  # fmt: skip


def test_a_command_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UpstreamError, match="false exited with status 1"):
        CommandReceiver("false").deliver(ALERT)
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    receiver = CommandReceiver(str(script))
    script.unlink()
    with pytest.raises(UpstreamRejected, match="no command"):
        receiver.deliver(ALERT)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-command --with arguments", "--run: no command no-such-command"),
        ("./missing.sh", "--run: no command ./missing.sh"),
        ("FOLDER/missing/script.sh", "no command .*/missing/script.sh"),
        ("FOLDER", "is a folder"),
        ("FOLDER/text.sh 1", "text.sh is not executable"),
        ("", "no command"),
        ("'open quote", "No closing quotation"),
    ],
)
def test_a_command_that_cannot_run_is_refused_first(tmp_path: Path, command: str, problem: str) -> None:
    (tmp_path / "text.sh").write_text("#!/bin/sh\n")
    with pytest.raises(InvalidOption, match=problem):
        CommandReceiver(command.replace("FOLDER", str(tmp_path)))


def test_a_watch_with_a_missing_command_does_not_begin() -> None:
    words = ("--watch", "--when", "outputAmount > 1", "--run", "./missing.sh", "--offline")
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "no command ./missing.sh" in ran.stderr


@pytest.mark.parametrize("url", ["nonsense", "ftp://host.example/s3cret", "https://"])
def test_a_bad_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        HttpReceiver(url)
    assert "s3cret" not in refused.value.message
