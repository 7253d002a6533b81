"""`config show` lists every value and origin; the example file explains all settings and changes none."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.config import TABLE, Secret, Settings, networks_from
from swapcli.quoting.config.display import SettingRow, example_config, masked_rows
from swapcli.quoting.config.settings import NETWORK_TABLE
from swapcli.quoting.network_definition import definition_of
from tests.quoting.config.in_memory import DEFAULT_FILE, load, refused
from tests.quoting.config.test_network_schema import VALIDATOR

EXAMPLE_FILE = Path(__file__).parents[3] / "config.example.yaml"
TOKENS = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=16, max_size=40)


def uncommented(text: str) -> str:
    """Return the example with every setting uncommented; explanations stay comments."""
    return re.sub(r"^( *)# ?((?:  )*(?:- )?(?:\{|[a-z-]+[a-z_]*:( |$)).*)$", r"\1\2", text, flags=re.MULTILINE)


def test_the_example_file_is_up_to_date() -> None:
    assert EXAMPLE_FILE.read_text(encoding="utf-8") == example_config()


def test_the_example_changes_no_setting() -> None:
    settings = load(example_config())
    assert [row[:2] for row in masked_rows(settings)] == [row[:2] for row in masked_rows(Settings())]
    assert settings.networks == {}


def test_every_setting_of_the_example_can_be_uncommented() -> None:
    settings = load(uncommented(example_config()))
    assert all(settings.origin(key) == f"file {DEFAULT_FILE}" for key in TABLE)
    assert set(settings.networks) == {"base", "my-network"}
    own = networks_from(settings)("my-network")
    assert [each.protocols for each in own.deployments] == [("uniswapV2",), ("uniswapV3",)]
    assert own.routers["universal-router"].protocols == {"uniswapV2": "v2", "uniswapV3": "v3"}
    VALIDATOR.validate({"name": own.name, **json.loads(json.dumps(definition_of(own)))})
    assert all(settings.origin(f"networks.base.{name}") == f"file {DEFAULT_FILE}" for name in NETWORK_TABLE)


@pytest.mark.parametrize("key", TABLE)
def test_the_example_explains_each_setting_and_its_variable(key: str) -> None:
    row = TABLE[key]
    assert f"# {row.help} [{row.variable}]\n" in example_config()


def test_the_example_fits_the_screen() -> None:
    assert max(map(len, example_config().splitlines())) <= 120


def test_every_setting_is_shown_once_in_table_order() -> None:
    assert [row.key for row in masked_rows(Settings())] == list(TABLE)


def test_an_unset_setting_has_no_value() -> None:
    assert {row.key for row in masked_rows(Settings()) if row.value is None} == {
        key for key, row in TABLE.items() if row.default is None
    }


def test_values_are_shown_as_they_are_written() -> None:
    settings = load(
        "slippage: 50bps\ngas_price: 0.01gwei\nexclude_protocols: [a, b]\ntimeout_s: 2.50\nmarket: m.json",
        environ={"SWAPCLI_API_VERSION": "v1"},
    )
    shown = {row.key: (row.value, row.origin) for row in masked_rows(settings) if row.origin != "default"}
    source = f"file {DEFAULT_FILE}"
    assert shown == {
        "slippage": ("0.5", source),
        "gas_price": ("10000000", source),
        "exclude_protocols": ("a,b", source),
        "timeout_s": ("2.5", source),
        "market": (str(DEFAULT_FILE.parent / "m.json"), source),
        "api_version": ("v1", "environment SWAPCLI_API_VERSION"),
    }


def test_networks_are_shown_member_by_member() -> None:
    base = {"rpc_url": "http://localhost:1", "rpc_urls": ["http://u:p@b.example/k"], "router": "0x" + "34" * 20}
    settings = load(json.dumps({"networks": {"base": {**base, "explorer": "https://x.example"}}}))
    source = f"file {DEFAULT_FILE}"
    assert masked_rows(settings)[len(TABLE) :] == [
        SettingRow("networks.base.rpc_url", "http://localhost:1", source),
        SettingRow("networks.base.rpc_urls", "http://b.example/…", source),
        SettingRow("networks.base.router", "0x" + "34" * 20, source),
        SettingRow("networks.base.explorer", '"https://x.example"', source),
    ]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://node.example", "https://node.example"),
        ("https://node.example/", "https://node.example"),
        ("http://127.0.0.1:8545", "http://127.0.0.1:8545"),
        ("ws://[::1]:8546/", "ws://[::1]:8546"),
        ("wss://user:word@node.example/v3/0123456789abcdef", "wss://node.example/…"),
        ("/var/run/geth.ipc", "/var/run/geth.ipc"),
        ("https://node.example/v3/0123456789abcdef", "https://node.example/…"),
        ("https://node.example?key=0123", "https://node.example/…"),
        ("https://node.example#0123", "https://node.example/…"),
        ("https://user:word@node.example:8443", "https://node.example:8443"),
        ("https://0123456789abcdef@node.example", "https://node.example"),
    ],
)
def test_a_node_url_shows_only_scheme_and_host(url: str, shown: str) -> None:
    settings = load(environ={"SWAPCLI_NETWORKS_BASE_RPC_URL": url})
    assert next(row.value for row in masked_rows(settings) if row.key == "networks.base.rpc_url") == shown
    rpc_url = settings.networks["base"].rpc_url
    assert rpc_url is not None
    assert rpc_url.reveal() == url


@given(TOKENS, TOKENS, TOKENS, TOKENS, TOKENS)
def test_no_secret_is_in_any_text_of_the_settings(key: str, user: str, word: str, path: str, query: str) -> None:
    url = f"https://{user}:{word}@node.example/{path}?k={query}"
    networks = {"base": {"rpc_url": url, "rpc_urls": [url]}, "citrea": {"rpc_urls": [url]}}
    settings = load(json.dumps({"api_key": key, "networks": networks}))
    texts = [
        repr(settings),
        str(settings),
        f"{settings}",
        f"{settings.api_key} {settings.api_key!r} {settings.networks}",
        repr(masked_rows(settings)),
        repr(settings.origins),
        repr(settings._asdict()),
    ]
    for secret in (key, user, word, path, query):
        assert not any(secret in text for text in texts)


@given(TOKENS)
def test_a_secret_of_the_wrong_form_is_not_repeated_by_the_error(token: str) -> None:
    for text in (
        f'api_key: "{token} {token}"',
        f"api_key: [{token}]",
        f"networks: {{base: {{rpc_url: {token}}}}}",
        f"networks: {{base: {{rpc_url: 'ftp://{token}'}}}}",
        f"networks: {{base: {{rpc_urls: 'ftp://x/{token}'}}}}",
        f"networks: {{base: {{rpc_urls: [['https://x/{token}']]}}}}",
    ):
        error = refused(text)
        assert token not in f"{error.message} {error.hint} {error.details}"


def test_a_secret_compares_and_copies_but_never_prints_its_value() -> None:
    secret = Secret("one")
    assert secret == Secret("one") != Secret("two")
    assert len({secret, Secret("one"), Secret("two")}) == 2
    assert copy.deepcopy(secret).reveal() == pickle.loads(pickle.dumps(secret)).reveal() == "one"
    settings = Settings(api_key=secret)
    assert "one" not in repr(settings._asdict()["api_key"])
    with pytest.raises(TypeError):
        json.dumps(secret)
