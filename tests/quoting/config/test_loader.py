"""Flags override the environment, which overrides the file, which overrides the defaults; values have an origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.api_version import ApiVersion
from swapcli.quoting.config import TABLE, Settings, config_file_path, peek
from swapcli.quoting.config.display import masked_rows
from swapcli.quoting.config.network_folder import NetworkFolder
from swapcli.quoting.config.settings import FIELDS
from tests.quoting.config.in_memory import DEFAULT_FILE, HOME, OTHER_FILE, load, refused
from tests.quoting.config.samples import VALUES

DEFAULTS = Settings(network_folder=NetworkFolder(DEFAULT_FILE.parent / "networks"))
ON_COMMAND_LINE = [key for key, row in TABLE.items() if row.on_command_line]


def layers(keys: list[str]) -> st.SearchStrategy[dict[str, str]]:
    """Draw some of `keys`, each with one of its texts."""
    return st.fixed_dictionaries({}, optional={key: st.sampled_from(list(VALUES[key])) for key in keys})


def as_yaml(layer: dict[str, str]) -> str:
    flat = [f'{key}: "{text}"' for key, text in layer.items() if "." not in key]
    return "\n".join([*flat, *_group("integrator", layer), *_group("service", layer)])


def _group(name: str, layer: dict[str, str]) -> list[str]:
    nested = [f'  {key.partition(".")[2]}: "{text}"' for key, text in layer.items() if key.startswith(f"{name}.")]
    return [f"{name}:", *nested] if nested else []


def value_of(settings: Settings, key: str) -> Any:
    names = {
        "slippage": "slippage_ppm",
        "impact_warning": "impact_warning_ppm",
        "max_impact": "max_impact_ppm",
        "slippage_warning": "slippage_warning_ppm",
        "price_guard": "price_guard_ppm",
        "max_price_loss": "max_price_loss_ppm",
        "max_slippage": "max_slippage_ppm",
        "gas_price": "gas_price_wei",
    }
    value: Any = settings
    for part in names.get(key, key).split("."):
        value = getattr(value, part)
    return value


def test_these_tests_cover_every_setting() -> None:
    assert set(VALUES) == set(TABLE)


def test_every_settings_field_is_in_the_table_or_is_a_group() -> None:
    others = set(Settings._fields) - set(FIELDS[""])
    assert others == {"integrator", "service", "networks", "aggregators", "network_folder", "origins"}


@given(layers(list(TABLE)), layers(list(TABLE)), layers(ON_COMMAND_LINE))
def test_the_strongest_layer_that_sets_a_key_wins_it(
    in_file: dict[str, str], in_environment: dict[str, str], in_flags: dict[str, str]
) -> None:
    environ = {TABLE[key].variable: text for key, text in in_environment.items()}
    settings = load(as_yaml(in_file), environ=environ, flags=in_flags)
    for key, row in TABLE.items():
        winners = [layer[key] for layer in (in_flags, in_environment, in_file) if key in layer]
        assert value_of(settings, key) == (VALUES[key][winners[0]] if winners else row.default)
        names = [(in_flags, "flag"), (in_environment, f"environment {row.variable}"), (in_file, f"file {DEFAULT_FILE}")]
        assert settings.origin(key) == next((name for layer, name in names if key in layer), "default")


@given(layers(list(TABLE)))
def test_what_is_shown_reads_back_as_the_same_settings(layer: dict[str, str]) -> None:
    settings = load(as_yaml(layer))
    shown = {
        row.key: row.value for row in masked_rows(settings) if row.origin != "default" and not TABLE[row.key].secret
    }
    reloaded = load(as_yaml({key: text for key, text in shown.items() if text is not None}))
    assert all(value_of(reloaded, key) == value_of(settings, key) for key in shown)


def test_nothing_set_gives_the_defaults() -> None:
    settings = load()
    assert settings == DEFAULTS
    assert {row.origin for row in masked_rows(settings)} == {"default"}


def test_a_flag_of_none_counts_as_not_set() -> None:
    settings = load("max_hops: 3", flags={"max_hops": None, "api_key": None})
    assert (settings.max_hops, settings.origin("max_hops")) == (3, f"file {DEFAULT_FILE}")


def test_flags_may_come_typed() -> None:
    flags = {"max_hops": 2, "exclude_protocols": ["a,b", "c"], "market": Path("m.json"), "api_version": ApiVersion.V1}
    settings = load(flags=flags)
    assert settings.max_hops == 2
    assert settings.exclude_protocols == ("a", "b", "c")
    assert settings.market == Path("m.json")
    assert settings.api_version is ApiVersion.V1


def test_an_empty_variable_counts_as_not_set() -> None:
    assert load(environ={"SWAPCLI_MAX_HOPS": "", "SWAPCLI_API_KEY": ""}) == DEFAULTS


def test_null_in_the_file_counts_as_not_set() -> None:
    assert load("max_hops:\nnetwork: null\nintegrator:\nnetworks: ~\n") == DEFAULTS


def test_an_overridden_wrong_value_is_still_refused() -> None:
    error = refused("max_hops: many", flags={"max_hops": 3})
    assert error.message.startswith(f"{DEFAULT_FILE}:1: max_hops: expected a whole number from 1 to 16")


def test_members_of_a_group_come_from_different_layers() -> None:
    settings = load("integrator: {address: 0x12, fee_bps: 5}", environ={"SWAPCLI_INTEGRATOR_FEE_BPS": "7"})
    assert (settings.integrator.address, settings.integrator.fee_bps) == ("0x12", 7)


@pytest.mark.parametrize(
    ("config_path", "environ", "expected"),
    [
        (None, {}, DEFAULT_FILE),
        (None, {"XDG_CONFIG_HOME": "/xdg"}, Path("/xdg/swapcli/config.yaml")),
        (None, {"XDG_CONFIG_HOME": "relative"}, DEFAULT_FILE),
        (None, {"XDG_CONFIG_HOME": ""}, DEFAULT_FILE),
        (None, {"SWAPCLI_CONFIG": "/etc/swapcli.yaml", "XDG_CONFIG_HOME": "/xdg"}, OTHER_FILE),
        (None, {"SWAPCLI_CONFIG": "~/own.yaml"}, HOME / "own.yaml"),
        (None, {"SWAPCLI_CONFIG": ""}, DEFAULT_FILE),
        (OTHER_FILE, {"SWAPCLI_CONFIG": "/else.yaml", "XDG_CONFIG_HOME": "/xdg"}, OTHER_FILE),
    ],
)
def test_the_path_comes_from_the_flag_the_variables_or_the_home(
    config_path: Path | None, environ: dict[str, str], expected: Path
) -> None:
    assert config_file_path(config_path, environ, HOME) == expected
    assert load("max_hops: 9", at=expected, config_path=config_path, environ=environ).max_hops == 9


@pytest.mark.parametrize(("config_path", "environ"), [(OTHER_FILE, {}), (None, {"SWAPCLI_CONFIG": str(OTHER_FILE)})])
def test_a_file_named_explicitly_must_exist(config_path: Path | None, environ: dict[str, str]) -> None:
    error = refused(config_path=config_path, environ=environ)  # type: ignore[arg-type]
    assert error.message == f"{OTHER_FILE}: no such file"
    assert error.hint is not None


def test_file_names_in_a_file_start_from_its_folder() -> None:
    settings = load("market: m.json\napi_key_file: ~/key\n", at=OTHER_FILE, config_path=OTHER_FILE)
    assert (settings.market, settings.api_key_file) == (Path("/etc/m.json"), HOME / "key")


def test_file_names_elsewhere_start_from_the_working_directory() -> None:
    settings = load(environ={"SWAPCLI_MARKET": "m.json"}, flags={"api_key_file": "key"})
    assert (settings.market, settings.api_key_file) == (Path("m.json"), Path("key"))


@given(layers(ON_COMMAND_LINE), layers(ON_COMMAND_LINE), st.booleans())
def test_peek_agrees_with_load_even_if_other_settings_are_wrong(
    in_file: dict[str, str], in_environment: dict[str, str], has_error: bool
) -> None:
    environ = {TABLE[key].variable: text for key, text in in_environment.items()}
    text, broken_variable = as_yaml(in_file), {"SWAPCLI_NONSENSE": "1"} if has_error else {}
    text_with_error = text + "\nnonsense: 1" if has_error else text
    seen = peek("output", environ | broken_variable, None, HOME, lambda _: text_with_error)
    assert (seen or TABLE["output"].default) == load(text, environ=environ).output


@pytest.mark.parametrize("text", ["", "[", "output", "- output", "Output: json"])
def test_peek_finds_nothing_in_a_file_without_the_setting(text: str) -> None:
    assert peek("output", {}, None, HOME, lambda _: text) is None
