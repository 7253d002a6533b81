"""The folder of the user's network files: `networks`, next to the settings file, with one file per network.

This module only lists the file names; `network_files` reads the files.
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
    """The folder of the user's network files (None without a settings file), and the files by network name.

    `repeated` maps each name for which several files exist to those files.
    """

    path: Path | None = None
    files: Mapping[str, Path] = MappingProxyType({})
    repeated: Mapping[str, tuple[Path, ...]] = MappingProxyType({})


def list_network_files(settings_file: Path) -> NetworkFolder:
    """Return the network files next to a settings file. This reads only the file names."""
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
