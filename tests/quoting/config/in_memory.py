"""Load settings from a home, an environment and at most one settings file in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from swapcli.core.errors import ConfigError
from swapcli.quoting.config import Settings, load_settings

HOME = Path("/home/someone")
DEFAULT_FILE = HOME / ".config" / "swapcli" / "config.yaml"
OTHER_FILE = Path("/etc/swapcli.yaml")


def load(
    text: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    at: Path = DEFAULT_FILE,
    config_path: Path | None = None,
) -> Settings:
    """Return the settings if `at` is the only file and contains `text`."""

    def read(path: Path) -> str:
        if text is None or path != at:
            raise FileNotFoundError
        return text

    return load_settings(flags=flags or {}, environ=environ or {}, config_path=config_path, home=HOME, read=read)


def refused(text: str | None = None, **environment: Mapping[str, str] | Mapping[str, object] | Path) -> ConfigError:
    """Return the error that loading the settings raises."""
    with pytest.raises(ConfigError) as caught:
        load(text, **environment)  # type: ignore[arg-type]
    assert caught.value.message.isprintable()
    return caught.value
