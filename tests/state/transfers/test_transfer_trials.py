"""How the transfers of tokens behave is found out without sending any: in process, and on a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import UpstreamRejected
from swapcli.core.model.transfer_behaviour import (
    IRREGULAR,
    ORDINARY,
    REFUSED,
    SHARES,
    UNKNOWN,
    TransferBehaviour,
    TransferKind,
)
from swapcli.families.reading.calls import ReturnData
from swapcli.state.rpc.node import BlockId, HypotheticalCall
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.transfers.transfer_probe import (
    TransferTrial,
    classify_transfers,
    decode_trials,
    delegating_code,
    encode_try_all,
    runtime_code,
)
from swapcli.state.transfers.transfer_trials import TransferReport, plan_trials, pool_holder, run_transfer_trials
from swapcli.testing.evm import Chain, Contract, RevertedError, selector
from tests.chain.contract_fixture import DECIMALS, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import BLOCK, EvmNode
from tests.chain.odd_tokens import STETH_POT, WHOLE, add_token, forget_tokens, open_pair, sources
from tests.chain.trader import Trader
from tests.examples import examples

PROBE = "0x" + "70" * 20


@pytest.fixture(scope="module")
def shared() -> ContractFixture:
    return ContractFixture(Chain())


@pytest.fixture
def world(shared: ContractFixture) -> Iterator[ContractFixture]:
    with shared.chain.revert_after():
        yield shared
    forget_tokens(shared, "ODD")


def fee(buy: int, sell: int, other: int) -> TransferBehaviour:
    return TransferBehaviour(TransferKind.FEE, buy, sell, other)


def odd_pool(world: ContractFixture, kind: str, *arguments: object, amount: int = WHOLE) -> tuple[Contract, str]:
    """A token, and a pair that holds it, which the token knows."""
    token = add_token(world, kind, *arguments)
    pair = open_pair(world, "ODD", amount=amount).contract.address
    if any(each.get("name") == "setPool" for each in token.abi):
        token.send("setPool", pair)
    return token, pair


def tried(world: ContractFixture, token: str, *holders: str) -> TransferBehaviour:
    report = run_transfer_trials(EvmNode(world.chain), BLOCK, [TransferTrial(token, holder) for holder in holders])
    assert report.failure == ""
    return report.behaviours[token]


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("FeeCoin", (20_000, 20_000, 20_000), fee(20_000, 20_000, 20_000)),
        ("FeeCoin", (0, 50_000, 0), fee(0, 50_000, 0)),
        ("FeeCoin", (30_000, 0, 0), fee(30_000, 0, 0)),
        ("FeeCoin", (0, 0, 1_000), fee(0, 0, 1_000)),
        ("FeeCoin", (0, 0, 1), fee(0, 0, 1)),
        ("FeeCoin", (0, 0, 0), ORDINARY),
        ("LookingCoin", (40_000,), fee(0, 40_000, 0)),
        ("LookingCoin", (0,), ORDINARY),
        ("ShareCoin", (STETH_POT,), SHARES),
        ("IndexCoin", (1_137_000_123_456_789_012_345_678_901,), IRREGULAR),
        ("GenerousCoin", (), IRREGULAR),
        ("LimitedCoin", (WHOLE // 1_000,), ORDINARY),
        ("LimitedCoin", (1,), REFUSED),
        ("TrapCoin", (), REFUSED),
        ("FalseCoin", (), REFUSED),
        ("GasCoin", (), REFUSED),
    ],
)
def test_what_a_token_does_is_seen(
    world: ContractFixture, kind: str, arguments: tuple[object, ...], expected: TransferBehaviour
) -> None:
    token, pair = odd_pool(world, kind, *arguments)
    before = world.balance(token.address, pair)
    assert tried(world, token.address, pair) == expected
    assert world.balance(token.address, pair) == before, "nothing was sent"


def test_tokens_of_the_contract_fixture_are_ordinary(world: ContractFixture) -> None:
    """Uniswap's and Solidly's pairs, concentrated pools, Uniswap V4's manager; a token that returns nothing is one."""
    market = read_market(world)
    questions = plan_trials(market.tokens, market.pools.values(), market.network)
    assert {question.token for question in questions} == set(market.tokens)
    node = EvmNode(world.chain)
    report = run_transfer_trials(node, BLOCK, questions)
    assert report == TransferReport(dict.fromkeys(market.tokens, ORDINARY))
    assert node.batch_sizes == [1], "all in one call"
    manager = [TransferTrial(world.address(symbol), world.manager.address) for symbol in ("TKN", "USDT", "WBTC")]
    assert set(run_transfer_trials(node, BLOCK, manager).behaviours.values()) == {ORDINARY}


def test_one_bad_token_hides_nothing_of_the_others(world: ContractFixture) -> None:
    token, pair = odd_pool(world, "GasCoin")
    market = read_market(world)
    report = run_transfer_trials(
        EvmNode(world.chain), BLOCK, plan_trials(market.tokens, market.pools.values(), market.network)
    )
    assert report.behaviours == {**dict.fromkeys(market.tokens, ORDINARY), token.address: REFUSED}
    assert world.balance(token.address, pair)


def test_too_little_to_tell_is_unknown(world: ContractFixture) -> None:
    """A fee of two percent of a handful of units would be rounded away: another holder is needed to measure it."""
    token, pair = odd_pool(world, "FeeCoin", 20_000, 20_000, 20_000)
    poor = "0x" + "77" * 20
    token.send("mint", poor, 19_999)
    assert tried(world, token.address, poor) == UNKNOWN
    assert tried(world, token.address, poor, pair) == fee(20_000, 20_000, 20_000)
    token.send("mint", poor, 1)
    assert tried(world, token.address, poor)[1:] == pytest.approx((20_000, 20_000, 20_000), rel=0.01)


def test_a_fee_that_only_some_pools_pay_is_seen(world: ContractFixture) -> None:
    token = add_token(world, "FeeCoin", 0, 30_000, 0)
    free, taxed = (open_pair(world, "ODD", other).contract.address for other in ("DAI", "TKN"))
    token.send("setPool", taxed)
    assert tried(world, token.address, free) == ORDINARY
    assert tried(world, token.address, free, taxed) == fee(0, 30_000, 0)


@settings(max_examples=examples(8, full=80))
@given(
    fees=st.tuples(*[st.one_of(st.just(0), st.integers(3, 300_000))] * 3),
    amount=st.integers(2 * 10**6, 10**30),
)
def test_every_fee_is_found_to_a_few_parts_in_a_million(
    shared: ContractFixture, fees: tuple[int, int, int], amount: int
) -> None:
    """Of a million units or more, a fee of 3 ppm is three units, or two after other fees: never taken for rounding."""
    with shared.chain.revert_after():
        token = add_token(shared, "FeeCoin", *fees)
        holder = "0x" + "78" * 20
        token.send("setPool", holder)
        token.send("mint", holder, amount)
        found = tried(shared, token.address, holder)
        forget_tokens(shared, "ODD")
    assert found.kind is TransferKind.ORDINARY if not any(fees) else not found.is_routable or max(fees) < 10
    if found.kind is TransferKind.FEE:
        for measured, true in zip(found[1:], fees, strict=True):
            assert abs(measured - true) <= 4


@settings(max_examples=examples(12, full=150))
@given(seed=st.integers(0, 2**64))
def test_a_share_token_is_never_classified_as_ordinary(shared: ContractFixture, seed: int) -> None:
    """At what stETH's and its like are worth; where a share is worth hardly anything, nothing is lost either."""
    rng = Random(seed)
    with shared.chain.revert_after():
        token = add_token(shared, "ShareCoin", int(10**30 * rng.uniform(1.01, 1.9)))
        holder = "0x" + "79" * 20
        token.send("mint", holder, int(10 ** rng.uniform(10, 30)))
        assert tried(shared, token.address, holder) == SHARES
        forget_tokens(shared, "ODD")


def test_a_node_finds_the_same(trader: Trader, node: RpcNode) -> None:
    """Over JSON-RPC, with overrides as nodes take them; those of the pools' own code too."""
    world = trader.world
    expected = dict.fromkeys((token.address for token in world.tokens.values()), ORDINARY)
    for symbol, kind, arguments, behaviour in (
        ("FEE", "FeeCoin", (10_000, 20_000, 0), fee(10_000, 20_000, 0)),
        ("LOOK", "LookingCoin", (40_000,), fee(0, 40_000, 0)),
        ("SHR", "ShareCoin", (STETH_POT,), SHARES),
        ("TRAP", "TrapCoin", (), REFUSED),
        ("GAS", "GasCoin", (), REFUSED),
    ):
        token = add_token(world, kind, *arguments, symbol=symbol)
        pair = open_pair(world, symbol).contract.address
        if any(each.get("name") == "setPool" for each in token.abi):
            token.send("setPool", pair)
        expected[token.address] = behaviour
    market = read_market(world)
    head = node.read_head().block
    trips = node.round_trips
    report = run_transfer_trials(node, head, plan_trials(market.tokens, market.pools.values(), market.network))
    assert report == TransferReport(expected)
    assert node.round_trips - trips <= 4
    trips = node.round_trips
    ordinary = [world.address(symbol) for symbol in DECIMALS]
    run_transfer_trials(node, head, plan_trials(ordinary, market.pools.values(), market.network))
    assert node.round_trips - trips == 1


class OverrideIgnoringEvmNode(EvmNode):
    """Answers as if nothing was supposed, as some public nodes do."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        del at
        return [self._answer(each.call) for each in calls]


class OverrideRejectingEvmNode(EvmNode):
    """Knows no overrides."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        del calls, at
        raise UpstreamRejected("too many arguments, want at most 2")


class SmallCallEvmNode(EvmNode):
    """Takes one trial a call."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        one = len(encode_try_all([TransferTrial(PROBE, PROBE)], (PROBE, PROBE)))
        answers = super().simulate(calls, at)
        return [each if len(call.call.calldata) <= one else None for call, each in zip(calls, answers, strict=True)]


def test_trial_batches_shrink_until_the_node_answers(world: ContractFixture) -> None:
    token, pair = odd_pool(world, "FeeCoin", 20_000, 20_000, 20_000)
    market = read_market(world)
    questions = plan_trials(market.tokens, market.pools.values(), market.network)
    report = run_transfer_trials(SmallCallEvmNode(world.chain), BLOCK, questions)
    assert report.behaviours == {**dict.fromkeys(market.tokens, ORDINARY), token.address: fee(20_000, 20_000, 20_000)}
    assert world.balance(token.address, pair) == WHOLE


def test_trials_with_too_little_gas_fail_as_a_whole(trader: Trader) -> None:
    """Else an ordinary token would seem to refuse."""
    anvil = trader.chain
    token = anvil.deploy(sources()["FeeCoin"], "ODD", 0, 0, 0)
    token.send("mint", PROBE, 10**9)
    wallets = "0x" + "71" * 20, "0x" + "72" * 20
    codes = {PROBE: runtime_code(), **dict.fromkeys(wallets, delegating_code(PROBE))}
    code = {address: {"code": f"0x{each.hex()}"} for address, each in codes.items()}
    call = {"to": PROBE, "data": f"0x{encode_try_all([TransferTrial(token.address, PROBE)] * 9, wallets).hex()}"}
    plenty = bytes.fromhex(anvil.node.ask("eth_call", {**call, "gas": hex(12_000_000)}, "latest", code)[2:])
    assert {classify_transfers(each) for each in decode_trials(plenty, 9)} == {ORDINARY}
    for gas in (2_000_000, 3_500_000):
        with pytest.raises(RevertedError) as caught:
            anvil.node.ask("eth_call", {**call, "gas": hex(gas)}, "latest", code)
        assert caught.value.data == selector("TooLittleGas()")


class GarblingEvmNode(EvmNode):
    """Answers with bytes of its own."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        del at
        return [b"\1" * 99 for _ in calls]


@pytest.mark.parametrize(
    ("node", "refusal"),
    [
        (OverrideIgnoringEvmNode, "an EVM in process ignores state overrides"),
        (OverrideRejectingEvmNode, "too many arguments, want at most 2"),
        (GarblingEvmNode, "an EVM in process returned invalid results for test transfers"),
    ],
)
def test_a_node_without_overrides_leaves_behaviours_unknown(
    world: ContractFixture, node: type[EvmNode], refusal: str
) -> None:
    token, pair = odd_pool(world, "FeeCoin", 20_000, 20_000, 20_000)
    report = run_transfer_trials(node(world.chain), BLOCK, [TransferTrial(token.address, pair)])
    assert report.behaviours == {token.address: UNKNOWN}
    assert report.failure.startswith(refusal)


def test_balancers_pools_are_asked_for_at_their_vault(world: ContractFixture) -> None:
    market = read_market(world)
    weighted = next(pool for pool in market.pools.values() if pool.family == "weighted")
    assert pool_holder(weighted, market.network) is None, "the network does not say where it is"
    assert all(pool_holder(pool, market.network) == pool.address for pool in market.pools.values() if pool != weighted)
