"""Mined swaps of real contracts on a node: each is quoted on the state just before it, and paid to the unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import pytest
from eth_account import Account
from jsonschema_rs import Draft202012Validator

from swapcli import Market
from swapcli.core.errors import InvalidInput, UpstreamRejected
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Deployment
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.interface.json_schemas import build_document_schema
from swapcli.payload.evm import build_transactions
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.verification.transaction_verification import Verification, quote_at_block, verify_transaction
from swapcli.state.agreements_file import AgreementsFile
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.swap_events import find_swaps
from swapcli.state.mined.swap_verification import Outcome, VerifiedSwap, verify_swaps
from swapcli.state.mined.swapped_pools import SwappedPool
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.store import create_store
from swapcli.testing.evm import DEPLOYER, RevertedError
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.settings import url_of, write_settings
from tests.chain.trader import GAS_PRICE_WEI, KEY, USER, Trader
from tests.support.chain import connected
from tests.support.command import run_swapcli

SLIPPAGE_PPM = 500_000
_GAS_LIMIT = 12_000_000


@contextmanager
def verifying_node(trader: Trader) -> Iterator[RpcNode]:
    """Yield a node of the trader's chain, whose network has the factories and vaults that announce swaps."""
    network = trader.world.network
    pairs = Deployment(("uniswapV2",), "Uniswap V2", {"factory": trader.world.factory.address}, fee_tiers={3000: 0})
    deployments = (*network.deployments, pairs, balancer_deployment(trader))
    trader.world.network = network._replace(multicall=deploy_multicall(trader.chain), deployments=deployments)
    # The modelled pool of Curve's kind announces no swaps, so that the rest of its routes would be no whole swap.
    pools = {key: pool for key, pool in trader.market.pools.items() if pool.protocol != "curveFi"}
    trader.market = trader.market._replace(network=trader.world.network, pools=pools)
    with connected(trader.chain) as node:
        yield node


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    with verifying_node(trader) as node:
        yield node


def balancer_deployment(trader: Trader) -> Deployment:
    """Return the vault, whose events alone count as those of its pools."""
    place = next(place for place in trader.world.places if place.protocol == "balancerV2Weighted")
    (vault,) = place.contract.call("getVault")
    return Deployment((place.protocol,), "Balancer V2", {"vault": vault})


def verify(trader: Trader, node: RpcNode, transaction: str) -> Verification:
    """Verify with the pools of the trader's market as the known ones; their state is older."""
    known = InMemorySource(trader.market, SYSTEM_CLOCK)
    return verify_transaction(node, known, transaction, quote_at_block(known, node))


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
        receipt = node.read_receipt(transaction)
        if receipt and find_swaps(receipt.logs):
            found += verify(trader, node, transaction).swaps
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


def trade_in_one_block(trader: Trader, orders: list[Order], before: Sequence[Mapping[str, str]] = ()) -> list[str]:
    """Have the best routes for these orders on one state mined in one block, and return all transactions.

    The transactions `before` come first.
    """
    first = block_number(trader.chain) + 1
    source, nonces = InMemorySource(trader.market, SYSTEM_CLOCK), count(trader.nonce)
    trader.chain.node.ask("evm_setAutomine", False)
    for call in before:
        trader.chain.node.ask("eth_sendTransaction", call)
    for order in orders:
        _, payload = quote_and_build(source, QuoteRequest(order, ApiVersion.V2), SwapTerms(SLIPPAGE_PPM, USER))
        for each in build_transactions(payload):
            fields = {
                "nonce": next(nonces),
                "gasPrice": GAS_PRICE_WEI,
                "gas": _GAS_LIMIT,
                "value": each.value,
                "to": bytes.fromhex(each.to[2:]),
                "data": each.calldata,
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
    swaps = verified_swaps(trader, node, trade_at_random(trader, "a few mined trades", 3))
    check_all_equal(swaps)
    assert len({swap.pool.family for swap in swaps if swap.pool}) >= 3
    assert len(swaps) >= 15


def large_orders(trader: Trader) -> list[Order]:
    """Return orders of some five million dollars each, which cross ticks in most pools that they use."""
    tokens = trader.world.tokens
    whole = {WETH: 2_000, "USDC": 5_000_000, "WBTC": 80, "TKN": 20_000_000}
    return [
        Order(tokens[sold], tokens[bought], amount * 10 ** tokens[sold].decimals)
        for sold, amount in whole.items()
        for bought in whole
        if sold != bought
    ]


@pytest.mark.slow
def test_every_swap_of_many_trades_is_equal(trader: Trader, node: RpcNode) -> None:
    transactions = trade_at_random(trader, "many mined trades", 12)
    for order in large_orders(trader):
        first = block_number(trader.chain) + 1
        trader.execute(trader.quote_trade(order))
        transactions += mined_since(trader.chain, first)
    swaps = verified_swaps(trader, node, transactions)
    check_all_equal(swaps)
    assert len(swaps) >= 100
    assert sum(map(crosses_tick, swaps)) >= 20
    assert len({swap.pool.family for swap in swaps if swap.pool}) >= 4


def test_swaps_of_one_block_are_quoted_after_each_other(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    pairs = ((WETH, "USDC"), ("USDC", WETH), (WETH, "USDC"))
    orders = [Order(tokens[a], tokens[b], (k + 1) * 10 ** (tokens[a].decimals + 2)) for k, (a, b) in enumerate(pairs)]
    swaps = verified_swaps(trader, node, trade_in_one_block(trader, orders))
    check_all_equal(swaps)
    assert Counter(swap.event.key for swap in swaps).most_common(1)[0][1] >= 3
    assert sum(map(crosses_tick, swaps)) >= 1


def test_liquidity_that_came_earlier_in_the_block_counts(trader: Trader, node: RpcNode) -> None:
    place = next(place for place in trader.world.places if place.protocol == "uniswapV3")
    pool = trader.market.pools[place.key]
    assert isinstance(pool, Concentrated)
    tick = pool.tick // place.tick_spacing * place.tick_spacing
    lower, upper = tick - 3 * place.tick_spacing, tick + 2 * place.tick_spacing
    provider = trader.world.provider
    call = provider.calldata("mint", place.contract.address, lower, upper, 3 * pool.liquidity)
    mint = {"from": DEPLOYER, "to": provider.address, "data": f"0x{call.hex()}", "gas": hex(_GAS_LIMIT)}
    sold, bought = (trader.world.tokens[trader.world.symbol(each)] for each in place.tokens)
    order = Order(sold, bought, 10 ** (sold.decimals + 2))
    transactions = trade_in_one_block(trader, [order], before=[mint])
    (swap,) = [each for each in verified_swaps(trader, node, transactions) if each.event.key == place.key]
    assert swap.outcome is Outcome.EQUAL
    assert isinstance(swap.pool, Concentrated)
    assert swap.pool.liquidity == 4 * pool.liquidity


def test_a_pool_is_found_by_the_factory_that_it_names(trader: Trader, node: RpcNode) -> None:
    known = trader.market.pools
    pairs = [place for place in trader.world.places if place.protocol == "uniswapV2"]
    symbols = [trader.world.symbol(token) for token in pairs[0].tokens]
    sold, bought = (trader.world.tokens[symbol] for symbol in symbols)
    trader.market = trader.market._replace(pools={pairs[0].key: known[pairs[0].key]})
    transactions = trade_in_one_block(trader, [Order(sold, bought, 10**sold.decimals)])
    trader.market = trader.market._replace(pools={})
    (swap,) = verified_swaps(trader, node, transactions)
    assert (swap.outcome, swap.event.key) == (Outcome.EQUAL, pairs[0].key)


def test_the_best_route_at_the_parent_block_is_no_worse(trader: Trader, node: RpcNode) -> None:
    first = block_number(trader.chain) + 1
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 30 * 10**18)))
    trade_at_random(trader, "after it", 2)
    found = verify(trader, node, mined_since(trader.chain, first)[1])
    assert found.net is not None
    assert (found.net.token_in, found.net.token_out) == (tokens[WETH].address, tokens["USDC"].address)
    assert found.net.amount_in == 30 * 10**18
    assert found.parent.number == found.block.number - 1
    assert found.best is not None
    assert found.best.quote is not None
    assert found.best.quote.result.output_amount == found.net.amount_out
    assert found.better_bps == 0


def test_an_event_of_another_contract_says_nothing(trader: Trader, node: RpcNode) -> None:
    first = block_number(trader.chain) + 1
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens["USDC"], tokens["TKN"], 10**12)))
    (receipt,) = [
        receipt
        for each in mined_since(trader.chain, first)
        if (receipt := node.read_receipt(each)) and find_swaps(receipt.logs)
    ]
    in_manager = [log for log in receipt.logs if log.address == trader.world.manager.address and len(log.data) == 192]
    forged = [log._replace(address=USER) for log in in_manager]
    pools = {
        key: SwappedPool(pool, ContractKind.UNISWAP_V4, frozenset({pool.address}))
        for key, pool in trader.market.pools.items()
        if pool.protocol == "uniswapV4"
    }
    swaps = verify_swaps(pools, {}, forged, {log.log_index for log in forged})
    assert swaps
    assert {swap.outcome for swap in swaps} == {Outcome.NOT_EXPLAINED}
    assert all("not the pool's contract" in swap.reason for swap in swaps)


def test_a_wrong_state_is_a_difference(trader: Trader, node: RpcNode) -> None:
    first = block_number(trader.chain) + 1
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens["USDC"], tokens["DAI"], 10**12)))
    transactions = mined_since(trader.chain, first)
    receipts = [receipt for each in transactions if (receipt := node.read_receipt(each))]
    logs = [log for receipt in receipts for log in receipt.logs]
    changed = {
        key: SwappedPool(replace(pool, fee_ppm=pool.fee_ppm + 1), ContractKind.SOLIDLY, frozenset({pool.address}))
        for key, pool in trader.market.pools.items()
        if pool.family == "solidly_stable"
    }
    found = verify_swaps(changed, {}, logs, {log.log_index for log in logs})
    assert Outcome.DIFFERENT in {swap.outcome for swap in found if swap.event.key in changed}


@pytest.mark.parametrize(
    ("fee_ppm", "left_ppb", "outcome"),
    [
        (3_000, 0, Outcome.EQUAL),
        (3_000, 123_457, Outcome.NOT_EXPLAINED),
        (5_000, 0, Outcome.DIFFERENT),
        (2_500, 0, None),
    ],
    ids=["the most", "less than allowed", "another fee", "more than allowed"],
)
def test_who_takes_less_than_a_pair_allows_proves_no_other_fee(
    trader: Trader, node: RpcNode, fee_ppm: int, left_ppb: int, outcome: Outcome | None
) -> None:
    """The caller names what it takes: only an amount that another fee leaves, to the unit, speaks against the quote."""
    world = trader.world
    place = next(each for each in world.places if each.protocol == "uniswapV2" and world.address("TKN") in each.tokens)
    usdc, amount = world.address("USDC"), 10**10
    reserves = place.contract.call("getReserves")[:2]
    is_first = place.tokens[0] == usdc
    sold_reserve, bought_reserve = reserves if is_first else reversed(reserves)
    scaled = amount * (10**6 - fee_ppm)
    most = scaled * bought_reserve // (sold_reserve * 10**6 + scaled)
    out = most - most * left_ppb // 10**9
    payer = trader.chain.deploy(world.kit["Trader"])
    first = block_number(trader.chain) + 1
    taken = (0, out) if is_first else (out, 0)
    if outcome is None:
        with pytest.raises(RevertedError):
            payer.send("swapPair", place.contract.address, usdc, amount, *taken)
        return
    payer.send("swapPair", place.contract.address, usdc, amount, *taken)
    (swap,) = verified_swaps(trader, node, mined_since(trader.chain, first))
    assert swap.outcome is outcome
    assert ("less than the pool would have paid" in swap.reason) == (outcome is Outcome.NOT_EXPLAINED)


@pytest.mark.usefixtures("node")
def test_a_node_without_the_old_state_is_to_be_an_archive_node(trader: Trader) -> None:
    first = block_number(trader.chain) + 1
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens["USDC"], tokens[WETH], 10**9)))
    transaction = mined_since(trader.chain, first)[1]

    def prunes(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        return [
            refusal(answer, -32000, "missing trie node 01ab (path ) state is not available")
            if request["method"] == "eth_call"
            else answer
            for request, answer in zip(requests, proxy.answer(requests), strict=True)
        ]

    with open_proxy(trader.chain.node.port) as proxy:
        proxy.always = rewrites(prunes)
        pruned_node = RpcNode([RpcEndpoint(proxy.url, "the pruned node")], CHAIN_ID, NodePolicy(pause=bool))
        with closing(pruned_node), pytest.raises(UpstreamRejected) as caught:
            verify(trader, pruned_node, transaction)
    assert "archive node" in str(caught.value.hint)


def test_what_cannot_be_verified_is_invalid_input(trader: Trader, node: RpcNode) -> None:
    first = block_number(trader.chain) + 1
    trader.chain.fund(USER, 10**27)
    trader.world.give("USDC", USER, 1)
    with pytest.raises(InvalidInput, match="64 hex digits"):
        verify(trader, node, "0x12")
    with pytest.raises(InvalidInput, match="no mined transaction"):
        verify(trader, node, "0x" + "12" * 32)
    with pytest.raises(InvalidInput, match="no swap"):
        verify(trader, node, mined_since(trader.chain, first)[-1])


@pytest.mark.usefixtures("node")
def test_the_command_prints_what_it_has_verified(
    trader: Trader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = block_number(trader.chain) + 1
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens["USDC"], tokens[WETH], 10**10)))
    transaction = mined_since(trader.chain, first)[1]
    settings = write_settings(tmp_path, trader.world.network, url_of(trader.chain))
    name = trader.world.network.name
    file = tmp_path / "stores" / f"{name}.sqlite"
    file.parent.mkdir()
    with create_store(str(file), trader.world.network, lambda _: trader.world.network) as store:
        store.write_market(trader.market._replace(block=first, timestamp=1))
    env = {"SWAPCLI_CONFIG": str(settings)}
    result = run_swapcli("verify", name, transaction, "--json", env=env)
    assert result.exit_code == 0, result.stderr
    document = result.json
    errors = Draft202012Validator(build_document_schema("verify")).iter_errors(document)
    assert [str(error) for error in errors] == []
    assert document["different"] == document["notExplained"] == 0
    assert document["equal"] == len(document["swaps"]) >= 3
    assert document["stateBlock"] == document["block"] - 1
    assert document["netSwap"]["inputAmount"] == str(10**10)
    assert document["bestRoute"]["outputAmount"] == document["netSwap"]["outputAmount"]
    monkeypatch.setenv("SWAPCLI_CONFIG", str(settings))
    with Market.open(name, settings={"live": "auto"}) as market:
        assert market.verify(transaction).document() == document
    shown = run_swapcli("verify", name, transaction, env=env)
    assert shown.exit_code == 0
    assert f"{document['equal']} equal" in shown.stdout
    assert "Best route" in shown.stdout
    agreements = AgreementsFile(file.parent).load(trader.world.network.chain_id)
    assert agreements.keys() == {swap["protocol"] for swap in document["swaps"]}
    assert sum(each.swaps for each in agreements.values()) == document["equal"]
    assert {each.block for each in agreements.values()} == {document["block"]}
    listed = run_swapcli("protocols", name, "--json", env=env).json
    assert {each["protocol"] for each in listed if "lastAgreed" in each} == agreements.keys()
    other = trader.world.network._replace(deployments=())
    stores = tmp_path / "other" / "stores"
    stores.mkdir(parents=True)
    swapped = {swap["pool"] for swap in document["swaps"]}
    pools = {key: pool for key, pool in trader.market.pools.items() if key not in swapped}
    with create_store(str(stores / file.name), other, lambda _: other) as store:
        store.write_market(trader.market._replace(network=other, pools=pools, block=first, timestamp=1))
    unknown = {"SWAPCLI_CONFIG": str(write_settings(stores.parent, other, url_of(trader.chain)))}
    unexplained = run_swapcli("verify", name, transaction, "--json", env=unknown)
    assert (unexplained.exit_code, unexplained.json["notExplained"]) == (5, document["equal"])
    assert "swaps of" in unexplained.error["message"]
    assert "could be explained" in unexplained.error["message"]
