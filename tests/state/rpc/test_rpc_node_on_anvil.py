"""Reads over JSON-RPC from a real node equal the state of the contracts, with and without Multicall3."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import pytest

from swapcli.core.errors import InvalidUpstreamResponse, UpstreamRejected
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Kind
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.families import reader_name
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.tokens import load_tokens
from tests.chain.anvil import CHAIN_ID
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_pools
from tests.chain.node.evm_node import deploy_multicall, sources
from tests.chain.trader import Trader
from tests.families.balancer import test_boosted_shares as test_boosted_shares
from tests.families.bins import test_liquidity_book_reader as test_liquidity_book
from tests.families.curve import test_cryptoswap_reader as test_cryptoswap
from tests.families.fixed_rate import test_fixed_rate_readers as test_fixed_rate_readers
from tests.families.fluid import test_fluid_t1_reader as test_fluid_t1
from tests.families.sampled import test_sampled_pools_reader as test_sampled_pools
from tests.families.solidly import test_solidly_reader as test_solidly
from tests.families.uniswap import test_infinity_cl_reader as test_infinity_cl
from tests.state.sync import test_forks
from tests.support.chain import connected

BASE = find_network("base")
"""Its protocols have other names than those of the tests, so that the state of a pool shows its kind."""

SYNC = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
"""The topic of Sync(uint112,uint112), an event of a pair."""


@pytest.fixture
def world(trader: Trader) -> ContractFixture:
    return trader.world


def places(world: ContractFixture) -> dict[str, PoolRef]:
    """Return a reference to every pool, from an independent reader, without its tick."""
    found = {pool.key: ref_of_pool(pool, BASE) for pool in read_pools(world, world.places)}
    return {key: place._replace(last_read=None) for key, place in found.items() if place}


def read(node: RpcNode, pool_refs: list[PoolRef], multicall: str | None) -> list[Pool]:
    found = list(load_pools(MulticallReader(node, node.read_head().block.number, multicall), pool_refs))
    return [pool for pool in found if isinstance(pool, Pool)]


READ_ELSEWHERE = {
    ContractKind.SOLIDLY_V1: test_solidly,
    ContractKind.SOLIDLY_V3: test_solidly,
    "balancer_v3": test_boosted_shares,
    "cryptoswap": test_cryptoswap,
    "infinity_cl": test_infinity_cl,
    "infinity_bin": test_infinity_cl,
    "liquidity_book": test_liquidity_book,
    "fluid_t1": test_fluid_t1,
    "psm": test_fixed_rate_readers,
    ContractKind.VAULT: test_fixed_rate_readers,
    "bridge": test_fixed_rate_readers,
    ContractKind.SAMPLED: test_sampled_pools,
    ContractKind.RAMSES_V3: test_forks,
}
"""The tests of readers whose kinds have no pool on the test chain, where they are not at the mirrored path."""


def reader_tests(kind: str) -> ModuleType | None:
    """Return the tests of a kind's reader, or those of the family with it; None if there are none."""
    package, name, folder, module = reader_name(kind).rsplit(".", 3)
    assert (package, name) == ("swapcli", "families")
    paths = (f"tests.families.{folder}.test_{each}" for each in (module, module.removesuffix("_reader")))
    return next((import_module(path) for path in paths if find_spec(path)), None)


def test_every_kind_is_read_here_or_by_tests_of_its_own(world: ContractFixture) -> None:
    here = {place.kind for place in places(world).values()}
    assert not here & READ_ELSEWHERE.keys()
    evm = {kind for kind in KINDS if KINDS[kind].network_kind is Kind.EVM}
    elsewhere = {kind: READ_ELSEWHERE.get(kind) or reader_tests(kind) for kind in evm - here}
    for kind, tests in elsewhere.items():
        assert tests, f"{kind} has no test of its reader"
        names = {kind, *(each.name for each in ContractKind if each == kind)}
        assert re.search(rf"\b({'|'.join(names)})\b", inspect.getsource(tests)), kind


@pytest.mark.parametrize("with_multicall", [True, False])
def test_pools_of_all_families_match_an_independent_reader(
    world: ContractFixture, node: RpcNode, with_multicall: bool
) -> None:
    multicall = deploy_multicall(world.chain) if with_multicall else None
    pool_refs = places(world)
    pools = read(node, list(pool_refs.values()), multicall)
    expected = read_pools(world, world.places)
    assert len(pools) == len(expected)
    for pool, known in zip(pools, expected, strict=True):
        if isinstance(pool, Concentrated) and isinstance(known, Concentrated) and pool.tick_list != known.tick_list:
            # Liquidity beyond the ticks that are read around the price is closed at their ends.
            assert pool.tick_list.ticks[0] >= known.tick_list.ticks[0]
            assert set(pool.tick_list.ticks[1:-1]) <= set(known.tick_list.ticks)
            assert (pool.sqrt_price_x96, pool.tick, pool.liquidity) == (
                known.sqrt_price_x96,
                known.tick,
                known.liquidity,
            )
        else:
            assert pool == known


def test_known_pools_are_read_in_two_round_trips(world: ContractFixture, node: RpcNode) -> None:
    multicall = deploy_multicall(world.chain)
    pool_refs = [
        place
        for place in places(world).values()
        if place.kind in (ContractKind.UNISWAP_V2, ContractKind.UNISWAP_V3, ContractKind.UNISWAP_V4)
    ]
    first = read(node, pool_refs, multicall)
    again = [place for place in (ref_of_pool(pool, BASE) for pool in first) if place]
    before = node.round_trips
    assert read(node, again, multicall) == first
    assert node.round_trips - before == 2, "the head, and what is around the price as it was"


def test_tokens_are_read_over_the_wire(world: ContractFixture, node: RpcNode) -> None:
    addresses = [token.address for token in world.tokens.values()]
    found = list(
        load_tokens(MulticallReader(node, node.read_head().block.number, deploy_multicall(world.chain)), addresses)
    )
    tokens = [token for token in found if isinstance(token, Token)]
    assert [(token.address, token.decimals) for token in tokens] == [
        (token.address, token.decimals) for token in world.tokens.values()
    ]


def test_events_are_found_for_any_range_size(world: ContractFixture, node: RpcNode) -> None:
    last = node.read_head().block.number
    query = LogFilter((), (SYNC,), 0, last)
    assert query.to_block > 10
    whole = [log for part in scan_logs(node, query) for log in part.logs]
    assert whole
    node.limits.log_blocks.value = 7
    assert [log for part in scan_logs(node, query) for log in part.logs] == whole
    pairs = {place.address for place in places(world).values() if place.kind == ContractKind.UNISWAP_V2}
    narrowed = [log for part in scan_logs(node, query._replace(addresses=tuple(pairs))) for log in part.logs]
    assert narrowed == [log for log in whole if log.address in pairs]


def test_calls_that_revert_or_burn_all_gas_return_none(world: ContractFixture, node: RpcNode) -> None:
    burner = world.chain.deploy(sources()["Burner"])
    fine, burning = (ContractCall(burner.address, burner.calldata(name)) for name in ("token1", "token0"))
    multicall = deploy_multicall(world.chain)
    for deployed in (multicall, None):
        answers = MulticallReader(node, node.read_head().block.number, deployed).call(
            [fine, burning, fine, burning, fine]
        )
        assert [answer is None for answer in answers] == [False, True, False, True, False]


def test_calls_after_one_that_burns_all_gas_are_answered(world: ContractFixture, node: RpcNode) -> None:
    burner = world.chain.deploy(sources()["Burner"])
    multicall = deploy_multicall(world.chain)
    fine, burning = (ContractCall(burner.address, burner.calldata(name)) for name in ("token1", "token0"))
    calls = [*[burning] * 6, *[fine] * 20]
    answers = MulticallReader(node, node.read_head().block.number, multicall).call(calls)
    assert [answer is None for answer in answers] == [True] * 6 + [False] * 20


def test_a_future_block_is_refused_after_retries(world: ContractFixture, node: RpcNode) -> None:
    with pytest.raises(UpstreamRejected, match=r"^the local node rejected eth_\w+: "):
        node.call(world.address("USDC"), b"", node.read_head().block.number + 1_000)
    assert node.read_block(node.read_head().block.number + 1_000) is None


def test_a_node_of_another_chain_is_refused(trader: Trader) -> None:
    wrong_chain = pytest.raises(InvalidUpstreamResponse, match=f"is a node of chain {CHAIN_ID}, not of chain 8453")
    with connected(trader.chain, 8453) as node, wrong_chain:
        node.read_head()
