"""Former options and fields of JSON on the command line: they work, and their use is warned of on stderr.

A former option is replaced before the command line is parsed, so that commands know only the present one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swapcli.core.model.deprecations import DeprecatedKind, deprecations_of


def replace_former_options(words: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Return the words of a command line with the present names of options, and a warning for each former name.

    Words behind `--` are no options.
    """
    former = deprecations_of(DeprecatedKind.OPTION)
    end = words.index("--") if "--" in words else len(words)
    names = [word.partition("=")[0] for word in words[:end]]
    used = [*dict.fromkeys(name for name in names if name in former)]
    if not used:
        return words, []
    replaced = [
        former[name].replacement + word[len(name) :] if name in former else word
        for name, word in zip(names, words[:end], strict=True)
    ]
    return [*replaced, *words[end:]], [former[name].message for name in used]


def warnings_of_fields(paths: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each deprecated field that dotted paths name."""
    former = deprecations_of(DeprecatedKind.FIELD)
    names = dict.fromkeys(name for path in paths for name in path.split("."))
    return (former[name].message for name in names if name in former)
