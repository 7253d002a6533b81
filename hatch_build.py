"""Add the manual page to the wheel if `make man` has written it; `pip install .` in a checkout does without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "man/swapcli.1"


class ManualPageHook(BuildHookInterface[Any]):
    """Installs the page where `man` looks for it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (the interface has it)
        """Add the page to the files that the wheel installs outside the package."""
        if self.target_name == "wheel" and (Path(self.root) / PAGE).is_file():
            build_data["shared_data"][PAGE] = "share/man/man1/swapcli.1"
