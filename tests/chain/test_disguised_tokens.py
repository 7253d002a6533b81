"""Tokens that notice a simulation and then behave well are judged as what they are; their honest twins are ok."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from swapcli.core.model.finding import FindingCode, Level
from swapcli.core.model.token import Token
from swapcli.payload.verdict.verdict import Verdict
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import Contract
from tests.chain.market_reader import read_market
from tests.chain.odd_tokens import UNIT, open_pair
from tests.chain.trader import USER, Trader
from tests.contracts.evm import solidity
from tests.examples import few
from tests.payload.verdict.test_swap_rehearsal import judge
from tests.support.chain import restored
from tests.support.old_node import OldNode

SOURCES = solidity("disguises.sol")
BASE_FEE_WEI = 10**9
MINER = "0x" + "c0" * 20
TRICKS = {
    "no gas price": 0,
    "a gas price below the base fee": 1,
    "an origin with code": 2,
    "a rich origin": 3,
    "a holder with code": 4,
    "an origin that is not the holder": 5,
    "much gas": 6,
    "no base fee": 7,
    "no miner": 8,
    "a buyer with code": 9,
    "a poor origin": 10,
    "another router": 11,
}
"""What the token looks at, and its number in the contract."""


@pytest.fixture(scope="module")
def disguised_trader(shared_trader: Trader) -> Iterator[Trader]:
    with restored(shared_trader) as trader:
        yield trader


@pytest.fixture
def trader(disguised_trader: Trader) -> Iterator[Trader]:
    with restored(disguised_trader) as trader:
        yield trader
        trader.chain.node.ask("anvil_setCoinbase", "0x" + "00" * 20)


def start_fees(trader: Trader) -> None:
    """Mine a block with a base fee and a miner, as a real network has them."""
    trader.chain.node.ask("anvil_setBalance", USER, hex(10**19))
    trader.chain.node.ask("anvil_setCoinbase", MINER)
    trader.chain.node.ask("anvil_setNextBlockBaseFeePerGas", hex(BASE_FEE_WEI))
    trader.chain.node.ask("anvil_mine", "0x1")


def buy(trader: Trader, node: Any, trick: str, *, is_trap: bool) -> tuple[Verdict, Contract, str]:
    """The verdict on buying a token with a trick, the token, and its pool."""
    world = trader.world
    token = trader.chain.deploy(SOURCES()["DisguisedTrap"], "ODD", TRICKS[trick], is_trap)
    world.contracts["ODD"], world.tokens["ODD"] = token, Token(token.address, "ODD", "ODD", 18)
    place = open_pair(world, "ODD")
    token.send("setPool", place.contract.address)
    token.send("setRouter", world.network.router)
    trader.market = read_market(world)
    ends = world.tokens["DAI"], world.tokens["ODD"]
    verdict = judge(trader, node, *ends, 100 * UNIT, sender=USER, recipient=USER, change=lambda: start_fees(trader))
    return verdict, token, place.contract.address


def sells(trader: Trader, token: Contract, pool: str) -> bool:
    """Whether a transaction of a user who holds the token sends it to the pool."""
    token.send("mint", USER, 10**18)
    transaction = {
        "from": USER,
        "to": token.address,
        "data": f"0x{token.calldata('transfer', pool, 10**17).hex()}",
        "gas": hex(200_000),
        "gasPrice": hex(2 * BASE_FEE_WEI),
    }
    return trader.chain.receipt(trader.chain.node.ask("eth_sendTransaction", transaction)).succeeded


@pytest.mark.parametrize("trick", few(TRICKS, 12))
def test_a_token_that_notices_simulations_is_blocked(trader: Trader, node: RpcNode, trick: str) -> None:
    verdict, token, pool = buy(trader, node, trick, is_trap=True)
    assert not sells(trader, token, pool)
    assert [each.code for each in verdict.findings] == [FindingCode.CANNOT_BE_SOLD], verdict


@pytest.mark.parametrize("trick", few(TRICKS, 3))
def test_its_honest_twin_is_ok(trader: Trader, node: RpcNode, trick: str) -> None:
    verdict, token, pool = buy(trader, node, trick, is_trap=False)
    assert sells(trader, token, pool)
    assert verdict.level is Level.INFO, verdict


@pytest.mark.parametrize("trick", few(TRICKS, 6))
def test_a_node_without_blocks_is_not_deceived(trader: Trader, node: RpcNode, trick: str) -> None:
    verdict, _, _ = buy(trader, OldNode(node), trick, is_trap=True)
    assert verdict.level is Level.BLOCK, verdict


@pytest.mark.parametrize("trick", few(TRICKS, 3))
def test_an_honest_twin_is_ok_on_a_node_without_blocks(trader: Trader, node: RpcNode, trick: str) -> None:
    verdict, _, _ = buy(trader, OldNode(node), trick, is_trap=False)
    assert verdict.level is Level.INFO, verdict
