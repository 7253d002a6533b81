"""The program as a whole: help, versions, usage errors, defects, interruptions and broken pipes."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.core import TyperOption
from typer.main import get_command

from swapcli import __version__
from swapcli.core.errors import UpstreamError
from swapcli.faces.cli.commands.networks import app as networks_app
from swapcli.faces.cli.common_options import COMMON_OPTIONS, MAX_OPTIONS
from swapcli.faces.cli.lazy_group import load_command
from swapcli.faces.cli.overview import OPTIONS
from swapcli.faces.cli.typer_root import Root, app
from tests.generate.command_tree import command_nodes
from tests.support.command import run_swapcli
from tests.support.testnet import write_market_file

PROCESS = [sys.executable, "-m", "swapcli"]


def test_the_version_is_the_same_with_and_without_imports() -> None:
    reported = subprocess.run([*PROCESS, "--version"], capture_output=True, text=True, check=True).stdout
    assert reported == run_swapcli("--version").stdout == run_swapcli("-V").stdout == f"swapcli {__version__}\n"


def test_the_overview_groups_commands_by_purpose() -> None:
    out = run_swapcli("--help").stdout
    assert out == run_swapcli().stdout == run_swapcli("-h").stdout
    for section in ("Quote:", "Build:", "Data:", "Run:", "Inspect:", "Configure:"):
        assert section in out
    assert out.index("route") < out.index("Configure:")


def test_the_overview_has_the_options_of_the_root() -> None:
    root = get_command(app)
    described = {", ".join(sorted(p.opts, key=len)): p.help for p in root.params if isinstance(p, TyperOption)}
    assert {**described, "-h, --help": "Show this message and exit."} == OPTIONS


@pytest.mark.parametrize("name", list(Root.entries))
def test_the_overview_says_of_a_command_what_its_help_says(name: str) -> None:
    entry = Root.entries[name]
    assert load_command(name, entry).get_short_help_str(80) == entry.summary


PATHS = [node.path for node in command_nodes() if node.path]
GROUPS = {path[:1] for path in PATHS if len(path) > 1}


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_help_shows_an_example_and_fits_the_terminal(path: tuple[str, ...]) -> None:
    ran = run_swapcli(*path, "--help")
    assert ran.exit_code == 0
    assert path in GROUPS or "swapcli " in ran.stdout.partition("Usage: ")[2].partition("\n")[2]
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.parametrize("path", [path for path in PATHS if path not in GROUPS], ids=" ".join)
def test_the_short_help_has_few_options_on_one_screen(path: tuple[str, ...]) -> None:
    lines = run_swapcli(*path, "-h").stdout.splitlines()
    options = lines[lines.index("Options:") + 1 :] if "Options:" in lines else []
    assert sum(line.startswith("  -") for line in options) <= MAX_OPTIONS
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[-1].endswith(f"swapcli {' '.join(path)} --help")


def test_every_common_option_is_one_of_its_command() -> None:
    whole = {path: run_swapcli(*path.split(), "--help").stdout for path in COMMON_OPTIONS}
    assert [(path, name) for path, names in COMMON_OPTIONS.items() for name in names if name not in whole[path]] == []


def test_help_of_an_option_is_one_short_sentence() -> None:
    texts = {each.help for node in command_nodes() for each in node.options if "--format" not in each.names}
    assert [text for text in texts if len(text) > 60] == []


def test_a_mistyped_command_is_guessed() -> None:
    ran = run_swapcli("tokns", "--json")
    assert ran.exit_code == 2
    assert (ran.error["message"], ran.error["hint"]) == ('no command "tokns"', "did you mean tokens?")


def test_only_near_options_are_suggested() -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "--slipage", "1")
    assert (ran.exit_code, ran.stderr) == (2, 'error: no option "--slipage"\nhint:  did you mean --slippage?\n')
    assert run_swapcli("route", "--nonsense").stderr.endswith("hint:  see swapcli route --help\n")


def test_a_usage_error_of_a_command_points_to_its_help() -> None:
    assert run_swapcli("config", "shw", "--json").error["hint"] == "did you mean show?"
    assert run_swapcli("config", "nonsense", "--json").error["hint"] == "see swapcli config --help"


def test_the_overview_names_an_alias_beside_its_command() -> None:
    assert run_swapcli("--help").stdout.count("quote ") == 1
    assert "  route, quote  Find the best route" in run_swapcli("--help").stdout
    assert run_swapcli("quote", "base", "ETH", "USDC", "0", "--json").error["code"] == "INVALID_AMOUNT"


WRONG = [["rout"], ["networks", "--nonsense"], ["tokens", "nowhere"], ["route", "base", "ETH", "USDC", "-1"]]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
@pytest.mark.parametrize("spelled", ["variable", "--config FILE", "--config=FILE", "home"])
def test_errors_are_json_where_the_settings_ask_for_it(arguments: list[str], spelled: str, tmp_path: Path) -> None:
    file = tmp_path / "swapcli" / "config.yaml"
    file.parent.mkdir()
    file.write_text("output: json\n")
    env = {"variable": {"SWAPCLI_CONFIG": str(file)}, "home": {"XDG_CONFIG_HOME": str(tmp_path)}}.get(spelled, {})
    options = spelled.replace("FILE", str(file)).split() if spelled.startswith("--") else []
    assert run_swapcli(*arguments, *options, env=env).error["exitCode"] == 2
    for other in ("--format=plain", "--format=table"):
        assert run_swapcli(*arguments, other, *options, env=env).stderr.startswith("error: ")


@pytest.mark.parametrize("text", ["output: json\nslippage: abc\n", "output: json\nnonsense: 1\n", "[output"])
def test_errors_in_settings_use_the_requested_format(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    ran = run_swapcli("networks", "--config", str(file))
    assert ran.exit_code == 2
    assert ran.stderr.startswith("{" if text.startswith("output") else "error: ")
    assert (
        run_swapcli("networks", "--config", str(file), env={"SWAPCLI_OUTPUT": "json"}).error["code"] == "CONFIG_ERROR"
    )
    assert run_swapcli("networks", "--config", str(file), env={"SWAPCLI_OUTPUT": "plain"}).stderr.startswith("error: ")


@pytest.mark.parametrize("home", ["/dev/null", "/nonexistent"])
def test_a_home_that_is_no_folder_holds_no_settings(home: str) -> None:
    assert run_swapcli("networks", env={"HOME": home, "XDG_CONFIG_HOME": f"{home}/x"}).exit_code == 0
    assert run_swapcli("networks", "--config", f"{home}/config.yaml").exit_code == 2


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("route", "base", "ETH", "USDC", "1", "--timeout", "soon"), "--timeout"),
        (("serve", "--port", "x"), "--port"),
        (("serve", "--keys-file", ""), "--keys-file"),
        (("route", "base", "ETH", "USDC", "1", "--api-url", "x"), "--api-url"),
        (("route", "base", "ETH", "USDC", "1", "--max-hops", "x"), "--max-hops"),
    ],
)
def test_an_invalid_value_names_its_option(words: tuple[str, ...], option: str) -> None:
    ran = run_swapcli(*words)
    assert (ran.exit_code, ran.stderr.startswith(f"error: {option}: expected ")) == (2, True)


@pytest.mark.parametrize("amount", ["-1", "-1.5", "-.5", "-0"])
def test_a_negative_amount_is_not_taken_for_an_option(amount: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", amount)
    assert (ran.exit_code, ran.stderr) == (2, 'error: write amounts without a sign\nhint:  for example "1.5"\n')


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """What `swapcli networks` raises."""
    raised: list[BaseException] = []

    def callback() -> None:
        raise raised[0]

    command, *others = networks_app.commands
    monkeypatch.setattr(networks_app, "commands", [command._replace(name="show", function=callback), *others])
    return raised


def test_a_defect_is_one_sentence_without_a_traceback(broken: list[BaseException]) -> None:
    broken.append(ZeroDivisionError("by\nzero"))
    ran = run_swapcli("networks")
    assert ran.exit_code == 1
    assert ran.stderr.splitlines() == [
        "error: internal error: ZeroDivisionError: by zero",
        "hint:  this is a bug in swapcli; swapcli --debug prints a traceback",
    ]
    assert "Traceback" in run_swapcli("--debug", "networks").stderr


def test_an_error_of_the_tree_has_its_exit_status(broken: list[BaseException]) -> None:
    broken.append(UpstreamError("the node is silent", details={"node": "x"}))
    assert run_swapcli("networks").exit_code == 5


def test_an_interruption_is_status_130(broken: list[BaseException]) -> None:
    broken.append(KeyboardInterrupt())
    assert (run_swapcli("networks").exit_code, run_swapcli("networks").stderr) == (130, "error: interrupted\n")


def test_an_interrupt_during_imports_leaves_no_traceback() -> None:
    script = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "swapcli.faces.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
sys.argv = ["swapcli", "networks"]
from swapcli.__main__ import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "error: interrupted\n")


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    orders = tmp_path / "orders"
    order = {"tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1000000000000000000"}
    orders.write_text((json.dumps(order) + "\n") * 200)
    command = [*PROCESS, "route", "testnet", "--market", write_market_file(tmp_path), "--batch", str(orders)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


DANGEROUS = "0xa22cb465" + "1".zfill(64) + "1".zfill(64)
"""A call of `setApprovalForAll`."""


@pytest.mark.parametrize("form", ["plain", "table"])
@pytest.mark.parametrize(("words", "status"), [("tokens base", 0), (f"decode {DANGEROUS} --network base --offline", 7)])
def test_a_reader_that_leaves_a_table_changes_no_status(form: str, words: str, status: int) -> None:
    command = [*PROCESS, *words.split(), "--format", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == status


def test_a_reader_that_leaves_does_not_hide_warnings() -> None:
    words = "calldata base ETH USDC 1 --offline --destination 0x1111111111111111111111111111111111111111"
    for form in ("plain", "table", "cast"):
        command = [*PROCESS, *words.split(), "--format", form]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert "do not sign" in process.stderr.read(), form


def test_a_synonym_also_holds_for_errors() -> None:
    assert run_swapcli("route", "base", "ETH", "NOPE", "1", "--offline", "-j").error["code"] == "UNKNOWN_TOKEN"


def test_a_stream_in_ascii_gets_similar_characters() -> None:
    command = [*PROCESS, "route", "base", "🦄→…", "USDC", "1"]
    env = {"PYTHONIOENCODING": "ascii", "HOME": "/nonexistent", "PATH": "", "SWAPCLI_LIVE": "never"}
    ran = subprocess.run(command, capture_output=True, env=env, check=False)
    assert ran.returncode == 2
    assert b'no token "?>..." on base' in ran.stderr


def shell(command: str) -> subprocess.CompletedProcess[bytes]:
    """Runs `swapcli ...` as a shell does, with what is done to its streams."""
    line = command.replace("swapcli", f"{sys.executable} -m swapcli", 1)
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False)


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "2>/dev/full"])
def test_closed_streams_discard_output(streams: str) -> None:
    ran = shell(f"swapcli networks --json {streams}")
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["execute", "route base --batch -", "route base ETH USDC 1 --market -"])
def test_a_closed_stdin_is_empty(command: str) -> None:
    ran = shell(f"swapcli {command} <&-")
    assert ran.returncode == (0 if "--batch" in command else 2)
    assert b"internal" not in ran.stderr


def test_a_full_disk_is_an_io_error() -> None:
    ran = shell("swapcli networks --json >/dev/full")
    assert ran.returncode == 74
    assert json.loads(ran.stderr)["message"] == "cannot read or write: No space left on device"


@pytest.mark.parametrize("command", ["market export base /dev/full", "config init --replace --config /dev/full"])
def test_a_full_disk_under_a_file_is_an_io_error(command: str) -> None:
    ran = run_swapcli(*command.split())
    assert (ran.exit_code, ran.stderr.splitlines()[0]) == (74, "error: cannot write /dev/full: No space left on device")


def test_an_unreadable_error_keeps_its_status() -> None:
    assert shell("swapcli tokens nowhere 2>/dev/full").returncode == 2
    assert shell("swapcli tokens nowhere 2>&-").returncode == 2


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow beyond 8 bytes, as on a full disk. The limit's error is EFBIG.

    This includes a file that pytest prints to, so it must end before the test does.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("command", ["keys create x --keys-file", "config init --config", "market export base"])
def test_a_file_that_does_not_fit_leaves_nothing(command: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    with full_disk():
        ran = run_swapcli(*command.split(), str(file))
    assert (ran.exit_code, ran.stderr) == (74, f"error: cannot write {file}: File too large\n")
    assert not file.exists()


def test_a_key_file_without_an_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.touch(0o600)
    os.truncate(file, 2**40)  # sparse
    ran = run_swapcli("keys", "list", "--keys-file", str(file))
    assert (ran.exit_code, ran.stderr.splitlines()[0]) == (2, f"error: {file}: is larger than 16 MiB")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nowhere/x.svg", "its folder does not exist"),
        (".", "give a file in it"),
        ("f/x.svg", "its folder does not exist"),
    ],
)
def test_a_picture_that_cannot_be_written_has_a_hint(name: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "-o", str(tmp_path / name))
    assert (ran.exit_code, "hint: " in ran.stderr, hint in ran.stderr) == (2, True, True)
    assert (tmp_path / "f").read_text() == ""
