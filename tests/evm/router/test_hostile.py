"""Pools, tokens and strangers that try to take what is not theirs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from eth_abi.abi import encode

from swapcli.errors import PoolError
from swapcli.model.market import Market
from swapcli.model.network import Deployment
from swapcli.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, SwapType
from tests.chain.contract_fixture import WETH, ContractFixture
from tests.chain.random_routes import random_route
from tests.contracts.evm import Contract, RevertedError, compile_solidity, selector
from tests.evm.router.driving import ALICE, BOB, NATIVE, build, carry_out, error, single, weth
from tests.evm.router.raw import raw_refusal, send_raw
from tests.evm.router.test_families import pool_of, random_amount, random_type

MALLORY = "0x" + "66" * 20
AMOUNT = 1_000_000_000
V3, V4, CURVE, WEIGHTED, V2, SOLIDLY = 5, 25, 126, 127, 1, 64
CALLBACKS = ("uniswapV3SwapCallback", "pancakeV3SwapCallback", "algebraSwapCallback", "someForksSwapCallback")
Action = tuple[str, bytes]


class Attack:
    """USDC sold to a contract that does as it is told, for DAI."""

    def __init__(self, world: ContractFixture, protocol_id: int = V3, extra: bytes = b"") -> None:
        self.world = world
        self.pool = world.chain.deploy(compile_solidity("hostile.sol")["Script"])
        self.usdc, self.dai = world.address("USDC"), world.address("DAI")
        swap = RouterSwapParam(
            self.usdc, self.dai, 1_000_000, protocol_id, self.pool.address, SwapType.TOKEN_TO_TOKEN, extra
        )
        route = RouterRouteParam(self.usdc, self.dai, AMOUNT, 1, 0, BOB, SwapType.TOKEN_TO_TOKEN)
        self.call = RouterCall(route, (swap,))

    @property
    def router(self) -> str:
        return self.world.router.address

    def plan(self, *actions: Action, answer: bytes = b"") -> None:
        self.pool.send("plan", actions, answer)

    def gift(self, amount: int) -> Action:
        """The pool gives so much of the token that is bought."""
        self.world.give("DAI", self.pool.address, amount)
        return self.dai, self.world.contracts["DAI"].calldata("transfer", self.router, amount)

    def outcome(self) -> bytes:
        """The error of the call."""
        return raw_refusal(self.world, self.call)


def callback(name: str, owed0: int, owed1: int, paid: bytes) -> bytes:
    return selector(f"{name}(int256,int256,bytes)") + encode(["int256", "int256", "bytes"], [owed0, owed1, paid])


def payment(token: str, amount: int) -> bytes:
    return encode(["address", "uint256"], [token, amount])


@pytest.mark.parametrize("name", CALLBACKS)
def test_a_pool_is_paid_once_under_any_callback_name(world: ContractFixture, name: str) -> None:
    attack = Attack(world)
    good = (attack.router, callback(name, AMOUNT, -1, payment(attack.usdc, AMOUNT)))
    other_side = (attack.router, callback(name, -1, AMOUNT, payment(attack.usdc, AMOUNT)))
    for each in (good, other_side):
        with world.chain.revert_after():
            attack.plan(each, attack.gift(7))
            world.give("USDC", ALICE, AMOUNT)
            world.contracts["USDC"].send("approve", attack.router, AMOUNT, sender=ALICE)
            assert send_raw(world, attack.call) == 7
            assert world.balance(attack.usdc, attack.pool.address) == AMOUNT
    attack.plan(good, good)
    assert attack.outcome() == error("UnexpectedCaller(address)", attack.pool.address)


@pytest.mark.parametrize("owed", [(AMOUNT + 1, -1), (AMOUNT - 1, -1), (1, 0), (0, 0), (-1, -1), (2**255 - 1, 0)])
def test_a_pool_that_asks_for_another_amount_is_refused(world: ContractFixture, owed: tuple[int, int]) -> None:
    attack = Attack(world)
    attack.plan((attack.router, callback(CALLBACKS[0], *owed, payment(attack.usdc, AMOUNT))))
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


def test_a_pool_cannot_ask_for_another_token_or_a_greater_amount(world: ContractFixture) -> None:
    """Not even for what somebody left in the router."""
    attack = Attack(world)
    for symbol in world.tokens:
        world.give(symbol, attack.router, 10 * AMOUNT)
    for token in (*(world.address(symbol) for symbol in world.tokens), NATIVE):
        for amount in (AMOUNT, 2 * AMOUNT):
            if (token, amount) != (attack.usdc, AMOUNT):
                attack.plan((attack.router, callback(CALLBACKS[0], amount, -1, payment(token, amount))))
                assert attack.outcome() == error("UnexpectedCaller(address)", attack.pool.address)


def test_a_pool_that_never_calls_back_is_refused(world: ContractFixture) -> None:
    attack = Attack(world)
    attack.plan(answer=bytes(64))
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


def test_another_contract_cannot_collect_in_a_pools_place(world: ContractFixture) -> None:
    attack = Attack(world)
    thief = world.chain.deploy(compile_solidity("hostile.sol")["Script"])
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    thief.send("plan", [(attack.router, collect)], b"")
    attack.plan((thief.address, thief.calldata("run")))
    assert attack.outcome() == error("UnexpectedCaller(address)", thief.address)


def test_no_one_can_impersonate_the_v4_pool_manager(world: ContractFixture) -> None:
    attack = Attack(world)
    key = (attack.usdc, attack.dai, 500, 10, NATIVE)
    data = encode(["(address,address,uint24,int24,address)", "bool", "uint256"], [key, True, AMOUNT])
    for each in (data, payment(attack.usdc, AMOUNT)):  # not even with what it was given itself
        attack.plan((attack.router, world.router.calldata("unlockCallback", each)))
        assert attack.outcome() == error("UnexpectedCaller(address)", attack.pool.address)
    with pytest.raises(RevertedError) as caught:
        world.router.send("unlockCallback", data, sender=MALLORY)
    assert caught.value.data == error("UnexpectedCaller(address)", MALLORY)


def test_the_v4_callback_runs_only_in_a_swap_with_its_own_data(
    world: ContractFixture,
) -> None:
    manager = world.chain.deploy(compile_solidity("hostile.sol")["Script"])
    home = Deployment(("uniswapV4",), "V4", {"pool_manager": manager.address})
    router = world.deploy_router(replace(world.network, deployments=(home,)))
    usdc, dai = sorted((world.address("USDC"), world.address("DAI")))
    key = encode(["address", "address", "uint24", "int24", "address"], [usdc, dai, 500, 10, NATIVE])
    given = key + encode(["bool", "uint256"], [True, AMOUNT])
    for changed in (given, given[:-1] + b"\1", given + bytes(32), bytes(32) + given[32:]):
        manager.send("plan", [(router.address, router.calldata("unlockCallback", changed))], b"")
        with pytest.raises(RevertedError) as caught:
            manager.send("run")
        assert caught.value.data == error("UnexpectedCaller(address)", manager.address)
        if changed != given:
            swap = RouterSwapParam(usdc, dai, 1_000_000, V4, manager.address, SwapType.TOKEN_TO_TOKEN, key)
            route = RouterRouteParam(usdc, dai, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
            symbol = world.symbol(usdc)
            world.give(symbol, ALICE, AMOUNT)
            world.contracts[symbol].send("approve", router.address, AMOUNT, sender=ALICE)
            with pytest.raises(RevertedError) as caught:
                router.send("swap", tuple(route), [tuple(swap)[:7]], sender=ALICE)
            assert caught.value.data == error("UnexpectedCaller(address)", manager.address)


def test_strangers_cannot_call_back_when_nobody_is_expected(world: ContractFixture) -> None:
    world.give("USDC", world.router.address, AMOUNT)
    for sender in (MALLORY, ALICE):
        for name in CALLBACKS:
            collect = callback(name, AMOUNT, -1, payment(world.address("USDC"), AMOUNT))
            with pytest.raises(RevertedError) as caught:
                world.chain.send(world.router.address, collect, sender=sender)
            assert caught.value.data == error("UnexpectedCaller(address)", sender)


def test_only_unwrapping_brings_native_currency(world: ContractFixture) -> None:
    world.chain.fund(MALLORY, 10**18)
    with pytest.raises(RevertedError) as caught:
        world.chain.send(world.router.address, b"", value=1, sender=MALLORY)
    assert caught.value.data == error("UnexpectedCaller(address)", MALLORY)
    with pytest.raises(RevertedError):
        world.chain.send(world.router.address, b"\1\2\3\4", value=1, sender=MALLORY)


@pytest.mark.parametrize("function", ["swap", "swapIntegrator", "swapWithPermit"])
def test_nobody_enters_the_router_while_it_works(world: ContractFixture, function: str) -> None:
    attack = Attack(world)
    more: dict[str, list[object]] = {
        "swapIntegrator": [bytes(96)],
        "swapWithPermit": [2**60, 27, bytes(32), bytes(32)],
    }
    again = world.router.calldata(function, tuple(attack.call.route), [], *more.get(function, []))
    attack.plan((attack.router, again))
    assert attack.outcome() == error("Reentered()")


def test_a_token_that_reenters_during_a_transfer_gains_nothing(world: ContractFixture) -> None:
    """On the way in and on the way out it tries to enter, or to be taken for a pool."""
    sources = compile_solidity("hostile.sol")
    coin, script = world.chain.deploy(sources["HookedCoin"]), world.chain.deploy(sources["Script"])
    coin.send("setHook", script.address)
    call = self_call(world, coin)
    enter = world.router.calldata("swap", tuple(call.route), [])
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(coin.address, AMOUNT))
    stranger = error("UnexpectedCaller(address)", script.address)
    for action, expected in ((enter, error("Reentered()")), (collect, stranger)):
        with world.chain.revert_after():
            script.send("plan", [(world.router.address, action)], b"")
            assert send_raw(world, call) == AMOUNT
            assert coin.call("failures") == ((expected, expected),)


def test_a_token_that_takes_a_cut_is_refused_as_input(world: ContractFixture) -> None:
    taxed = world.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"])
    call = self_call(world, taxed)
    with pytest.raises(RevertedError) as caught:
        send_raw(world, call)
    assert caught.value.data == error("InputFallsShort(uint256,uint256)", AMOUNT - AMOUNT // 100, AMOUNT)


def test_a_token_that_takes_a_cut_counts_as_it_arrives(world: ContractFixture) -> None:
    """What leaves the router is not what must be received."""
    taxed = world.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"])
    attack = Attack(world)
    taxed.send("mint", attack.pool.address, AMOUNT)
    give = taxed.calldata("transfer", attack.router, AMOUNT)
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    attack.plan((taxed.address, give), (attack.router, collect))
    held = AMOUNT - AMOUNT // 100
    received = held - held // 100
    route = attack.call.route._replace(token_out=taxed.address, min_received=received + 1)
    attack.call = attack.call._replace(swaps=(attack.call.swaps[0]._replace(token_out=taxed.address),), route=route)
    assert attack.outcome() == error("ReceivedTooLittle(uint256,uint256)", received, received + 1)
    attack.call = attack.call._replace(route=route._replace(min_received=received))
    world.give("USDC", ALICE, AMOUNT)
    world.contracts["USDC"].send("approve", attack.router, AMOUNT, sender=ALICE)
    assert send_raw(world, attack.call) == received


def test_native_currency_sent_in_during_a_swap_is_not_retained(world: ContractFixture) -> None:
    attack = Attack(world)
    bomb = world.chain.deploy(compile_solidity("hostile.sol")["Bomb"])
    world.chain.send(bomb.address, b"", value=1)
    collect = callback(CALLBACKS[0], AMOUNT, -1, payment(attack.usdc, AMOUNT))
    attack.plan((attack.router, collect), attack.gift(7), (bomb.address, bomb.calldata("burst", attack.router)))
    assert attack.outcome() == error("NotSettled(address)", NATIVE)


def test_a_token_that_only_says_no_is_heard(world: ContractFixture) -> None:
    call = self_call(world, world.chain.deploy(compile_solidity("hostile.sol")["RefusingCoin"]))
    with pytest.raises(RevertedError) as caught:
        send_raw(world, call)
    assert caught.value.data == error("TokenRefused(address)", call.route.token_in)


def test_an_address_without_a_token_is_refused(world: ContractFixture) -> None:
    route = RouterRouteParam(MALLORY, MALLORY, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    with pytest.raises(RevertedError):
        send_raw(world, RouterCall(route, ()))


def self_call(world: ContractFixture, coin: Contract) -> RouterCall:
    """A token in and out again: as much as can be had of one that no pool holds."""
    coin.send("mint", ALICE, AMOUNT)
    if coin.address and "approve" in {str(f.get("name")) for f in coin.abi}:
        coin.send("approve", world.router.address, AMOUNT, sender=ALICE)
    route = RouterRouteParam(coin.address, coin.address, AMOUNT, 0, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    return RouterCall(route, ())


@pytest.mark.parametrize("protocol_id", [CURVE, WEIGHTED])
def test_a_pool_that_does_not_use_its_approval_is_refused(world: ContractFixture, protocol_id: int) -> None:
    """It could come back for another one's tokens later."""
    attack = Attack(world, protocol_id, b"\0\1" if protocol_id == CURVE else bytes(32))
    attack.plan(answer=bytes(12) + bytes.fromhex(attack.pool.address[2:]))
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


def test_a_pool_cannot_spend_its_approval_twice(world: ContractFixture) -> None:
    attack = Attack(world, CURVE, b"\0\1")
    world.give("USDC", attack.router, 10 * AMOUNT)
    take = world.contracts["USDC"].calldata("transferFrom", attack.router, MALLORY, AMOUNT)
    attack.plan((attack.usdc, take), (attack.usdc, take))
    assert attack.outcome()[:4] == selector("ERC20InsufficientAllowance(address,uint256,uint256)")


@pytest.mark.parametrize(("protocol_id", "extra"), [(V2, b"\x0b\xb8"), (SOLIDLY, b"")])
def test_a_pair_that_gives_nothing_is_refused(world: ContractFixture, protocol_id: int, extra: bytes) -> None:
    attack = Attack(world, protocol_id, extra)
    attack.plan(answer=encode(["uint256", "uint256", "uint256"], [AMOUNT, AMOUNT, 0]))
    assert attack.outcome() == error("NothingBought(address)", attack.pool.address)


def test_the_router_does_not_serve_as_its_own_pool(world: ContractFixture) -> None:
    for protocol_id, extra in ((V3, b""), (V2, b"\x0b\xb8"), (SOLIDLY, b""), (CURVE, b"\0\1"), (WEIGHTED, b"")):
        attack = Attack(world, protocol_id, extra)
        swap = attack.call.swaps[0]._replace(pool_address=attack.router)
        for amount in (AMOUNT, 160):  # 160 is where the bytes begin that a pool is given
            route = attack.call.route._replace(amount_in=amount)
            attack.call = RouterCall(route, (swap,))
            assert attack.outcome() is not None


def test_tokens_that_others_left_neither_help_nor_are_taken(world: ContractFixture, market: Market) -> None:
    """Random routes pay exactly the same, and `execute` sees that the router is left as it was."""
    rng = Random("dust")
    for symbol in world.tokens:
        world.give(symbol, world.router.address, rng.randint(1, 10**9))
    world.chain.deploy(compile_solidity("hostile.sol")["Bomb"]).send("burst", world.router.address, value=12_345)
    assert world.balance(NATIVE, world.router.address) == 12_345
    for _ in range(60):
        token_in, token_out = rng.sample(sorted(token.address for token in world.tokens.values()), 2)
        swap_type = random_type(rng, world, token_in, token_out)
        route = random_route(rng, market.pools, token_in, token_out)
        try:
            built = build(market, route, random_amount(rng, world, token_in), swap_type)
        except PoolError:
            continue
        with world.chain.revert_after():
            assert carry_out(world, built.payload) == built.replay.amount_out
            assert allowances(world, market) == {0}


def test_what_others_left_cannot_be_had_by_a_route_of_it_alone(world: ContractFixture) -> None:
    usdc = world.address("USDC")
    world.give("USDC", world.router.address, AMOUNT)
    route = RouterRouteParam(usdc, usdc, 1, 0, 0, MALLORY, SwapType.TOKEN_TO_TOKEN)
    world.give("USDC", MALLORY, 1)
    world.contracts["USDC"].send("approve", world.router.address, 1, sender=MALLORY)
    assert send_raw(world, RouterCall(route, ()), sender=MALLORY) == 1
    assert world.balance(usdc, world.router.address) == AMOUNT


def test_nobody_can_spend_the_approval_of_another(world: ContractFixture, market: Market) -> None:
    """The input is only ever taken from who calls."""
    usdc, dai = world.address("USDC"), world.address("DAI")
    world.give("USDC", ALICE, AMOUNT)
    world.contracts["USDC"].send("approve", world.router.address, 2**256 - 1, sender=ALICE)
    built = build(market, single(pool_of(market, "curveFi", usdc, dai), usdc, dai), AMOUNT)
    with pytest.raises(RevertedError) as caught:
        send_raw(world, built.call, sender=MALLORY)
    assert caught.value.data == error("TokenRefused(address)", usdc)
    assert world.balance(usdc, ALICE) == AMOUNT


def test_a_native_wrapped_pair_trades_no_third_token(world: ContractFixture) -> None:
    key = encode(["address", "address", "uint24", "int24", "address"], [NATIVE, weth(world), 500, 10, NATIVE])
    attack = Attack(world, V4, key)
    swap = attack.call.swaps[0]._replace(pool_address=world.manager.address)
    attack.call = attack.call._replace(swaps=(swap,))
    assert attack.outcome() == error("BadExtraData()")


def allowances(world: ContractFixture, market: Market) -> set[int]:
    """All that the router lets pools, and the vault, take."""
    spenders = {pool.address for pool in market.pools.values()}
    weighted = next(place.contract for place in world.places if place.protocol == "balancerV2Weighted")
    spenders |= set(weighted.call("getVault"))
    coins = (contract for symbol, contract in world.contracts.items() if symbol != WETH)
    return {int(coin.call("allowance", world.router.address, each)[0]) for coin in coins for each in spenders}
