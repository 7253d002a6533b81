"""Felts in decimal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.validation.values import MAX_FELT
from swapcli.interface.fields import MAX_FELTS, parse_felts, render_felts
from tests.interface.build import felts


@given(st.lists(felts, min_size=1))
def test_felts_are_read_as_they_were_written(numbers: list[int]) -> None:
    assert parse_felts(render_felts(numbers)) == tuple(numbers)


@pytest.mark.parametrize("felt", ["-1", "0x1", "", "1.0", 5, None, str(MAX_FELT + 1), "9" * 10_000])
def test_what_is_no_felt_is_refused(felt: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_felts(["1", felt], "calldata")
    assert caught.value.details["field"] == "calldata[1]"


@pytest.mark.parametrize("document", [[], {}, None, "5", ["1"] * (MAX_FELTS + 1)])
def test_what_is_no_bounded_array_is_refused(document: object) -> None:
    with pytest.raises(InvalidInput):
        parse_felts(document)
