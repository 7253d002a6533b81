"""Mined swaps of real contracts on a node: each is quoted on the state just before it, and paid to the unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from random import Random

import pytest
from eth_account import Account

from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sources.in_memory import InMemorySource
from swapcli.engine.sources.live import LiveSource
from swapcli.engine.swap_verification import Outcome, VerifiedSwap
from swapcli.engine.transaction_verification import Verification, verify_transaction
from swapcli.errors import InvalidInput, NoRoute, PoolError
from swapcli.evm import build_transactions
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Deployment
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.swap_terms import SwapTerms
from swapcli.pools.concentrated import Concentrated
from swapcli.state.rpc.block_view import BlockView
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.anvil import AnvilChain
from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import GAS_PRICE_WEI, KEY, USER, Trader
from tests.support.chain import connected

SLIPPAGE_PPM = 500_000
_GAS_LIMIT = 12_000_000


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    network = trader.world.network
    deployments = (*network.deployments, balancer_deployment(trader))
    trader.world.network = network._replace(multicall=deploy_multicall(trader.chain), deployments=deployments)
    trader.market = trader.market._replace(network=trader.world.network)
    with connected(trader.chain) as node:
        yield node


def balancer_deployment(trader: Trader) -> Deployment:
    """Return the vault, whose events alone count as those of its pools."""
    place = next(place for place in trader.world.places if place.protocol == "balancerV2Weighted")
    (vault,) = place.contract.call("getVault")
    return Deployment((place.protocol,), "Balancer V2", {"vault": vault})


def verify(trader: Trader, node: RpcNode, transaction: str) -> Verification:
    """Verify with the pools of the trader's market as the known ones; their state is older."""
    known = InMemorySource(trader.market, SYSTEM_CLOCK)

    def open_at_block(block: BlockHeader, gas_price_wei: int) -> LiveSource:
        return LiveSource(known, BlockView(node, block, gas_price_wei), SYSTEM_CLOCK)

    return verify_transaction(node, known, transaction, open_at_block)


def block_number(chain: AnvilChain) -> int:
    return int(chain.node.ask("eth_blockNumber"), 16)


def mined_since(chain: AnvilChain, first: int) -> list[str]:
    """Return the hashes of the transactions in the blocks from `first`."""
    blocks = (
        chain.node.ask("eth_getBlockByNumber", hex(number), False) for number in range(first, block_number(chain) + 1)
    )
    return [transaction for block in blocks for transaction in block["transactions"]]


def verified_swaps(trader: Trader, node: RpcNode, transactions: list[str]) -> list[VerifiedSwap]:
    found: list[VerifiedSwap] = []
    for transaction in transactions:
        try:
            found += verify(trader, node, transaction).swaps
        except InvalidInput as error:
            assert "no swap" in error.message
    return found


def crosses_tick(swap: VerifiedSwap) -> bool:
    after = swap.event.amounts.state_after.get("tick")
    if not isinstance(swap.pool, Concentrated) or not isinstance(after, int):
        return False
    low, high = sorted((swap.pool.tick, after))
    return any(low < tick <= high for tick in swap.pool.tick_list.ticks)


def trade_at_random(trader: Trader, seed: str, trades: int) -> list[str]:
    """Execute random trades, each in a block of its own, and return all transactions."""
    first = block_number(trader.chain) + 1
    for trade in trader.trades(Random(seed), trades):
        trader.execute(trade)
    return mined_since(trader.chain, first)


def trade_in_one_block(trader: Trader, orders: list[Order]) -> list[str]:
    """Have the best routes for these orders on one state mined in one block, and return all transactions."""
    first = block_number(trader.chain) + 1
    source, nonces = InMemorySource(trader.market, SYSTEM_CLOCK), count(trader.nonce)
    trader.chain.node.ask("evm_setAutomine", False)
    for order in orders:
        _, payload = source.quote_and_build(QuoteRequest(order, ApiVersion.V2), SwapTerms(SLIPPAGE_PPM, USER))
        for each in build_transactions(payload):
            fields = {
                **{"nonce": next(nonces), "gasPrice": GAS_PRICE_WEI, "gas": _GAS_LIMIT, "value": each.value},
                **{"to": bytes.fromhex(each.to[2:]), "data": each.calldata},
                "chainId": trader.market.network.chain_id,
            }
            signed = Account.sign_transaction(fields, KEY).raw_transaction
            trader.chain.node.ask("eth_sendRawTransaction", f"0x{signed.hex()}")
            trader.nonce += 1
    trader.chain.node.ask("evm_mine")
    trader.chain.node.ask("evm_setAutomine", True)
    assert block_number(trader.chain) == first
    return mined_since(trader.chain, first)


def check_all_equal(swaps: list[VerifiedSwap]) -> None:
    assert [(swap, swap.reason) for swap in swaps if swap.outcome is not Outcome.EQUAL] == []


def test_every_swap_of_random_trades_is_equal(trader: Trader, node: RpcNode) -> None:
    swaps = verified_swaps(trader, node, trade_at_random(trader, "a few mined trades", 6))
    check_all_equal(swaps)
    print(len(swaps), Counter(s.pool.protocol for s in swaps), sum(map(crosses_tick, swaps)))
    assert len(swaps) >= 10


@pytest.mark.slow
def test_every_swap_of_many_random_trades_is_equal(trader: Trader, node: RpcNode) -> None:
    swaps = verified_swaps(trader, node, trade_at_random(trader, "many mined trades", 40))
    check_all_equal(swaps)
    families = Counter(swap.pool.family for swap in swaps if swap.pool)
    print(len(swaps), families, sum(map(crosses_tick, swaps)))
    assert len(swaps) >= 100
    assert sum(map(crosses_tick, swaps)) >= 20
    assert len(families) >= 4


def test_swaps_of_one_block_are_quoted_after_each_other(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    pairs = ((WETH, "USDC"), (WETH, "USDC"), ("USDC", WETH), ("USDC", "TKN"), (WETH, "USDC"))
    orders = [Order(tokens[a], tokens[b], (k + 1) * 10 ** (tokens[a].decimals + 2)) for k, (a, b) in enumerate(pairs)]
    swaps = verified_swaps(trader, node, trade_in_one_block(trader, orders))
    check_all_equal(swaps)
    by_pool = Counter(swap.event.key for swap in swaps)
    print(len(swaps), by_pool)
    assert max(by_pool.values()) >= 3
