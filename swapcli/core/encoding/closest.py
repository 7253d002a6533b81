"""Suggestions for mistyped names: one rule for networks, tokens, protocols, settings, commands, options and fields.

A distant suggestion is worse than none: readers take it for the right name.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_SUGGESTIONS = 3

_CHARACTERS_PER_EDIT = 4  # a tighter rule misses slips in short names, a looser one finds unrelated words
_MIN_PREFIX = 3  # shorter text is the beginning of too many names
_MAX_NAME_CHARACTERS = 64  # longer text is not a mistyped name, and its distance would take long to compute


def closest_names(name: str, names: Iterable[str], limit: int = MAX_SUGGESTIONS) -> list[str]:
    """Return at most `limit` of the `names` for which `name` is a misspelling or a beginning, nearest first.

    Case is ignored. A misspelling differs by at most one edit (see `edit_distance`) per four characters of the longer
    name, or by one edit if that name has three characters. A beginning has at least three characters.
    """
    typed = name.casefold()
    if not 2 <= len(typed) <= _MAX_NAME_CHARACTERS:
        return []
    ranked = {candidate: rank for candidate in names if (rank := _rank(typed, candidate.casefold())) is not None}
    return sorted(ranked, key=lambda candidate: (ranked[candidate], candidate))[:limit]


def did_you_mean(closest: Iterable[str]) -> str:
    """Return a question with the suggestions, such as `did you mean USDC or USDT?`; empty if there are none."""
    names = list(closest)
    first = ", ".join(names[:-1])
    return f"did you mean {f'{first} or ' if first else ''}{names[-1]}?" if names else ""


def edit_distance(first: str, second: str, limit: int) -> int:
    """Return the number of edits from `first` to `second`: characters inserted, removed, replaced or swapped with a
    neighbour.

    No character is edited twice (optimal string alignment). A distance above `limit` is `limit + 1`.
    """
    # An edit adds or removes at most one character, and the lengths of most names differ by more than the limit.
    if abs(len(first) - len(second)) > limit or len(set(first).difference(second)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, character in enumerate(first, start=1):
        before, last, row = row, before, [i]
        for j, other in enumerate(second, start=1):
            distance = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (character != other))
            if i > 1 and j > 1 and character == second[j - 2] and first[i - 2] == other:
                distance = min(distance, last[j - 2] + 1)
            row.append(distance)
        if min(row) > limit and (not before or min(before) > limit):
            return limit + 1
    return min(row[-1], limit + 1)


def _rank(typed: str, candidate: str) -> tuple[int, int] | None:
    """Return a candidate's sort key, with misspellings before beginnings; None if it is not near."""
    longer = max(len(typed), len(candidate))
    limit = max(longer // _CHARACTERS_PER_EDIT, int(longer >= _MIN_PREFIX))
    distance = edit_distance(typed, candidate, limit)
    if distance <= limit:
        return 0, distance
    if len(typed) >= _MIN_PREFIX and candidate.startswith(typed):
        return 1, len(candidate) - len(typed)
    return None
