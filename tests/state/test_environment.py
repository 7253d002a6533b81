"""Variables of the environment lose the line ends that files of variables leave behind, wherever one is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.quoting.config import TABLE
from swapcli.state.environment import variable
from swapcli.state.user_folders import config_file, data_folder
from tests.examples import few
from tests.quoting.config.in_memory import HOME, load
from tests.quoting.config.samples import VALUES
from tests.support.command import run_swapcli

LINE_ENDS = ("\r", "\n", "\r\n", "\r\r")


@pytest.mark.parametrize("line_end", LINE_ENDS)
def test_line_ends_at_the_end_are_left_out(line_end: str) -> None:
    assert variable({"A": f" a b {line_end}"}, "A") == " a b "
    assert variable({"A": f"a{line_end}b"}, "A") == f"a{line_end}b"
    assert variable({}, "A") == variable({"A": line_end}, "A") == ""


@pytest.mark.parametrize("line_end", few(LINE_ENDS, 1))
@pytest.mark.parametrize("key", TABLE)
def test_every_setting_is_read_without_them(key: str, line_end: str) -> None:
    name, text = TABLE[key].variable, next(iter(VALUES[key]))
    assert load(environ={name: text + line_end}) == load(environ={name: text})
    assert load(environ={name: line_end}) == load()


@pytest.mark.parametrize("line_end", LINE_ENDS)
def test_so_are_the_folders_of_the_user(line_end: str) -> None:
    assert config_file({"SWAPCLI_CONFIG": f"/c.yaml{line_end}"}, str(HOME)) == "/c.yaml"
    assert data_folder({"XDG_DATA_HOME": f"/d{line_end}"}, str(HOME)) == "/d/swapcli"


def test_a_command_runs_with_variables_of_another_system(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("network: base\n")
    values = {
        "SWAPCLI_CONFIG": str(tmp_path / "config.yaml"),
        "SWAPCLI_NETWORKS_BASE_RPC_URL": "http://127.0.0.1:1",
        "SWAPCLI_SLIPPAGE": "1",
        "XDG_DATA_HOME": str(tmp_path),
        "COLUMNS": "70",
        "NO_COLOR": "",
        "TERM": "dumb",
    }
    command = ("route", "ETH", "USDC", "1", "--offline", "--format=table")
    expected = run_swapcli(*command, env=values)
    ran = run_swapcli(*command, env={name: f"{value}\r" for name, value in values.items()})
    assert (ran.exit_code, ran.stderr) == (expected.exit_code, expected.stderr) == (0, expected.stderr)
    assert ran.stdout.splitlines()[0] == expected.stdout.splitlines()[0]
