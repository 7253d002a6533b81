"""The settings file is YAML; every unreadable file is refused with a message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError
from swapcli.quoting.config import load_settings, yaml_parser
from swapcli.quoting.config.yaml_parser import parse_yaml
from tests.quoting.config.in_memory import DEFAULT_FILE, HOME, load, refused

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
    | st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff"), max_size=8)
)
TREES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc<&*!~", max_size=3), inner, max_size=3),
)


def test_a_file_on_disk_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("\ufeffmax_hops: 4\nnetwork: bäse\n", encoding="utf-8")
    settings = load_settings(flags={}, environ={}, config_path=path, home=HOME)
    assert (settings.max_hops, settings.network, settings.origin("network")) == (4, "bäse", f"file {path}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_files_of_other_systems_are_read(tmp_path: Path, encoding: str, line_end: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(f"max_hops: 4{line_end}network: bäse{line_end}".encode(encoding))
    settings = load_settings(flags={}, environ={}, config_path=path, home=HOME)
    assert (settings.max_hops, settings.network) == (4, "bäse")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"network: \xff", "byte 9 is not UTF-8"),
        (b"#" * (1 << 20) + b"\n", "larger than 1048576 bytes"),
        (b"\xc3\xa9" * (1 << 20), "larger than 1048576 bytes"),
    ],
)
def test_bytes_that_are_no_settings_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_settings(flags={}, environ={}, config_path=path, home=HOME)
    assert caught.value.message == f"{path}: {problem}"


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(flags={}, environ={}, config_path=tmp_path, home=HOME)
    assert caught.value.message == f"{tmp_path}: Is a directory"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "---\n...\n", "{}", "null", "~"])
def test_an_empty_file_sets_nothing(text: str) -> None:
    assert load(text) == load()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a", ": expected a mapping of settings"),
        ("base", ": expected a mapping of settings"),
        ("max_hops: 1\nmax_hops: 1\n", ':2: the key "max_hops" appears twice'),
        ("integrator:\n  fee_bps: 1\n  fee_bps: 2\n", ':3: the key "fee_bps" appears twice'),
        ("a: &x 1\nb: *x\n", ":1: anchors and aliases (& and *) are not supported"),
        ("a: *x\n", ":1: anchors and aliases (& and *) are not supported"),
        ("&x a: 1\n", ":1: anchors and aliases (& and *) are not supported"),
        ("<<: {max_hops: 1}\n", ':1: key "<<": no such setting'),
        ("network: !!python/object:os.system x\n", ":1: tags (!) are not supported"),
        ("network: !x base\n", ":1: tags (!) are not supported"),
        ("? [a]\n: b\n", ":1: a key must be text"),
        ("---\na: 1\n---\nb: 1\n", ":3: expected one document"),
        ("network: [base\n", ":2: not YAML: did not find expected ',' or ']'"),
        ("a: b: c\n", ":1: not YAML: mapping values are not allowed in this context"),
        ("\tmax_hops: 1\n", ":1: not YAML: found character that cannot start any token"),
        ("network: a\x00b", ": not YAML: "),
        ("[" * 500, ":1: nested too deeply"),
        ("[" * 200_000, ":1: "),  # libyaml from 0.2.6 on refuses this depth itself, in its own words
        ("{a: " * 40, ":1: nested too deeply"),
        ("- " * 200_000, ":1: nested too deeply"),
    ],
)
def test_what_is_no_plain_mapping_is_refused_with_its_line(text: str, problem: str) -> None:
    assert refused(text).message.startswith(f"{DEFAULT_FILE}{problem}")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("off", "off"),
        ("0x12", "0x12"),
        ("012", "012"),
        ("12", 12),
        ("+12", "+12"),
        ("-0", "-0"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("1e3", "1e3"),
        ("2024-01-02", "2024-01-02"),
        (".inf", ".inf"),
        ("-7", -7),
        ("0.50", 0.5),
        ("true", True),
        ("True", "True"),
        ("'true'", "true"),
        ('"12"', "12"),
        ("null", None),
        ("~", None),
        ("", None),
        ("''", ""),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_scalars_mean_what_they_look_like(text: str, value: object) -> None:
    assert parse_yaml(f"a: {text}", "x") == {"a": value}


@given(TREES)
def test_json_reads_as_itself(tree: object) -> None:
    assert parse_yaml(json.dumps(tree, ensure_ascii=False), "x") == tree


@given(TREES)
def test_what_the_library_writes_reads_back(tree: object) -> None:
    written = yaml.safe_dump(tree, allow_unicode=True)
    if "&id" not in written:
        assert parse_yaml(written, "x") == tree


@pytest.mark.parametrize("text", ["a: [1, {b: 'x'}]\n", "a: &x 1\n", "a: b: c", "a: !t 1"])
def test_without_the_c_library_the_same_is_read_and_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome() -> Any:
        try:
            return parse_yaml(text, "x")
        except ConfigError as error:
            return error.details

    with_library = outcome()
    monkeypatch.setattr(yaml_parser, "_LOADER", yaml.SafeLoader)
    assert outcome() == with_library


@given(st.text() | st.text("abnetworks:{}[]&*!|>-#\"'\n \t0123"))
@example("networks: {base: {tokens: [1]}}")
@example("networks: {base: {}}")
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        settings = load(text)
    except ConfigError as error:
        sentence = error.message
    else:
        sentence = repr(settings)
    assert "\n" not in sentence
