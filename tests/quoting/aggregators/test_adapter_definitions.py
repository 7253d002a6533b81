"""Every adapter of the program has its source, and a mistake in one's own is named by its key."""

from __future__ import annotations

import copy
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError
from swapcli.quoting.aggregators.adapter_definitions import adapter_names, find_adapter, parse_adapter
from swapcli.quoting.aggregators.aggregator_adapter import AggregatorAdapter

MINE: dict[str, Any] = {
    "title": "Mine",
    "address": "https://aggregator.example/api",
    "chains": {"8453": "base"},
    "native_token": "0x" + "00" * 20,
    "needs_key": True,
    "requests": [
        {"method": "GET", "path": "/{chain}/quote", "query": {"a": "{amount_in}"}, "headers": {"X-Key": "{key}"}},
        {"method": "POST", "path": "/build/{first.id}", "body": {"route": "{first.route}", "to": ["{sender}"]}},
    ],
    "answer": {"output": "first.out", "gas": "gas", "target": "to", "data": "data", "value": "value", "spender": "s"},
    "checks": {"first.amountIn": "{amount_in}"},
    "source": "https://aggregator.example/docs",
    "checked_on": "2026-11-28",
}


def refusal(definition: object) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_adapter("mine", definition)
    assert caught.value.message.isprintable()
    return caught.value


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the definition with another value at a path of names and indices."""
    definition = copy.deepcopy(MINE)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    at: Any = definition
    for part in way:
        at = at[part]
    at[last] = value
    return definition


@pytest.mark.parametrize("name", adapter_names())
def test_an_adapter_of_the_program_has_its_source_and_a_date(name: str) -> None:
    adapter = find_adapter(name)
    assert adapter.source.startswith("https://")
    assert date.fromisoformat(adapter.checked_on) <= date(2030, 1, 1)
    assert adapter.address.startswith("https://")
    assert adapter.checks
    assert adapter.answer.target is not None
    assert adapter.takes_key or not adapter.needs_key


def test_the_form_of_ones_own_is_that_of_the_programs() -> None:
    adapter = parse_adapter("mine", MINE)
    assert isinstance(adapter, AggregatorAdapter)
    assert (adapter.title, adapter.host, adapter.chains) == ("Mine", "aggregator.example", {8453: "base"})
    assert (len(adapter.requests), adapter.takes_key, adapter.answer.output) == (2, True, "first.out")
    assert find_adapter("mine", {"mine": MINE}) == adapter


def test_settings_replace_single_keys_of_a_known_adapter() -> None:
    known, moved = find_adapter("lifi"), find_adapter("lifi", {"lifi": {"address": "http://127.0.0.1:1/"}})
    assert moved == known._replace(address="http://127.0.0.1:1")
    assert set(adapter_names({"mine": MINE})) == {*adapter_names(), "mine"}


@pytest.mark.parametrize(
    ("path", "value", "place", "words"),
    [
        ("adress", "https://x.example", "", 'unknown key "adress"'),
        ("address", "ftp://x.example", ".address", "expected an http or https URL"),
        ("address", "https://user:word@x.example", ".address", "without user name"),
        ("address", "https://x.example/?a=1", ".address", "and query"),
        ("requests", [], ".requests", "non-empty list"),
        ("requests", [MINE["requests"][0]] * 3, ".requests", "at most 2"),
        ("requests/0/method", "PUT", ".requests[0].method", "one of GET, POST"),
        ("requests/0/path", "quote", ".requests[0].path", "starts with /"),
        ("requests/0/path", "/quote?a=1", ".requests[0].path", "no query"),
        ("requests/0/path", "/{tokenin}", ".requests[0].path", 'unknown placeholder "tokenin"'),
        ("requests/0/path", "/{first.id}", ".requests[0].path", "needs a request before"),
        ("requests/0/query", {"k": "{key}"}, ".requests[0].query", "into headers only"),
        ("requests/0/body", {"a": 1}, ".requests[0].body", "no body: the method is GET"),
        ("requests/0/headers", {"Host": "x"}, ".requests[0].headers.Host", "header name"),
        ("requests/0/headers", {"X-A": "ü"}, ".requests[0].headers.X-A", "ASCII"),
        ("requests/1/body", {"a": "{first}"}, ".requests[1].body", 'unknown placeholder "first"'),
        ("answer/output", "a..b", ".answer.output", "path of names and indices"),
        ("answer/out", "a", ".answer", 'unknown key "out"'),
        ("answer/data", None, ".answer.data", "has both target and data"),
        ("checks", {"a": "{key}"}, ".checks.a", 'unknown placeholder "key"'),
        ("chains", {"base": "base"}, ".chains.base", "an integer from 1"),
        ("native_token", "0x12", ".native_token", "address"),
        ("needs_key", "yes", ".needs_key", "true or false"),
    ],
)
def test_a_mistake_is_named_by_its_key(path: str, value: object, place: str, words: str) -> None:
    error = refusal(changed(path, value))
    assert error.message.startswith(f"aggregators.mine{place}: ")
    assert words in error.message


@pytest.mark.parametrize("key", ["address", "requests", "answer"])
def test_what_must_be_there_is_missed(key: str) -> None:
    error = refusal({name: value for name, value in MINE.items() if name != key})
    assert f"aggregators.mine.{key}" in error.message


@given(st.data())
def test_any_other_value_is_read_or_refused_with_its_place(data: st.DataObject) -> None:
    places = ["title", "address", "chains", "requests", "answer", "checks", "source", "needs_key", "native_token"]
    places += [f"requests/{index}/{key}" for index in (0, 1) for key in ("method", "path", "query", "headers", "body")]
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
        max_leaves=4,
    )
    definition, message = changed(data.draw(st.sampled_from(places)), data.draw(values)), "aggregators.mine: read"
    try:
        parse_adapter("mine", definition)
    except ConfigError as error:
        message = error.message
    assert re.match(r"aggregators\.mine[.:\[]", message)


@pytest.mark.parametrize("name", adapter_names())
def test_the_document_has_the_source_of_each_adapter(name: str) -> None:
    document = (Path(__file__).parents[3] / "docs" / "aggregators.md").read_text()
    adapter = find_adapter(name)
    assert re.search(
        rf"^\| {re.escape(adapter.title)}[^|]*\|.*\| {re.escape(adapter.source)} \|$", document, re.MULTILINE
    )
    assert adapter.checked_on in document
