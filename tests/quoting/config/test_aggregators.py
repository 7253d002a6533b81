"""The setting `aggregators`: keys of the environment and the file, adapters of one's own, and errors that name them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swapcli.core.encoding.secret import MASK
from swapcli.quoting.config.aggregators import definitions_of
from swapcli.quoting.config.display import masked_rows
from swapcli.quoting.config.settings import TABLE, AggregatorSettings
from tests.quoting.config.in_memory import DEFAULT_FILE, load, refused

MINE: dict[str, Any] = {
    "title": "Mine",
    "address": "https://aggregator.example",
    "requests": [{"method": "GET", "path": "/quote", "headers": {"Authorization": "Bearer swk_hunter2"}}],
    "answer": {"output": "out"},
}


def test_no_setting_names_no_aggregator() -> None:
    assert load().aggregators == {}


@pytest.mark.parametrize("name", ["0x", "lifi"])
def test_a_key_comes_from_the_environment_before_the_file(name: str) -> None:
    text = json.dumps({"aggregators": {name: {"api_key": "in-the-file"}}})
    variable = f"SWAPCLI_AGGREGATORS_{name.upper()}_API_KEY"
    for environ, key in (({}, "in-the-file"), ({variable: "in-the-environment"}, "in-the-environment")):
        own = load(text, environ=environ).aggregators[name]
        assert own.api_key is not None
        assert own.api_key.reveal() == key
        assert key not in repr(own)
    assert load(environ={variable: "alone"}).aggregators[name].definition == {}


def test_an_adapter_of_ones_own_and_a_changed_one_are_kept() -> None:
    settings = load(json.dumps({"aggregators": {"Mine": MINE, "lifi": {"address": "http://127.0.0.1:1"}}}))
    assert definitions_of(settings.aggregators) == {"mine": MINE, "lifi": {"address": "http://127.0.0.1:1"}}
    assert settings.aggregators["mine"] == AggregatorSettings(None, MINE)


def test_what_is_shown_has_no_key() -> None:
    text = json.dumps({"aggregators": {"mine": MINE | {"api_key": "swk_hunter2"}}})
    shown = {row.key: (row.value, row.origin) for row in masked_rows(load(text))[len(TABLE) :]}
    assert shown["aggregators.mine.api_key"] == (MASK, f"file {DEFAULT_FILE}")
    assert shown["aggregators.mine.title"] == ('"Mine"', f"file {DEFAULT_FILE}")
    assert "swk_hunter2" not in repr(shown)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nobody": {"api_key": "k"}}, 'aggregators.nobody: unknown aggregator "nobody"'),
        ({"mine": {"title": "Mine"}}, "aggregators.mine.address: missing"),
        ({"mine": MINE | {"adress": "x"}}, 'aggregators.mine: unknown key "adress"'),
        ({"lifi": {"address": "li.quest"}}, "aggregators.lifi.address: expected an http or https URL"),
        ({"lifi": {"api_key": "two words"}}, "aggregators.lifi.api_key: expected a key without spaces"),
        ({"lifi": "x"}, "aggregators.lifi: expected a mapping"),
        ({"a b": MINE}, '"a b" is not a name'),
        ([], "aggregators: expected a mapping"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(given: object, words: str) -> None:
    error = refused(json.dumps({"aggregators": given}))
    assert error.message.startswith(f"{DEFAULT_FILE}:1: ")
    assert words in error.message


def test_a_variable_of_an_unknown_aggregator_is_named() -> None:
    error = refused(environ={"SWAPCLI_AGGREGATORS_NOBODY_API_KEY": "k"})
    assert error.message.startswith("SWAPCLI_AGGREGATORS_NOBODY_API_KEY: unknown aggregator")
    assert "lifi" in (error.hint or "")
