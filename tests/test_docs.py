"""README, help and example settings say what is so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest

import swapcli
from swapcli.core import errors
from swapcli.core.encoding.text import shorten_id
from swapcli.core.model.finding import FindingCode, Level
from swapcli.core.networks.address import display_address
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.cli.completion.shell_scripts import SHELLS
from swapcli.faces.cli.exit_codes import MEANING
from swapcli.faces.cli.help_topics import ORDER, TOPICS, topic_text
from swapcli.faces.cli.tools.skill import skill
from swapcli.faces.cli.typer_root import Root
from swapcli.quoting.config.display import example_config
from swapcli.quoting.open_market import open_market
from tests.chain.anvil import running_anvil
from tests.chain.settings import url_of
from tests.examples import few
from tests.generate.command_tree import command_nodes
from tests.support.command import run_swapcli

ROOT = Path(__file__).parents[1]
END_AFTER_OUTPUT = ROOT / "tests" / "support" / "end_after_output.py"
HOME = TemporaryDirectory()
"""The home directory for commands that create API keys."""
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
IMPORTING = (ROOT / "docs" / "importing.md").read_text()
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
TOPIC_COMMAND = re.compile(r"^  \$ (.+)$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


SERVICE, NODE = "http://127.0.0.1:8000", "http://127.0.0.1:8545"


def commands() -> list[str]:
    """Return every command that the README and the help topics show, once."""
    readme = [command for block in BLOCK.findall(README) for command in COMMAND.findall(block)]
    topics = [command for topic in ORDER for command in TOPIC_COMMAND.findall(topic_text(topic))]
    return list(dict.fromkeys([*readme, *topics]))


def picture() -> tuple[str, str]:
    """The command whose output the README shows, a route, and that output."""
    parts = [block.partition("\n") for block in BLOCK.findall(README)]
    (found,) = [
        (command.removeprefix("$ "), shown) for command, _, shown in parts if not COMMAND.search("\n" + shown) and shown
    ]
    return found


def payload_picture() -> tuple[str, str]:
    """The command whose output the topic `transactions` shows, and that output, indented."""
    found = re.search(r"^  \$ (.+)\n\n((?:    .*\n|\n(?=    ))+)", topic_text("transactions"), re.MULTILINE)
    assert found is not None
    return found[1], found[2]


def shell(command: str, *, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Runs a line as a shell does, in an empty folder, which holds its stores too.

    A service, or a watch, in the line ends once it has written its first line.
    """
    function = f"""swapcli() {{
    case $1 in
        serve|sync) "{sys.executable}" "{END_AFTER_OUTPUT}" "$@" ;;
        *) "{sys.executable}" -m swapcli "$@" ;;
    esac
}}
"""
    # Nothing answers at this proxy: no public node is reached, as on a machine without a network.
    no_network = {"HTTPS_PROXY": "http://127.0.0.1:9"}
    env = {"PATH": "/usr/bin:/bin", "HOME": "/dev/null", "COLUMNS": str(columns), **no_network} | (
        {"XDG_CONFIG_HOME": HOME.name} if "swapcli keys" in command else {}
    )
    with TemporaryDirectory() as folder:
        env["XDG_DATA_HOME"] = folder
        line = ["bash", "-c", function + command]
        return subprocess.run(line, capture_output=True, text=True, env=env, cwd=folder, check=False)


def on_terminal(command: str) -> str:
    """What a line writes to stdout where that is a terminal of 80 columns without colours."""
    ours, theirs = os.openpty()
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/dev/null", "COLUMNS": "80"}
    env |= {"NO_COLOR": "1", "TERM": "dumb"}
    with open(ours, "rb", buffering=0) as reader:
        subprocess.run(["bash", "-c", command], stdout=theirs, stderr=subprocess.DEVNULL, env=env, check=True)
        os.close(theirs)
        printed = b"".join(iter(lambda: _read(reader), b""))
    return printed.decode().replace("\r\n", "\n")


def _read(reader: IO[bytes]) -> bytes:
    """Read what is available. A closed terminal raises an error instead of returning nothing."""
    try:
        return reader.read(65_536)
    except OSError:
        return b""


def test_the_readme_opens_with_the_two_set_up_commands() -> None:
    first = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert first[1].splitlines() == ["pip install . && swapcli route base ETH USDC 1.5", "make test"]
    assert shell("swapcli route base ETH USDC 1.5").returncode == 0


@pytest.mark.parametrize("name", SHELLS)
def test_the_line_for_completion_works_in_its_shell(name: str) -> None:
    (line,) = re.findall(rf"^(.*swapcli completion {name}\b[^#\n]*)", README, re.MULTILINE)
    program = shutil.which(name)
    assert program is not None, f"install {name}"
    shown = {"bash": "complete -p swapcli", "zsh": "echo $_comps[swapcli]", "fish": "complete -c swapcli"}[name]
    set_up = "autoload -U compinit && compinit -u -D\n" if name == "zsh" else ""
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": HOME.name, "TERM": "dumb"}
    ran = subprocess.run(
        [program, "-c", f"{set_up}{line}\n{shown}"], capture_output=True, text=True, env=env, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "swapcli" in ran.stdout


@pytest.fixture(scope="module")
def node() -> Iterator[str]:
    """The address of a node of base, a chain on which nothing has happened."""
    with running_anvil(find_network("base").chain_id) as chain:
        yield url_of(chain)


@pytest.mark.parametrize("command", few(commands(), 16))
def test_every_command_in_the_docs_works(command: str, service_url: str, node: str) -> None:
    ran = shell(command.replace(SERVICE, service_url).replace(NODE, node))
    assert works(command, ran), ran.stderr
    assert ran.stdout or ran.returncode or " -o " in command, "with -o the result is in a file"


UPSTREAM_STATUS, UNHEALTHY_STATUS = 5, 8
FOR_PROGRAMS = ("--get", "--batch", "--watch")
"""Options whose output is read by programs, which see no label on it."""
UNSAFE_PIPE = re.compile(r"swapcli (route|compare|depth|price|pools)\b(?!.*--(live|offline)).*--json.*\|")


def test_no_example_pipes_unlabelled_prices() -> None:
    """A program that reads a whole document may overlook that its prices are modelled; --get cannot."""
    helps = [file.read_text() for file in (ROOT / "swapcli" / "faces" / "cli" / "commands").glob("**/*.py")]
    for page in (README, *map(topic_text, ORDER), (ROOT / "llms.txt").read_text(), skill(), *helps):
        joined = page.replace("\\\\\n", " ").replace("\\\n", " ")
        assert not UNSAFE_PIPE.search(joined)
    assert UNSAFE_PIPE.search("swapcli route base ETH USDC 1 --json | jq .outputAmount")


def works(command: str, ran: subprocess.CompletedProcess[str]) -> bool:
    """Return whether a command works: on a chain on which nothing has happened, a sync can only say so, no node has
    the past blocks of a network here, the service of the tests has modelled prices, and programs get none of these that
    nobody requested."""
    found_nothing = ran.returncode == UPSTREAM_STATUS and "the sync found no pool" in ran.stderr
    found_no_node = ran.returncode == UPSTREAM_STATUS and "no public node has answered" in ran.stderr
    found_modelled = ran.returncode == UNHEALTHY_STATUS and "the prices are modelled" in ran.stderr
    found_no_live = ran.returncode == UNHEALTHY_STATUS and "no live prices for" in ran.stderr
    is_for_programs = any(option in command for option in FOR_PROGRAMS)
    found_no_prices = (
        ran.returncode == UPSTREAM_STATUS and "only modelled prices are available" in ran.stderr + ran.stdout
    )
    is_excused = (
        (is_for_programs and found_no_prices)
        or ("swapcli sync" in command and found_nothing)
        or ("--block" in command and found_no_node)
        or ("health" in command and "--offline" not in command and (found_modelled or found_no_live))
    )
    return ran.returncode == 0 or is_excused


def test_the_picture_shows_what_the_command_prints_today() -> None:
    """Amounts and pools depend on the market and the router; titles and facts do not."""
    command, shown = picture()
    printed = shell(f"{command} --table").stdout
    if os.environ.get("UPDATE_SNAPSHOTS"):
        shown = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
        (ROOT / "README.md").write_text(README.replace(picture()[1], shown))
    now, then = Picture(printed), Picture(shown)
    assert then.title == now.title
    assert then.facts == now.facts
    assert max(map(len, shown.splitlines())) <= 80
    assert len(then.swaps) == len(then.rows)
    assert len(now.swaps) == len(now.rows)


def test_the_picture_of_a_payload_shows_what_is_printed_today() -> None:
    """Which pools are called, and so how long the calldata is, follows market and router."""
    command, shown = payload_picture()
    printed = "".join(f"    {line}".rstrip() + "\n" for line in on_terminal(command).splitlines())
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page = TOPICS / "transactions.txt"
        page.write_text(page.read_text().replace(shown, printed))
        shown = printed
    assert masked(shown) == masked(printed)
    assert max(map(len, shown.splitlines())) <= 84


def masked(text: str) -> list[str]:
    """Without blanks at the ends, and without numbers but those of addresses."""
    number = re.compile(r"0x[0-9a-f]{16}…[0-9a-f]+|(?<![\w.])\d[\d,.]*(?!\w)")
    return [re.sub(" +", " ", number.sub("N", line)).rstrip() for line in text.strip().splitlines()]


def test_the_pools_of_the_picture_are_in_the_market() -> None:
    market = open_market("base", find_network).market
    drawn = Picture(picture()[1])
    named = {swap["mark"]: swap["pool"] for swap in drawn.swaps}
    assert [mark for mark, _ in drawn.pools] == [f"#{number}" for number in range(1, len(named) + 1)]
    known = {shorten_id(display_address(key, market.network.kind)): pool for key, pool in market.pools.items()}
    for mark, described in drawn.pools:
        identifier, _, name = described.partition(" ")
        protocol = market.network.protocol(known[identifier].protocol)
        assert protocol is not None
        assert name.startswith(f"{protocol.display_name} ")
        assert named[mark].startswith(f"{protocol.display_name} ")


def test_the_shares_of_the_picture_sum_to_the_whole() -> None:
    swaps = Picture(picture()[1]).swaps
    assert sum(Decimal(swap["percent"]) for swap in swaps if swap["percent"]) == 100
    hops = [number for number, swap in enumerate(swaps) if swap["hop"]]
    for start, end in pairwise([*hops, len(swaps)]):
        assert sum(float(swap["share"]) for swap in swaps[start:end]) == pytest.approx(100)


ROW = re.compile(
    r"(?:(?P<percent>\d+(?:\.\d\d)?)% +)?(?:(?P<hop>\S+ → \S+) +)?(?P<pool>\S.*\S) +(?P<mark>#\d+) +"
    r"(?P<share>\d+\.\d\d)% +(?P<amount>[\d,]+\.\d+) \S+"
)


class Picture:
    """A printed route in its parts. In `facts` numbers are masked and blanks are one."""

    def __init__(self, text: str) -> None:
        head, rows, pools, facts, *_ = (part.strip("\n") for part in re.split(r"\n *\n", text.strip("\n")))
        self.title = head.split()
        self.rows = rows.splitlines()
        self.swaps = [match for row in self.rows if (match := ROW.fullmatch(row.strip()))]
        self.pools = [tuple(line.split(maxsplit=1)) for line in pools.splitlines()]
        self.facts = re.sub(r"\d[\d,.]*", "N", " ".join(facts.split()).replace("less than ", ""))


def test_the_readme_lists_every_command_with_its_summary() -> None:
    rows = re.findall(r"^\| `swapcli (\w+)` \| (.+) \|$", README, re.MULTILINE)
    assert rows == [(name, entry.summary) for name, entry in Root.entries.items()]


def test_the_readme_names_every_network() -> None:
    beginning = README.split("```")[0]
    assert all(re.search(rf"\b{name}\b", beginning, re.IGNORECASE) for name in network_names())


def test_the_library_example_prints_what_the_readme_shows() -> None:
    """Figures depend on the market and the router; words, digits of the selector and addresses do not."""
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    assert found is not None
    code, shown = found.groups()
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"HOME": "/dev/null"}, check=True
    )
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file = ROOT / "README.md"
        file.write_text(file.read_text().replace(shown, ran.stdout))
        shown = ran.stdout
    assert len(ran.stdout.splitlines()) == 2
    assert masked(shown) == masked(ran.stdout)


def test_every_public_name_is_on_the_page_of_public_names() -> None:
    """The errors are listed as one tree, in the reference."""
    named = set(re.findall(r"`([A-Za-z_]\w*)`", IMPORTING))
    assert not {name for name in swapcli.__all__ if not hasattr(errors, name)} - named


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", IMPORTING, re.DOTALL))
def test_each_group_of_public_names_has_an_example_that_runs(code: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "SWAPCLI_LIVE": "never"},
        check=True,
    )
    assert ran.stdout


def test_the_glossary_explains_ten_words() -> None:
    words = re.findall(r"^\*\*(\w+)\.\*\*", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    assert len(words) == 10


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_help_lists_every_topic() -> None:
    assert {file.stem for file in TOPICS.glob("*.txt")} == set(ORDER)
    assert set(re.findall(r"^  ([a-z-]+) {2,}\S", run_swapcli("help").stdout, re.MULTILINE)) == set(ORDER)


@pytest.mark.parametrize("topic", ORDER)
def test_help_prints_each_topic(topic: str) -> None:
    text = run_swapcli("help", topic, env={"COLUMNS": "200"}).stdout
    before, *after = re.split(r"^\{(?:families|keys)\}$", (TOPICS / f"{topic}.txt").read_text(), flags=re.MULTILINE)
    assert text.split()[: len(before.split())] == before.split()
    rest = "".join(after).split()
    assert not rest or text.split()[-len(rest) :] == rest
    assert all(len(line) <= 85 or line.startswith("  $ ") for line in text.splitlines())


def test_an_unknown_topic_is_a_usage_error_that_lists_them() -> None:
    ran = run_swapcli("help", "nothing")
    assert ran.exit_code == 2
    assert all(topic in ran.stderr for topic in ORDER)


def test_the_exit_codes_topic_lists_every_status() -> None:
    rows = re.findall(r"^  (\d+) +(.+)$", topic_text("exit-codes"), re.MULTILINE)
    assert rows == [(str(status), meaning) for status, meaning in MEANING.items()]


def test_the_topics_list_every_code() -> None:
    warnings, verdicts = (_codes_in(topic_text(topic)) for topic in ("warnings", "transactions"))
    assert sorted([*warnings, *verdicts]) == sorted(code.value for code in FindingCode)


def test_the_warnings_topic_lists_the_dangerous_codes_together() -> None:
    dangerous = topic_text("warnings").split("dangerous to sign:")[1].split("Know these before you sign")[0]
    verdicts = set(_codes_in(topic_text("transactions")))
    assert (
        set(_codes_in(dangerous)) | verdicts
        == {code.value for code in FindingCode if code.level is Level.BLOCK} | verdicts
    )


def test_the_transactions_topic_has_the_level_of_each_verdict_code() -> None:
    rows = re.findall(r"^  ([A-Z_]+) {2,}(block|warn): ", topic_text("transactions"), re.MULTILINE)
    assert dict(rows) == {code: FindingCode(code).level.value for code in _codes_in(topic_text("transactions"))} | {
        "PRICE_BELOW_REFERENCES": "warn"
    }


def _codes_in(text: str) -> list[str]:
    return re.findall(r"^  ([A-Z][A-Z_]+) {2,}\S", text, re.MULTILINE)


@pytest.mark.parametrize("page", [README, *map(topic_text, ORDER)], ids=["readme", *ORDER])
def test_every_option_in_the_docs_exists(page: str) -> None:
    known = {name for node in command_nodes() for option in node.options for name in option.names}
    others = ("cast ", "docker ", "command: valkey-server ")
    own = "\n".join(line for line in page.splitlines() if not line.lstrip().startswith(others))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", own)) <= known


def test_links_lead_somewhere() -> None:
    headings = {f"#{title.lower().replace(' ', '-')}" for title in re.findall(r"^#+ (.+)$", README, re.MULTILINE)}
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target in headings or (ROOT / target).exists(), target


def test_every_make_target_in_the_docs_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in (README, CONTRIBUTING):
        assert set(re.findall(r"(?:`|^)make ([a-z-]+)", page, re.MULTILINE)) <= targets


def test_every_file_named_for_contributors_exists() -> None:
    pages = [CONTRIBUTING, ARCHITECTURE, *(page.read_text() for page in DECISIONS)]
    files = re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?|[a-z_]+/[a-z_/]+\.py)`", "\n".join(pages))
    assert len(files) > 90
    for file in files:
        assert (ROOT / file).exists() or (ROOT / "swapcli" / file).exists(), file


def test_links_between_the_pages_for_contributors_lead_somewhere() -> None:
    for page in (
        ROOT / "CONTRIBUTING.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CHANGELOG.md",
        ROOT / "BENCHMARKS.md",
        *DECISIONS,
    ):
        for target in re.findall(r"\]\((?!https:)([^)#]+)[^)]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_decision_is_in_the_list() -> None:
    pages = {page.name: page.read_text() for page in DECISIONS}
    listed = re.findall(r"^\* \[(.+)\]\((.+)\)$", pages.pop("README.md"), re.MULTILINE)
    assert {file: title for title, file in listed} == {
        name: text.splitlines()[0].removeprefix("# ") for name, text in pages.items()
    }


def test_the_architecture_names_every_package() -> None:
    packages = {each.parent.name for each in (ROOT / "swapcli").glob("*/__init__.py")}
    named = set(re.findall(r"`([a-z]+)`", ARCHITECTURE.split("## The way of a quote")[0]))
    assert packages <= named | {"startup"}


def test_the_example_settings_are_those_of_init_and_defaults() -> None:
    file = ROOT / "config.example.yaml"
    assert file.read_text() == example_config()
    shown = run_swapcli("config", "show", "--json", "--config", str(file)).json
    defaults = {entry["key"]: entry["value"] for entry in run_swapcli("config", "show", "--json").json}
    assert {entry["key"]: entry["value"] for entry in shown} == defaults


@pytest.mark.parametrize(
    "path",
    few(
        [
            node.path
            for node in command_nodes()
            # These read a network that tests do not reach; their own tests run them on a node.
            if node.path
            and node.path
            not in {("verify",), ("record",), ("prove",), ("hindsight",), ("backtest",), ("balance",), ("allowance",)}
            and node.path not in {each.path[:1] for each in command_nodes() if len(each.path) > 1}
        ],
        10,
    ),
)
def test_the_example_in_a_help_page_works(path: tuple[str, ...], tmp_path: Path, node: str) -> None:
    example = re.compile(r'^ +(?:Example: )?((?:[A-Z_]+=\S+ |eval "\$\()?swapcli .+)$', re.MULTILINE)
    examples = example.findall(re.sub(r" \\\n +", " ", run_swapcli(*path, "--help").stdout))
    assert examples
    for command in examples:
        line = command.replace("jq -r .outputAmount", "cat").replace(NODE, node)
        ran = shell(f"export XDG_CONFIG_HOME={tmp_path}; {line}")
        assert works(line, ran), ran.stderr


def test_the_json_example_prints_an_amount() -> None:
    assert int(json.loads(shell("swapcli route base ETH USDC 1.5 --json").stdout)["outputAmount"]) > 0


def test_help_of_a_command_is_its_help_page() -> None:
    assert run_swapcli("help", "route").stdout == run_swapcli("route", "--help").stdout


def test_help_finds_a_topic_by_its_first_word() -> None:
    assert run_swapcli("help", "exit").stdout == run_swapcli("help", "exit-codes").stdout
