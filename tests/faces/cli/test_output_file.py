"""`--output FILE`: the file gets what stdout would get, whole and only when the command succeeds."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from swapcli.faces.cli import exit_codes
from tests.examples import few, few_rows
from tests.support.command import run_swapcli

ROUTE = ("route", "base", "ETH", "USDC", "1.5", "--offline")


def without_time(text: str) -> list[str]:
    """Return the lines that do not have the time of the quote."""
    return [line for line in text.splitlines() if "expires" not in line.lower()]


@pytest.mark.parametrize(
    "command",
    few(
        [
            (*ROUTE, "--format=plain"),
            (*ROUTE, "--format=mermaid"),
            (*ROUTE, "--format=svg"),
            (*ROUTE, "--get", "outputAmount"),
            (*ROUTE, "--format", "csv"),
            ("tokens", "base"),
            ("networks", "--json"),
            ("depth", "base", "ETH", "USDC", "--offline", "--amounts", "1,2"),
            ("price", "base", "ETH", "--offline"),
            ("schema", "route"),
            ("config", "show"),
        ],
        5,
    ),
)
def test_the_file_gets_what_stdout_would(command: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "result"
    printed, written = run_swapcli(*command), run_swapcli(*command, "-o", str(file))
    assert (written.exit_code, written.stdout) == (printed.exit_code, "")
    assert written.stderr == printed.stderr
    if "--format" in command:  # expiresAt is a column
        assert file.read_text().splitlines()[0] == printed.stdout.splitlines()[0]
    else:
        assert without_time(file.read_text()) == without_time(printed.stdout)


@pytest.mark.parametrize(
    ("command", "name", "beginning"),
    few_rows(
        [
            (ROUTE, "r.json", '{"success": true'),
            (ROUTE, "r.csv", "network,inputToken,"),
            (ROUTE, "R.SVG", "<svg "),
            (ROUTE, "r.mmd", "flowchart LR"),
            (ROUTE, "r.txt", "1.5 ETH → 4,679.40 USDC on base"),
            (("depth", "base", "ETH", "USDC", "--offline"), "d.svg", "<svg "),
            (("depth", "base", "ETH", "USDC", "--offline"), "d.csv", "network,inputToken,"),
            (("tokens", "base"), "t.csv", "symbol,"),
            (("networks",), "n.json", "[{"),
        ],
        2,
    ),
)
def test_the_name_chooses_the_format(command: tuple[str, ...], name: str, beginning: str, tmp_path: Path) -> None:
    assert run_swapcli(*command, f"--output={tmp_path / name}").exit_code == exit_codes.OK
    assert (tmp_path / name).read_text().startswith(beginning)


@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        (("--json", "-o", "r.txt"), '{"success": true'),
        (("--json", "-o", "r.json"), '{"success": true'),
        (("--format=plain", "-o", "quote.2026-11-28"), "1.5 ETH"),
        (("--get", "outputAmount", "-o", "r.json"), "4679405141"),
        (("-o", "./json"), "1.5 ETH"),
    ],
)
def test_a_requested_format_goes_to_a_file_of_any_suitable_name(
    options: tuple[str, ...], beginning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_swapcli(*ROUTE, *options).exit_code == exit_codes.OK
    assert Path(options[-1]).read_text().startswith(beginning)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((*ROUTE, "-o", "json"), "json is a format"),
        ((*ROUTE, "-o", "JSON"), "JSON is a format"),
        ((*ROUTE, "-o", "yaml"), "yaml is a format"),
        ((*ROUTE, "-o", "table"), "table is a format"),
        (("networks", "-o", "csv", "--json"), "csv is a format"),
        ((*ROUTE, "-o", "x.pdf"), "does not write .pdf files"),
        ((*ROUTE, "-o", "x.PNG"), "does not write .png files"),
        ((*ROUTE, "--json", "-o", "x.yaml"), "does not write .yaml files"),
        ((*ROUTE, "-o", "x.csv", "--json"), "a .csv file cannot contain json"),
        ((*ROUTE, "-o", "x.json", "--format", "csv"), "a .json file cannot contain csv"),
        ((*ROUTE, "-o", "x.json", "--format=table"), "a .json file cannot contain table"),
        ((*ROUTE, "-o", "x.svg", "--format=plain"), "a .svg file cannot contain plain"),
        ((*ROUTE, "-o", "x.mmd", "--format", "csv"), "a .mmd file cannot contain csv"),
        (("price", "base", "ETH", "--offline", "-o", "x.svg"), "does not print svg"),
        (("depth", "base", "ETH", "USDC", "--offline", "-o", "x.mmd"), "does not print mermaid"),
        ((*ROUTE, "-o", "svg"), "svg is a format"),
        (("hindsight", "base", "0x" + "ab" * 32, "-o", "x.png"), "does not write .png files"),
        (("route", "base", "--batch", "-", "--offline", "--results", "json"), "json is a format"),
    ],
)
def test_a_name_that_stands_for_another_format_is_refused(
    command: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run_swapcli(*command)
    assert (ran.exit_code, ran.stdout) == (exit_codes.USAGE, "")
    assert message in (ran.stderr if "--json" not in command else ran.error["message"])
    assert not list(tmp_path.iterdir())


def test_a_command_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text("before")
    ran = run_swapcli("route", "base", "ETH", "NOPE", "1", "--offline", "-o", str(file))
    assert (ran.exit_code, ran.stdout, file.read_text()) == (exit_codes.USAGE, "", "before")
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]
    run_swapcli("networks", "-o", str(file))
    assert file.read_text() != "before"
    assert not stat.S_IMODE(file.stat().st_mode) & 0o111


def test_a_dash_is_stdout() -> None:
    assert run_swapcli("networks", "-o", "-").stdout == run_swapcli("networks").stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((*ROUTE, "-o", "missing/r.json"), "its folder does not exist"),
        ((*ROUTE, "-o", ""), "--output needs a file name"),
        ((*ROUTE, "-o", "."), "it is a folder"),
        (("calldata", "base", "ETH", "USDC", "1", "-o", "c.csv"), "this command does not print csv"),
        ((*ROUTE, "--watch", "-o", "r.json"), "--watch prints many"),
        (("route", "base", "--batch", "-", "-o", "r.json"), "--results FILE writes the results of a batch"),
        (("sync", "base", "--watch", "-o", "s.json"), "--watch prints many"),
        (("serve", "-o", "s.json"), "serve prints many"),
    ],
)
def test_what_no_file_can_have_is_refused_at_once(
    command: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run_swapcli(*command)
    assert ran.exit_code != exit_codes.OK
    assert ran.stdout == ""
    assert message in ran.stderr
    assert not list(tmp_path.iterdir())
