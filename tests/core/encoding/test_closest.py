"""Suggestions are near what was typed, or there are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.closest import MAX_SUGGESTIONS, closest_names, did_you_mean, edit_distance

short_texts = st.text(alphabet="abcd", max_size=7)
names = st.text(alphabet="abcdefgh-1", min_size=3, max_size=12)


def plain_distance(first: str, second: str) -> int:
    """The definition of the optimal string alignment, without a limit."""
    table = {(i, 0): i for i in range(len(first) + 1)} | {(0, j): j for j in range(len(second) + 1)}
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            steps = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (first[i - 1] != second[j - 1])]
            if i > 1 and j > 1 and first[i - 2 : i] == second[j - 2 : j][::-1]:
                steps.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(steps)
    return table[len(first), len(second)]


@given(short_texts, short_texts, st.integers(0, 8))
def test_the_distance_is_that_of_its_definition(first: str, second: str, limit: int) -> None:
    assert edit_distance(first, second, limit) == min(plain_distance(first, second), limit + 1)
    assert edit_distance(second, first, limit) == edit_distance(first, second, limit)


@given(st.lists(names, min_size=1, max_size=9, unique=True), st.data())
def test_one_slip_is_forgiven(known: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(known))
    place = data.draw(st.integers(0, len(name) - 1))
    before, rest = name[:place], name[place:]
    for typed in (before + rest[1:], before + "z" + rest, before + "z" + rest[1:], name.upper()):
        assert name in closest_names(typed, known, limit=len(known))


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=9))
def test_no_suggestion_is_far(typed: str, known: list[str]) -> None:
    suggested = closest_names(typed, known)
    assert len(suggested) <= MAX_SUGGESTIONS
    for name in suggested:
        first, second = typed.casefold(), name.casefold()
        longer = max(len(first), len(second))
        assert second.startswith(first) or plain_distance(first, second) <= max(longer // 4, 1)
        assert name in known


@given(names, st.lists(names, max_size=9))
def test_the_right_name_comes_first(name: str, others: list[str]) -> None:
    assert closest_names(name, [*others, name])[0] == name


@pytest.mark.parametrize(
    ("typed", "known", "suggested"),
    [
        ("ethereum", ["hyperevm", "base"], []),
        ("vitalik.eth", ["VIRTUAL", "ETH"], []),
        ("USDQ", ["USDC", "DAI", "USDT"], ["USDC", "USDT"]),
        ("hlep", ["help", "health"], ["help"]),
        ("exit", ["exit-codes"], ["exit-codes"]),
        ("OP", ["XP", "OPX"], ["OPX"]),
        ("", ["a"], []),
        ("a" * 5_000, ["a" * 5_000], []),
    ],
)
def test_examples(typed: str, known: list[str], suggested: list[str]) -> None:
    assert closest_names(typed, known) == suggested


def test_the_question_lists_the_names() -> None:
    assert [did_you_mean(each) for each in ([], ["a"], ["a", "b", "c"])] == [
        "", "did you mean a?", "did you mean a, b or c?",
    ]  # fmt: skip
