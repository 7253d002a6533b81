"""Simulations find how a router reads rates and extra data, on real pools, and never take a wrong reading for right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from swapcli.core.errors import SimulationError
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Route, Segment, Swap
from swapcli.core.model.router_findings import VARIANTS, RouterFinding, RouterFindings
from swapcli.core.model.router_variant import DEFAULT_VARIANT, ExtraDataForm, RateVariant, RouterVariant
from swapcli.families.reading.calls import ReturnData
from swapcli.payload.payloads_by_variant import ReadPayload, VariantCertainty
from swapcli.payload.variant_memory import VariantMemory
from swapcli.state.router_findings_file import RouterFindingsFile
from swapcli.state.rpc.node import BlockId, BlockOutcome, HypotheticalCall, SimulatedBlock
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import WETH
from tests.chain.trader import Trader
from tests.chain.variant_routers import (
    QuotedRoute,
    deploy_reading_router,
    mined_amount,
    network_with,
    quote_route,
    random_quoted_route,
)
from tests.examples import examples, few, seeds

NOW_S = 1_790_000_000


def name(reading: RouterVariant) -> str:
    return f"{reading.rate}-{reading.extra_data}"


def split_route(trader: Trader) -> Route:
    """Return a route of two Uniswap V3 pools between WETH and USDC."""
    keys = [place.key for place in trader.world.places if place.protocol in ("uniswapV3", "pancakeSwapV3")]
    weth, usdc = trader.world.address(WETH), trader.world.address("USDC")
    pools = [key for key in keys if {weth, usdc} == set(trader.market.pools[key].tokens)]
    assert len(pools) == 2
    return Route((Segment(10_000, (tuple(Swap(key, weth, usdc, 5_000) for key in pools),)),))


def quote_split(trader: Trader, router: str) -> QuotedRoute:
    order = Order(trader.world.tokens[WETH], trader.world.tokens["USDC"], 10**18)
    return quote_route(trader, split_route(trader), order, network_with(trader, router))


@pytest.mark.parametrize("reading", few(VARIANTS, 5), ids=name)
@pytest.mark.parametrize("seed", seeds(1, full=2))
def test_the_reading_of_a_router_is_recognised(
    trader: Trader, node: RpcNode, reading: RouterVariant, seed: int
) -> None:
    rng = Random(f"readings {reading} {seed}")
    network = network_with(trader, deploy_reading_router(trader, reading).address)
    for _ in range(examples(2, full=4)):
        quoted = random_quoted_route(trader, rng, network)
        checked = quoted.check(node)
        assert checked.simulation
        assert checked.simulation.matches
        assert checked.simulation.variant
        assert reading.rate in checked.simulation.variant.rates
        assert reading.extra_data in checked.simulation.variant.forms
        assert checked.read_payload
        payload = checked.read_payload.payload
        assert payload == quoted.payloads.build(reading)
        assert mined_amount(trader, payload) == checked.simulation.received


def test_a_hundred_routes_are_recognised() -> None:
    assert 2 * 4 * len(VARIANTS) >= 100


@pytest.mark.parametrize("seed", seeds(2, full=20))
def test_a_router_that_pays_too_little_is_refused(trader: Trader, node: RpcNode, seed: int) -> None:
    rng = Random(f"skimmed {seed}")
    reading, skimmed = rng.choice(VARIANTS), 10 ** rng.randint(2, 4)
    for claimed in (0, skimmed):
        router = deploy_reading_router(trader, reading, skimmed=skimmed, claimed=claimed)
        quoted = random_quoted_route(trader, rng, network_with(trader, router.address))
        with pytest.raises(SimulationError) as caught:
            quoted.check(node)
        assert caught.value.details["received"] != caught.value.details["expected"]


@pytest.mark.parametrize("reading", few(VARIANTS, 5), ids=name)
def test_a_unit_too_little_is_shown_as_a_difference(trader: Trader, node: RpcNode, reading: RouterVariant) -> None:
    router = deploy_reading_router(trader, reading, skimmed=1)
    checked = quote_split(trader, router.address).check(node)
    assert checked.simulation
    assert checked.simulation.received == checked.simulation.expected - 1
    assert not checked.simulation.matches
    assert checked.simulation.variant
    assert reading.rate in checked.simulation.variant.rates


def test_a_router_that_lies_about_its_payment_is_refused(trader: Trader, node: RpcNode) -> None:
    router = deploy_reading_router(trader, RouterVariant(RateVariant.ABSOLUTE_INPUT), claimed=10**6)
    with pytest.raises(SimulationError):
        quote_split(trader, router.address).check(node)
    honest = deploy_reading_router(trader, DEFAULT_VARIANT, claimed=10**6)
    with pytest.raises(SimulationError, match=r"^the router pays \S+ USDC at block \d+, but returns \S+ USDC$"):
        quote_split(trader, honest.address).check(node)


def test_the_tokens_of_a_router_hide_no_wrong_reading(trader: Trader, node: RpcNode) -> None:
    """A router that reads rates as absolute could spend what it holds by chance on rates that are relative."""
    router = deploy_reading_router(trader, RouterVariant(RateVariant.ABSOLUTE_INPUT))
    trader.world.give(WETH, router.address, 10**18)
    quoted = quote_split(trader, router.address)
    try:
        checked = quoted.check(node)
    except SimulationError:
        return
    assert checked.simulation
    assert checked.simulation.variant
    assert RateVariant.RELATIVE not in checked.simulation.variant.rates


def test_on_another_state_no_reading_is_proven(trader: Trader, node: RpcNode) -> None:
    router = deploy_reading_router(trader, RouterVariant(RateVariant.ABSOLUTE_INPUT, ExtraDataForm.WORD))
    quoted = quote_split(trader, router.address)
    quoted = quoted._replace(state=quoted.state._replace(service_url="http://service.example"))
    checked = quoted.check(node)
    assert checked.simulation
    assert checked.simulation.variant is None
    assert not checked.proven
    assert checked.read_payload
    assert checked.read_payload.variant.rate is not RateVariant.RELATIVE
    assert checked.read_payload.variant.extra_data is ExtraDataForm.WORD


def test_what_a_simulation_shows_is_remembered(trader: Trader, node: RpcNode, tmp_path: Path) -> None:
    reading = RouterVariant(RateVariant.ABSOLUTE_INPUT, ExtraDataForm.WORD)
    router = deploy_reading_router(trader, reading).address
    quoted, file = quote_split(trader, router), RouterFindingsFile(tmp_path / "readings.json")
    checked = quoted.check(node)
    VariantMemory(file).learn(node, quoted.payloads, checked, NOW_S)
    network = quoted.payloads.network
    findings = RouterFindingsFile(tmp_path / "readings.json").load(network.chain_id, router.upper().replace("0X", "0x"))
    assert set(findings.protocols) == {5, 9}
    absolute = RateVariant.ABSOLUTE_INPUT, RateVariant.ABSOLUTE
    block = quoted.state.block
    assert block is not None
    assert set(findings.protocols.values()) == {RouterFinding(absolute, (ExtraDataForm.WORD,), block, NOW_S)}
    assert findings.variant() == reading
    again = quoted.payloads._replace(network=network._replace(router_variant=findings.variant()), findings=findings)
    payload = again.build(findings.variant())
    assert again.certainty(ReadPayload(findings.variant(), payload)) is VariantCertainty.REMEMBERED
    assert quoted._replace(payload=payload, payloads=again).check(node).simulation == checked.simulation
    assert VariantMemory(file).without_stale(node, again) is None


def test_findings_are_forgotten_when_the_code_changes(trader: Trader, node: RpcNode, tmp_path: Path) -> None:
    first = RouterVariant(RateVariant.ABSOLUTE_INPUT, ExtraDataForm.WORD)
    router = deploy_reading_router(trader, first).address
    quoted, file = quote_split(trader, router), RouterFindingsFile(tmp_path / "readings.json")
    memory, network = VariantMemory(file), quoted.payloads.network
    memory.learn(node, quoted.payloads, quoted.check(node), NOW_S)
    findings = file.load(network.chain_id, router)
    other = deploy_reading_router(trader, RouterVariant(RateVariant.ABSOLUTE, ExtraDataForm.EMPTY)).address
    trader.chain.node.ask("anvil_setCode", router, trader.chain.node.ask("eth_getCode", other, "latest"))
    block = int(trader.chain.node.ask("eth_blockNumber"), 16)
    known = quoted.payloads._replace(network=network._replace(router_variant=first), findings=findings)
    quoted = quoted._replace(payload=known.build(first), payloads=known, state=quoted.state._replace(block=block))
    fallback = memory.without_stale(node, known)
    assert fallback
    assert fallback.payload == known.build(DEFAULT_VARIANT)
    assert not file.load(network.chain_id, router).protocols
    memory.learn(node, known, quoted.check(node), NOW_S)
    relearned = file.load(network.chain_id, router)
    assert relearned.code_hash != findings.code_hash
    assert {found.forms for found in relearned.protocols.values()} == {(ExtraDataForm.EMPTY,)}


def test_a_known_reading_is_simulated_alone(trader: Trader, node: RpcNode, monkeypatch: pytest.MonkeyPatch) -> None:
    batches, simulate = [], RpcNode.simulate_blocks

    def count(
        node: RpcNode, blocks: Sequence[SimulatedBlock], calls: Sequence[HypotheticalCall], at: BlockId
    ) -> tuple[list[BlockOutcome], list[ReturnData]]:
        batches.append(len(blocks))
        return simulate(node, blocks, calls, at)

    monkeypatch.setattr(RpcNode, "simulate_blocks", count)
    router = deploy_reading_router(trader, DEFAULT_VARIANT).address
    quoted = quote_split(trader, router)
    finding = RouterFinding((RateVariant.RELATIVE,), (ExtraDataForm.TWO_BYTES,), 1, NOW_S)
    findings = RouterFindings("0x", {5: finding, 9: finding})
    known = quoted._replace(payloads=quoted.payloads._replace(findings=findings))
    assert len(quoted.check(node).proven) == 1
    assert batches[-1] > 1
    batches.clear()
    assert len(known.check(node).proven) == 1
    assert batches[-1] == 1
