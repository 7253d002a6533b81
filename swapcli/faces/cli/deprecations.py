"""Options and fields of JSON that still work and will be dropped: their use is warned of on stderr.

`docs/versions.md` says how long they stay. A former name of an option is replaced before the command line is parsed, so
that commands know only the present one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from swapcli.core.records import NamedTuple


class Deprecation(NamedTuple):
    """The present name of an option or a field, and the version that drops the former one.

    Example: `Deprecation("state", "0.2")` for the field `market`.
    """

    replacement: str
    removed_in: str

    def message(self, name: str) -> str:
        """Return the warning for the use of the former name."""
        return f"{name} is deprecated, and version {self.removed_in} drops it: use {self.replacement}"


FORMER_OPTIONS: Final[Mapping[str, Deprecation]] = MappingProxyType({})
"""Options by their former names, such as `--receiver`. The replacement takes a value where the former one does."""

FORMER_FIELDS: Final[Mapping[str, Deprecation]] = MappingProxyType({"market": Deprecation("state", "0.2")})
"""Fields of JSON documents. No other field of any document has one of these names."""


def replace_former_options(
    words: Sequence[str], former: Mapping[str, Deprecation] | None = None
) -> tuple[Sequence[str], list[str]]:
    """Return the words of a command line with the present names of options, and a warning for each former name.

    `former` replaces `FORMER_OPTIONS`. Words behind `--` are no options.
    """
    former = FORMER_OPTIONS if former is None else former
    end = words.index("--") if "--" in words else len(words)
    names = [word.partition("=")[0] for word in words[:end]]
    used = [*dict.fromkeys(name for name in names if name in former)]
    if not used:
        return words, []
    replaced = [
        former[name].replacement + word[len(name) :] if name in former else word
        for name, word in zip(names, words[:end], strict=True)
    ]
    return [*replaced, *words[end:]], [former[name].message(name) for name in used]


def warnings_of_fields(paths: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each deprecated field that dotted paths name."""
    names = dict.fromkeys(name for path in paths for name in path.split("."))
    return (FORMER_FIELDS[name].message(name) for name in names if name in FORMER_FIELDS)
