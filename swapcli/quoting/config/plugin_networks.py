"""Networks defined by installed packages. Each must be a full definition, because a package cannot change a network of
swapcli."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli.core.errors import UnknownNetwork
from swapcli.core.plugins import NETWORK_GROUP, is_plugin, load_plugin, plugins, skipped_plugin

if TYPE_CHECKING:
    from swapcli.core.networks.catalogue import NetworkFile


def plugin_network_file(name: str, check_parts: Callable[[object, str], None]) -> NetworkFile | None:
    """Return the reader of a package's definition of a network, or None if no package has one.

    The package's entry point is a mapping in the form of a network file, or the `Path` of a JSON or YAML file.
    `check_parts` checks the parts of a definition that this module cannot check. Reading imports the package, and
    raises `UnknownNetwork` if its entry point is skipped.
    """
    if not is_plugin(NETWORK_GROUP, name):
        return None
    from swapcli.core.networks.catalogue import NetworkFile, all_network_names, build_from_file

    plugin = plugins(NETWORK_GROUP).get(name)
    place = f"{plugin.origin}: {name}" if plugin else name

    def check(value: object) -> object:
        from swapcli.quoting.config.network_files import open_network_file

        if not isinstance(value, Path | Mapping):
            raise TypeError("a network must be a mapping, or the pathlib.Path of a network file")
        content = open_network_file(value).read() if isinstance(value, Path) else value
        build_from_file(name, NetworkFile(place, lambda: content))
        check_parts(content, place)
        return content

    def read() -> object:
        content = load_plugin(NETWORK_GROUP, name, check)
        if content is None:
            hint, names = skipped_plugin(NETWORK_GROUP, name), [*all_network_names(), *plugins(NETWORK_GROUP)]
            raise UnknownNetwork(f'no network "{name}"', hint=hint, details={"network": name, "networks": names})
        return content

    return NetworkFile(place, read)
