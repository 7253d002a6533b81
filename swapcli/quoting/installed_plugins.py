"""Find the plugins in installed packages by the metadata of their entry points. docs/plugins.md explains plugins.

This is the only module that reads that metadata. It is imported only to find a name that is not built in, or to list
names, because importing `importlib.metadata` takes longer than a quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from threading import RLock
from typing import Final, TypeVar

from swapcli.core.encoding.text import printable, single_line, truncate
from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import AUTO, DIALECTS
from swapcli.core.plugins import (
    AGGREGATOR_GROUP,
    DIALECT_GROUP,
    FAMILY_GROUP,
    NETWORK_GROUP,
    PLUGIN_GROUPS,
    Plugin,
    plugin_warn,
)

T = TypeVar("T")

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FILE: Final = "entry_points.txt"
_MAX_REASON: Final = 200  # characters of the error of a package; chosen


class InstalledPlugins:
    """The entry points of installed packages. `core.plugins.PluginSource` describes the methods.

    The metadata is read once. A skipped entry point causes one warning, when its group is listed or when it is loaded.
    """

    def __init__(self) -> None:
        self._entries: dict[str, list[tuple[Plugin, metadata.EntryPoint]]] | None = None
        self._usable: dict[str, dict[str, tuple[Plugin, metadata.EntryPoint]]] = {}
        self._loaded: dict[tuple[str, str], object] = {}
        self._reasons: dict[tuple[str, str], str] = {}
        self._lock = RLock()

    def plugins(self, group: str) -> Mapping[str, Plugin]:
        """Return the usable entry points of a group, by name."""
        return {name: plugin for name, (plugin, _) in sorted(self._in_group(group).items())}

    def load(self, group: str, name: str, check: Callable[[object], T]) -> T | None:
        """Return the result of `check` for the object of an entry point. The object is loaded and checked only once."""
        with self._lock:
            key = (group, name)
            if key in self._loaded:
                return self._loaded[key]  # type: ignore[return-value]  # a group has one `check`
            found = self._in_group(group).get(name)
            if found is None:
                return None
            plugin, entry = found
            self._loaded[key] = None  # a package cannot look up its own name during its import
            try:
                value = self._loaded[key] = check(entry.load())
            except (Exception, SystemExit) as error:
                del self._in_group(group)[name]
                self._skip(plugin, f"it cannot be used: {_described(error)}")
                return None
            return value

    def reason(self, group: str, name: str) -> str | None:
        """Return why the entry points called `name` were skipped; None if none were."""
        self._in_group(group)
        return self._reasons.get((group, name))

    def _in_group(self, group: str) -> dict[str, tuple[Plugin, metadata.EntryPoint]]:
        with self._lock:
            if group not in self._usable:
                self._usable[group] = self._choose(group)
            return self._usable[group]

    def _choose(self, group: str) -> dict[str, tuple[Plugin, metadata.EntryPoint]]:
        """Return a group's entry points whose names are free and unique; warn about all others."""
        if self._entries is None:
            self._entries = {each: [] for each in PLUGIN_GROUPS}
            for found in _installed():
                self._entries[found[0].group].append(found)
        built_in, by_name = _built_in_names(group), dict[str, list[tuple[Plugin, metadata.EntryPoint]]]()
        for found in self._entries[group]:
            by_name.setdefault(found[0].name, []).append(found)
        usable = {}
        for name, claims in by_name.items():
            problem = None
            if not _NAME.fullmatch(name):
                problem = "its name may only contain lower-case letters, digits, - and _"
            elif name in built_in:
                problem = "a built-in already has that name"
            elif len(claims) > 1:
                problem = f"several packages define it: {', '.join(sorted(each.origin for each, _ in claims))}"
            if problem is None:
                usable[name] = claims[0]
                continue
            for plugin, _ in claims:
                self._skip(plugin, problem)
        return usable

    def _skip(self, plugin: Plugin, problem: str) -> None:
        sentence = f"skipped {_NOUNS[plugin.group]} {plugin.name} of the package {plugin.origin}"
        reason = printable(f"{sentence} ({plugin.group}): {problem}")
        self._reasons[plugin.group, plugin.name] = reason
        _warn(reason)


_NOUNS: Final = {
    FAMILY_GROUP: "the family",
    NETWORK_GROUP: "the network",
    DIALECT_GROUP: "the router dialect",
    AGGREGATOR_GROUP: "the aggregator",
}


def _built_in_names(group: str) -> frozenset[str]:
    """Return the names that packages cannot add to a group: swapcli's own, and reserved words."""
    if group == DIALECT_GROUP:
        return frozenset((*DIALECTS, AUTO))
    if group == NETWORK_GROUP:
        from swapcli.core.networks.definition_files import packaged_networks

        return packaged_networks()
    if group == AGGREGATOR_GROUP:
        from swapcli.quoting.openers.choose_aggregators import ALL, packaged_names

        return frozenset((*packaged_names(), ALL))
    from swapcli.families import FAMILIES, KIND_NAMES

    return frozenset((*FAMILIES, *KIND_NAMES))


def _installed() -> Iterator[tuple[Plugin, metadata.EntryPoint]]:
    """Yield the entry points of swapcli's groups. A package with damaged metadata is skipped, with a warning."""
    seen = set()
    for package in metadata.distributions():
        try:
            text = package.read_text(_FILE)
            if text is None or "swapcli." not in text:  # checked before reading more: few packages extend swapcli
                continue
            name, version = package.metadata["Name"], package.version
            found = [each for each in package.entry_points if each.group in PLUGIN_GROUPS]
            if not name or not version:
                raise ValueError("its METADATA has no name or no version")
        except Exception as error:
            place = getattr(package, "_path", "an installed package")
            _warn(printable(f"skipped the plugins of {place}: its metadata cannot be read: {_described(error)}"))
            continue
        if name.lower() not in seen:  # a package that is found twice is imported from the first place
            seen.add(name.lower())
            yield from ((Plugin(each.group, each.name, name, version), each) for each in found)


def _described(error: BaseException) -> str:
    """Return an error on one line: its message, preceded by its class name unless swapcli raised it."""
    text = single_line(error.message if isinstance(error, SwapcliError) else str(error))
    name = "" if isinstance(error, SwapcliError) else type(error).__name__
    return truncate(": ".join(filter(None, (name, text))), _MAX_REASON)


def _warn(sentence: str) -> None:
    """Warn in the way the program has chosen, by default through the logger `swapcli`."""
    warn = plugin_warn()
    if warn is None:
        import logging

        warn = logging.getLogger("swapcli").warning
    warn(sentence)
