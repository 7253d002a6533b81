"""Network files are checked on a node, and those with a mistake are refused in one sentence and never stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import swapcli
from swapcli import ConfigError, FactOutcome, SwapcliError
from swapcli.quoting.config.file_lines import json_lines
from tests.chain.anvil import running_anvil
from tests.chain.file_world import ETHEREUM, FileWorld, open_file_world
from tests.chain.settings import url_of
from tests.examples import few_rows
from tests.faces.cli.commands.test_schema import check as check_schema
from tests.support.command import CommandResult, clean_environment, run_swapcli

V2_CODE = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"
"""keccak256 of the creation code of Uniswap V2's pairs; source: UniswapV2Library of @uniswap/v2-periphery."""
V3_CODE = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54"
"""The same of Uniswap V3's pools; source: PoolAddress of @uniswap/v3-periphery."""
NO_CODE = "0x" + "c0de" * 10


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileWorld]:
    with open_file_world(ETHEREUM, tmp_path_factory.mktemp("file")) as opened:
        yield opened


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a user with an empty settings file, for commands and the library."""
    (tmp_path / "config.yaml").touch()
    for name, value in {**clean_environment(), "SWAPCLI_CONFIG": str(tmp_path / "config.yaml")}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def definition(world: FileWorld, **changes: Any) -> dict[str, Any]:
    """Return the network's definition as a user writes it, with the init code hashes of both factories."""
    described = {"name": world.name, **world.fixture.definition(), **changes}
    content: dict[str, Any] = json.loads(json.dumps(described))
    for deployment in content["deployments"]:
        for name, code in (("Uniswap V2", V2_CODE), ("Uniswap V3", V3_CODE)):
            if deployment["name"] == name:
                deployment["init_code_hash"] = code
    return content


def write(user: Path, content: dict[str, Any]) -> str:
    file = user / "mine.json"
    file.write_text(json.dumps(content, indent=1))
    return str(file)


def run(user: Path, *words: str) -> CommandResult:
    return run_swapcli("networks", *words, env={"SWAPCLI_CONFIG": str(user / "config.yaml")})


def line_of(content: dict[str, Any], key: str) -> int:
    return {each.path: each.line for each in json_lines(json.dumps(content, indent=1))}[key]


def test_a_right_definition_is_added_and_every_fact_confirmed(world: FileWorld, user: Path) -> None:
    file, url = write(user, definition(world)), url_of(world.chain)
    added = run(user, "add", file, "--rpc-url", url, "--json")
    assert added.exit_code == 0, added.stderr
    check_schema("networks-add", added.json)
    assert added.json["change"] == "described"
    assert added.json["check"]["contradicted"] == 0
    assert Path(added.json["file"]).read_text() == Path(file).read_text()

    checked = run(user, "check", world.name, "--rpc-url", url, "--json")
    assert checked.exit_code == 0, checked.stderr
    check_schema("networks-check", checked.json)
    outcomes = {each["key"]: each["outcome"] for each in checked.json["facts"]}
    assert outcomes["chain_id"] == "confirmed"
    for key, value in outcomes.items():
        if key.endswith((".decimals", ".symbol", ".init_code_hash", ".addresses.factory", ".addresses.pool_manager")):
            assert value == "confirmed", key
    assert sum(key.endswith("init_code_hash") for key in outcomes) == 2
    assert outcomes["multicall"] == "confirmed"
    assert all(each["place"].startswith(f"{added.json['file']}:") for each in checked.json["facts"])
    document = swapcli.check_network(world.name, rpc_url=url).document()
    assert json.loads(json.dumps(document)) == checked.json

    again = swapcli.add_network(file, replace=True, rpc_url=url)
    assert json.loads(json.dumps(again.document()))["check"] == added.json["check"]
    assert "facts" not in run(user, "check", world.name, "--rpc-url", url, "--format=plain").stderr


def test_an_addition_alone_is_checked(world: FileWorld, user: Path) -> None:
    """Of a file that extends a network, only what it says."""
    swapcli.add_network(write(user, definition(world)))
    token = next(iter(world.tokens.values()))
    content = {
        "name": "ethereum",
        "tokens": [{"address": token.address, "symbol": token.symbol, "name": "T", "decimals": token.decimals}],
    }
    added = swapcli.add_network(write(user, content), rpc_url=url_of(world.chain))
    assert added.check is not None
    assert {each.key for each in added.check.facts} == {
        "chain_id", "tokens[0].address", "tokens[0].decimals", "tokens[0].symbol",
    }  # fmt: skip


def deployment_of(content: dict[str, Any], name: str) -> int:
    return next(k for k, each in enumerate(content["deployments"]) if each["name"] == name)


def missing_code(content: dict[str, Any]) -> str:
    number = deployment_of(content, "Uniswap V3")
    content["deployments"][number]["addresses"]["factory"] = NO_CODE
    return f"deployments[{number}].addresses.factory"


def other_decimals(content: dict[str, Any]) -> str:
    content["tokens"][1]["decimals"] += 1
    return "tokens[1].decimals"


def other_symbol(content: dict[str, Any]) -> str:
    content["tokens"][1]["symbol"] = "NOPE"
    return "tokens[1].symbol"


def other_init_code(content: dict[str, Any]) -> str:
    number = deployment_of(content, "Uniswap V2")
    content["deployments"][number]["init_code_hash"] = V3_CODE
    return f"deployments[{number}].init_code_hash"


def no_factory(content: dict[str, Any]) -> str:
    """A contract with code that is no factory."""
    number = deployment_of(content, "Uniswap V2")
    content["deployments"][number]["addresses"]["factory"] = content["tokens"][0]["address"]
    return f"deployments[{number}].addresses.factory"


def other_chain(content: dict[str, Any]) -> str:
    content["chain_id"] = 5
    return "chain_id"


@pytest.mark.parametrize(
    ("change", "words"),
    few_rows(
        [
            (missing_code, "is a contract, but it has no code on this chain"),
            (other_decimals, "decimals, but the contract returns"),
            (other_symbol, "is called NOPE, but the contract returns"),
            (other_init_code, "does not have the address computed from it"),
            (no_factory, "has the pools of Uniswap V2, but"),
            (other_chain, "the chain id is 5, but "),
        ],
        3,
    ),
)
def test_what_the_chain_contradicts_is_refused_with_file_and_line(
    world: FileWorld, user: Path, change: Callable[[dict[str, Any]], str], words: str
) -> None:
    content, url = definition(world), url_of(world.chain)
    key = change(content)
    file = write(user, content)
    ran = run(user, "add", file, "--rpc-url", url)
    assert ran.exit_code == 2
    first, *_ = ran.stderr.splitlines()
    own = key if key in {each.path for each in json_lines(json.dumps(content, indent=1))} else key.rpartition(".")[0]
    places = [f"error: {file}:{line_of(content, own)}: "]
    assert any(first.startswith(place) for place in places) or change is no_factory, first
    assert first.startswith(f"error: {file}:")
    assert words in first
    with pytest.raises(ConfigError) as caught:
        swapcli.add_network(file, rpc_url=url)
    assert f"error: {caught.value.message}" == first
    assert not (user / "networks").exists()

    added = swapcli.add_network(file)  # without a node, nobody knows
    if change is not other_chain:
        checked = run(user, "check", world.name, "--rpc-url", url, "--json")
        assert checked.exit_code == 8
        report = swapcli.check_network(world.name, rpc_url=url)
        assert report.count(FactOutcome.CONTRADICTED) >= 1
        assert any(each.place.startswith(f"{added.file}:") for each in report.contradictions)


def test_a_node_of_another_chain_contradicts_the_chain_id(world: FileWorld, user: Path) -> None:
    file = write(user, definition(world))
    with running_anvil(77) as other:
        ran = run(user, "add", file, "--rpc-url", url_of(other))
        assert ran.exit_code == 2
        place = f"{file}:{line_of(definition(world), 'chain_id')}: chain_id: "
        assert ran.stderr.startswith(f"error: {place}the chain id is {ETHEREUM}, but ")
        assert "is a node of chain 77" in ran.stderr
        assert not (user / "networks").exists()
        swapcli.add_network(file)
        checked = run(user, "check", world.name, "--rpc-url", url_of(other), "--json")
        assert checked.exit_code == 8
        assert "is a node of chain 77" in json.loads(checked.stdout)["facts"][0]["found"]


TYPO = ('"deployments"', '"deploymnts"')
FAMILY = ('"family": "constant_product"', '"family": "constant"')
TIERS = ('"500": 10,', '"500": 10,\n"500": 60,')
YAML_TIERS = "name: mine\nchain_id: 1\ndeployments:\n  - protocols: []\n    fee_tiers:\n      500: 10\n      500: 60\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (TYPO, 'unknown key "deploymnts"'),
        (FAMILY, 'unknown family "constant"'),
        (TIERS, 'the key "500" appears twice'),
        (None, 'the key "500" appears twice'),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    world: FileWorld, user: Path, change: tuple[str, str] | None, words: str
) -> None:
    text = json.dumps(definition(world), indent=1)
    file = user / ("mine.yaml" if change is None else "mine.json")
    wrong = YAML_TIERS if change is None else text.replace(*change)
    line = 7 if change is None else wrong[: wrong.index(change[1])].count("\n") + 1 + (change is TIERS)
    file.write_text(wrong)
    ran = run(user, "add", str(file), "--rpc-url", url_of(world.chain))
    first, *_ = ran.stderr.splitlines()
    assert ran.exit_code == 2
    assert first.startswith(f"error: {file}:{line}: ")
    assert words in first
    with pytest.raises(SwapcliError) as caught:
        swapcli.add_network(str(file))
    assert f"error: {caught.value.message}" == first
    assert not (user / "networks").exists()
