"""Names of ENS and Basenames, resolved by a node with contracts like theirs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import NamedTuple

import pytest
from ens.constants import UNIVERSAL_RESOLVER_ADDR
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAddress, InvalidUpstreamResponse
from swapcli.core.networks.address import is_name
from swapcli.core.networks.name_services import BASENAMES, ENS, NameService, find_name_service
from swapcli.state.names import normalize_name, resolve_name
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import Contract
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.node.server import SECRET
from tests.chain.proxy import open_proxy
from tests.contracts.evm import solidity
from tests.examples import examples
from tests.support.chain import connected
from tests.support.command import CommandResult, run_swapcli
from tests.support.outside_ids import keccak256

SOURCES = solidity("names.sol")
ALICE, BOB, ZERO = "0x" + "a1" * 20, "0x" + "b0" * 20, "0x" + "00" * 20
ETHEREUM_COIN = 60
BASE_COIN = 0x8000_0000 | BASENAMES.chain_id
DAY_S = 86_400


def namehash(name: str) -> bytes:
    """The hash of EIP-137 of a normalized name."""
    node = bytes(32)
    for label in reversed(name.split(".")):
        node = keccak256(node + keccak256(label.encode()))
    return node


class Names(NamedTuple):
    """A chain whose `records` hold the names of a service."""

    chain: AnvilChain
    node: RpcNode
    service: NameService
    records: Contract
    registry: Contract | None

    def register(self, name: str, record: str, coin_type: int = ETHEREUM_COIN) -> None:
        """Give a normalized name a record."""
        self.records.send("setRecord", namehash(name), coin_type, bytes.fromhex(record[2:]))
        if self.registry:
            self.registry.send("setResolver", namehash(name), self.records.address)

    def resolve(self, name: str, chain_id: int = 1) -> str:
        return resolve_name(self.node, self.service, name, chain_id).address


def mine_now(chain: AnvilChain, age_s: int = 0) -> None:
    chain.node.ask("evm_setNextBlockTimestamp", int(time()) - age_s)
    chain.node.ask("evm_mine")


@contextmanager
def open_names(service: NameService) -> Iterator[Names]:
    with running_anvil(service.chain_id) as chain, connected(chain, service.chain_id) as node:
        if service.registry:
            records = chain.deploy(SOURCES()["NameResolver"])
            registry = chain.place(service.registry, SOURCES()["NameRegistry"])
        else:
            records, registry = chain.place(UNIVERSAL_RESOLVER_ADDR, SOURCES()["UniversalResolver"]), None
        mine_now(chain)
        yield Names(chain, node, service, records, registry)


@pytest.fixture(scope="module")
def ens_names() -> Iterator[Names]:
    with open_names(ENS) as names:
        yield names


@pytest.fixture(scope="module")
def basenames() -> Iterator[Names]:
    with open_names(BASENAMES) as names:
        yield names


@pytest.fixture(params=["ens_names", "basenames"])
def names(request: pytest.FixtureRequest) -> Names:
    found: Names = request.getfixturevalue(request.param)
    return found


def full_name(names: Names, label: str) -> str:
    return label + (names.service.suffix or ".eth")


labels = st.from_regex(r"[a-z0-9]{1,12}(-[a-z0-9]{2,5})?", fullmatch=True)


@settings(max_examples=examples(5, full=25))
@given(label=labels, record=st.integers(1, 2**160 - 2).map(lambda value: f"0x{value:040x}"))
def test_a_name_resolves_to_its_record(ens_names: Names, basenames: Names, label: str, record: str) -> None:
    for names in (ens_names, basenames):
        name = full_name(names, label)
        names.register(name, record)
        assert names.resolve(name) == names.resolve(name.upper()) == record


def test_the_record_of_the_network_comes_first(names: Names) -> None:
    name = full_name(names, "several")
    names.register(name, ALICE)
    found = resolve_name(names.node, names.service, name, BASENAMES.chain_id)
    assert (found.address, found.is_of_ethereum) == (ALICE, True)
    names.register(name, BOB, BASE_COIN)
    found = resolve_name(names.node, names.service, name, BASENAMES.chain_id)
    assert (found.address, found.is_of_ethereum) == (BOB, False)
    assert names.resolve(name) == ALICE
    assert resolve_name(names.node, names.service, name, 143).is_of_ethereum


def test_a_name_without_an_address_is_refused(names: Names) -> None:
    with pytest.raises(InvalidAddress, match=f"{names.service.title} has no address for it"):
        names.resolve(full_name(names, "unknown"), BASENAMES.chain_id)


@pytest.mark.parametrize("record", [ZERO, "0x", "0x" + "e" * 40, "0x1234", "0x" + "12" * 32])
def test_a_record_that_is_no_wallet_is_refused(names: Names, record: str) -> None:
    name = full_name(names, f"bad{len(record)}{record[-1]}")
    names.register(name, record, BASE_COIN)
    with pytest.raises(InvalidAddress):
        names.resolve(name, BASENAMES.chain_id)


def test_a_name_off_the_chain_is_refused(names: Names) -> None:
    name = full_name(names, "offchain")
    names.register(name, ALICE)
    names.records.send("setOffChain", namehash(name))
    with pytest.raises(InvalidAddress, match="contacts no gateways"):
        names.resolve(name, BASENAMES.chain_id)


def test_a_node_that_is_days_behind_is_refused(names: Names) -> None:
    name = full_name(names, "old")
    names.register(name, ALICE)
    head = names.node.read_head()

    class Behind(RpcNode):
        """A node whose latest block is old."""

        def __init__(self, node: RpcNode) -> None:
            self.__dict__.update(node.__dict__)

        def read_head(self, *_: object) -> object:  # type: ignore[override]
            return head._replace(block=head.block._replace(timestamp=int(time()) - 3 * DAY_S))

    with pytest.raises(InvalidUpstreamResponse, match="days behind"):
        resolve_name(Behind(names.node), names.service, name, 1)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("vit\u0430lik.eth", "mixes characters of several scripts"),
        ("\u0455\u0441\u043e\u0440\u0435.eth", "look like a different script"),
        ("vita\u200blik.eth", "an invisible character, U\\+200B"),
        ("vita\u00adlik.eth", "an invisible character, U\\+00AD"),
        ("vita\ufe0flik.eth", "an invisible character, U\\+FE0F"),
        ("vita\u202elik.eth", "an invisible character, U\\+202E"),
        ("vita\u200dlik.eth", "a character that is not allowed in names"),
        ("vitalik.eth\n", "an invisible character, U\\+000A"),
        (" vitalik.eth", "an invisible character, U\\+0020"),
        ("vitalik..eth", "not a valid name"),
        (".eth", "not a valid name"),
        ("xn--abc.eth", "not a valid name"),
        (ALICE + ".eth", "looks like an address"),
        ("pay." + ALICE.upper().replace("0X", "0x") + ".eth", "looks like an address"),
        ("a" * 300 + ".eth", "not a valid name"),
    ],
)
def test_a_name_that_could_deceive_is_refused(ens_names: Names, name: str, problem: str) -> None:
    with pytest.raises(InvalidAddress, match=problem):
        ens_names.resolve(name)


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        ("Vitalik.ETH", "vitalik.eth"),
        ("\u2620\ufe0f.eth", "\u2620.eth"),
        ("1\ufe0f\u20e3.eth", "1\u20e3.eth"),
        ("\U0001f3f4\u200d\u2620\ufe0f.eth", "\U0001f3f4\u200d\u2620.eth"),
        ("caf\u00e9.eth", "caf\u00e9.eth"),
        ("0xdesigner.eth", "0xdesigner.eth"),
    ],
)
def test_a_name_is_normalized_as_ensip_15_says(name: str, normalized: str) -> None:
    assert normalize_name(name) == normalized


@given(st.text(max_size=20))
def test_any_text_is_a_normalized_name_or_refused(text: str) -> None:
    try:
        normalized = normalize_name(f"{text}.eth")
    except InvalidAddress:
        return
    assert normalize_name(normalized) == normalized
    assert normalized.endswith(".eth")


@given(st.from_regex(r"0[xX][0-9a-fA-F]{0,64}", fullmatch=True))
def test_hex_digits_are_never_a_name(text: str) -> None:
    assert not is_name(text)


def test_each_name_belongs_to_its_service() -> None:
    found = [find_name_service(name) for name in ("a.eth", "A.Base.ETH", "base.eth", "a.base.eth.eth", "a.b.base.eth")]
    assert found == [ENS, BASENAMES, ENS, ENS, BASENAMES]


WORDS = ("base", "ETH", "USDC", "1")


def run(command: str, *options: str, **env: str) -> CommandResult:
    return run_swapcli(command, *WORDS, *options, env={f"SWAPCLI_{name}": value for name, value in env.items()})


@pytest.mark.slow
def test_a_payload_pays_the_address_behind_the_name(ens_names: Names) -> None:
    ens_names.register("alice.eth", ALICE)
    with open_proxy(ens_names.chain.node.port) as proxy:
        ran = run("calldata", "--destination", "Alice.eth", "--json", NAMES_RPC_URL=proxy.url)
        assert ran.exit_code == 0, ran.stderr
        assert ran.json["recipientName"] == "alice.eth"
        assert ran.json["route"]["destination"].lower() == ALICE
        assert "note: alice.eth is 0xA1A1" in ran.stderr
        assert "its address on Ethereum, because it has none for base" in ran.stderr
        plain = run("calldata", "--destination", ALICE, "--json")
        assert plain.json["calldata"] == ran.json["calldata"]
        assert "recipientName" not in plain.json
        route = run("route", "--json").stdout
        env = {"SWAPCLI_NAMES_RPC_URL": proxy.url}
        built = run_swapcli("execute", "-", "--destination", "alice.eth", "--json", stdin=route.encode(), env=env)
        assert built.json["recipientName"] == "alice.eth"
        refused = run("calldata", "--destination", "unknown.eth", NAMES_RPC_URL=proxy.url)
        assert refused.exit_code == 2
        assert "error: --destination: unknown.eth is rejected: ENS has no address for it" in refused.stderr
    down = run("calldata", "--destination", "alice.eth", NAMES_RPC_URL=proxy.url)
    assert down.exit_code == 5
    for each in (ran, built, refused, down):
        assert SECRET not in each.stdout + each.stderr


def test_an_ens_name_is_resolved_by_the_node_of_ethereum(ens_names: Names) -> None:
    ens_names.register("alice.eth", ALICE)
    url = f"http://127.0.0.1:{ens_names.chain.node.port}"
    market = run_swapcli("market", "export", "base")
    words = ("route", *WORDS, "--market", "-", "--destination", "alice.eth", "--json")
    env = {"SWAPCLI_NETWORKS_ETHEREUM_RPC_URL": url}
    ran = run_swapcli(*words, stdin=market.stdout.encode(), env=env)
    assert ran.exit_code == 0, ran.stderr
    assert "(ENS, its address on Ethereum" in ran.stderr


def test_a_basename_is_resolved_by_the_node_of_base(basenames: Names) -> None:
    basenames.register("alice.base.eth", ALICE, BASE_COIN)
    url = f"http://127.0.0.1:{basenames.chain.node.port}"
    words = ("route", *WORDS, "--market", "-", "--destination", "alice.base.eth", "--json")
    market = run_swapcli("market", "export", "base")
    assert market.exit_code == 0, market.stderr
    ran = run_swapcli(*words, stdin=market.stdout.encode(), env={"SWAPCLI_NETWORKS_BASE_RPC_URL": url})
    assert ran.exit_code == 0, ran.stderr
    assert "note: alice.base.eth is 0xA1A1" in ran.stderr
    assert "(Basenames)" in ran.stderr


@pytest.mark.parametrize(
    ("name", "env", "options", "message"),
    [
        ("alice.eth", {}, (), "set names_rpc_url in the settings, or give the address"),
        ("alice.base.eth", {}, (), "set networks.base.rpc_url in the settings, or give the address"),
        ("alice.eth", {}, ("--offline",), "alice.eth can only be resolved by a node, but --offline uses none"),
        ("alice.eth", {"NAMES_RPC_URL": f"wss://127.0.0.1/{SECRET}"}, (), "names are resolved over http"),
        ("alice", {}, (), "--destination: "),
    ],
)
def test_what_a_name_needs_is_said(name: str, env: dict[str, str], options: tuple[str, ...], message: str) -> None:
    ran = run("calldata", "--destination", name, *options, **env)
    assert ran.exit_code == 2
    assert message in ran.stderr
    assert SECRET not in ran.stderr


def test_names_of_starknet_are_not_resolved() -> None:
    ran = run_swapcli("calldata", "starknet", "ETH", "USDC", "1", "--destination", "alice.eth")
    assert ran.exit_code == 2
    assert "swapcli does not resolve starknet names" in ran.stderr


def test_web3_is_loaded_only_to_resolve_a_name(ens_names: Names, tmp_path: Path) -> None:
    ens_names.register("alice.eth", ALICE)
    url = f"http://127.0.0.1:{ens_names.chain.node.port}"

    def loads_web3(recipient: str, **env: str) -> bool:
        words = ["calldata", *WORDS, "--destination", recipient, "--json"]
        code = f"import sys; from swapcli.faces.cli.app import run; run({words}); sys.exit('web3' in sys.modules)"
        environment = {"HOME": str(tmp_path), "SWAPCLI_LIVE": "never", **env}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
        return ran.returncode == 1

    assert loads_web3("alice.eth", SWAPCLI_NAMES_RPC_URL=url)
    assert not loads_web3(ALICE, SWAPCLI_NAMES_RPC_URL=url)
    assert not loads_web3("alice.eth")
