"""Lists for spreadsheets: each row is that of the JSON, and reads back as text."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.render.csv_text import csv_columns, csv_lines
from tests.support.command import run_swapcli

LISTS = [("networks",), ("health", "base", "monad"), ("tokens", "base"), ("protocols", "base"), ("config", "show")]


@pytest.mark.parametrize("words", LISTS)
def test_a_list_as_csv_has_the_rows_of_its_json(words: tuple[str, ...]) -> None:
    documents = run_swapcli(*words, "--json").json
    rows = list(csv.DictReader(io.StringIO(run_swapcli(*words, "--format", "csv").stdout)))
    assert len(rows) == len(documents) > 1
    for row, document in zip(rows, documents, strict=True):
        for name, value in document.items():
            if name == "timeS":
                continue
            text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
            assert row[name] in (text, f"'{text}")


def test_a_batch_as_csv_has_a_line_per_order() -> None:
    orders = [{"id": n, "tokenIn": "ETH", "tokenOut": out, "inputAmount": "10"} for n, out in enumerate(["USDC", "?"])]
    stdin = "\n".join(map(json.dumps, orders)).encode()
    ran = run_swapcli("route", "base", "--batch", "-", "--format", "csv", stdin=stdin)
    lines = run_swapcli("route", "base", "--batch", "-", stdin=stdin).stdout.splitlines()
    results = [json.loads(line)["result"] for line in lines]
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert [row["id"] for row in rows] == ["0", "1"]
    assert [row["outputAmount"] for row in rows] == [result.get("outputAmount", "") for result in results]
    assert [row["errorMessage"] for row in rows] == [result.get("errorMessage", "") for result in results]
    assert [row["errorCode"] for row in rows] == ["NO_ROUTE", "UNKNOWN_TOKEN"]
    assert [(row["network"], row["inputToken"], row["inputTokenDecimals"]) for row in rows] == [
        ("base", "ETH", "18")
    ] * 2
    assert [(row["outputToken"], row["outputTokenDecimals"]) for row in rows] == [("USDC", "6"), ("?", "")]


@given(st.lists(st.fixed_dictionaries({"name": st.text(), "count": st.integers() | st.none()}), min_size=1))
def test_csv_reads_back_and_holds_no_formula(documents: list[dict[str, Any]]) -> None:
    text = csv_lines(csv_columns(documents), documents)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["count"] for row in rows] == ["" if each["count"] is None else str(each["count"]) for each in documents]
    assert not any(row["name"].startswith(("=", "+", "@")) and not row["name"][1:2].isdecimal() for row in rows)
