"""A hint after a mistake is a command line that works."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.errors import ErrorReport
from swapcli.faces.cli.usage_hints import explain_usage
from tests.support.command import run_swapcli

REPORT = ErrorReport("USAGE", "unexpected argument", 2, "see swapcli route --help")
CONNECTING = st.sampled_from(["to", "for", "into", "->", "→", "TO"])


@given(
    place=st.integers(0, 1),
    word=CONNECTING,
    order=st.permutations(["ETH", "cbBTC", "USDC"]),
    options=st.sampled_from([[], ["--slippage", "1"], ["--json"]]),
)
def test_a_word_between_tokens_is_left_out(place: int, word: str, order: list[str], options: list[str]) -> None:
    right = ["route", "base", *order[:2], "1", *options]
    typed = right[:]
    typed.insert(3 + place, word)
    explained = explain_usage(REPORT, typed)
    assert explained.hint == f'leave out "{word}": swapcli {shlex.join(right)}'
    assert run_swapcli(*right).exit_code == 0


@given(words=st.lists(st.sampled_from(["base", "ETH", "USDC", "1", "AUTO", "alternative", "--json"]), max_size=6))
def test_other_command_lines_keep_their_report(words: list[str]) -> None:
    assert explain_usage(REPORT, ["route", *words]) == REPORT
    assert explain_usage(REPORT, words) == REPORT


def test_only_mistakes_of_usage_are_explained() -> None:
    failed = ErrorReport("NO_ROUTE", "no route", 3)
    assert explain_usage(failed, ["route", "base", "ETH", "to", "USDC", "1"]) == failed
