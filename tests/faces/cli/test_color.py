"""Colors of messages and plain text: nothing else changes, and only where they are wanted."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.color import has_color, paint_labels, paint_plain
from tests.support.command import run_swapcli

CODE = re.compile(r"\x1b\[[0-9;]*m")
ORDER = ("route", "base", "ETH", "USDC", "1k", "--format=plain")
FAILING = ("route", "bse", "ETH", "USDC", "1")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@given(st.text(alphabet=st.characters(exclude_characters="\x1b")))
def test_paint_only_adds_colors(text: str) -> None:
    for paint in (paint_labels, paint_plain):
        assert CODE.sub("", paint(text)) == text


@pytest.mark.parametrize("command", [ORDER, FAILING, ("networks", "--format=plain"), ("protocols", "monad")])
def test_always_colors_plain_text_and_messages(command: tuple[str, ...]) -> None:
    plain, colored = run_swapcli(*command), run_swapcli(*command, "--color", "always")
    for before, after in ((plain.stdout, colored.stdout), (plain.stderr, colored.stderr)):
        assert not CODE.search(before)
        assert bool(CODE.search(after)) == bool(before)
        assert CODE.sub("", after) == before


def test_the_settings_may_ask_for_colors_of_errors() -> None:
    env = {"SWAPCLI_COLOR": "always"}
    assert run_swapcli(*FAILING, env=env).stderr.startswith("\x1b[1;31merror:\x1b[0m no network")
    assert not CODE.search(run_swapcli(*FAILING, "--color=never", env=env).stderr)
    assert not CODE.search(run_swapcli(*FAILING, "--json", env=env).stderr)


def test_messages_have_colors_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_color("auto", Terminal())
    assert not has_color("auto", io.StringIO())
    assert not has_color("never", Terminal())
    assert has_color("always", io.StringIO())
    for name, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert not has_color("auto", Terminal())
