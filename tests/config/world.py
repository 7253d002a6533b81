"""A user's machine in memory: a home, an environment and at most one settings file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from swapcli.config import Settings, load_settings
from swapcli.errors import ConfigError

HOME = Path("/home/someone")
DEFAULT_FILE = HOME / ".config" / "swapcli" / "config.yaml"
OTHER_FILE = Path("/etc/swapcli.yaml")


def load(
    text: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    at: Path = DEFAULT_FILE,
    asked_for: Path | None = None,
) -> Settings:
    """The settings where `text` stands in the file `at`, the only one there is."""

    def read(path: Path) -> str:
        if text is None or path != at:
            raise FileNotFoundError
        return text

    return load_settings(flags=flags or {}, environ=environ or {}, config_path=asked_for, home=HOME, read=read)


def refused(text: str | None = None, **world: Mapping[str, str] | Mapping[str, object] | Path) -> ConfigError:
    """The error that the settings give."""
    with pytest.raises(ConfigError) as caught:
        load(text, **world)  # type: ignore[arg-type]
    assert caught.value.message.isprintable()
    return caught.value
