"""README, help and example settings say what is so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

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
from swapcli.families import FAMILIES, family_row
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


BATCH_ORDER = '{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}'
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


@pytest.mark.parametrize("command", few(commands(), 6))
def test_every_command_in_the_docs_works(command: str, service_url: str, node: str) -> None:
    if "keys change Acme" in command:
        shell("swapcli keys create Acme")  # an earlier example, which the sample may lack
    ran = shell(command.replace(SERVICE, service_url).replace(NODE, node))
    assert works(command, ran), ran.stderr
    is_empty = ran.stderr.startswith("note: ")  # of a list without rows
    assert ran.stdout or ran.returncode or is_empty or " -o " in command, "with -o the result is in a file"


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
    found_no_node = ran.returncode == UPSTREAM_STATUS and "no public node responded" in ran.stderr
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
    """Amounts and pools depend on the market and the router; words do not."""
    command, shown = picture()
    printed = shell(f"{command} --format table").stdout
    if os.environ.get("UPDATE_SNAPSHOTS"):
        shown = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
        (ROOT / "README.md").write_text(README.replace(picture()[1], shown))
    now, then = Picture(printed), Picture(shown)
    assert then.head == now.head
    assert max(map(len, shown.splitlines())) <= 80
    assert len(shown.splitlines()) <= 12
    assert all(then.rows)
    assert all(now.rows)


def masked(text: str) -> list[str]:
    """Without blanks at the ends, and without numbers but those of addresses."""
    number = re.compile(r"0x[0-9a-f]{16}…[0-9a-f]+|(?<![\w.])\d[\d,.]*(?!\w)")
    return [re.sub(" +", " ", number.sub("N", line)).rstrip() for line in text.strip().splitlines()]


def test_the_pools_of_the_picture_are_in_the_market() -> None:
    market = open_market("base", find_network).market
    known = {shorten_id(display_address(key, market.network.kind)): pool for key, pool in market.pools.items()}
    named = [row for row in Picture(picture()[1]).rows if row and row["address"]]
    assert named
    for row in named:
        protocol = market.network.protocol(known[row["address"]].protocol)
        assert protocol is not None
        assert row["pool"].startswith(f"{protocol.display_name} ")


def test_the_shares_of_the_picture_sum_to_the_whole() -> None:
    """Each share is rounded to a tenth of a percent."""
    rows = [row for row in Picture(picture()[1]).rows if row]
    assert sum(float(row["percent"]) for row in rows if row["percent"]) == pytest.approx(100, abs=0.2)
    paths = [number for number, row in enumerate(rows) if row["percent"]]
    for start, end in pairwise([*paths, len(rows)]):
        shares = [float(row["share"]) for row in rows[start:end] if row["share"]]
        assert not shares or sum(shares) == pytest.approx(100, abs=0.2)


ROW = re.compile(
    r"(?: {0,2}(?P<percent>\d+\.\d)%| {6})? +(?:(?P<path>\S+(?: → \S+)+) +)?(?:(?P<share>\d+\.\d)% +)?(?P<pool>\S.*?\S)"
    r"(?: +(?P<address>0x\S+…\S+))?"
)


class Picture:
    """A printed route in its parts: the head of three lines, with masked numbers, and a row for each pool or path."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines()
        self.head = masked("\n".join(lines[:3]).replace("<", ""))
        self.rows = [ROW.fullmatch(line.rstrip()) for line in lines[3:]]


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


def test_the_page_of_pools_lists_the_fields_of_each_family() -> None:
    page = ROOT / "docs" / "pools.md"
    before, *_ = re.split(r"^\| family \|", text := page.read_text(), flags=re.MULTILINE)
    rows = "".join(f"| `{name}` | {', '.join(family_row(name).fields)} |\n" for name in FAMILIES)
    table = f"{before}| family | fields of its state |\n|---|---|\n{rows}"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page.write_text(text := table)
    assert text == table


def test_the_pages_of_the_core_are_short() -> None:
    """Their programs run in `tests/test_pure_core.py`."""
    assert all(len((ROOT / "docs" / name).read_text().splitlines()) <= 200 for name in ("core.md", "pools.md"))


@pytest.mark.parametrize("code", few(re.findall(r"```python\n(.*?)```", IMPORTING, re.DOTALL), 4))
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


def test_the_readme_and_the_topics_are_short() -> None:
    """A topic is read at once: what is longer becomes two topics, or a page in `docs`."""
    assert len(README.splitlines()) <= 120
    assert sum(len(file.read_bytes()) for file in TOPICS.glob("*.txt")) <= 60_000
    assert {topic: words for topic in ORDER if (words := len(topic_text(topic).split())) > 900} == {}


def test_help_lists_every_topic() -> None:
    assert {file.stem for file in TOPICS.glob("*.txt")} == set(ORDER)
    lines = run_swapcli("help", env={"COLUMNS": "80"}).stdout.splitlines()
    assert [found[1] for line in lines if (found := re.match(r"  ([a-z-]+) {2,}\S", line))] == [*ORDER]
    assert max(map(len, lines)) <= 79


@pytest.mark.parametrize("topic", ORDER)
def test_help_prints_each_topic(topic: str) -> None:
    text = run_swapcli("help", topic, env={"COLUMNS": "200"}).stdout
    written = (TOPICS / f"{topic}.txt").read_text().split()
    assert text.split()[: len(written)] == written
    assert all(len(line) <= 85 or line.startswith("  $ ") for line in text.splitlines())


def test_an_unknown_topic_is_a_usage_error_that_lists_them() -> None:
    ran = run_swapcli("help", "nothing")
    assert ran.exit_code == 2
    assert all(topic in ran.stderr for topic in ORDER)


def test_the_exit_codes_topic_lists_every_status() -> None:
    rows = re.findall(r"^  (\d+) +(.+)$", topic_text("exit-codes"), re.MULTILINE)
    assert rows == [(str(status), meaning) for status, meaning in MEANING.items()]


def test_the_topics_list_every_code() -> None:
    warnings, verdicts = (_codes_in(topic_text(topic)) for topic in ("warnings", "checks"))
    assert sorted([*warnings, *verdicts]) == sorted(code.value for code in FindingCode)


def test_the_warnings_topic_lists_the_dangerous_codes_together() -> None:
    dangerous = topic_text("warnings").split("\nDANGERS\n")[1].split("\nUNKNOWNS\n")[0]
    verdicts = set(_codes_in(topic_text("checks")))
    assert (
        set(_codes_in(dangerous)) | verdicts
        == {code.value for code in FindingCode if code.level is Level.BLOCK} | verdicts
    )


def test_the_checks_topic_has_the_level_of_each_verdict_code() -> None:
    rows = re.findall(r"^  ([A-Z_]+) {2,}(block|warn): ", topic_text("checks"), re.MULTILINE)
    assert dict(rows) == {code: FindingCode(code).level.value for code in _codes_in(topic_text("checks"))} | {
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
    defaults = {entry["key"]: entry.get("value") for entry in run_swapcli("config", "show", "--json").json}
    assert {entry["key"]: entry.get("value") for entry in shown} == defaults


@pytest.mark.parametrize(
    "path",
    few(
        [
            node.path
            for node in command_nodes()
            # These read a network that tests do not reach; their own tests run them on a node.
            if node.path
            and node.path
            not in {
                *((each,) for each in ("verify", "record", "prove", "hindsight", "backtest", "balance", "allowance")),
                ("networks", "check"),
            }
            and node.path not in {each.path[:1] for each in command_nodes() if len(each.path) > 1}
        ],
        4,
    ),
)
def test_the_example_in_a_help_page_works(path: tuple[str, ...], tmp_path: Path, node: str) -> None:
    example = re.compile(r'^ +(?:Example: )?((?:[A-Z_]+=\S+ |eval "\$\()?swapcli .+)$', re.MULTILINE)
    examples = example.findall(re.sub(r" \\\n +", " ", run_swapcli(*path, "--help").stdout))
    assert examples
    for command in examples:
        line = command.replace("jq -r .outputAmount", "cat").replace(NODE, node)
        shown = " || { status=$?; cat quotes.jsonl; exit $status; }" if "--results quotes.jsonl" in line else ""
        ran = shell(f"export XDG_CONFIG_HOME={tmp_path}; echo '{BATCH_ORDER}' > orders.jsonl; {line}{shown}")
        assert works(line, ran), ran.stderr


def test_the_json_example_prints_an_amount() -> None:
    assert int(json.loads(shell("swapcli route base ETH USDC 1.5 --json").stdout)["outputAmount"]) > 0


def test_help_of_a_command_is_its_help_page() -> None:
    assert run_swapcli("help", "route").stdout == run_swapcli("route", "--help").stdout


def test_help_finds_a_topic_by_its_first_word() -> None:
    assert run_swapcli("help", "exit").stdout == run_swapcli("help", "exit-codes").stdout
