"""The names that installed packages add to swapcli's own: pool families, networks, router dialects and aggregators.

Finding installed packages is I/O, which `core` and `families` never do by themselves. So a layer above registers a
source with this module (`set_plugin_source`); `swapcli.quoting` does so when it is imported. A program that uses the
core alone finds no plugins, and passes the objects of other packages itself.

Built-in names are looked up first and never reach this module, so they cost nothing and no package can replace them.
Names are listed without importing their package; the object of an entry point is imported on use.
"""

from __future__ import annotations

from types import MappingProxyType

from swapcli.core.records import NamedTuple

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds that nothing else needs
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol, TypeVar

    T = TypeVar("T")
    Warn = Callable[[str], object]
    OpenSource = Callable[[], "PluginSource"]

    class PluginSource(Protocol):
        """A reader of the entry points of installed packages."""

        def plugins(self, group: str) -> Mapping[str, Plugin]:
            """Return the usable entry points of a group, by name, without importing them."""

        def load(self, group: str, name: str, check: Callable[[object], T]) -> T | None:
            """Return the result of `check` for an entry point's object; None if there is no entry point, or if it is
            skipped."""

        def reason(self, group: str, name: str) -> str | None:
            """Return why the entry points with this name were skipped, as a sentence; None if none were skipped."""


FAMILY_GROUP, NETWORK_GROUP, DIALECT_GROUP, AGGREGATOR_GROUP = PLUGIN_GROUPS = (
    "swapcli.families", "swapcli.networks", "swapcli.dialects", "swapcli.aggregators",
)  # fmt: skip
"""The groups of entry points."""


class Plugin(NamedTuple):
    """An entry point of an installed package, known to swapcli as `name`."""

    group: str
    name: str
    package: str
    version: str

    @property
    def origin(self) -> str:
        """The package and its version."""
        return f"{self.package} {self.version}"


_NONE: Mapping[str, Plugin] = MappingProxyType({})


class _Registered:
    """The source and the warning function that a layer above has registered."""

    open_source: OpenSource | None = None
    source: PluginSource | None = None
    warn: Warn | None = None


def set_plugin_source(open_source: OpenSource | None) -> None:
    """Register the source of entry points. The source is opened only to look up a name that is not built in, or to list
    names."""
    _Registered.open_source, _Registered.source = open_source, None


def set_plugin_warn(warn: Warn) -> None:
    """Pass this process's warnings about skipped entry points to `warn`, as sentences."""
    _Registered.warn = warn


def plugin_warn() -> Warn | None:
    """Return the last function that was passed to `set_plugin_warn`; None before the first call."""
    return _Registered.warn


def plugins(group: str) -> Mapping[str, Plugin]:
    """Return the entry points of a group by name, in alphabetical order, without importing them."""
    source = _opened()
    return _NONE if source is None else source.plugins(group)


def load_plugin(group: str, name: str, check: Callable[[object], T]) -> T | None:
    """Return the result of `check` for an entry point's object; None without an entry point, or if it is skipped.

    `check` raises `TypeError` or `ValueError` for an object that cannot be used. The entry point is then skipped with a
    warning that names its package, group and name. So is an entry point that raises an exception on import.
    """
    source = _opened()
    return None if source is None else source.load(group, name, check)


def skipped_plugin(group: str, name: str) -> str | None:
    """Return why the entry points with a name were skipped, for the hint of an error; None if none were skipped."""
    source = _opened()
    return None if source is None else source.reason(group, name)


def is_plugin(group: str, name: str) -> bool:
    """Return whether an installed package has an entry point with this name, even if it is skipped on use."""
    return name in plugins(group) or skipped_plugin(group, name) is not None


def _opened() -> PluginSource | None:
    if _Registered.source is None and _Registered.open_source is not None:
        _Registered.source = _Registered.open_source()
    return _Registered.source
