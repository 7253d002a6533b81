"""Long documents are shortened, and notes say what is left out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.tools.shortening import MAX_LISTED, shorten
from swapcli.faces.cli.tools.tool_table import TOOLS

TOOL = {each.name: each for each in TOOLS}


@given(st.integers(0, 3 * MAX_LISTED))
def test_a_list_keeps_its_beginning(count: int) -> None:
    tokens = [{"symbol": str(each)} for each in range(count)]
    document, notes = shorten(TOOL["tokens"], {"tokens": tokens})
    assert document == {"tokens": tokens[:MAX_LISTED]}
    assert list(notes) == (
        [f"these are the first 100 of {count} tokens; give a pattern to find others"] if count > MAX_LISTED else []
    )


@given(st.lists(st.tuples(st.sampled_from(["split", "protocol", "service"]), st.sampled_from([None, "5"]))))
def test_a_comparison_keeps_what_pays_and_services_that_fail(ways: list[tuple[str, str | None]]) -> None:
    document: dict[str, Any] = {"alternatives": [{"kind": kind, "outputAmount": amount} for kind, amount in ways]}
    shortened, notes = shorten(TOOL["compare"], document)
    kept = [each for each in document["alternatives"] if each["outputAmount"] or each["kind"] == "service"]
    assert shortened["alternatives"] == kept
    assert len(notes) == (len(kept) < len(ways))


def test_other_documents_stay_as_they_are() -> None:
    document = {"outputAmount": "1", "route": list(range(500))}
    assert shorten(TOOL["quote"], document) == (document, ())
