"""Find the user's folders and files, by the XDG specification. Paths are strings, because shell completion has no time
to import `pathlib`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from swapcli.state.environment import variable

CONFIG_VARIABLE = "SWAPCLI_CONFIG"

NO_HOME = os.path.join(os.devnull, "no-home")
"""Stands for the missing home folder of a user. No file can be below it: reading finds nothing, writing fails."""

_NAME = "swapcli"
_CONFIG_FILE = "config.yaml"


def config_file(environ: Mapping[str, str], home: str) -> str:
    """Return the path of the settings file: `SWAPCLI_CONFIG` if it is set, otherwise the default file in the user's
    folder."""
    if named := variable(environ, CONFIG_VARIABLE):
        return expand_home(named, home)
    return os.path.join(_base_folder(environ, "XDG_CONFIG_HOME", home, ".config"), _NAME, _CONFIG_FILE)


def data_folder(environ: Mapping[str, str], home: str) -> str:
    """Return the program's data folder."""
    return os.path.join(_base_folder(environ, "XDG_DATA_HOME", home, ".local", "share"), _NAME)


def cache_folder(environ: Mapping[str, str], home: str) -> str:
    """Return the program's folder for data that can be computed again."""
    return os.path.join(_base_folder(environ, "XDG_CACHE_HOME", home, ".cache"), _NAME)


def expand_home(path: str, home: str) -> str:
    """Return `path` with a leading `~` replaced by the user's home."""
    return home if path == "~" else os.path.join(home, path[2:]) if path.startswith("~/") else path


def home_folder() -> str:
    """Return the user's home folder; `NO_HOME` if the system has none for the user, or if HOME is empty or relative.

    The working folder never takes its place, because a file planted there could change the settings.
    """
    folder = os.path.expanduser("~")
    is_known = os.path.isabs(folder) and os.environ.get("HOME") != ""
    return folder if is_known else NO_HOME


def home_problem(environ: Mapping[str, str], home: str) -> str | None:
    """Return, as a sentence, why the user has no home folder if HOME is the cause; otherwise None."""
    if home != NO_HOME or "HOME" not in environ:
        return None
    return "HOME is not an absolute path, so swapcli cannot read your settings and stores"


def _base_folder(environ: Mapping[str, str], name: str, home: str, *default: str) -> str:
    # The XDG specification says to ignore relative folders.
    folder = variable(environ, name)
    return folder if os.path.isabs(folder) else os.path.join(home, *default)
