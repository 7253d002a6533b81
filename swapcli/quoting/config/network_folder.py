"""The folder of the user's network files, `networks` beside the settings file, with one file per network.

Only the names are listed here; `network_files` reads the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "networks"
JSON_SUFFIX = ".json"
YAML_SUFFIXES = (".yaml", ".yml")

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class NetworkFolder(NamedTuple):
    """The folder of the user's network files, None for settings without a file, and the files by network name.

    `repeated` has the names for which several files exist, with these files.
    """

    path: Path | None = None
    files: Mapping[str, Path] = MappingProxyType({})
    repeated: Mapping[str, tuple[Path, ...]] = MappingProxyType({})


def list_network_files(settings_file: Path) -> NetworkFolder:
    """Return the network files beside a settings file. Reads the names in their folder, and no file."""
    folder = settings_file.parent / FOLDER
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return NetworkFolder(folder)
    files: dict[str, Path] = {}
    repeated: dict[str, tuple[Path, ...]] = {}
    for entry in entries:
        stem, suffix = os.path.splitext(entry)
        name = stem.lower()
        if suffix not in (JSON_SUFFIX, *YAML_SUFFIXES) or not _NAME.fullmatch(name):
            continue
        if name in files:
            repeated[name] = (*repeated.get(name, (files[name],)), folder / entry)
        files.setdefault(name, folder / entry)
    return NetworkFolder(folder, files, repeated)
