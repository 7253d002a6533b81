"""Changes of one setting in the text of a settings file."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError
from swapcli.quoting.config.display import example_config
from swapcli.quoting.config.edit import set_key, unset_key

FILE = """\
# My settings.
slippage: 0.5  # half a percent

# network: base

service:
  # Where it listens.
  port: 8000
  # keys_file: keys.json

networks:
  base:
    rpc_url: http://127.0.0.1:8545  # mine
    blocked_tokens:
      - "0xaa"
# The end.
"""


def value_of(text: str, key: str) -> object:
    found = yaml.safe_load(text)
    for name in key.split("."):
        found = found[name]
    return found


def lines_that_differ(old: str, new: str) -> list[str]:
    return [line for line in new.splitlines() if line not in old.splitlines()]


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("slippage", "1", "slippage: 1  # half a percent"),
        ("network", "base", "network: base"),
        ("service.port", "9000", "  port: 9000"),
        ("service.keys_file", "other.json", "  keys_file: other.json"),
        ("networks.base.rpc_url", "http://node.example/a#b", '    rpc_url: "http://node.example/a#b"  # mine'),
        ("exclude_protocols", "[a, b]", "exclude_protocols: [a, b]"),
    ],
)
def test_one_line_changes_and_the_others_stay(key: str, value: str, line: str) -> None:
    changed = set_key(FILE, key, value)
    assert lines_that_differ(FILE, changed) == [line]
    assert [each for each in FILE.splitlines() if each.lstrip().startswith("#")] == [
        each for each in changed.splitlines() if each.lstrip().startswith("#")
    ]


def test_a_key_stands_below_the_comment_that_shows_it() -> None:
    assert "# network: base\nnetwork: monad\n" in set_key(FILE, "network", "monad")
    assert "  # keys_file: keys.json\n  keys_file: k.json\n" in set_key(FILE, "service.keys_file", "k.json")


def test_groups_that_are_missing_are_made() -> None:
    changed = set_key(FILE, "networks.monad.rpc_url", "http://127.0.0.1:1")
    assert value_of(changed, "networks.monad.rpc_url") == "http://127.0.0.1:1"
    assert value_of(changed, "networks.base.blocked_tokens") == ["0xaa"]
    assert value_of(set_key("", "networks.base.rpc_url", "x"), "networks.base.rpc_url") == "x"
    assert value_of(set_key("# only comments", "a.b", "1"), "a.b") == 1


def test_a_list_in_lines_is_replaced_as_a_whole() -> None:
    changed = set_key(FILE, "networks.base.blocked_tokens", "[]")
    assert value_of(changed, "networks.base.blocked_tokens") == []
    assert changed.endswith("# The end.\n")


def test_what_was_set_can_be_unset() -> None:
    for key in ("network", "service.keys_file", "networks.monad.rpc_url", "integrator.fee_bps"):
        assert unset_key(set_key(FILE, key, "1"), key) == FILE
    assert unset_key(FILE, "nothing.here") == FILE


def test_a_group_without_keys_goes_with_its_last_one() -> None:
    text = "networks:\n  base:\n    rpc_url: x\nslippage: 1\n"
    assert unset_key(text, "networks.base.rpc_url") == "slippage: 1\n"


def test_braces_are_left_to_an_editor() -> None:
    with pytest.raises(ConfigError, match="written in braces"):
        set_key("service: {port: 1}\n", "service.host", "x")


def test_every_key_of_the_example_file_can_be_set() -> None:
    example = example_config()
    for name in re.findall(r"^# ([a-z_]+): ", example, re.MULTILINE):
        changed = set_key(example, name, "value")
        assert (value_of(changed, name), len(lines_that_differ(example, changed))) == ("value", 1)


@given(st.text(min_size=1, max_size=20).filter(str.isprintable))
def test_any_value_is_read_back_as_it_was_given(value: str) -> None:
    found = value_of(set_key(FILE, "service.name", value), "service.name")
    assert found == value or str(found) == value or found == yaml.safe_load(value)
