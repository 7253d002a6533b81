"""What still works and will be dropped, of every face of the program, in one table.

The faces announce their own rows when a former name is used: the command line by a line on stderr, the library by a
`DeprecationWarning`, the service by headers. `docs/versions.md` says how long a row stays.
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
        return f"{self.name} is deprecated, and version {self.removed_in} drops it: use {self.replacement}"


DEPRECATIONS: Final[tuple[Deprecation, ...]] = (
    Deprecation(DeprecatedKind.FIELD, "market", "state", "0.1.0", "0.2.0", "2026-11-26"),
)


def deprecations_of(kind: DeprecatedKind) -> Mapping[str, Deprecation]:
    """Return the deprecations of a kind by their former names."""
    return {each.name: each for each in DEPRECATIONS if each.kind is kind}
