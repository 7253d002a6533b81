"""Former names of options and fields: they work, say so on stderr, and are dropped when their version comes."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swapcli.core.model import deprecations
from swapcli.core.model.deprecations import DEPRECATIONS, DeprecatedKind, Deprecation, deprecations_of
from swapcli.faces.cli.deprecations import replace_former_options, warnings_of_fields
from tests.generate.command_tree import command_nodes
from tests.support.command import run_swapcli

FORMER_FIELDS = deprecations_of(DeprecatedKind.FIELD)
FORMER = {
    name: Deprecation(DeprecatedKind.OPTION, name, present, "0.1.0", "9.0.0", "2026-11-26")
    for name, present in (("--receiver", "--destination"), ("--loud", "--json"))
}
ORDER = ("route", "base", "ETH", "USDC", "1.5")
BOB = "0x" + "b0" * 20


@pytest.fixture
def former_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options with former names, as a version with such a row has them."""
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (*DEPRECATIONS, *FORMER.values()))


@pytest.mark.usefixtures("former_options")
@pytest.mark.parametrize("words", [("--receiver", BOB), (f"--receiver={BOB}",)])
def test_a_former_option_works_and_is_warned_of(words: tuple[str, ...]) -> None:
    present = run_swapcli(*ORDER, "--destination", BOB, "--get", "outputAmount")
    former = run_swapcli(*ORDER, *words, "--get", "outputAmount")
    assert (former.exit_code, former.stdout) == (0, present.stdout)
    warning = "warning: --receiver is deprecated, and version 9.0.0 drops it: use --destination"
    assert [line for line in former.stderr.splitlines() if "deprecated" in line] == [warning]
    assert "deprecated" not in present.stderr


@pytest.mark.usefixtures("former_options")
def test_the_json_of_an_error_stays_alone_on_stderr() -> None:
    failed = run_swapcli(*ORDER[:-1], "1.5.5", "--loud")
    assert failed.exit_code != 0
    assert failed.error["exit_code"] == failed.exit_code
    assert "warning: --receiver" in run_swapcli(*ORDER[:-1], "1.5.5", "--receiver", BOB).stderr


@pytest.mark.usefixtures("former_options")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["--receiver", "--receiver=a", "--loud", "--json", "--", "base", "receiver", "--rec"])))
def test_only_options_before_two_dashes_are_replaced(words: list[str]) -> None:
    replaced, warnings = replace_former_options(words)
    end = words.index("--") if "--" in words else len(words)
    assert len(replaced) == len(words)
    assert [*replaced[end:]] == words[end:]
    assert not {word.partition("=")[0] for word in replaced[:end]} & FORMER.keys()
    assert [word.partition("=")[2] for word in replaced] == [word.partition("=")[2] for word in words]
    assert len(warnings) == len({word.partition("=")[0] for word in words[:end]} & FORMER.keys())
    assert replace_former_options(replaced)[0] == replaced


@pytest.mark.parametrize("name", FORMER_FIELDS)
def test_a_deprecated_field_is_printed_and_warned_of_once(name: str) -> None:
    document = run_swapcli(*ORDER, "--json")
    one = run_swapcli(*ORDER, "--get", f"{name}.block", "--get", f"{name}.source")
    assert one.exit_code == 0
    assert one.stdout.splitlines()[1] == document.json[name]["source"]
    assert one.stderr.count("deprecated") == 1
    assert FORMER_FIELDS[name].message in one.stderr
    replacement = run_swapcli(*ORDER, "--get", FORMER_FIELDS[name].replacement)
    assert replacement.exit_code == 0
    assert "deprecated" not in document.stderr + replacement.stderr


@pytest.mark.parametrize("name", FORMER_FIELDS)
def test_schemas_mark_a_deprecated_field_and_no_other(name: str) -> None:
    schema = run_swapcli("schema", "route").json
    marked = {
        field
        for definition in schema["$defs"].values()
        for field, described in definition.get("properties", {}).items()
        if described.get("deprecated")
    }
    assert marked == {name}
    assert [*warnings_of_fields(["result.market.block", "marketplace"])] == [FORMER_FIELDS["market"].message]


def test_no_command_knows_a_former_option() -> None:
    known = {option for node in command_nodes() for option in re.findall(r"--[\w-]+", str(node))}
    former = deprecations_of(DeprecatedKind.OPTION)
    assert known.isdisjoint(former)
    assert {each.replacement for each in former.values()} <= known
    assert "--destination" in known
