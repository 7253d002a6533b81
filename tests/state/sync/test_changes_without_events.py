"""The sample finds changes without events; unreadable pools are removed, and added again once they are readable."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import SyncFilter, count_skipped, follow, sync
from swapcli.testing.evm import selector
from tests.chain.sync.expected_state import check_true, synced
from tests.chain.sync.factory_chain import CreatedPool, TestChain
from tests.contracts.evm import compile_solidity
from tests.support.chain import restored

PAIRS = 30
FACTORY = "sphere-mezo-solidity-files/domains/aerodrome/contracts/factories/PoolFactory.sol"
SAMPLE = 8
_PAIR_SLOT = 8
"""Where a pair of Uniswap V2 keeps both reserves."""
REVERTS = "0x60006000fd"
_SYNC = "1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
"""The first topic of Uniswap V2's Sync."""


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    rng = Random("town")
    with restored(factory_chain) as local_chain:
        for name in ("v2", "volatile") * (PAIRS // 2):
            local_chain.create_pool(rng, name)
        yield local_chain


@pytest.mark.slow
def test_the_sample_finds_a_fee_changed_by_the_factory(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    home = local_chain.factories["volatile"].home.address
    factory = local_chain.chain.at(home, compile_solidity(FACTORY)["PoolFactory"])
    factory.send("setFee", False, 77)
    concerned = {each.key for each in local_chain.pools if each.protocol == "volatile"}
    advance = follow(store, node)
    assert advance
    assert advance.changed == ()
    assert set(advance.changed_without_event) == concerned, "one changed pool refreshes its whole protocol"
    assert {pool.fee_ppm for pool in store.read_pools(concerned).pools.values()} == {7_700}
    check_true(store, node, local_chain.pools)


def test_an_event_of_the_factory_reports_the_fee_of_one_pool(
    local_chain: TestChain, node: RpcNode, store: Store
) -> None:
    made = next(each for each in local_chain.pools if each.protocol == "volatile")
    factory = local_chain.chain.at(
        local_chain.factories["volatile"].home.address, compile_solidity(FACTORY)["PoolFactory"]
    )
    factory.send("setCustomFee", made.key, 123)
    advance = follow(store, node)
    assert advance
    assert advance.changed == (made.key,)
    check_true(store, node, local_chain.pools)


def test_the_sample_covers_every_pool(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    """Each is changed behind its own back, and found within one round over all of them."""
    rng = Random("behind")
    for made in rng.sample(local_chain.pools, 6):
        slot = _PAIR_SLOT if made.protocol == "v2" else _reserve_slot(local_chain, made)
        local_chain.chain.node.ask(
            "anvil_setStorageAt", made.key, hex(slot), f"0x{_word(local_chain, made, slot) ^ 1:064x}"
        )
        changed_without_event: set[str] = set()
        for _ in range(PAIRS // SAMPLE + 1):
            local_chain.chain.node.ask("evm_mine")
            advance = follow(store, node)
            assert advance
            changed_without_event |= set(advance.changed_without_event)
        assert changed_without_event == {made.key}
        check_true(store, node, local_chain.pools)


def _reserve_slot(local_chain: TestChain, made: CreatedPool) -> int:
    """Where a Solidly pair keeps its first reserve; what it has issued, which may be as much, lies before."""
    reserve = int.from_bytes(local_chain.chain.call(made.key, selector("getReserves()"))[:32])
    return max(slot for slot in range(40) if _word(local_chain, made, slot) == reserve)


def _word(local_chain: TestChain, made: CreatedPool, slot: int) -> int:
    return int(local_chain.chain.node.ask("eth_getStorageAt", made.key, hex(slot), "latest"), 16)


def test_an_unreadable_pool_is_skipped_until_it_is_readable(
    local_chain: TestChain, node: RpcNode, store: Store
) -> None:
    rng = Random("broken")
    made = local_chain.use(rng)
    code = local_chain.chain.node.ask("eth_getCode", made.key, "latest")
    local_chain.chain.node.ask("anvil_setCode", made.key, REVERTS)
    advance = follow(store, node)
    assert advance
    assert (advance.changed, advance.removed) == ((), (made.key,))
    check_true(store, node, [each for each in local_chain.pools if each is not made])
    (reason,) = count_skipped(store)
    assert (reason.reason, reason.count, reason.examples) == ("getReserves(): the contract reverts", 1, (made.key,))
    local_chain.chain.node.ask("anvil_setCode", made.key, code)
    local_chain.use(rng, made)
    advance = follow(store, node)
    assert advance
    assert advance.added == (made.key,)
    check_true(store, node, local_chain.pools)
    assert count_skipped(store) == ()


def test_the_sample_finds_a_pool_broken_without_an_event(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    made = local_chain.pools[11]
    local_chain.chain.node.ask("anvil_setCode", made.key, REVERTS)
    removed: set[str] = set()
    for _ in range(PAIRS // SAMPLE + 1):
        local_chain.chain.node.ask("evm_mine")
        advance = follow(store, node)
        assert advance
        removed |= set(advance.removed)
    assert removed == {made.key}
    assert len(synced(store, node)) == 1
    assert made.key not in store.read_market().pools


MANY = 7
"""More than 5 pools, and more than one in 100."""


def break_some(local_chain: TestChain, count: int) -> dict[str, str]:
    """Make so many pairs unreadable. Returns their code."""
    node = local_chain.chain.node
    codes = {made.key: str(node.ask("eth_getCode", made.key, "latest")) for made in local_chain.pools[:count]}
    for key in codes:
        node.ask("anvil_setCode", key, REVERTS)
    for made in local_chain.pools[:count]:
        _touch(local_chain, made)
    return codes


def mend(local_chain: TestChain, codes: dict[str, str]) -> None:
    for key, code in codes.items():
        local_chain.chain.node.ask("anvil_setCode", key, code)
    local_chain.chain.node.ask("evm_mine")


def _touch(local_chain: TestChain, made: CreatedPool) -> None:
    """Lets an event of a pair appear, as its code cannot."""
    node = local_chain.chain.node
    code = node.ask("eth_getCode", made.key, "latest")
    node.ask("anvil_setCode", made.key, f"0x7f{_SYNC}60006000a1")
    local_chain.chain.send(made.key, b"")
    node.ask("anvil_setCode", made.key, code)


def test_losing_many_pools_is_refused_unless_accepted(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    before = store.read_market()
    codes = break_some(local_chain, MANY)
    with pytest.raises(InvalidUpstreamResponse, match=r"no longer returns the state of 6 or more of 30 pools \("):
        follow(store, node)
    with pytest.raises(InvalidUpstreamResponse):
        synced(store, node)
    assert store.read_market() == before
    assert count_skipped(store) == ()
    assert list(sync(store, node, SyncFilter(), SYSTEM_CLOCK, accept_losses=True))
    assert set(before.pools) - set(store.read_market().pools) == set(codes)
    check_true(store, node, local_chain.pools[MANY:])


def test_few_lost_pools_are_removed_and_added_again_later(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    codes = break_some(local_chain, 5)
    advance = follow(store, node)
    assert advance
    assert set(advance.removed) == set(codes)
    for key in list(codes)[:2]:
        mend(local_chain, {key: codes.pop(key)})
    assert synced(store, node)
    check_true(store, node, [each for each in local_chain.pools if each.key not in codes])
    mend(local_chain, codes)
    advance = follow(store, node)
    assert advance
    assert set(advance.added) == set(codes), "although they emit no event"
    check_true(store, node, local_chain.pools)
    assert count_skipped(store) == ()


def test_empty_return_data_removes_a_pool_only_with_proof(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    made = local_chain.pools[3]
    code = local_chain.chain.node.ask("eth_getCode", made.key, "latest")
    _touch(local_chain, made)
    local_chain.chain.node.ask("anvil_setCode", made.key, "0x00")
    local_chain.chain.node.ask("evm_mine")
    bare = store.network._replace(multicall=None)
    store.network, proven = bare, store.network
    with pytest.raises(InvalidUpstreamResponse, match=f"returns nothing for {made.key}, which it returned before"):
        follow(store, node)
    assert made.key in store.read_market().pools
    store.network = proven
    advance = follow(store, node)
    assert advance
    assert advance.removed == (made.key,)
    local_chain.chain.node.ask("anvil_setCode", made.key, code)
    assert synced(store, node)
    check_true(store, node, local_chain.pools)
