"""The former names that still work and will be dropped, of all faces of the program, in one table.

The faces announce their own rows when a former name is used: the command line by a line on stderr, the library by a
`DeprecationWarning`, the service by headers, and readers of settings and files by a warning that names the file.
`docs/versions.md` says how long a row stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from swapcli.core.records import NamedTuple


class DeprecatedKind(StrEnum):
    """What a former name is the name of."""

    OPTION = "option"
    """An option of the command line, such as `--receiver`. The replacement takes a value where the former one does."""
    FIELD = "field"
    """A field of JSON documents. No other field of any document has its name."""
    LIBRARY_NAME = "library name"
    """A name that the package exports. The replacement is one that it exports, too."""
    PATH = "path"
    """A path of the service, as the table of endpoints spells it."""
    PARAMETER = "parameter"
    """A parameter in the query of requests to the service."""
    SETTING = "setting"
    """A setting by its dotted key, such as `service.keys_file`, with its environment variable. The replacement is a
    setting that takes the same values."""
    DEFINITION_KEY = "definition key"
    """A key of a network or of an aggregator in the settings, at any depth. No other key there has its name."""
    MARKET_FIELD = "market field"
    """A field of market files, at any depth. No other field of them has its name."""
    KEY_FILE_FIELD = "key file field"
    """A field of key files, at any depth. No other field of them has its name."""
    METRIC = "metric"
    """A metric of the service, without `_total`. Both names are exported; the replacement has the same labels."""


class Deprecation(NamedTuple):
    """A former name, the present one, the version that deprecated it, and the version that drops it.

    `deprecated_on` is the day of the former version, and `dropped_on` that of the latter if it is planned, as ISO 8601.

    Example: `Deprecation(DeprecatedKind.FIELD, "market", "state", "0.1.0", "0.2.0", "2026-11-26")`.
    """

    kind: DeprecatedKind
    name: str
    replacement: str
    since: str
    removed_in: str
    deprecated_on: str
    dropped_on: str | None = None

    @property
    def message(self) -> str:
        """The warning for the use of the former name."""
        return self.message_for(self.name, self.replacement)

    def message_for(self, name: str, replacement: str) -> str:
        """Return the warning with both names in another spelling, such as that of environment variables."""
        return f"{name} is deprecated, and version {self.removed_in} drops it: use {replacement}"


DEPRECATIONS: Final[tuple[Deprecation, ...]] = (
    Deprecation(DeprecatedKind.FIELD, "market", "state", "0.1.0", "0.2.0", "2026-11-26"),
)


def deprecations_of(kind: DeprecatedKind) -> Mapping[str, Deprecation]:
    """Return the deprecations of a kind by their former names."""
    return {each.name: each for each in DEPRECATIONS if each.kind is kind}


def replace_former_keys(document: object, kind: DeprecatedKind) -> tuple[object, tuple[Deprecation, ...]]:
    """Return a document of JSON or YAML with the present names of its keys, and the former names that it uses.

    Where an object has both, the present one counts.
    """
    former = deprecations_of(kind)
    if not former:
        return document, ()
    used: dict[str, Deprecation] = {}
    return _with_present_keys(document, former, used), tuple(used.values())


def _with_present_keys(value: object, former: Mapping[str, Deprecation], used: dict[str, Deprecation]) -> object:
    if isinstance(value, list):
        return [_with_present_keys(each, former, used) for each in value]
    if not isinstance(value, dict):
        return value
    present = {key: _with_present_keys(each, former, used) for key, each in value.items() if key not in former}
    for key in value.keys() & former.keys():
        used[key] = former[key]
        present.setdefault(former[key].replacement, _with_present_keys(value[key], former, used))
    return present
