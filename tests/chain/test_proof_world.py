"""The last swaps of every protocol are found without a hash and verified; a fault is found, and nothing else is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from swapcli import Market
from swapcli.interface.json_schemas import build_document_schema
from swapcli.state.agreements_file import AgreementsFile
from swapcli.state.mined.swap_verification import Outcome
from tests.chain.proof_world import Fault, ProofWorld, open_proof_world
from tests.chain.proxy import open_proxy, without
from tests.examples import few
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

SWAPS_PER_POOL = 2
PER_VENUE = 2


@pytest.fixture(scope="module")
def shared_proof_world() -> Iterator[ProofWorld]:
    with open_proof_world() as world:
        world.mine_swaps(Random("the world of proofs"), SWAPS_PER_POOL)
        yield world


@pytest.fixture
def world(shared_proof_world: ProofWorld) -> Iterator[ProofWorld]:
    with restored(shared_proof_world) as world:
        yield world


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def verify(world: ProofWorld, folder: Path, *options: str) -> CommandResult:
    settings = world.write_settings(folder)
    words = ("verify", world.network.name, "--recent", str(PER_VENUE), *options)
    return run_swapcli(*words, env={"SWAPCLI_CONFIG": str(settings)})


def statuses(document: Any) -> dict[str, str]:
    return {venue["protocol"]: venue["status"] for venue in document["protocols"]}


def test_the_last_swaps_of_every_protocol_are_equal(world: ProofWorld, tmp_path: Path) -> None:
    ran = verify(world, tmp_path, "--json")
    assert ran.exit_code == 0, ran.stderr
    document = ran.json
    errors = Draft202012Validator(build_document_schema("verify")).iter_errors(document)
    assert [str(error) for error in errors] == []
    assert statuses(document) == {**dict.fromkeys(world.protocols, "equal"), "unknownDex": "notSearched"}
    assert document["different"] == document["notExplained"] == 0
    assert document["equal"] == PER_VENUE * len(world.protocols)
    newest = Counter[str]()
    for mined in reversed(world.swaps):
        (venue,) = (each for each in document["protocols"] if each["protocol"] == mined.protocol)
        if (place := newest[mined.protocol]) < PER_VENUE:
            found = venue["swaps"][place]
            # The user's balance grew by as much: nothing of that comes from the event or the quote.
            assert (found["pool"], int(found["outputAmount"])) == (mined.key, mined.paid)
            assert found["quotedAmount"] == found["outputAmount"]
        newest[mined.protocol] += 1


def test_agreements_are_those_of_the_run(world: ProofWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = verify(world, tmp_path, "--json").json
    agreements = AgreementsFile(tmp_path / "stores").load(world.network.chain_id)
    assert agreements.keys() == world.protocols
    for venue in document["protocols"]:
        if venue.get("swaps"):
            newest = venue["swaps"][0]
            assert agreements[venue["protocol"]] == (newest["block"], newest["timestamp"], PER_VENUE)
    settings = str(world.write_settings(tmp_path))
    listed = run_swapcli("protocols", world.network.name, "--json", env={"SWAPCLI_CONFIG": settings}).json
    assert {each["protocol"] for each in listed if "lastAgreed" in each} == world.protocols
    monkeypatch.setenv("SWAPCLI_CONFIG", settings)
    seen = []
    with Market.open(world.network.name, settings={"live": "auto"}) as market:
        found = market.verify_recent(PER_VENUE, on_swap=lambda protocol, swap: seen.append((protocol.amm_name, swap)))
        part = market.verify_recent(1, protocols=["uniswapV3"])
    assert {key: value for key, value in found.document().items() if key != "requests"} == {
        key: value for key, value in document.items() if key != "requests"
    }
    assert Counter(name for name, _ in seen) == dict.fromkeys(world.protocols, PER_VENUE)
    assert [(venue.protocol.amm_name, len(venue.swaps)) for venue in part.venues] == [("uniswapV3", 1)]


def test_a_pool_that_takes_another_fee_is_found(world: ProofWorld, tmp_path: Path, stack: ExitStack) -> None:
    key = world.inject(Fault.WRONG_FEE, stack)
    ran = verify(world, tmp_path, "--json")
    assert ran.exit_code == 7
    assert "solidlyVolatile" in ran.error["message"]
    found = statuses(ran.json)
    assert {name for name, status in found.items() if status == "different"} == {"solidlyVolatile"}
    (venue,) = (each for each in ran.json["protocols"] if each["protocol"] == "solidlyVolatile")
    assert {swap["pool"] for swap in venue["swaps"] if swap["outcome"] == "different"} == {key}
    agreements = AgreementsFile(tmp_path / "stores").load(world.network.chain_id)
    assert agreements.keys() == world.protocols - {"solidlyVolatile"}
    shown = verify(world, tmp_path)
    assert "bps" in shown.stdout


@pytest.mark.parametrize(
    "fault", few([Fault.STALE_NODE, Fault.LYING_ROUTER, Fault.TAXED_TOKEN, Fault.LYING_AGGREGATOR], 1), ids=str
)
def test_faults_of_others_are_no_alarm(world: ProofWorld, tmp_path: Path, stack: ExitStack, fault: Fault) -> None:
    """What is wrong with a node's head, a router, a token or an offer says nothing about what pools have paid."""
    world.inject(fault, stack)
    ran = verify(world, tmp_path, "--json")
    assert ran.exit_code == 0, ran.stderr
    assert (ran.json["different"], ran.json["notExplained"]) == (0, 0)


@pytest.mark.slow
def test_a_protocol_without_a_swap_is_listed(world: ProofWorld, tmp_path: Path) -> None:
    """The chain has a long history after the swaps: only the limits of the search end it."""
    world.chain.node.ask("anvil_mine", hex(700))
    few = verify(world, tmp_path, "--json", "--max-requests", "8")
    assert few.exit_code == 5
    venues = [venue for venue in few.json["protocols"] if venue["protocol"] in world.protocols]
    assert {venue["status"] for venue in venues} == {"noneFound"}
    assert all(64 <= venue["searchedBlocks"] < 700 for venue in venues)
    assert all("this run has used all of its 8 requests" in venue["reason"] for venue in venues)
    assert verify(world, tmp_path, "--json").exit_code == 0
    table = verify(world, tmp_path, "--max-requests", "8", "--format=table").stdout
    assert "no swap found" in table


def test_a_spent_budget_keeps_what_was_verified(world: ProofWorld, tmp_path: Path) -> None:
    ran = verify(world, tmp_path, "--json", "--max-requests", "40")
    assert ran.exit_code == 0
    assert 0 < ran.json["equal"] < PER_VENUE * len(world.protocols)
    assert ran.json["requests"] <= 60  # the last block may be read to its end
    short = [venue for venue in ran.json["protocols"] if venue["protocol"] in world.protocols and "reason" in venue]
    assert short
    assert {venue["status"] for venue in short} == {"equal", "notVerified"}
    assert all("this run has used all of its 40 requests" in venue["reason"] for venue in short)


def test_a_node_without_events_is_reported(world: ProofWorld, tmp_path: Path) -> None:
    with open_proxy(world.chain.node.port) as proxy:
        proxy.always = without("eth_getLogs")
        world.rpc_url = f"http://127.0.0.1:{proxy.server_port}"
        ran = verify(world, tmp_path, "--json")
    assert ran.exit_code == 5
    assert "eth_getLogs" in ran.error["message"]
    assert {status for name, status in statuses(ran.json).items()} == {"notSearched"}


MANY_SWAPS = 12
DEPOSITS = 4
"""In the vault, held by the deployer of the world: to open it, to fill two pools, and for the user."""


@pytest.mark.slow
def test_many_swaps_of_every_protocol_are_equal(
    world: ProofWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.mine_swaps(Random("many more"), MANY_SWAPS)
    monkeypatch.setenv("SWAPCLI_CONFIG", str(world.write_settings(tmp_path)))
    with Market.open(world.network.name, settings={"live": "auto"}) as market:
        found = market.verify_recent(50, max_requests=20_000)
    assert found.problem == ""
    wrong = [each for venue in found.venues for each in venue.swaps if each.swap.outcome is not Outcome.EQUAL]
    assert wrong == []
    mined = Counter(swap.protocol for swap in world.swaps)
    mined["erc4626"] += DEPOSITS
    assert {venue.protocol.amm_name: len(venue.swaps) for venue in found.venues if venue.swaps} == {
        name: min(count, 50) for name, count in mined.items()
    }
    assert found.total(Outcome.EQUAL) >= 250
