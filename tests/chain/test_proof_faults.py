"""`swapcli prove` finds every fault of a world, and says of the others, and of a world without one, that all match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from swapcli import ProofItem, ProofOutcome, ProofStage, ProveReport, prove
from swapcli.core.errors import SwapDiffers
from swapcli.state.agreements_file import AgreementsFile
from tests.chain.proof_world import Fault, ProofWorld, open_proof_world
from tests.examples import but_slow
from tests.support.chain import restored

HONEST, LIAR = "honest", "liar"
FEW, MANY = (4, 1), (20, 3)
"""Orders, and swaps of each protocol."""
FEW_SWAPS, MANY_SWAPS = 1, 3
OFFERED_ORDERS = 2


@pytest.fixture(scope="module")
def mined_world() -> Iterator[ProofWorld]:
    with open_proof_world() as world:
        world.mine_swaps(Random("the world of faults"), FEW_SWAPS)
        yield world


@pytest.fixture
def world(mined_world: ProofWorld) -> Iterator[ProofWorld]:
    with restored(mined_world) as world:
        yield world


def run(world: ProofWorld, folder: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> ProveReport:
    """Run on a world that has an honest aggregator besides."""
    monkeypatch.setenv("SWAPCLI_CONFIG", str(world.write_settings(folder)))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    orders, recent = size
    settings = {"live": "auto"}
    report = prove(
        world.network.name,
        folder / "report",
        orders=orders,
        recent=recent,
        time_s=300,
        max_requests=20_000,
        settings=settings,
    )
    assert not report.was_interrupted
    return report


def differences(report: ProveReport, stage: ProofStage | None = None) -> list[ProofItem]:
    items = report.items if stage is None else report.of(stage)
    return [item for item in items if item.outcome is ProofOutcome.DIFFERENCE]


def check_all_else_matches(world: ProofWorld, report: ProveReport, *stages: ProofStage) -> None:
    """Assert that stages other than these have checked all that they could, and found that it matches."""
    assert [item for item in differences(report) if item.stage not in stages] == []
    if ProofStage.NODES not in stages:
        assert [item.outcome for item in report.of(ProofStage.NODES)] == [ProofOutcome.MATCH]
    if ProofStage.QUOTES not in stages:
        assert {item.outcome for item in report.of(ProofStage.QUOTES)} == {ProofOutcome.MATCH}
    if ProofStage.SWAPS not in stages:
        checked = [item for item in report.of(ProofStage.SWAPS) if item.is_finished]
        assert {item.facts["protocol"] for item in checked} == world.protocols
    honest = [item for item in report.of(ProofStage.OFFERS) if item.id.startswith(HONEST)]
    assert [item.outcome for item in honest] == [ProofOutcome.MATCH] * OFFERED_ORDERS


def check_faultless(world: ProofWorld, report: ProveReport, subject: str) -> None:
    assert subject == ""
    check_all_else_matches(world, report)
    report.check()


def check_wrong_fee(world: ProofWorld, report: ProveReport, subject: str) -> None:
    """Its swaps differ, and quotes through it."""
    check_all_else_matches(world, report, ProofStage.SWAPS, ProofStage.QUOTES)
    swaps = differences(report, ProofStage.SWAPS)
    assert swaps
    assert {item.facts["pool"] for item in swaps} == {subject}
    assert all(item.expected and item.found and item.expected > item.found for item in swaps)
    for item in differences(report, ProofStage.QUOTES):
        assert "solidlyVolatile" in item.facts["protocols"]


def check_stale_node(world: ProofWorld, report: ProveReport, subject: str) -> None:
    check_all_else_matches(world, report, ProofStage.NODES)
    (node,) = report.of(ProofStage.NODES)
    assert node.outcome is ProofOutcome.DIFFERENCE
    assert "s old" in node.reason
    assert subject not in str(report.document())  # its address is the user's


def check_lying_router(world: ProofWorld, report: ProveReport, subject: str) -> None:
    """Every quote differs, by the unit that the router keeps."""
    check_all_else_matches(world, report, ProofStage.QUOTES)
    quotes = report.of(ProofStage.QUOTES)
    assert subject == world.network.router
    assert differences(report, ProofStage.QUOTES) == list(quotes)
    assert {item.expected - item.found for item in quotes if item.expected and item.found} == {1}


def check_taxed_token(world: ProofWorld, report: ProveReport, subject: str) -> None:
    """Orders of the token are not quoted, and say why; the others match."""
    check_all_else_matches(world, report, ProofStage.QUOTES)
    taxed = [item for item in report.of(ProofStage.QUOTES) if subject in item.id]
    assert taxed
    assert all("TAX takes a fee of 1% on transfers" in item.reason for item in taxed)
    others = [item.outcome for item in report.of(ProofStage.QUOTES) if item not in taxed]
    assert others == [ProofOutcome.MATCH] * len(others)


def check_lying_aggregator(world: ProofWorld, report: ProveReport, subject: str) -> None:
    check_all_else_matches(world, report, ProofStage.OFFERS)
    assert subject == LIAR
    lies = differences(report, ProofStage.OFFERS)
    assert len(lies) == OFFERED_ORDERS
    assert all(item.id.startswith(LIAR) for item in lies)
    # It says 110 percent: a tenth more than it pays.
    assert all(item.expected and item.found and abs(item.expected - item.found * 11 // 10) <= 1 for item in lies)


CHECKS = {
    None: check_faultless,
    Fault.WRONG_FEE: check_wrong_fee,
    Fault.STALE_NODE: check_stale_node,
    Fault.LYING_ROUTER: check_lying_router,
    Fault.TAXED_TOKEN: check_taxed_token,
    Fault.LYING_AGGREGATOR: check_lying_aggregator,
}


@pytest.mark.parametrize(
    "fault", but_slow([*CHECKS], *(each for each in Fault if each is not Fault.WRONG_FEE)), ids=str
)
@pytest.mark.parametrize("size", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_fault_is_found_and_nothing_else_is(
    world: ProofWorld,
    fault: Fault | None,
    size: tuple[int, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ExitStack() as stack:
        if size == MANY:
            world.mine_swaps(Random(f"many {fault}"), MANY_SWAPS)
        world.name_aggregator(HONEST, stack)
        subject = world.inject(fault, stack) if fault else ""
        if fault is not Fault.STALE_NODE:
            world.advance_to_now()
        report = run(world, tmp_path, size, monkeypatch)
    CHECKS[fault](world, report, subject)
    different = {item.facts["protocol"] for item in differences(report, ProofStage.SWAPS)}
    agreements = AgreementsFile(tmp_path / "stores").load(world.network.chain_id)
    assert world.protocols - different <= agreements.keys()
    if differences(report):
        with pytest.raises(SwapDiffers):
            report.check()


def test_every_fault_has_a_check() -> None:
    assert {fault for fault in CHECKS if fault} == set(Fault)
