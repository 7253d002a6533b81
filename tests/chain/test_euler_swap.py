"""EulerSwap on a node: read with its vaults, executed by the real Universal Router through Uniswap V4, and verified.

The pool and its vaults are doubles (`own_vaults.sol`) on the real pool manager. The compiled contracts gave
`tests/families/vectors/euler_swap_vaults` and `tests/state/mined/recorded_parts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import pytest
from eth_account import Account

from swapcli.core.errors import PoolError
from swapcli.core.model.network import UNIVERSAL_ROUTER, Deployment, ProtocolInfo
from swapcli.core.model.order import Order
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.families.euler.euler_swap import EulerSwap
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.evm import build_transactions
from swapcli.payload.review.route_warnings import is_pool
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.verification.transaction_verification import Verification, quote_at_block, verify_transaction
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.swap_verification import Outcome
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import DEPLOYER, Contract
from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import GAS_PRICE_WEI, KEY, USER, Trade, Trader
from tests.chain.universal_fixture import CHAIN_ID, open_universal_trader
from tests.contracts.evm import compile_solidity
from tests.examples import examples
from tests.payload.evm.router.driving import single
from tests.support.chain import connected, restored

SOURCES: Final = Path(__file__).parents[1] / "families" / "euler"
OWN_HOOK: Final = 0xE << 152 | 0x0088
"""An address with the permissions of a hook that swaps in place of its pool."""
PROTOCOL: Final = "eulerSwap"
RESERVE, DEPOSIT = 10**24, 10**22
FEE: Final = 10**15


class EulerTrader:
    """A trader in a pool whose account has deposits of a hundredth of its reserves, in both tokens."""

    def __init__(self, trader: Trader, node: RpcNode) -> None:
        self.trader, self.node, self.world = trader, node, trader.world
        self.symbols = sorted(("DAI", "TKN"), key=lambda symbol: int(self.world.address(symbol), 16))
        contracts = compile_solidity("own_vaults.sol", root=SOURCES)
        chain, manager = self.world.chain, self.world.manager.address
        self.vaults = [chain.deploy(contracts["OwnVault"], self.world.address(symbol)) for symbol in self.symbols]
        self.pool: Contract = chain.place(f"0x{OWN_HOOK:040x}", contracts["OwnVaultPool"])
        self.pool.send("set", manager, *(each.address for each in self.vaults), [RESERVE] * 2, [10**6] * 2, FEE)
        tokens = tuple(map(self.world.address, self.symbols))
        self.world.manager.send("initialize", (*tokens, 0, 1, self.pool.address), 1 << 96)
        for symbol, vault in zip(self.symbols, self.vaults, strict=True):
            self.world.give(symbol, vault.address, RESERVE)
            self.world.give(symbol, manager, 10 * RESERVE)
            self.world.give(symbol, DEPLOYER, DEPOSIT)
            self.world.contracts[symbol].send("approve", vault.address, DEPOSIT)
            vault.send("deposit", f"0x{0xACC:040x}", DEPOSIT)
        network = self.world.network
        router = network.routers[UNIVERSAL_ROUTER]
        info = ProtocolInfo(105, PROTOCOL, "EulerSwap", "euler_swap")
        self.world.network = network._replace(
            multicall=deploy_multicall(trader.chain),
            protocols=(*network.protocols, info),
            deployments=(*network.deployments, Deployment((PROTOCOL,), "EulerSwap", {"pool_manager": manager})),
            routers={UNIVERSAL_ROUTER: router._replace(protocols={**router.protocols, PROTOCOL: "v4"})},
        )
        self.ref = PoolRef(self.pool.address, PROTOCOL, "euler_swap", "euler_swap", tokens, (18, 18), 0)
        trader.market = trader.market._replace(network=self.world.network)
        self.read()

    def read(self) -> EulerSwap:
        """Read the pool at the latest block into the market."""
        reader = MulticallReader(self.node, self.node.read_head().block, self.world.network.multicall)
        (pool,) = load_pools(reader, [self.ref])
        assert isinstance(pool, EulerSwap), pool
        market = self.trader.market
        self.trader.market = market._replace(pools={**market.pools, pool.key: pool})
        return pool

    def trade(self, sold: int, amount_in: int) -> Trade:
        pool = self.read()
        sold_token, bought_token = (self.world.tokens[self.symbols[k]] for k in (sold, 1 - sold))
        route = single(pool.key, sold_token.address, bought_token.address)
        order = Order(sold_token, bought_token, amount_in)
        return self.trader._build_trade_of_route(route, order, None, USER)

    def send(self, trade: Trade) -> tuple[int, str]:
        """Return what the recipient gets, and the hash of the swap."""
        before = self.world.balance(trade.token_out, USER)
        for each in build_transactions(trade.payload):
            assert self.trader.send(each).succeeded
        block = self.trader.chain.node.ask("eth_getBlockByNumber", "latest", False)
        return self.world.balance(trade.token_out, USER) - before, block["transactions"][-1]

    def verify(self, transaction: str) -> Verification:
        known = InMemorySource(self.trader.market, SYSTEM_CLOCK)
        return verify_transaction(self.node, known, transaction, quote_at_block(known, self.node))


@pytest.fixture(scope="module")
def universal_trader() -> Iterator[Trader]:
    with open_universal_trader() as trader:
        yield trader


@pytest.fixture
def euler(universal_trader: Trader) -> Iterator[EulerTrader]:
    with restored(universal_trader) as trader, connected(trader.chain, CHAIN_ID) as node:
        yield EulerTrader(trader, node)


def largest(pool: EulerSwap, sold: int) -> int:
    low, high = 0, RESERVE
    while high - low > 1:
        middle = (low + high) // 2
        try:
            pool.swap(pool.tokens[sold], pool.tokens[1 - sold], middle)
            low = middle
        except PoolError:
            high = middle
    return low


def test_swaps_by_the_universal_router_pay_what_is_quoted_and_are_explained(euler: EulerTrader) -> None:
    rng, paid = Random("euler swap on a node"), 0
    for _ in range(examples(6, full=60)):
        sold = rng.randint(0, 1)
        most = largest(euler.read(), sold)
        trade = euler.trade(sold, rng.choice((most, int(most * rng.random()) + 1)))
        received, transaction = euler.send(trade)
        assert received == trade.amount_due
        found = euler.verify(transaction)
        assert [(each.outcome, each.event.key) for each in found.swaps] == [(Outcome.EQUAL, euler.pool.address)]
        assert found.net is not None
        assert (found.net.amount_in, found.net.amount_out) == (trade.result.input_amount, received)
        paid += received
    assert paid > DEPOSIT


def test_a_path_of_two_v4_pools_leads_through_the_hook(euler: EulerTrader) -> None:
    """One command swaps in both: the manager owes the token between to the pool, which takes it at once."""
    pool, tokens = euler.read(), euler.world.tokens
    dai = tokens["DAI"]
    first = next(
        each
        for each in euler.trader.market.pools.values()
        if each.protocol == "uniswapV4" and set(each.tokens) == {tokens[WETH].address, dai.address}
    )
    legs = ((first.key, tokens[WETH], dai), (pool.key, dai, tokens["TKN"]))
    hops = tuple((Swap(key, sold.address, bought.address, SHARES_PER_HOP),) for key, sold, bought in legs)
    order = Order(tokens[WETH], tokens["TKN"], 10**17)
    trade = euler.trader._build_trade_of_route(Route((Segment(SHARES_PER_ROUTE, hops),)), order, None, USER)
    received, transaction = euler.send(trade)
    assert received == trade.amount_due
    found = euler.verify(transaction)
    assert [(each.outcome, each.event.key) for each in found.swaps] == [
        (Outcome.EQUAL, each.key) for each in (first, pool)
    ]
    assert found.net is not None
    assert (found.net.amount_in, found.net.amount_out) == (10**17, received)


def test_the_largest_swap_borrows_against_its_own_input(euler: EulerTrader) -> None:
    """Deposits D of each token, and a ratio of 0.9: all D are withdrawn, and 0.9 (D + x) is borrowed."""
    for sold in (0, 1):
        x = 1.9 * DEPOSIT / (1 - 0.001 - 0.9)
        assert largest(euler.read(), sold) == pytest.approx(x, rel=1e-3)


def test_a_deposit_by_somebody_else_in_the_block_of_a_swap_is_reported(euler: EulerTrader) -> None:
    trade = euler.trade(0, 10**20)
    *approvals, swap = build_transactions(trade.payload)
    for each in approvals:
        assert euler.trader.send(each).succeeded
    symbol, vault = euler.symbols[1], euler.vaults[1]
    euler.world.give(symbol, DEPLOYER, 10**18)
    euler.world.contracts[symbol].send("approve", vault.address, 10**18)
    node, call = euler.trader.chain.node, vault.calldata("deposit", f"0x{0xACC:040x}", 10**18)
    node.ask("evm_setAutomine", False)
    first = {"from": DEPLOYER, "to": vault.address, "data": f"0x{call.hex()}", "gas": hex(10**6)}
    node.ask("eth_sendTransaction", {**first, "gasPrice": hex(10 * GAS_PRICE_WEI)})
    fields = {
        "nonce": euler.trader.nonce, "gasPrice": GAS_PRICE_WEI, "gas": 10**7, "value": swap.value,
        "to": bytes.fromhex(swap.to[2:]), "data": swap.calldata, "chainId": CHAIN_ID,
    }  # fmt: skip
    signed = Account.sign_transaction(fields, KEY).raw_transaction
    transaction = node.ask("eth_sendRawTransaction", f"0x{signed.hex()}")
    node.ask("evm_mine")
    node.ask("evm_setAutomine", True)
    (found,) = euler.verify(transaction).swaps
    assert found.outcome is Outcome.NOT_EXPLAINED
    assert "another kind of event changed its pool" in found.reason


def test_a_decoded_call_names_the_pool(euler: EulerTrader) -> None:
    trade = euler.trade(1, 10**20)
    network = euler.world.network
    given = GivenTransaction(trade.payload.calldata, to=trade.payload.to, value=0)
    call = decode_payload(given, network.wrapped_native_address)
    (swap,) = call.swaps
    pool = euler.read()
    assert swap.pool.key == pool.pool_id
    assert is_pool(swap.pool, pool, network, UNIVERSAL_ROUTER)
