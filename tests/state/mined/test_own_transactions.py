"""Every swap of swapcli's own transactions is explained: random routes through all families that a node here can have.

EulerSwap is on a node in `tests/chain/test_euler_swap.py`; its compiled contracts and Curve's metapools are in
`test_swap_parts.py`, as recorded transactions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from swapcli.core.model.network import Deployment
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.verification.transaction_verification import quote_at_block, verify_transaction
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.swap_events import find_swaps
from swapcli.state.mined.swap_verification import Outcome
from tests.chain.families_fixture import open_families_trader
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import Trader
from tests.examples import examples, seeds
from tests.state.mined.test_swap_verification import block_number, mined_since
from tests.support.chain import connected

FAMILIES = {
    "concentrated", "constant_product", "solidly_stable", "weighted", "balancer_v2_stable", "balancer_v2_composable",
    "vault",
}  # fmt: skip
"""Those of the network, besides the modelled pool of Curve's kind, which announces no swaps."""


@pytest.fixture(scope="module")
def trader_of_families() -> Iterator[Trader]:
    with open_families_trader() as trader:
        network = trader.world.network
        vaults: dict[str, dict[str, None]] = {}
        for place in trader.world.places:
            if place.protocol.startswith("balancerV2"):
                (vault,) = place.contract.call("getVault")
                vaults.setdefault(vault, {})[place.protocol] = None
        balancer = [Deployment(tuple(names), "Balancer V2", {"vault": vault}) for vault, names in vaults.items()]
        network = network._replace(
            multicall=deploy_multicall(trader.chain), deployments=(*network.deployments, *balancer)
        )
        trader.world.network = network
        pools = {key: pool for key, pool in trader.market.pools.items() if pool.protocol != "curveFi"}
        trader.market = trader.market._replace(network=network, pools=pools)
        yield trader


@pytest.mark.parametrize("seed", seeds(0, full=4))
def test_every_swap_of_own_transactions_is_explained(trader_of_families: Trader, seed: int) -> None:
    """Four times 50 transactions, or a sample of a few."""
    trader, seen = trader_of_families, Counter[str]()
    with connected(trader.chain) as node:
        for trade in trader.trades(Random(f"own transactions {seed}"), examples(8, full=50)):
            trader.execute(trade)
            (transaction,) = mined_since(trader.chain, block_number(trader.chain))
            receipt = node.read_receipt(transaction)
            if receipt is None or not find_swaps(receipt.logs):
                continue  # it only wraps the native currency
            known = InMemorySource(trader.market, SYSTEM_CLOCK)
            found = verify_transaction(node, known, transaction, quote_at_block(known, node))
            assert [(each.outcome, each.reason) for each in found.swaps if each.outcome is not Outcome.EQUAL] == []
            seen.update(each.pool.family for each in found.swaps if each.pool)
    assert seen.keys() == FAMILIES
    assert seen.total() >= examples(8, full=50)
