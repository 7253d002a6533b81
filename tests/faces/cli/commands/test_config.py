"""`swapcli config`: settings with their origins, where the file is, and a file to begin with."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from swapcli.quoting.config.display import example_config
from tests.support.command import run_swapcli


def shown(*arguments: str, env: dict[str, str] | None = None) -> dict[str, tuple[str | None, str]]:
    ran = run_swapcli("config", "show", "--json", *arguments, env=env)
    return {entry["key"]: (entry.get("value"), entry["origin"]) for entry in ran.json}


def test_show_tells_values_and_origins(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("slippage: 0.3\nmax_hops: 3\n")
    settings = shown("--config", str(file), env={"SWAPCLI_MAX_HOPS": "4"})
    assert settings["slippage"] == ("0.3", f"file {file}")
    assert settings["max_hops"] == ("4", "environment SWAPCLI_MAX_HOPS")
    assert settings["route_ttl_s"][1] == "default"


def test_show_masks_secrets_in_every_form() -> None:
    env = {"SWAPCLI_API_KEY": "hunter2", "SWAPCLI_NETWORKS_BASE_RPC_URL": "https://node.example/v1/hunter2"}
    for form in ("--json", "--format=plain", "--format=table"):
        out = run_swapcli("config", "show", form, env=env).stdout
        assert "hunter2" not in out
        assert "https://node.example" in out


def test_path_tells_where_the_file_is_or_would_be(tmp_path: Path) -> None:
    assert (
        run_swapcli("config", "path", env={"XDG_CONFIG_HOME": str(tmp_path)}).stdout
        == f"{tmp_path}/swapcli/config.yaml\n"
    )
    assert run_swapcli("config", "path", env={"SWAPCLI_CONFIG": "/else/where"}).stdout == "/else/where\n"
    assert run_swapcli("config", "path", "--config", "mine").stdout == "mine\n"


def test_init_writes_the_example_once_for_its_owner_only(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    file = tmp_path / "swapcli" / "config.yaml"
    assert run_swapcli("config", "init", env=env).stdout == f"{file}\n"
    assert file.read_text() == example_config()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    unset = {"SWAPCLI_LIVE": "", "SWAPCLI_SOLVE_TIME_S": "", "SWAPCLI_SERVICE_SOLVE_TIME_S": ""}
    shown_settings = shown(env={**env, **unset})
    assert {origin for _, origin in shown_settings.values()} <= {"default", f"file {file}"}


def test_init_replaces_nothing_unless_forced(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("slippage: 1\n" * 1)
    refused = run_swapcli("config", "init", "--config", str(file))
    assert refused.exit_code == 2
    assert "--replace" in refused.stderr
    assert file.read_text() == "slippage: 1\n"
    assert run_swapcli("config", "init", "--config", str(file), "--replace").exit_code == 0
    assert file.read_text() == example_config()


def test_init_that_cannot_write_says_so() -> None:
    ran = run_swapcli("config", "init", "--config", "/proc/nowhere/config.yaml")
    assert ran.exit_code == 2
    assert "cannot write" in ran.stderr


def test_a_mistake_in_the_file_names_file_and_key(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("slipage: 1\n")
    ran = run_swapcli("config", "show", "--config", str(file))
    assert ran.exit_code == 2
    assert str(file) in ran.stderr
    assert "slipage" in ran.stderr
    assert "slippage" in ran.stderr


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def test_a_setting_is_set_read_and_unset(settings_file: Path) -> None:
    at = ("--config", str(settings_file))
    assert run_swapcli("config", "set", "network", "base", *at).exit_code == 0
    assert stat.S_IMODE(settings_file.stat().st_mode) == 0o600
    assert run_swapcli("config", "get", "network", *at).stdout == "base\n"
    assert run_swapcli("tokens", *at).exit_code == 0
    rows = run_swapcli("config", "show", "--changed", "--json", *at, env={"SWAPCLI_LIVE": ""}).json
    assert {"key": "network", "value": "base", "origin": f"file {settings_file}"} in rows
    assert len(rows) <= 3
    assert run_swapcli("config", "unset", "network", *at).exit_code == 0
    assert settings_file.read_text() == ""


def test_spare_nodes_are_set_without_an_editor(settings_file: Path) -> None:
    at = ("--config", str(settings_file))
    spares = "https://one.example/key,https://two.example/key"
    assert run_swapcli("config", "set", "networks.base.rpc_url", "http://127.0.0.1:8545", *at).exit_code == 0
    ran = run_swapcli("config", "set", "networks.base.rpc_urls", spares, *at)
    assert ran.exit_code == 0, ran.stderr
    assert spares in settings_file.read_text()
    shown = run_swapcli("config", "get", "networks.base.rpc_urls", *at).stdout
    assert shown == "https://one.example/…,https://two.example/…\n"
    refused = run_swapcli("config", "set", "networks.base.rpc_urls", "https://one.example/key,ftp://secret", *at)
    assert (refused.exit_code, "secret" in refused.stderr) == (2, False), refused.stderr


def test_a_node_is_set_without_an_editor(settings_file: Path) -> None:
    at = ("--config", str(settings_file))
    assert run_swapcli("config", "init", *at).exit_code == 0
    url = "http://user:secret@127.0.0.1:8545"
    assert run_swapcli("config", "set", "networks.base.rpc_url", url, *at).exit_code == 0
    shown = run_swapcli("config", "get", "networks.base.rpc_url", *at).stdout
    assert "127.0.0.1:8545" in shown
    assert "secret" not in shown
    assert settings_file.read_text().startswith(example_config()[:3000])


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("network", "note: network is not set and has no default\n"),
        ("networks.base.router", "note: networks.base.router is not set and has no default\n"),
        ("networks.bse.rpc_url", "unknown network bse: did you mean base?\n"),
        ("networks.citadel_of_nothing.rpc_url", "unknown network citadel_of_nothing\n"),
    ],
)
def test_a_setting_without_a_value_says_so(settings_file: Path, key: str, sentence: str) -> None:
    settings_file.write_text("slippage: 1\n")
    ran = run_swapcli("config", "get", key, "--config", str(settings_file))
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr.endswith(sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("set", "slippage", "0,3"), "error: slippage: expected a percentage"),  # and not: line 1 of the file
        (("set", "slipage", "1"), 'no setting "slipage"'),
        (("set", "networks.base.rpc_ur", "1"), 'no setting "networks.base.rpc_ur"'),
        (("set", "api_key", "x"), "cannot be given on the command line"),
        (("set", "netwrks.base.rpc_url", "1"), "did you mean networks.base.rpc_url"),
        (("unset", "service.prt"), "did you mean service.port"),
        (("set", "network", "bse"), "did you mean base?"),
        (("get", "nothing"), 'no setting "nothing"'),
    ],
)
def test_a_wrong_change_is_refused_and_changes_nothing(
    settings_file: Path, words: tuple[str, ...], sentence: str
) -> None:
    settings_file.write_text("slippage: 1\n")
    ran = run_swapcli("config", *words, "--config", str(settings_file))
    assert (ran.exit_code, sentence in ran.stderr) == (2, True)
    assert settings_file.read_text() == "slippage: 1\n"


def test_a_secret_is_read_from_stdin(settings_file: Path) -> None:
    ran = run_swapcli("config", "set", "api_key", "-", "--config", str(settings_file), stdin=b"k-123\n")
    assert (ran.exit_code, settings_file.read_text()) == (0, "api_key: k-123\n")


def test_the_hint_without_a_network_is_a_command() -> None:
    assert "swapcli config set network base" in run_swapcli("route", "ETH", "USDC", "1").stderr


def test_a_negative_value_is_a_wrong_value_of_its_setting(tmp_path: Path) -> None:
    for key, value in (("max_impact", "-3"), ("slippage", "-1"), ("service.port", "-.5")):
        ran = run_swapcli("config", "set", key, value, "--config", str(tmp_path / "c.yaml"))
        assert (ran.exit_code, ran.stderr.startswith(f"error: {key}: expected ")) == (2, True), ran.stderr
        assert f'not "{value}"' in ran.stderr
    assert not (tmp_path / "c.yaml").exists()


def test_an_unknown_key_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    for text, line, key in (("slippage: 1\nfoo: 1\n", 2, "foo"), ("# a\n\nservice:\n  prot: 3\n", 4, "service.prot")):
        file.write_text(text)
        ran = run_swapcli("config", "show", "--config", str(file))
        assert ran.stderr.startswith(f'error: {file}:{line}: key "{key}": no such setting'), ran.stderr
