"""The headers with state and warnings: round trips; malformed values are ignored."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.market import Provenance
from swapcli.core.model.state_source import ReportedWarnings
from swapcli.interface.state_headers import (
    MAX_CODES,
    ReportedState,
    parse_state,
    parse_warnings,
    render_state,
    render_warnings,
)

numbers = st.none() | st.integers(0, 10**12 - 1)
IMPACT = FindingCode.PRICE_IMPACT_HIGH


@given(st.builds(ReportedState, st.sampled_from(Provenance), numbers, numbers, st.none() | st.sampled_from(BlockTag)))
def test_a_state_is_read_as_it_was_written(state: ReportedState) -> None:
    text = render_state(state)
    assert re.fullmatch(r"[a-z0-9;=]+", text)
    assert parse_state(text) == state


@given(st.lists(st.sampled_from(FindingCode), unique=True, max_size=MAX_CODES), st.none() | st.floats(-10.0, 1.0))
def test_warnings_are_read_as_they_were_written(codes: list[FindingCode], fraction: float | None) -> None:
    stated = parse_warnings(render_warnings(codes, IMPACT, fraction))
    assert stated.codes == tuple(codes)
    if IMPACT in codes and fraction is not None:
        assert stated.price_impact == pytest.approx(fraction, abs=1e-4)
    else:
        assert stated.price_impact is None


@given(st.text(max_size=60) | st.from_regex(r"[a-z]{1,9};block=[0-9]{1,30}(;age=.{0,9})?"))
def test_whatever_is_sent_as_a_state_is_one_or_nothing(text: str) -> None:
    state = parse_state(text)
    assert state is None or render_state(state).split(";")[0] == text.split(";")[0]


@given(st.text(max_size=80) | st.lists(st.sampled_from(FindingCode), max_size=40).map(", ".join))
def test_whatever_is_sent_as_warnings_gives_plain_codes(text: str) -> None:
    stated = parse_warnings(text)
    assert len(stated.codes) <= MAX_CODES
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]{0,39}", code) for code in stated.codes)


@pytest.mark.parametrize(
    "text", [None, "", "alive", "LIVE", "live;block=-1", "live;block=1e3", "live; block=1", "modelled\n"]
)
def test_what_is_no_state_says_nothing(text: str | None) -> None:
    assert parse_state(text) is None


@pytest.mark.parametrize("text", [None, "", ",", "a", "PRICE IMPACT", "X;impact=nan", "X;impact=1e9", "\x1b[2J"])
def test_what_are_no_warnings_say_nothing(text: str | None) -> None:
    assert parse_warnings(text) == ReportedWarnings()
