"""Hostile pools, tokens and callers cannot take funds of others."""

from __future__ import annotations

from random import Random

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Deployment
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.families.row import RouterPoolKind
from swapcli.testing.evm import Contract, RevertedError, selector
from tests.chain.contract_fixture import WETH, ContractFixture
from tests.chain.random_routes import random_route
from tests.contracts.evm import compile_solidity
from tests.payload.evm.router.driving import ALICE, BOB, NATIVE, build, carry_out, error, single, weth
from tests.payload.evm.router.raw import raw_refusal, send_raw
from tests.payload.evm.router.test_families import pool_of, random_amount, random_type
from tests.payload.evm.router.vault_pools import PROTOCOL_IDS

MALLORY = "0x" + "66" * 20
AMOUNT = 1_000_000_000
V3, V4, CURVE, WEIGHTED, V2, SOLIDLY = 5, 25, 126, 127, 1, 64
CRYPTO, FLUID, VAULT, PSM, BOOK, BRIDGE, BALANCER, INFINITY = (
    PROTOCOL_IDS[kind]
    for kind in (
        RouterPoolKind.CURVE_CRYPTO,
        RouterPoolKind.FLUID,
        RouterPoolKind.VAULT,
        RouterPoolKind.PSM,
        RouterPoolKind.LIQUIDITY_BOOK,
        RouterPoolKind.BRIDGE,
        RouterPoolKind.BALANCER_V3,
        RouterPoolKind.INFINITY,
    )
)
APPROVED = (
    (CURVE, b"\0\1"),
    (CURVE, b"\0\1\1"),
    (CRYPTO, b"\0\1"),
    (WEIGHTED, bytes(32)),
    (FLUID, b"\0"),
    (VAULT, b"\0"),
    (PSM, b""),
    (BRIDGE, b"\0"),
    (BRIDGE, b"\1"),
)
"""Protocols whose pools take the input by an approval, and extra data of theirs."""
NAMING = ((WEIGHTED, bytes(32)), (BRIDGE, b"\1"))
"""Those whose pool first answers a question without being able to act: `Script` acts at its first call."""
CALLBACKS = ("uniswapV3SwapCallback", "pancakeV3SwapCallback", "algebraSwapCallback", "someForksSwapCallback")
Action = tuple[str, bytes]


class Attack:
    """A swap of USDC for DAI through a pool contract that runs scripted calls."""

    def __init__(self, fixture: ContractFixture, protocol_id: int = V3, extra: bytes = b"") -> None:
        self.fixture = fixture
        self.pool = fixture.chain.deploy(compile_solidity("hostile.sol")["Script"])
        self.usdc, self.dai = fixture.address("USDC"), fixture.address("DAI")
        swap = RouterSwapParam(
            self.usdc, self.dai, 1_000_000, protocol_id, self.pool.address, SwapType.TOKEN_TO_TOKEN, extra
        )
        route = RouterRouteParam(self.usdc, self.dai, AMOUNT, 1, 0, BOB, SwapType.TOKEN_TO_TOKEN)
        self.call = RouterCall(route, (swap,))

    @property
    def router(self) -> str:
        return self.fixture.router.address

    def plan(self, *actions: Action, answer: bytes = b"") -> None:
        self.pool.send("plan", actions, answer)

    def gift(self, amount: int) -> Action:
        """Return the action that transfers `amount` of DAI from the pool to the router."""
        self.fixture.give("DAI", self.pool.address, amount)
        return self.dai, self.fixture.contracts["DAI"].calldata("transfer", self.router, amount)

    def outcome(self) -> bytes:
        """Return the error data of the call."""
        return raw_refusal(self.fixture, self.call)


def callback(name: str, owed0: int, owed1: int, paid: bytes) -> bytes:
    return selector(f"{name}(int256,int256,bytes)") + encode(["int256", "int256", "bytes"], [owed0, owed1, paid])


def payment(token: str, amount: int) -> bytes:
    return encode(["address", "uint256"], [token, amount])


@pytest.mark.parametrize("name", CALLBACKS)
def test_a_pool_is_paid_once_under_any_callback_name(fixture: ContractFixture, name: str) -> None:
    attack = Attack(fixture)
    good = (attack.router, callback(name, AMOUNT, -1, payment(attack.usdc, AMOUNT)))
    other_side = (attack.router, callback(name, -1, AMOUNT, payment(attack.usdc, AMOUNT)))
    for each in (good, other_side):
        with fixture.chain.revert_after():
            attack.plan(each, attack.gift(7))
            fixture.give("USDC", ALICE, AMOUNT)
            fixture.contracts["USDC"].send("approve", attack.router, AMOUNT, sender=ALICE)
            assert send_raw(fixture, attack.call) == 7
            assert fixture.balance(attack.usdc, attack.pool.address) == AMOUNT
    attack.plan(good, good)
    assert attack.outcome() == error("UnexpectedCaller(address)", attack.pool.address)


@pytest.mark.parametrize("owed", [(AMOUNT + 1, -1), (AMOUNT - 1, -1), (1, 0), (0, 0), (-1, -1), (2**255 - 1, 0)])
def test_a_pool_that_requests_another_amount_is_refused(fixture: ContractFixture, owed: tuple[int, int]) -> None:
    attack = Attack(fixture)
    attack.plan((attack.router, callback(CALLBACKS[0], *owed, payment(attack.usdc, AMOUNT))))
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


def test_a_pool_cannot_request_another_token_or_larger_amount(fixture: ContractFixture) -> None:
    """Not even for tokens left in the router."""
    attack = Attack(fixture)
    for symbol in fixture.tokens:
        fixture.give(symbol, attack.router, 10 * AMOUNT)
    for token in (*(fixture.address(symbol) for symbol in fixture.tokens), NATIVE):
        for amount in (AMOUNT, 2 * AMOUNT):
            if (token, amount) != (attack.usdc, AMOUNT):
                attack.plan((attack.router, callback(CALLBACKS[0], amount, -1, payment(token, amount))))
                assert attack.outcome() == error("UnexpectedCaller(address)", attack.pool.address)


@pytest.mark.parametrize("bits", [8, 32, 64, 96, 128, 160])
def test_half_of_an_input_left_behind_is_seen_at_any_size(fixture: ContractFixture, bits: int) -> None:
    """A change that is counted in too few bits would look like none."""
    attack, left = Attack(fixture), 1 << bits
    attack.plan((attack.router, callback(CALLBACKS[0], left, -1, payment(attack.usdc, left))), attack.gift(7))
    route = attack.call.route._replace(amount_in=2 * left)
    attack.call = RouterCall(route, (attack.call.swaps[0]._replace(rate=500_000),))
    assert attack.outcome() == error("NotSettled(address)", attack.usdc)


def test_a_pool_that_never_calls_back_is_refused(fixture: ContractFixture) -> None:
    attack = Attack(fixture)
    attack.plan(answer=bytes(64))
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


def test_another_contract_cannot_collect_for_a_pool(fixture: ContractFixture) -> None:
    attack = Attack(fixture)
    thief = fixture.chain.deploy(compile_solidity("hostile.sol")["Script"])
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    thief.send("plan", [(attack.router, collect)], b"")
    attack.plan((thief.address, thief.calldata("run")))
    assert attack.outcome() == error("UnexpectedCaller(address)", thief.address)


def test_no_one_can_impersonate_the_v4_pool_manager(fixture: ContractFixture) -> None:
    attack = Attack(fixture)
    key = (attack.usdc, attack.dai, 500, 10, NATIVE)
    data = encode(["(address,address,uint24,int24,address)", "bool", "uint256"], [key, True, AMOUNT])
    for each in (data, payment(attack.usdc, AMOUNT)):  # not even with the data of its own payment
        attack.plan((attack.router, fixture.router.calldata("unlockCallback", each)))
        assert attack.outcome() == error("UnexpectedCaller(address)", attack.pool.address)
    with pytest.raises(RevertedError) as caught:
        fixture.router.send("unlockCallback", data, sender=MALLORY)
    assert caught.value.data == error("UnexpectedCaller(address)", MALLORY)


def test_the_v4_callback_runs_only_in_a_swap_with_its_own_data(
    fixture: ContractFixture,
) -> None:
    manager = fixture.chain.deploy(compile_solidity("hostile.sol")["Script"])
    deployment = Deployment(("uniswapV4",), "V4", {"pool_manager": manager.address})
    router = fixture.deploy_router(fixture.network._replace(deployments=(deployment,)))
    usdc, dai = sorted((fixture.address("USDC"), fixture.address("DAI")))
    key = encode(["address", "address", "uint24", "int24", "address"], [usdc, dai, 500, 10, NATIVE])
    expected = key + encode(["bool", "uint256"], [True, AMOUNT])
    for changed in (expected, expected[:-1] + b"\1", expected + bytes(32), bytes(32) + expected[32:]):
        manager.send("plan", [(router.address, router.calldata("unlockCallback", changed))], b"")
        with pytest.raises(RevertedError) as caught:
            manager.send("run")
        assert caught.value.data == error("UnexpectedCaller(address)", manager.address)
        if changed != expected:
            swap = RouterSwapParam(usdc, dai, 1_000_000, V4, manager.address, SwapType.TOKEN_TO_TOKEN, key)
            route = RouterRouteParam(usdc, dai, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
            symbol = fixture.symbol(usdc)
            fixture.give(symbol, ALICE, AMOUNT)
            fixture.contracts[symbol].send("approve", router.address, AMOUNT, sender=ALICE)
            with pytest.raises(RevertedError) as caught:
                router.send("swap", tuple(route), [tuple(swap)[:7]], sender=ALICE)
            assert caught.value.data == error("UnexpectedCaller(address)", manager.address)


def test_a_v4_manager_that_pays_without_calling_back_is_refused(fixture: ContractFixture) -> None:
    manager = fixture.chain.deploy(compile_solidity("hostile.sol")["Script"])
    deployment = Deployment(("uniswapV4",), "V4", {"pool_manager": manager.address})
    router = fixture.deploy_router(fixture.network._replace(deployments=(deployment,)))
    usdc, dai = fixture.address("USDC"), fixture.address("DAI")
    fixture.give("DAI", manager.address, AMOUNT)
    manager.send("plan", [(dai, fixture.contracts["DAI"].calldata("transfer", router.address, AMOUNT))], b"")
    fixture.give("USDC", ALICE, AMOUNT)
    fixture.contracts["USDC"].send("approve", router.address, AMOUNT, sender=ALICE)
    key = encode(["address", "address", "uint24", "int24", "address"], [*sorted((usdc, dai)), 500, 10, NATIVE])
    swap = RouterSwapParam(usdc, dai, 1_000_000, V4, manager.address, SwapType.TOKEN_TO_TOKEN, key)
    route = RouterRouteParam(usdc, dai, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    with pytest.raises(RevertedError) as caught:
        router.send("swap", tuple(route), [tuple(swap)[:7]], sender=ALICE)
    assert caught.value.data == error("PartlyTaken(address)", manager.address)


def test_callbacks_without_a_pending_payment_are_refused(fixture: ContractFixture) -> None:
    fixture.give("USDC", fixture.router.address, AMOUNT)
    for sender in (MALLORY, ALICE):
        for name in CALLBACKS:
            collect = callback(name, AMOUNT, -1, payment(fixture.address("USDC"), AMOUNT))
            with pytest.raises(RevertedError) as caught:
                fixture.chain.send(fixture.router.address, collect, sender=sender)
            assert caught.value.data == error("UnexpectedCaller(address)", sender)


def test_only_unwrapping_brings_native_currency(fixture: ContractFixture) -> None:
    fixture.chain.fund(MALLORY, 10**18)
    with pytest.raises(RevertedError) as caught:
        fixture.chain.send(fixture.router.address, b"", value=1, sender=MALLORY)
    assert caught.value.data == error("UnexpectedCaller(address)", MALLORY)
    with pytest.raises(RevertedError):
        fixture.chain.send(fixture.router.address, b"\1\2\3\4", value=1, sender=MALLORY)


@pytest.mark.parametrize("function", ["swap", "swapIntegrator", "swapWithPermit", "swapBefore"])
def test_the_router_cannot_be_reentered(fixture: ContractFixture, function: str) -> None:
    attack = Attack(fixture)
    more: dict[str, list[object]] = {
        "swapIntegrator": [bytes(96)],
        "swapWithPermit": [2**60, 27, bytes(32), bytes(32)],
    }
    arguments: list[object] = [tuple(attack.call.route), [], *more.get(function, [])]
    if function == "swapBefore":
        arguments = [2**60, *arguments, b""]
    reentry = fixture.router.calldata(function, *arguments)
    attack.plan((attack.router, reentry))
    assert attack.outcome() == error("Reentered()")
    # Nor by a pool that has been paid.
    paid = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    attack.plan((attack.router, paid), (attack.router, reentry), attack.gift(7))
    assert attack.outcome() == error("Reentered()")


def test_a_token_that_reenters_during_a_transfer_gains_nothing(fixture: ContractFixture) -> None:
    """In both transfers it tries to call the router again, or to pose as a pool."""
    sources = compile_solidity("hostile.sol")
    coin, script = fixture.chain.deploy(sources["HookedCoin"]), fixture.chain.deploy(sources["Script"])
    coin.send("setHook", script.address)
    call = self_call(fixture, coin)
    enter = fixture.router.calldata("swap", tuple(call.route), [])
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(coin.address, AMOUNT))
    unexpected = error("UnexpectedCaller(address)", script.address)
    for action, expected in ((enter, error("Reentered()")), (collect, unexpected)):
        with fixture.chain.revert_after():
            script.send("plan", [(fixture.router.address, action)], b"")
            assert send_raw(fixture, call) == AMOUNT
            assert coin.call("failures") == ((expected, expected),)


def test_a_fee_on_transfer_token_is_refused_as_input(fixture: ContractFixture) -> None:
    taxed = fixture.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"])
    call = self_call(fixture, taxed)
    with pytest.raises(RevertedError) as caught:
        send_raw(fixture, call)
    assert caught.value.data == error("InputFallsShort(uint256,uint256)", AMOUNT - AMOUNT // 100, AMOUNT)


def test_a_fee_on_transfer_output_counts_after_its_fee(fixture: ContractFixture) -> None:
    """The minimum applies to the amount that the recipient gets, not to the amount that leaves the router."""
    taxed = fixture.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"])
    attack = Attack(fixture)
    taxed.send("mint", attack.pool.address, AMOUNT)
    give = taxed.calldata("transfer", attack.router, AMOUNT)
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    attack.plan((taxed.address, give), (attack.router, collect))
    in_router = AMOUNT - AMOUNT // 100
    received = in_router - in_router // 100
    route = attack.call.route._replace(token_out=taxed.address, min_received=received + 1)
    attack.call = attack.call._replace(swaps=(attack.call.swaps[0]._replace(token_out=taxed.address),), route=route)
    assert attack.outcome() == error("ReceivedTooLittle(uint256,uint256)", received, received + 1)
    attack.call = attack.call._replace(route=route._replace(min_received=received))
    fixture.give("USDC", ALICE, AMOUNT)
    fixture.contracts["USDC"].send("approve", attack.router, AMOUNT, sender=ALICE)
    assert send_raw(fixture, attack.call) == received


def test_native_currency_sent_in_during_a_swap_is_not_retained(fixture: ContractFixture) -> None:
    attack = Attack(fixture)
    bomb = fixture.chain.deploy(compile_solidity("hostile.sol")["Bomb"])
    fixture.chain.send(bomb.address, b"", value=1)
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    attack.plan((attack.router, collect), attack.gift(7), (bomb.address, bomb.calldata("burst", attack.router)))
    assert attack.outcome() == error("NotSettled(address)", NATIVE)


def test_a_transfer_that_returns_false_is_refused(fixture: ContractFixture) -> None:
    call = self_call(fixture, fixture.chain.deploy(compile_solidity("hostile.sol")["RefusingCoin"]))
    with pytest.raises(RevertedError) as caught:
        send_raw(fixture, call)
    assert caught.value.data == error("TokenRefused(address)", call.route.token_in)


def test_an_address_without_a_token_is_refused(fixture: ContractFixture) -> None:
    route = RouterRouteParam(MALLORY, MALLORY, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    with pytest.raises(RevertedError):
        send_raw(fixture, RouterCall(route, ()))


def self_call(fixture: ContractFixture, coin: Contract) -> RouterCall:
    """Return a call that takes a token in and pays it out again without a pool."""
    coin.send("mint", ALICE, AMOUNT)
    if coin.address and "approve" in {str(f.get("name")) for f in coin.abi}:
        coin.send("approve", fixture.router.address, AMOUNT, sender=ALICE)
    route = RouterRouteParam(coin.address, coin.address, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    return RouterCall(route, ())


@pytest.mark.parametrize(("protocol_id", "extra"), APPROVED)
def test_a_pool_that_does_not_use_its_approval_is_refused(
    fixture: ContractFixture, protocol_id: int, extra: bytes
) -> None:
    """It could spend the approval on other users' tokens later."""
    attack = Attack(fixture, protocol_id, extra)
    # Balancer's pool names itself as the vault, a bridge the coin that is sold as its own.
    attack.plan(answer=bytes(12) + bytes.fromhex((attack.usdc if protocol_id == BRIDGE else attack.pool.address)[2:]))
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


@pytest.mark.parametrize(("protocol_id", "extra"), [each for each in APPROVED if each not in NAMING])
def test_a_pool_cannot_spend_its_approval_twice(fixture: ContractFixture, protocol_id: int, extra: bytes) -> None:
    attack = Attack(fixture, protocol_id, extra)
    fixture.give("USDC", attack.router, 10 * AMOUNT)
    take = fixture.contracts["USDC"].calldata("transferFrom", attack.router, MALLORY, AMOUNT)
    attack.plan((attack.usdc, take), (attack.usdc, take))
    assert attack.outcome()[:4] == selector("ERC20InsufficientAllowance(address,uint256,uint256)")


@pytest.mark.parametrize(("protocol_id", "extra"), [each for each in APPROVED if each not in NAMING])
def test_a_pool_that_takes_the_input_for_nothing_is_refused(
    fixture: ContractFixture, protocol_id: int, extra: bytes
) -> None:
    attack = Attack(fixture, protocol_id, extra)
    take = fixture.contracts["USDC"].calldata("transferFrom", attack.router, MALLORY, AMOUNT)
    attack.plan((attack.usdc, take))
    assert attack.outcome() == error("NothingBought(address)", attack.pool.address)


@pytest.mark.parametrize(("protocol_id", "extra"), [(V2, b"\x0b\xb8"), (SOLIDLY, b""), (BOOK, b"\0")])
def test_a_pair_that_gives_nothing_is_refused(fixture: ContractFixture, protocol_id: int, extra: bytes) -> None:
    attack = Attack(fixture, protocol_id, extra)
    attack.plan(answer=encode(["uint256", "uint256", "uint256"], [AMOUNT, AMOUNT, 0]))
    assert attack.outcome() == error("NothingBought(address)", attack.pool.address)


def test_the_router_does_not_serve_as_its_own_pool(fixture: ContractFixture) -> None:
    others = ((V3, b""), (V2, b"\x0b\xb8"), (SOLIDLY, b""), (BOOK, b"\0"), (VAULT, b"\1"), (BALANCER, b""))
    for protocol_id, extra in (*APPROVED, *others, (INFINITY, bytes(192))):
        attack = Attack(fixture, protocol_id, extra)
        swap = attack.call.swaps[0]._replace(pool_address=attack.router)
        for amount in (AMOUNT, 160):  # 160 is the offset of the bytes that a pool receives
            route = attack.call.route._replace(amount_in=amount)
            attack.call = RouterCall(route, (swap,))
            assert attack.outcome() is not None


def test_tokens_left_in_the_router_are_neither_used_nor_taken(fixture: ContractFixture, market: MarketState) -> None:
    """Random routes pay exactly the same, and `send` checks that the router's balances do not change."""
    rng = Random("dust")
    for symbol in fixture.tokens:
        fixture.give(symbol, fixture.router.address, rng.randint(1, 10**9))
    fixture.chain.deploy(compile_solidity("hostile.sol")["Bomb"]).send("burst", fixture.router.address, value=12_345)
    assert fixture.balance(NATIVE, fixture.router.address) == 12_345
    for _ in range(60):
        token_in, token_out = rng.sample(sorted(token.address for token in fixture.tokens.values()), 2)
        swap_type = random_type(rng, fixture, token_in, token_out)
        route = random_route(rng, market.pools, token_in, token_out)
        try:
            built = build(market, route, random_amount(rng, fixture, token_in), swap_type)
        except PoolError:
            continue
        with fixture.chain.revert_after():
            assert carry_out(fixture, built.payload) == built.replay.amount_out
            assert allowances(fixture, market) == {0}


def test_a_route_without_swaps_cannot_take_leftover_tokens(fixture: ContractFixture) -> None:
    usdc = fixture.address("USDC")
    fixture.give("USDC", fixture.router.address, AMOUNT)
    route = RouterRouteParam(usdc, usdc, 1, 0, 0, MALLORY, SwapType.TOKEN_TO_TOKEN)
    fixture.give("USDC", MALLORY, 1)
    fixture.contracts["USDC"].send("approve", fixture.router.address, 1, sender=MALLORY)
    assert send_raw(fixture, RouterCall(route, ()), sender=MALLORY) == 1
    assert fixture.balance(usdc, fixture.router.address) == AMOUNT


def test_no_caller_can_spend_the_approval_of_another(fixture: ContractFixture, market: MarketState) -> None:
    """The router takes the input only from the caller."""
    usdc, dai = fixture.address("USDC"), fixture.address("DAI")
    fixture.give("USDC", ALICE, AMOUNT)
    fixture.contracts["USDC"].send("approve", fixture.router.address, 2**256 - 1, sender=ALICE)
    built = build(market, single(pool_of(market, "curveFi", usdc, dai), usdc, dai), AMOUNT)
    with pytest.raises(RevertedError) as caught:
        send_raw(fixture, built.call, sender=MALLORY)
    assert caught.value.data == error("TokenRefused(address)", usdc)
    assert fixture.balance(usdc, ALICE) == AMOUNT


def test_a_native_wrapped_pair_trades_no_third_token(fixture: ContractFixture) -> None:
    key = encode(["address", "address", "uint24", "int24", "address"], [NATIVE, weth(fixture), 500, 10, NATIVE])
    attack = Attack(fixture, V4, key)
    swap = attack.call.swaps[0]._replace(pool_address=fixture.manager.address)
    attack.call = attack.call._replace(swaps=(swap,))
    assert attack.outcome() == error("BadExtraData()")


def allowances(fixture: ContractFixture, market: MarketState) -> set[int]:
    """Return all allowances of the router for pools and the vault."""
    spenders = {pool.address for pool in market.pools.values()}
    weighted = next(place.contract for place in fixture.places if place.protocol == "balancerV2Weighted")
    spenders |= set(weighted.call("getVault"))
    coins = (contract for symbol, contract in fixture.contracts.items() if symbol != WETH)
    return {int(coin.call("allowance", fixture.router.address, each)[0]) for coin in coins for each in spenders}
