"""The schema of network files and the page of their keys have exactly the keys that the parser takes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

import swapcli
from swapcli.core.errors import ConfigError
from swapcli.core.networks import definition, hook_rules, quoter_definitions
from swapcli.core.networks.catalogue import NetworkFile, all_network_names, build_from_file
from swapcli.core.networks.definition_files import read_definition
from swapcli.faces.cli.help_topics import topic_text
from swapcli.quoting.config import network_keys
from swapcli.quoting.config.network_files import parse_network_file
from swapcli.quoting.config.network_schema import network_file_schema
from swapcli.quoting.config.networks import check_parts
from tests.quoting.config.test_network_files import EXTENSION, OWN, changed

PARSED = {
    "NETWORK_KEY_TABLE": definition.NETWORK_KEYS,
    "TOKEN_KEYS": definition.TOKEN_KEYS,
    "NATIVE_KEYS": definition.TOKEN_KEYS,
    "PROTOCOL_KEYS": definition.PROTOCOL_KEYS,
    "DEPLOYMENT_KEYS": definition.DEPLOYMENT_KEYS,
    "NODE_KEYS": definition.NODE_KEYS,
    "ROUTER_KEYS": definition.ROUTER_KEYS,
    "QUOTER_KEYS": quoter_definitions.QUOTER_KEYS,
    "FUNCTION_KEYS": quoter_definitions.FUNCTION_KEYS,
    "QUOTE_KEYS": quoter_definitions.QUOTE_KEYS,
    "READ_KEYS": quoter_definitions.READ_KEYS,
    "LIST_KEYS": quoter_definitions.LIST_KEYS,
    "CREATED_KEYS": quoter_definitions.CREATED_KEYS,
    "HOOK_RULE_KEYS": hook_rules.RULE_KEYS,
    "FEE_KEYS": hook_rules.FEE_KEYS,
}
TABLES: Mapping[str, network_keys.KeyTable] = {
    "Keys of a network": network_keys.NETWORK_KEY_TABLE,
    "In `native`": network_keys.NATIVE_KEYS,
    "In `tokens`": network_keys.TOKEN_KEYS,
    "In `protocols`": network_keys.PROTOCOL_KEYS,
    "In `deployments`": network_keys.DEPLOYMENT_KEYS,
    "In `rpc_urls`": network_keys.NODE_KEYS,
    "In `routers`": network_keys.ROUTER_KEYS,
    "In `quoters`": network_keys.QUOTER_KEYS,
    "In `quoters[].quote`": network_keys.QUOTE_KEYS,
    "In `quoters[].values`": network_keys.READ_KEYS,
    "In `quoters[].list`": network_keys.LIST_KEYS,
    "In `quoters[].created`": network_keys.CREATED_KEYS,
    "In `hook_rules`": network_keys.HOOK_RULE_KEYS,
    "In `hook_rules[].fees`": network_keys.FEE_KEYS,
}
"""The tables of the page of keys, by their headings."""
VALIDATOR = Draft202012Validator(network_file_schema())


@pytest.mark.parametrize("name", PARSED)
def test_each_key_that_is_parsed_is_described(name: str) -> None:
    assert set(PARSED[name]) == set(getattr(network_keys, name))


def test_no_key_is_listed_twice() -> None:
    assert all(len(set(keys)) == len(keys) for keys in PARSED.values())


@pytest.mark.parametrize("name", PARSED)
def test_each_key_has_an_example_of_its_form(name: str) -> None:
    for key, described in getattr(network_keys, name).items():
        assert described.example not in (None, [], {}), key
        Draft202012Validator(described.form).validate(described.example)


def test_the_page_of_keys_has_every_key_with_its_example() -> None:
    page = Path(__file__).parents[3] / "docs" / "network-keys.md"
    before, *_ = re.split(r"^## ", text := page.read_text(), flags=re.MULTILINE)
    expected = before + "\n".join(f"## {title}\n\n{_table(keys)}" for title, keys in TABLES.items())
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page.write_text(text := expected)
    assert text == expected


def _table(keys: network_keys.KeyTable) -> str:
    rows = (f"| `{name}` | {key.meaning} | `{key.example_text}` |" for name, key in keys.items())
    return "\n".join(["| key | meaning | example |", "|---|---|---|", *rows]) + "\n"


def test_the_example_of_the_topic_is_a_whole_definition() -> None:
    (lines,) = re.findall(r"^  name: mine\n(?:  .*\n)+", topic_text("networks"), re.MULTILINE)
    example = parse_network_file(dedent(lines), "mine.yaml")
    assert isinstance(example, dict)
    VALIDATOR.validate(example)
    network = definition.parse_network(example, "example")
    assert (network.name, network.chain_id, len(network.deployments)) == ("mine", 31337, 1)


def test_the_schema_is_valid() -> None:
    assert meta.is_valid(network_file_schema())
    assert swapcli.schema("network").document() == network_file_schema()


@pytest.mark.parametrize("name", all_network_names())
def test_every_definition_of_the_program_has_this_form(name: str) -> None:
    VALIDATOR.validate(read_definition(name))
    VALIDATOR.validate(json.loads(json.dumps(swapcli.network_definition(name).document())))


@pytest.mark.parametrize("content", [OWN, EXTENSION, {"name": "ethereum"}], ids=["own", "extension", "listed"])
def test_files_that_are_parsed_have_this_form(content: dict[str, Any]) -> None:
    VALIDATOR.validate(content)


@pytest.mark.parametrize(
    "content",
    [
        changed("tokns", value=[]),
        changed("protocols", 0, "family", value="uniswap"),
        changed("deployments", 0, "addresses", "factry", value="0x12"),
        changed("tokens", 0, "decimals", value=300),
        changed("chain_id", value=None),
        {"name": "base", "has_v2": True},
        {"tokens": []},
    ],
)
def test_files_that_are_refused_do_not(content: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(content)
    with pytest.raises(ConfigError):
        parse(content)


def parse(content: dict[str, Any]) -> None:
    """Parse a network file as the loader does."""
    file = NetworkFile("x", lambda: content)
    build_from_file(definition.network_name_of(content, "x"), file)
    check_parts(content, "x")
