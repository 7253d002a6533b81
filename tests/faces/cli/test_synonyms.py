"""Words of other tools, and of earlier versions: each is read as ours, or its error names ours."""

from __future__ import annotations

import pytest

from swapcli.faces.cli import synonyms
from swapcli.faces.cli.command_app import OptionText, load_app
from swapcli.faces.cli.commands.help import ALIASES as TOPIC_ALIASES
from swapcli.faces.cli.help_topics import ORDER as TOPICS
from swapcli.faces.cli.overview import command_module, command_names
from swapcli.quoting.config import TABLE
from swapcli.quoting.config.setting_synonyms import SYNONYMS
from tests.support.command import run_swapcli

ACCOUNT = "0x" + "11" * 20
ORDER = "route base ETH USDC 1"

READ_AS = [
    (f"{ORDER} --to {ACCOUNT}", f"{ORDER} --destination {ACCOUNT}"),
    (f"{ORDER} --recipient={ACCOUNT}", f"{ORDER} --destination={ACCOUNT}"),
    (f"calldata base ETH USDC 1 --receiver {ACCOUNT}", f"calldata base ETH USDC 1 --destination {ACCOUNT}"),
    (f"calldata base ETH USDC 1 --sender {ACCOUNT}", f"calldata base ETH USDC 1 --from {ACCOUNT}"),
    ("route ETH USDC 1 --network base", ORDER),
    ("route ETH USDC 1 -n base", ORDER),
    ("route ETH USDC 1 --chain=base --json", f"{ORDER} --json"),
    (f"{ORDER} --network base", ORDER),
    ("decode 0x12 -n base", "decode 0x12 --network base"),
    (f"decode 0x12 --to {ACCOUNT} --recipient {ACCOUNT}", f"decode 0x12 --to {ACCOUNT} --destination {ACCOUNT}"),
    ("serve --network base", "serve --networks base"),
    (f"{ORDER} --silent", f"{ORDER} --quiet"),
    (f"{ORDER} --no-color", f"{ORDER} --color=never"),
    (f"{ORDER} --rpc URL", f"{ORDER} --rpc-url URL"),
    (f"{ORDER} --out route.json", f"{ORDER} --output route.json"),
    (f"{ORDER} --max_hops 2", f"{ORDER} --max-hops 2"),
    (f"{ORDER} --get --network", f"{ORDER} --get --network"),
    (f"{ORDER} -- --network", f"{ORDER} -- --network"),
    ("quote base ETH USDC 1", "quote base ETH USDC 1"),
    ("swap base ETH USDC 1", "calldata base ETH USDC 1"),
    ("version", "--version"),
    ("chains", "networks"),
    ("pairs base", "pools base"),
    ("config list", "config show"),
    ("market list", "market info"),
    ("keys add me", "keys create me"),
    ("tokens list base", "tokens base"),
]

NAMED = [
    (f"{ORDER} --network", 'no option "--network"', "write the network before the tokens"),
    (f"{ORDER} --full", 'no option "--full"', "-v"),
    (f"{ORDER} --state safe", 'no option "--state"', "--block"),
    (f"{ORDER} --svg x.svg", 'no option "--svg"', "-o FILE.svg"),
    (f"{ORDER} --svg-width 300", 'no option "--svg-width"', "-o FILE.svg"),
    (f"{ORDER} --mermaid", 'no option "--mermaid"', "--format mermaid"),
    (f"{ORDER} --plain", 'no option "--plain"', "--format plain"),
    ("networks --table", 'no option "--table"', "--format table"),
    ("depth base ETH USDC --csv", 'no option "--csv"', "--format csv"),
    (f"{ORDER} --skip-bad-pools", 'no option "--skip-bad-pools"', "market import"),
    (f"{ORDER} --protocols uniswapV3", 'no option "--protocols"', "--only-protocols"),
    ("serve --once", 'no option "--once"', "--max-requests 1"),
    (
        "serve --rpc-url http://127.0.0.1:1",
        'no option "--rpc-url"',
        "set SWAPCLI_NETWORKS_NETWORK_RPC_URL, or run swapcli config set networks.NETWORK.rpc_url URL",
    ),
    (
        "serve --networks base --rpc http://127.0.0.1:1",
        'no option "--rpc"',
        "set SWAPCLI_NETWORKS_BASE_RPC_URL, or run swapcli config set networks.base.rpc_url URL",
    ),
    (
        "config show --rpc-url URL",
        'no option "--rpc-url"',
        "route, compare, depth, plan, calldata and 16 other commands",
    ),
    ("config init --force", 'no option "--force"', "--replace"),
    ("route base --src ETH --dst USDC --amount 1", 'no option "--src"', "TOKEN_IN"),
    (f"{ORDER} --min-out 2900", 'no option "--min-out"', "--slippage"),
    (f"{ORDER} --private-key KEY", 'no option "--private-key"', "never signs"),
    (f"{ORDER} --broadcast", 'no option "--broadcast"', "never signs or sends"),
    (f"{ORDER} --deadline 20m", 'no option "--deadline"', "it is an option of plan, calldata, execute"),
    ("send base ETH USDC 1", 'no command "send"', "never signs or sends"),
    ("sign", 'no command "sign"', "swapcli calldata"),
    ("gas base", 'no command "gas"', "--gas-price"),
    ("config edit", 'no command "edit"', "swapcli config path"),
    ("config set rpc http://127.0.0.1:1", 'no setting "rpc"', "networks.NETWORK.rpc_url"),
    ("config get state", 'no setting "state"', "the setting is block"),
    ("tokens list base", 'no network "list"', "write swapcli tokens base"),
    ("decode nofile.json", "cannot read nofile.json", "check its name"),
    ("decode ./payload", "cannot read ./payload", "check its name"),
]


@pytest.mark.parametrize(("given", "meant"), READ_AS)
def test_a_word_of_another_tool_is_read_as_ours(given: str, meant: str) -> None:
    assert synonyms.replace_synonyms(given.split()) == meant.split()


@pytest.mark.parametrize(("given", "message", "hint"), NAMED)
def test_a_word_that_means_something_else_is_named(given: str, message: str, hint: str) -> None:
    ran = run_swapcli(*given.split())
    first, second = ran.stderr.splitlines()[:2]
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert first.startswith(f"error: {message}")
    assert second.startswith("hint:")
    assert hint in second


def test_an_alias_prints_what_ours_prints() -> None:
    ran = run_swapcli(*f"route ETH USDC 1 --network base --offline -q --to {ACCOUNT} --get outputAmount".split())
    assert ran.stdout == run_swapcli(*f"{ORDER} --offline --get outputAmount".split()).stdout
    assert run_swapcli("version").stdout == run_swapcli("--version").stdout


def test_every_synonym_stands_for_a_word_of_ours() -> None:
    commands = [each for name in command_names() for each in load_app(command_module(name)).commands]
    notes = [parameter.annotation.__metadata__[0] for each in commands for parameter in each.parameters()]
    options = {note.name for note in notes if isinstance(note, OptionText)}
    assert {each.partition("=")[0] for targets in synonyms.OPTIONS.values() for each in targets} <= options
    assert {words[0] for words in synonyms.COMMANDS.values()} <= {*command_names(), "--version"}
    assert not {*synonyms.COMMANDS, *synonyms.NAMED_COMMANDS} & {*command_names()}
    assert not {*SYNONYMS} & {*TABLE}


@pytest.mark.parametrize(("word", "topic"), [("safe", "Signing"), ("json", "Scripting"), ("errors", "Exit codes")])
def test_help_finds_the_topic_of_a_different_word(word: str, topic: str) -> None:
    assert run_swapcli("help", word).stdout.startswith(f"{topic}: ")


def test_other_words_for_topics_hide_no_topic_or_command() -> None:
    others = {*TOPIC_ALIASES} - {"config"}
    assert {*TOPIC_ALIASES.values()} <= {*TOPICS}
    assert not others & {*TOPICS, *command_names()}


def test_a_topic_that_is_no_command_is_named() -> None:
    assert "it is a help topic: swapcli help history" in run_swapcli("history").stderr
    assert "it is a topic" not in run_swapcli("plan").stderr
