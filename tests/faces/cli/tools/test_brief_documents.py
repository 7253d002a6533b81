"""Brief documents keep within their size, whatever they hold, and note what they leave out."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.tools.answers import CommandOutput, read_answer
from swapcli.faces.cli.tools.arguments import CallArguments
from swapcli.faces.cli.tools.brief_documents import (
    MAX_ECHO,
    MAX_TEXT_BYTES,
    bounded_echoes,
    brief_document,
    fit,
    name_units,
)
from swapcli.faces.cli.tools.tool_table import TOOLS, ToolDefinition

TOOL = {each.name: each for each in TOOLS}
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=400)
NESTED = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
DOCUMENTS = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), NESTED)


def no_network(_: str) -> Any:
    raise AssertionError("unknown network")


def answer(tool: ToolDefinition, document: object, **call: Any) -> dict[str, Any]:
    output = CommandOutput(json.dumps(document), "", 0)
    return read_answer(tool, CallArguments({}, **call), output, no_network)


@given(DOCUMENTS)
def test_a_text_keeps_within_its_size(document: dict[str, Any]) -> None:
    text = fit(document)
    json.loads(text)
    assert len(json.dumps(text, ensure_ascii=False).encode()) <= MAX_TEXT_BYTES


@given(st.integers(1, 400), st.integers(0, 100), st.none() | st.integers(1, 300))
def test_pages_lead_to_every_entry_once(count: int, offset: int, limit: int | None) -> None:
    """Following nextOffset from any offset lists the rest, in order, and then ends."""
    tokens = [{"symbol": f"T{each}", "address": "0x" + "12" * 20} for each in range(count)]
    seen: list[str] = []
    following: int | None = min(offset, count - 1)
    start = following
    while following is not None:
        full = answer(TOOL["tokens"], tokens, offset=following, limit=limit)
        page = json.loads(fit(brief_document(TOOL["tokens"], full, {}), "tokens"))
        seen += [each["symbol"] for each in page["tokens"]]
        assert page["page"]["total"] == count
        following = page["page"].get("nextOffset")
    assert seen == [f"T{each}" for each in range(start or 0, count)]


@given(st.lists(st.tuples(st.sampled_from(["split", "protocol", "service"]), st.sampled_from([None, "5"])), min_size=1))
def test_a_comparison_keeps_ways_that_pay_and_failed_services(ways: list[tuple[str, str | None]]) -> None:
    listed = [{"kind": kind, "outputAmount": amount} for kind, amount in ways]
    kept = [each for each in listed if each["outputAmount"] or each["kind"] == "service"]
    full = answer(TOOL["compare"], {"alternatives": listed}, detail="full")
    assert full["alternatives"] == kept[:100]
    assert bool(full["notes"]) == (len(kept) < len(ways))


def test_a_full_document_stays_as_it_is() -> None:
    document = {"outputAmount": "1", "route": list(range(500))}
    full = answer(TOOL["quote"], document, detail="full")
    assert {name: full[name] for name in document} == document


def test_amounts_stand_in_whole_tokens_where_they_are() -> None:
    amounts = [{"field": "levels.0.inputAmount", "whole": "1.5", "symbol": "ETH", "raw": "15"}]
    document = {"levels": [{"inputAmount": "15", "level": 1.0}], "amounts": amounts}
    assert brief_document(TOOL["depth"], document, {})["levels"] == [{"inputAmount": "1.5 ETH", "level": 1.0}]


def test_a_decoded_swap_may_have_tokens_that_nobody_knows() -> None:
    swaps = [
        {"inputToken": {"address": "0xaa", "symbol": "USDC"}, "outputToken": {"address": "0xbb"}, "pool": "0xcc"},
        {"inputToken": {"address": "0xaa"}, "sharePercent": 50.0, "pool": "0xcc"},
    ]
    lines = brief_document(TOOL["decode"], {"swaps": swaps}, {})["swaps"]
    assert lines == ["USDC > 0xbb (0xcc)", "50% 0xaa > an unknown token (0xcc)"]


def test_warnings_and_dangers_stay() -> None:
    warnings = [{"code": f"CODE_{each}", "message": "m" * 100} for each in range(10)]
    document = json.loads(fit({"warnings": warnings, "dangers": ["A", "B"], "swaps": ["x" * 100] * 100}))
    assert (document["warnings"], document["dangers"]) == (warnings, ["A", "B"])
    assert document["notes"] == [f'swaps: {len(document["swaps"])} of 100 shown; detail "full" has all']


def test_percentages_have_their_unit_in_their_name() -> None:
    assert name_units({"priceImpact": 0.1, "points": [{"slippage": 0.5}]}) == {
        "priceImpactPercent": 0.1,
        "points": [{"slippagePercent": 0.5}],
    }


@given(st.text(min_size=1, max_size=30), st.integers(1, 3_000))
def test_no_long_input_is_repeated(part: str, times: int) -> None:
    value = (part * times)[:5_000]
    error = {"message": f'no token "{value}"', "details": {"token": value}, "next": {"arguments": {"token_in": value}}}
    bounded = bounded_echoes(error, {"token_in": value})
    assert len(bounded["details"]["token"]) <= MAX_ECHO
    assert len(bounded["next"]["arguments"]["token_in"]) <= MAX_ECHO
    assert len(bounded["message"]) <= MAX_ECHO + len('no token ""')
