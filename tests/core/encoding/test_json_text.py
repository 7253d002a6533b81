"""JSON is written in ASCII, and only what JSON has."""

from __future__ import annotations

import json

import pytest

from swapcli.core.encoding.json_text import to_json


def test_any_stream_can_encode_it() -> None:
    document = {"symbol": "USD₮0", "amounts": ["1", None, True]}
    text = to_json(document)
    assert text.isascii()
    assert json.loads(text) == document


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_does_not_have_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json([number])
