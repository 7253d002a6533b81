"""Each kind of setting accepts its values; an error names the source, the key and the expected form."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.config import TABLE
from tests.examples import few_rows
from tests.quoting.config.in_memory import DEFAULT_FILE, load, refused
from tests.quoting.config.samples import TOO_MUCH_SLIPPAGE, WRONG

CASES = [(key, value) for key, values in WRONG.items() for value in values]


def in_file(key: str, value: object) -> str:
    """Return a settings file with one key; JSON is YAML."""
    group, _, member = key.partition(".")
    return json.dumps({group: {member: value}} if member else {group: value})


def test_these_tests_cover_every_setting() -> None:
    assert set(WRONG) == {*TABLE, "integrator", "service", "networks"}


@pytest.mark.parametrize(("key", "value"), few_rows(CASES, 90))
def test_a_wrong_value_names_the_file_and_key_and_what_fits(key: str, value: object) -> None:
    error = refused(in_file(key, value))
    expected = TABLE[key].value_type.expected if key in TABLE else "a mapping"
    assert re.match(rf"{DEFAULT_FILE}:[0-9]+: ", error.message)
    assert error.message.partition(": ")[2].startswith(f"{key}: expected {expected}")
    assert error.details["key"] == key


@pytest.mark.parametrize(
    ("key", "value"), few_rows([(key, value) for key, value in CASES if key in TABLE and type(value) is str], 30)
)
def test_a_wrong_value_names_the_variable_and_what_fits(key: str, value: str) -> None:
    error = refused(environ={TABLE[key].variable: value})
    assert error.message.startswith(f"{TABLE[key].variable}: expected {TABLE[key].value_type.expected}")


@pytest.mark.parametrize(
    ("key", "value"),
    few_rows(
        [
            (key, value)
            for key, value in CASES
            if key in TABLE and TABLE[key].on_command_line and (key, value) != ("slippage", TOO_MUCH_SLIPPAGE)
        ],
        60,
    ),
)
def test_a_wrong_value_names_the_flag_and_what_fits(key: str, value: object) -> None:
    error = refused(flags={key: value})
    assert error.message.startswith(f"{TABLE[key].flag}: expected {TABLE[key].value_type.expected}")


def test_the_range_of_a_slippage_on_the_command_line_is_the_quotes() -> None:
    """The API version of the quote decides, so that one rule has one sentence; a setting is for every version."""
    assert load(flags={"slippage": TOO_MUCH_SLIPPAGE}).slippage_ppm == 1_000_001
    assert refused(f"slippage: {TOO_MUCH_SLIPPAGE}").message.endswith("not 100.0001")


def test_the_message_shows_what_was_found_on_one_line() -> None:
    assert refused("max_hops: six").message.endswith('not "six"')
    assert refused("max_hops: [1]").message.endswith("not a list")
    assert refused("max_hops: {a: 1}").message.endswith("not an object")
    assert refused("color: true").message.endswith("not true")
    assert refused('color: "a\\e[2J"').message.endswith(r'not "a\u001b[2J"')
    assert refused("color: " + "x" * 500).message.endswith("…")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("only_protocols", [""], 'expected a list of names, but entry 1 is ""'),
        ("exclude_protocols", ["uniswapV3", None], "expected a list of names, but entry 2 is null"),
        ("exclude_protocols", [["uniswapV3"]], "expected a list of names, but entry 1 is a list"),
        ("exclude_protocols", " , ", 'expected a list of names, not " , "'),
        ("service.trusted_proxies", ["10.0.0.1", "10.0.0.0/99"], 'but entry 2 is "10.0.0.0/99"'),
        ("service.allowed_recipients", ["0x1", "me"], 'but entry 2 is "me"'),
    ],
)
def test_the_message_names_the_wrong_entry_of_a_list(key: str, value: object, problem: str) -> None:
    assert refused(flags={key: value}).message.endswith(problem)


def test_the_wrong_entry_of_a_secret_list_is_not_shown() -> None:
    error = refused("networks: {base: {rpc_urls: ['https://node.example', 'ftp://secret']}}")
    assert error.message.endswith(", or the path of an IPC socket, but entry 2 is not one")


@given(st.integers(0, 1_000_000))
def test_a_slippage_is_exact_in_every_spelling(ppm: int) -> None:
    percent = f"{Decimal(ppm) / 10_000:f}"
    for text in (percent, f"{percent}%", f"{percent} %", f'"{percent}"'):
        assert load(f"slippage: {text}").slippage_ppm == ppm
    assert load(flags={"slippage": f"{Decimal(ppm) / 100:f}bps"}).slippage_ppm == ppm


@given(st.integers(0, 2**128 - 1))
def test_a_gas_price_is_exact_in_every_spelling(wei: int) -> None:
    gwei = f"{wei // 10**9}.{wei % 10**9:09d}"
    for text in (str(wei), f"{wei}wei", f"{wei} WEI", f"{gwei}gwei", f"{gwei} Gwei"):
        assert load(f"gas_price: {text}").gas_price_wei == wei


@pytest.mark.parametrize("text", ["[a, b]", "a,b", "a, b,", "[a, 'b,a']", "- a\n- b"])
def test_a_list_may_be_a_list_or_text_with_commas(text: str) -> None:
    assert load(f"exclude_protocols:\n  {text.replace(chr(10), chr(10) + '  ')}").exclude_protocols == ("a", "b")


@pytest.mark.parametrize("text", ["[9, uniswapV2, 12]", "[9, 'uniswapV2,12']", "- 9\n- uniswapV2\n- 12"])
def test_ids_in_a_list_need_no_quotes(text: str) -> None:
    found = load(f"exclude_protocols:\n  {text.replace(chr(10), chr(10) + '  ')}").exclude_protocols
    assert found == ("9", "uniswapV2", "12")


@pytest.mark.parametrize("text", ["8453", "007", "-5", "0", "+1", "1_000", "9" * 77])
def test_text_of_digits_is_read_as_it_is_written(text: str) -> None:
    headers = f"networks: {{base: {{rpc_headers: {{X-Key: {text}}}}}}}"
    settings = load(f"network: {text}\napi_key: {text}\nexclude_protocols: {text}\n{headers}")
    assert (settings.network, settings.exclude_protocols) == (text, (text,))
    assert settings.api_key is not None
    assert settings.api_key.reveal() == text
    found = settings.networks["base"].rpc_headers
    assert found is not None
    assert found["X-Key"].reveal() == text


def test_an_empty_list_overrides_a_weaker_one() -> None:
    assert load("exclude_protocols: a", flags={"exclude_protocols": []}).exclude_protocols == ()


@pytest.mark.parametrize(
    ("name", "closest"),
    [("SWAPCLI_SLIPAGE", "SWAPCLI_SLIPPAGE"), ("SWAPCLI_INTEGRATOR_FEE", "SWAPCLI_INTEGRATOR_FEE_BPS")],
)
def test_an_unknown_variable_is_refused_with_the_closest(name: str, closest: str) -> None:
    error = refused(environ={name: "1"})
    assert error.message == f'environment variable "{name}": no such setting'
    assert error.hint == f"did you mean {closest}?"


def test_variables_of_other_programs_are_ignored() -> None:
    assert load(environ={"PATH": "x", "SWAP": "1", "swapcli_slippage": "x", "_SWAPCLI_COMPLETE": "x"}) == load()


@pytest.mark.parametrize(
    ("text", "key", "closest"),
    [
        ("slipage: 1", "slipage", "slippage"),
        ("Network: base", "Network", "network"),
        ("integrator: {fee: 1}", "integrator.fee", "integrator.fee_bps"),
        ("integrator: {adress: 1}", "integrator.adress", "integrator.address"),
        ("network_: {}", "network_", "network"),
        ("integrators: {}", "integrators", "integrator"),
    ],
)
def test_an_unknown_key_names_the_file_and_the_closest(text: str, key: str, closest: str) -> None:
    error = refused(text)
    assert error.message == f'{DEFAULT_FILE}:1: key "{key}": no such setting'
    assert error.hint == f"did you mean {closest}?"


def test_a_dotted_key_is_refused_with_the_nested_form() -> None:
    error = refused("integrator.fee_bps: 1")
    assert error.message.endswith("integrator.fee_bps: nest it in the file, as in integrator: {fee_bps: ...}")


def test_an_unknown_key_without_close_matches_names_the_list() -> None:
    assert refused("zzz: 1").hint == "swapcli config show lists all settings"


def test_an_unknown_flag_is_refused() -> None:
    assert refused(flags={"slipage": 1}).message == 'settings: key "slipage": no such setting'


def test_a_key_cannot_be_given_on_the_command_line() -> None:
    error = refused(flags={"api_key": "tell-nobody"})
    assert "api_key cannot be given on the command line" in error.message
    assert "tell-nobody" not in f"{error.message} {error.hint} {error.details}"
