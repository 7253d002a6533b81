"""Durations with a unit: one parser for settings, options and deadlines; a plain number keeps its meaning."""

from __future__ import annotations

import pytest

from swapcli.core.validation.values import InvalidValue, parse_duration_s
from swapcli.faces.cli.commands.route.watch import parse_watch_seconds
from swapcli.interface.value_types import seconds, whole_seconds
from swapcli.payload.signing.deadlines import parse_deadline_s
from swapcli.payload.signing.deadlines import parse_duration_s as parse_time_left_s
from swapcli.quoting.config import Settings, override_settings
from tests.support.command import run_swapcli

# Counted by hand.
DURATIONS = {
    "1s": 1,
    "90s": 90,
    "20m": 1_200,
    "1.5h": 5_400,
    "25h": 90_000,
    "3d": 259_200,
    "0.5d": 43_200,
    "3D": 259_200,
    "2 h": 7_200,
    "0d": 0,
}
NO_DURATIONS = ("", "3", "1.5", "-1h", "+1h", "3x", "1e9d", "d", "3dd", "1h30m", "٣d", ".5h", "3d ", "1234567890123s")

DESTINATION = ("--destination", "0x1111111111111111111111111111111111111111")
BUILD = ("calldata", "base", "USDC", "ETH", "1500", "--offline", *DESTINATION)


@pytest.mark.parametrize(("text", "duration_s"), DURATIONS.items())
def test_every_place_reads_the_same_duration(text: str, duration_s: int) -> None:
    assert parse_duration_s(text) == duration_s
    assert isinstance(parse_duration_s(text), int)
    assert seconds(10**6, allow_zero=True).parse(text) == duration_s
    assert whole_seconds(0, 10**6).parse(text) == duration_s
    assert parse_time_left_s(f"+{text}") == parse_time_left_s(text) == duration_s
    if duration_s:
        assert parse_deadline_s(text, 1_800_000_000.9) == 1_800_000_000 + duration_s
    if 0 < duration_s <= 3_600:
        assert parse_watch_seconds(text) == duration_s


@pytest.mark.parametrize("text", NO_DURATIONS)
def test_other_text_is_no_duration(text: str) -> None:
    assert parse_duration_s(text) is None


def test_a_plain_number_means_what_it_always_did() -> None:
    assert seconds(100).parse("1.5") == 1.5
    assert whole_seconds(0, 100).parse("30") == 30
    assert parse_watch_seconds("5") == 5.0
    assert parse_deadline_s("1800000001", 1_800_000_000.0) == 1_800_000_001
    assert parse_time_left_s("1200") is None


@pytest.mark.parametrize("text", ["3x", "-1h", "1e9d", "2d", "0.3s", "1.0001m"])
def test_a_setting_refuses_what_is_no_duration_in_its_range(text: str) -> None:
    with pytest.raises(InvalidValue):
        whole_seconds(1, 86_400).parse(text)
    assert whole_seconds(1, 86_400).expected == "a whole number of seconds from 1 to 86400, or a duration such as 5m"


@pytest.mark.parametrize(
    "words",
    [
        *(("--deadline", each) for each in ("0d", "-1h", "3x", "1e9d", "99999999d", "+0s")),
        *(("--timeout", each) for each in ("0s", "3x", "1e9d", "2d")),
        *(("--max-age", each) for each in ("3x", "2d", "1.0001m")),
    ],
)
def test_a_bad_duration_is_one_sentence_and_status_2(words: tuple[str, str]) -> None:
    ran = run_swapcli(*BUILD, *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    (sentence,) = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert words[0] in sentence


def test_options_and_settings_take_units() -> None:
    quoted = run_swapcli("route", "base", "ETH", "USDC", "1", "--offline", "--timeout", "1.5m", "--json")
    assert quoted.exit_code == 0
    texts = {"max_age_s": "12h", "live_timeout_s": "2s", "route_ttl_s": "5m", "solve_time_s": "1.5s"}
    settings = override_settings(Settings(), texts)
    assert (settings.max_age_s, settings.live_timeout_s) == (43_200, 2.0)
    assert (settings.route_ttl_s, settings.solve_time_s) == (300, 1.5)
