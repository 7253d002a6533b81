"""`swapcli networks` lists, shows, adds and removes networks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import all_network_names, find_network, network_names
from swapcli.core.networks.definition_files import read_definition
from tests.support.command import CommandResult, run_swapcli

WIDE = {"COLUMNS": "320"}
TOKEN = "0x" + "56" * 20
MINE = {"address": TOKEN, "symbol": "MINE", "name": "My Token", "decimals": 9}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "config.yaml"
    file.touch()
    return file


def run(settings: Path, *words: str, stdin: bytes = b"") -> CommandResult:
    return run_swapcli("networks", *words, "--config", str(settings), stdin=stdin)


def test_networks_lists_the_users_networks() -> None:
    listed = run_swapcli("networks", "--json").json
    assert [entry["name"] for entry in listed] == list(network_names())
    assert all(entry["chainId"] == str(find_network(entry["name"]).chain_id) for entry in listed)


def test_all_lists_those_that_come_with_the_program() -> None:
    assert [entry["name"] for entry in run_swapcli("networks", "--all", "--json").json] == list(all_network_names())


@pytest.mark.parametrize("command", [("networks",), ("protocols", "base"), ("config", "show")])
def test_every_form_lists_the_same(command: tuple[str, ...]) -> None:
    plain, table = (run_swapcli(*command, form, env=WIDE).stdout for form in ("--format=plain", "--format=table"))
    assert [line.split() for line in plain.splitlines()[1:]] == [line.split() for line in table.splitlines()[1:]]
    assert len(plain.splitlines()) == 1 + len(run_swapcli(*command, "--json").json)


@pytest.mark.parametrize("name", ["base", "starknet", "8453"])
def test_a_network_is_shown_with_everything_that_is_known(name: str) -> None:
    network = find_network(name)
    shown = run_swapcli("networks", name, "--json").json
    assert shown == run_swapcli("networks", "show", name, "--json").json
    assert [token["symbol"] for token in shown["tokens"]] == [token.symbol for token in network.tokens]
    assert [each["protocol"] for each in shown["protocols"]] == [each.amm_name for each in network.protocols]
    assert [set(each["addresses"]) for each in shown["venues"]] == [set(each.addresses) for each in network.deployments]
    assert shown["nodes"] == [node.url for node in network.public_nodes]
    assert shown["factsDate"] == network.facts_date
    table = run_swapcli("networks", name, "-v", "--format=table", env=WIDE).stdout
    assert all(each["name"] in table for each in shown["venues"] if each["addresses"])


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_a_network_is_brief_without_verbose(form: str) -> None:
    """What other commands list, and contracts, are counted."""
    network = find_network("base")
    brief, whole = (run_swapcli("networks", "base", form, *more).stdout for more in ((), ("-v",)))
    assert brief.startswith(f"base: chain {network.chain_id}\n")
    assert len(brief.splitlines()) < 20 < len(network.tokens) < len(whole.splitlines())
    # The list of networks calls those with pools "tokens".
    note = "swapcli tokens base lists those with pools and yours"
    assert re.search(rf"(?m)^Known tokens +{len(network.tokens)} +{note}$", brief)
    assert not re.search(r"(?m)^Tokens ", brief + whole)
    assert re.search(rf"(?m)^Unconfirmed +{len(network.unconfirmed)} facts? +-v lists them$", brief)
    assert re.sub(r"\s+", " ", "; ".join(network.unconfirmed)) in re.sub(r"\s+", " ", whole)
    assert all(router.address in brief.lower() for router in network.routers.values() if router.address)


@pytest.mark.parametrize("name", all_network_names())
def test_a_printed_definition_can_be_added_and_describes_the_same_network(settings: Path, name: str) -> None:
    printed = run(settings, name, "--file").stdout
    file = settings.parent / "copy.json"
    file.write_text(printed)
    added = run(settings, "add", str(file), "--json")
    assert added.exit_code == 0, added.stderr
    assert added.json["change"] == "replaced"
    assert run(settings, name, "--file").stdout == printed
    shown = {key: value for key, value in run(settings, name, "--json").json.items() if key != "describedBy"}
    assert shown == {key: value for key, value in run_swapcli("networks", name, "--json").json.items() if key in shown}
    unsafe = read_definition(name).get("unconfirmed_tokens")
    assert json.loads(printed).get("unconfirmed_tokens") == unsafe


def test_a_definition_never_shows_the_nodes_of_the_user(settings: Path) -> None:
    settings.write_text(json.dumps({"networks": {"base": {"rpc_url": "https://node.example/secret-key"}}}))
    own = json.dumps({"name": "base", "rpc_urls": ["https://own.example/secret-key"], "tokens": [MINE]})
    assert run(settings, "add", "-", stdin=own.encode()).exit_code == 0
    printed = run(settings, "base", "--file").stdout
    assert "MINE" in printed
    shown = run(settings, "base", "--json")
    assert "secret" not in printed + shown.stdout
    assert shown.json["nodes"][:2] == ["https://node.example/…", "https://own.example/…"]
    file = settings.parent / "networks" / "base.json"
    assert shown.json["describedBy"] == ["program", f"file {file}", "settings"]
    assert file.stat().st_mode & 0o077 == 0


def test_a_further_network_becomes_one_of_the_users(settings: Path) -> None:
    added = run(settings, "add", "ethereum", "--json").json
    assert (added["change"], added["chainId"], added.get("check")) == ("listed", "1", None)
    assert "ethereum" in [entry["name"] for entry in run(settings, "--json").json]
    health = run_swapcli("health", "--offline", "--json", "--config", str(settings)).stdout
    assert "ethereum" in [entry["network"] for entry in json.loads(health)]
    again = run(settings, "add", "ethereum")
    assert (again.exit_code, again.stderr.splitlines()[0]) == (2, "error: ethereum is already one of your networks")
    assert run(settings, "add", "base").stderr.startswith("error: base is already one of your networks")
    removed = run(settings, "remove", "ethereum", "--yes", "--json").json
    assert removed == {"network": "ethereum", "file": added["file"], "packaged": True}
    assert [entry["name"] for entry in run(settings, "--json").json] == list(network_names())


def test_health_and_serve_take_all_networks_only_if_asked() -> None:
    health = run_swapcli("health", "--all", "--offline", "--json")
    assert [entry["network"] for entry in json.loads(health.stdout)] == list(all_network_names())
    assert run_swapcli("health", "base", "--all").exit_code == 2
    assert run_swapcli("serve", "--networks", "base", "--all").exit_code == 2


def test_a_file_is_replaced_only_if_asked(settings: Path) -> None:
    first = json.dumps({"name": "base", "tokens": [MINE]})
    assert run(settings, "add", "-", stdin=first.encode()).exit_code == 0
    second = f"name: base\nblocked_tokens: ['{TOKEN}']\n"
    refused = run(settings, "add", "-", stdin=second.encode())
    assert refused.exit_code == 2
    assert "already describes base" in refused.stderr
    replaced = run(settings, "add", "-", "--replace", "--json", stdin=second.encode())
    assert "entries" not in replaced.json
    files = list((settings.parent / "networks").iterdir())
    assert [file.name for file in files] == ["base.yaml"]
    assert files[0].read_text() == second


def test_removal_is_confirmed_and_what_has_no_file_stays(settings: Path) -> None:
    run(settings, "add", "ethereum")
    assert "add --yes" in run(settings, "remove", "ethereum").stderr
    assert (settings.parent / "networks" / "ethereum.json").exists()
    assert "is built in and has no network file" in run(settings, "remove", "base", "--yes").stderr
    settings.write_text(json.dumps({"networks": {"base": {"tokens": [MINE]}}}))
    refused = run(settings, "remove", "base", "--yes").stderr.splitlines()
    assert refused == ["error: base is described in the settings file", "hint:  remove networks.base there"]
    assert 'no network "nowhere"' in run(settings, "remove", "nowhere", "--yes").stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("add", "nofile.json"), "cannot read nofile.json: No such file"),
        (("base", "--all"), "--all lists all networks"),
        (("base", "--probe", "--file"), "--probe cannot be combined with --file"),
        (("show", "nowhere"), 'no network "nowhere"'),
        (("base", "citrea"), "citrea"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: Path, words: tuple[str, ...], problem: str) -> None:
    ran = run(settings, *words)
    assert ran.exit_code == 2
    assert problem in ran.stderr


def test_a_quote_uses_what_a_file_adds(settings: Path) -> None:
    """The token of a file is known to quotes, under its symbol."""
    content = json.dumps({"name": "base", "tokens": [MINE]})
    run(settings, "add", "-", stdin=content.encode())
    words = ("route", "base", "MINE", "USDC", "1", "--offline", "--json")
    assert run_swapcli(*words, "--config", str(settings)).error["code"] == "NO_ROUTE"
    assert run_swapcli(*words).error["code"] == "UNKNOWN_TOKEN"
