"""`swapcli config`: settings with their origins, where the file is, and a file to begin with."""

from __future__ import annotations

import stat
from pathlib import Path

from swapcli.quoting.config.display import example_config
from tests.support.command import run_swapcli


def shown(*arguments: str, env: dict[str, str] | None = None) -> dict[str, tuple[str | None, str]]:
    ran = run_swapcli("config", "show", "--json", *arguments, env=env)
    return {entry["key"]: (entry["value"], entry["origin"]) for entry in ran.json}


def test_show_tells_values_and_origins(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("slippage: 0.3\nmax_hops: 3\n")
    settings = shown("--config", str(file), env={"SWAPCLI_MAX_HOPS": "4"})
    assert settings["slippage"] == ("0.3", f"file {file}")
    assert settings["max_hops"] == ("4", "environment SWAPCLI_MAX_HOPS")
    assert settings["route_ttl_s"][1] == "default"


def test_show_masks_secrets_in_every_form() -> None:
    env = {"SWAPCLI_API_KEY": "hunter2", "SWAPCLI_NETWORKS_BASE_RPC_URL": "https://node.example/v1/hunter2"}
    for form in ("--json", "--plain", "--table"):
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
    assert "--force" in refused.stderr
    assert file.read_text() == "slippage: 1\n"
    assert run_swapcli("config", "init", "--config", str(file), "--force").exit_code == 0
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
