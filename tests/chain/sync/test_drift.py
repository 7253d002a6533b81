"""What no event tells of is found by the sample; what can no longer be read goes, and comes back when it can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.chain.rpc import RpcNode
from swapcli.engine.sync import follow, skipped
from swapcli.store import Store
from tests.chain.anvil import running_anvil
from tests.chain.sync.town import Made, Town
from tests.chain.sync.truth import check_true, store_at, synced
from tests.contracts.evm import compile_solidity, selector

PAIRS = 30
FACTORY = "sphere-mezo-solidity-files/domains/aerodrome/contracts/factories/PoolFactory.sol"
SAMPLE = 8
_PAIR_SLOT = 8
"""Where a pair of Uniswap V2 keeps both reserves."""
REVERTS = "0x60006000fd"


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    rng = Random("town")
    with running_anvil() as chain:
        made = Town(chain)
        for name in ("v2", "volatile") * (PAIRS // 2):
            made.make(rng, name)
        yield made


@pytest.fixture
def store(town: Town, node: RpcNode, tmp_path: Path) -> Iterator[Store]:
    """Each test has the chain as it was."""
    with town.chain.undone(), store_at(tmp_path / "store", town.network) as made:
        synced(made, node)
        yield made


def test_a_fee_that_the_factory_changes_is_found_by_the_sample(town: Town, node: RpcNode, store: Store) -> None:
    home = town.factories["volatile"].home.address
    factory = town.chain.at(home, compile_solidity(FACTORY)["PoolFactory"])
    factory.send("setFee", False, 77)
    concerned = {each.key for each in town.made if each.protocol == "volatile"}
    advance = follow(store, node)
    assert advance
    assert advance.touched == ()
    assert set(advance.drifted) == concerned, "one of them brings all of its protocol to light"
    assert {pool.fee_ppm for pool in store.market_of(concerned).pools.values()} == {7_700}
    check_true(store, node, town.made)


def test_a_fee_of_one_pool_is_told_by_the_factory(town: Town, node: RpcNode, store: Store) -> None:
    made = next(each for each in town.made if each.protocol == "volatile")
    factory = town.chain.at(town.factories["volatile"].home.address, compile_solidity(FACTORY)["PoolFactory"])
    factory.send("setCustomFee", made.key, 123)
    advance = follow(store, node)
    assert advance
    assert advance.touched == (made.key,)
    check_true(store, node, town.made)


def test_every_pool_comes_into_the_sample(town: Town, node: RpcNode, store: Store) -> None:
    """Each is changed behind its own back, and found within one round over all of them."""
    rng = Random("behind")
    for made in rng.sample(town.made, 6):
        slot = _PAIR_SLOT if made.protocol == "v2" else _reserve_slot(town, made)
        town.chain.node.ask("anvil_setStorageAt", made.key, hex(slot), f"0x{_word(town, made, slot) ^ 1:064x}")
        drifted: set[str] = set()
        for _ in range(PAIRS // SAMPLE + 1):
            town.chain.node.ask("evm_mine")
            advance = follow(store, node)
            assert advance
            drifted |= set(advance.drifted)
        assert drifted == {made.key}
        check_true(store, node, town.made)


def _reserve_slot(town: Town, made: Made) -> int:
    """Where a Solidly pair keeps its first reserve; what it has issued, which may be as much, lies before."""
    reserve = int.from_bytes(town.chain.ask(made.key, selector("getReserves()"))[:32])
    return max(slot for slot in range(40) if _word(town, made, slot) == reserve)


def _word(town: Town, made: Made, slot: int) -> int:
    return int(town.chain.node.ask("eth_getStorageAt", made.key, hex(slot), "latest"), 16)


def test_a_pool_that_cannot_be_read_is_out_with_its_reason_until_it_can(
    town: Town, node: RpcNode, store: Store
) -> None:
    rng = Random("broken")
    made = town.use(rng)
    code = town.chain.node.ask("eth_getCode", made.key, "latest")
    town.chain.node.ask("anvil_setCode", made.key, REVERTS)
    advance = follow(store, node)
    assert advance
    assert (advance.touched, advance.removed) == ((), (made.key,))
    check_true(store, node, [each for each in town.made if each is not made])
    (reason,) = skipped(store)
    assert (reason.reason, reason.count, reason.examples) == ("getReserves(): the contract reverts", 1, (made.key,))
    town.chain.node.ask("anvil_setCode", made.key, code)
    town.use(rng, made)
    advance = follow(store, node)
    assert advance
    assert advance.added == (made.key,)
    check_true(store, node, town.made)
    assert skipped(store) == ()


def test_a_pool_that_breaks_without_a_word_is_found_by_the_sample(town: Town, node: RpcNode, store: Store) -> None:
    made = town.made[11]
    town.chain.node.ask("anvil_setCode", made.key, REVERTS)
    removed: set[str] = set()
    for _ in range(PAIRS // SAMPLE + 1):
        town.chain.node.ask("evm_mine")
        advance = follow(store, node)
        assert advance
        removed |= set(advance.removed)
    assert removed == {made.key}
    assert len(synced(store, node)) == 1
    assert made.key not in store.read_market().pools
