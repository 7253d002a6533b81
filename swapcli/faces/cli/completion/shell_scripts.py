"""The completion scripts of the shells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

SHELL_SCRIPTS: Final[Mapping[str, str]] = MappingProxyType(
    {"bash": "swapcli.bash", "zsh": "_swapcli", "fish": "swapcli.fish"}
)
SHELLS = tuple(SHELL_SCRIPTS)


def completion_script(shell: str) -> str:
    """Return the completion script of one of `SHELLS`."""
    return Path(__file__).with_name("scripts").joinpath(SHELL_SCRIPTS[shell]).read_text(encoding="utf-8")
