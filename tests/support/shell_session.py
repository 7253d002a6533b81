"""Real interactive shells in a pseudo-terminal, which complete command lines for tests."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.command import clean_environment

TIMEOUT_S = 20
TAB, DUMP, READY = "\t", "\x14", "READY"  # Ctrl-T prints the shell's current line

_BASH = """
set -o emacs
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
{setup}
_capture() {{ _swapcli "$@"; printf '%s\\n' "${{COMPREPLY[@]}}" >> "$OUT"; }}
complete -F _capture swapcli
_dump() {{ printf '%s\\n' "LINE=$READLINE_LINE" >> "$OUT"; READLINE_LINE=; READLINE_POINT=0; }}
bind -x '"\\C-t": _dump'
echo READY >> "$OUT"
"""
_ZSH = """
bindkey -e
bindkey '^I' complete-word
unsetopt automenu alwayslastprompt beep
LISTMAX=1000
{setup}
compadd() {{
    if [[ ${{@[1,(i)(-|--)]}} != *-(O|A|D)\\ * ]]; then
        local -a found
        builtin compadd -O found "$@"
        print -rl -- $found >> $OUT
    fi
    builtin compadd "$@"
}}
dump() {{ print -r -- "LINE=$BUFFER" >> $OUT; BUFFER= }}
zle -N dump
bindkey '^T' dump
ready() {{ print READY >> $OUT }}
autoload -Uz add-zsh-hook; add-zsh-hook precmd ready
"""
COMPINIT, _EVAL = "autoload -Uz compinit; compinit -i -D", 'eval "$(swapcli completion zsh)"'
ZSH_SETUPS = {
    "with compinit before": f"{COMPINIT}\n{_EVAL}",
    "with compinit after": f"{_EVAL}\n{COMPINIT}",
    "without compinit": _EVAL,
}


class Completion(NamedTuple):
    """A shell's result for a line at TAB: the completed line, and the words it offered."""

    line: str
    offered: frozenset[str]


class ShellSession:
    """A shell running in `folder`, with its output on a pseudo-terminal."""

    def __init__(self, command: list[str], folder: Path, env: Mapping[str, str]) -> None:
        self._out = folder / "out"
        self._out.write_text("")
        self._terminal, end = pty.openpty()
        os.set_blocking(self._terminal, False)
        environment = {**shell_environment(folder, env), "OUT": str(self._out)}
        self._process = subprocess.Popen(
            command, stdin=end, stdout=end, stderr=end, cwd=folder, env=environment, start_new_session=True
        )
        os.close(end)
        self._wait_for(READY)

    def complete(self, line: str) -> Completion:
        """Type a line and TAB."""
        self._out.write_text("")
        os.write(self._terminal, f"{line}{TAB}{DUMP}".encode())
        lines = self._wait_for("LINE=").splitlines()
        typed = next(each for each in lines if each.startswith("LINE=")).removeprefix("LINE=")
        return Completion(typed, frozenset(each for each in lines if each and not each.startswith(("LINE=", READY))))

    def _wait_for(self, text: str) -> str:
        deadline_s, shown = time.monotonic() + TIMEOUT_S, b""
        while time.monotonic() < deadline_s:
            try:
                shown += os.read(self._terminal, 65_536)
            except BlockingIOError:
                time.sleep(0.01)
            written = self._out.read_text()
            if any(line.startswith(text) for line in written.splitlines()) and written.endswith("\n"):
                return written
        raise AssertionError(f"the shell did not respond: {shown.decode(errors='replace')!r}")

    def close(self) -> None:
        """End the shell."""
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


def program(shell: str) -> str:
    """Return the path of a shell. Fails if it is not installed, because completion is only tested in real shells."""
    path = shutil.which(shell)
    assert path, f"{shell} is not installed, so its completion cannot be tested: apt-get install {shell}"
    return path


def shell_environment(folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which `swapcli` is this one, without settings."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder), "ZDOTDIR": str(folder)}
    terminal = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "COLUMNS": "80", "LINES": "500"}
    return {**clean_environment(), **home, **terminal, "PATH": path, **env}


@contextmanager
def bash_session(
    folder: Path, env: Mapping[str, str] | None = None, setup: str = 'eval "$(swapcli completion bash)"'
) -> Iterator[ShellSession]:
    """Open an interactive bash with swapcli's completion."""
    (folder / "bashrc").write_text(_BASH.format(setup=setup))
    command = [program("bash"), "--noprofile", "--rcfile", str(folder / "bashrc"), "-i"]
    yield from _opened(command, folder, env)


@contextmanager
def zsh_session(
    folder: Path, env: Mapping[str, str] | None = None, setup: str = ZSH_SETUPS["with compinit before"]
) -> Iterator[ShellSession]:
    """Open an interactive zsh with swapcli's completion."""
    (folder / ".zshrc").write_text(_ZSH.format(setup=setup))
    yield from _opened([program("zsh"), "-d", "-i"], folder, env)


def _opened(command: list[str], folder: Path, env: Mapping[str, str] | None) -> Iterator[ShellSession]:
    session = ShellSession(command, folder, env or {})
    try:
        yield session
    finally:
        session.close()


def fish_completions(
    lines: list[str],
    folder: Path,
    env: Mapping[str, str] | None = None,
    setup: str = "swapcli completion fish | source",
) -> list[frozenset[str]]:
    """Return the completions that fish offers for each line."""
    script = f"{setup}\n" + "".join(f"complete -C {_fish_quoted(line)}; echo ---\n" for line in lines)
    ran = subprocess.run(
        [program("fish"), "--no-config", "-c", script],
        cwd=folder, env=shell_environment(folder, env or {}), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stderr == ""
    blocks = ran.stdout.split("---\n")[:-1]
    return [frozenset(line.partition("\t")[0] for line in block.splitlines()) for block in blocks]


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
