"""Packages with entry points, as pip leaves them in a folder of packages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from swapcli import families
from swapcli.core import plugins
from swapcli.quoting.installed_plugins import InstalledPlugins


def write_package(
    folder: Path,
    name: str,
    entries: Mapping[str, Mapping[str, str]],
    modules: Mapping[str, str] | None = None,
    version: str = "1.0",
) -> Path:
    """Write a package with entry points by group and name, and modules by file name; return its metadata's folder."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    metadata.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    sections = (
        f"[{group}]\n" + "".join(f"{entry} = {target}\n" for entry, target in named.items())
        for group, named in entries.items()
    )
    metadata.joinpath("entry_points.txt").write_text("\n".join(sections))
    for file, text in (modules or {}).items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return metadata


@contextmanager
def installed(folder: Path) -> Iterator[list[str]]:
    """Let this process find the packages in a folder, as a new process would; yields the warnings."""
    modules, warnings = set(sys.modules), list[str]()
    sys.path.insert(0, str(folder))
    plugins.set_plugin_source(InstalledPlugins)
    plugins.set_plugin_warn(warnings.append)
    try:
        yield warnings
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).is_relative_to(folder):
                del sys.modules[name]
        families._USED.clear()
        families._PACKAGES_OF_KINDS.clear()
        plugins.set_plugin_source(InstalledPlugins)
