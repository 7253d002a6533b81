"""Vaults that call back, and contracts that burn, cannot take what is not theirs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from eth_abi.abi import encode

from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.families.row import RouterPoolKind
from swapcli.testing.evm import Contract, RevertedError, selector
from tests.contracts.evm import compile_solidity
from tests.payload.evm.router.driving import ALICE, BOB, NATIVE, error, weth
from tests.payload.evm.router.raw import raw_refusal, send_raw
from tests.payload.evm.router.test_hostile import AMOUNT, CALLBACKS, MALLORY, WEIGHTED, Action, callback
from tests.payload.evm.router.test_vault_pools import provide
from tests.payload.evm.router.vault_pools import INFINITY_KEY, PROTOCOL_IDS, VaultPools

BALANCER, INFINITY = RouterPoolKind.BALANCER_V3, RouterPoolKind.INFINITY
BALANCER_TRADE = "(address,address,address,address,address,uint256)"
INFINITY_TRADE = f"(address,{INFINITY_KEY},bool,bool,uint256)"
OUTPUT = 7


class VaultAttack:
    """A swap of USDC for DAI at a hostile vault, which runs scripted calls. `pool` names it.

    A second vault does not know the bytes of the first, but may be planned to send them.
    """

    def __init__(self, fixture: VaultPools, kind: RouterPoolKind, *, is_bin: bool = False, taken: int = AMOUNT) -> None:
        self.fixture, self.kind = fixture, kind
        self.sources = compile_solidity("hostile.sol")
        self.vault = fixture.chain.deploy(self.sources["Script"])
        self.usdc, self.dai = fixture.address("USDC"), fixture.address("DAI")
        first, second = sorted((self.usdc, self.dai), key=lambda address: int(address, 16))
        forward = first == self.usdc
        deltas = (-taken, OUTPUT) if forward else (OUTPUT, -taken)
        self.pool = fixture.chain.deploy(self.sources["Naming"], self.vault.address, _packed(*deltas))
        self.key = (first, second, NATIVE, self.pool.address, 3000, bytes(32))
        self.is_bin, self.forward = is_bin, forward
        extra = encode([INFINITY_KEY], [self.key]) + (b"\1" if is_bin else b"") if kind is INFINITY else b""
        self.call = hostile_call(kind, self.pool.address, self.usdc, self.dai, extra)

    @property
    def router(self) -> str:
        return self.fixture.router.address

    def data(self, **changes: object) -> bytes:
        """Return the bytes that the router gives the vault, with some fields changed."""
        if self.kind is BALANCER:
            trade: dict[str, object] = {
                "pool": self.pool.address,
                "token_in": self.usdc,
                "token_out": self.dai,
                "wrapper_in": NATIVE,
                "wrapper_out": NATIVE,
                "amount": AMOUNT,
            }
            head, kind = selector(f"balancerCallback({BALANCER_TRADE})"), BALANCER_TRADE
        else:
            trade = {
                "manager": self.pool.address,
                "key": self.key,
                "is_bin": self.is_bin,
                "forward": self.forward,
                "amount": AMOUNT,
            }
            head, kind = b"", INFINITY_TRADE
        return head + encode([kind], [tuple({**trade, **changes}.values())])

    def calling_back(self, data: bytes | None = None) -> Action:
        """Return the call of the router's callback with the vault's bytes, or others."""
        data = self.data() if data is None else data
        return self.router, data if self.kind is BALANCER else self.fixture.router.calldata("lockAcquired", data)

    def gift(self, amount: int = OUTPUT) -> Action:
        """Return the action that transfers some DAI from the vault to the router."""
        self.fixture.give("DAI", self.vault.address, amount)
        return self.dai, self.fixture.contracts["DAI"].calldata("transfer", self.router, amount)

    def plan(self, *actions: Action) -> None:
        """Let the vault run the actions; it answers that it received everything and that a swap pays 7."""
        self.vault.send("plan", actions, encode(["uint256"] * 3, [AMOUNT, AMOUNT, OUTPUT]))

    def outcome(self) -> bytes:
        return raw_refusal(self.fixture, self.call)


def hostile_call(kind: RouterPoolKind, pool: str, token_in: str, token_out: str, extra: bytes) -> RouterCall:
    """Return a call of one swap, which accepts any output."""
    swap = RouterSwapParam(token_in, token_out, 1_000_000, PROTOCOL_IDS[kind], pool, SwapType.TOKEN_TO_TOKEN, extra)
    route = RouterRouteParam(token_in, token_out, AMOUNT, 1, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    return RouterCall(route, (swap,))


def _packed(first: int, second: int) -> int:
    number = (first << 128) + second % 2**128
    assert -(2**255) <= number < 2**255
    return number


EVERY_VAULT = pytest.mark.parametrize(("kind", "is_bin"), [(BALANCER, False), (INFINITY, False), (INFINITY, True)])


@EVERY_VAULT
def test_a_vault_is_paid_once(fixture: VaultPools, kind: RouterPoolKind, is_bin: bool) -> None:
    attack = VaultAttack(fixture, kind, is_bin=is_bin)
    provide(fixture, attack.usdc, AMOUNT)
    attack.plan(attack.calling_back(), attack.gift())
    with fixture.chain.revert_after():
        assert send_raw(fixture, attack.call) == OUTPUT
        assert fixture.balance(attack.usdc, attack.vault.address) == AMOUNT
    attack.plan(attack.calling_back(), attack.calling_back(), attack.gift())
    assert attack.outcome() == error("UnexpectedCaller(address)", attack.vault.address)


@EVERY_VAULT
def test_a_vault_that_gives_nothing_is_refused(fixture: VaultPools, kind: RouterPoolKind, is_bin: bool) -> None:
    attack = VaultAttack(fixture, kind, is_bin=is_bin)
    attack.plan(attack.calling_back())
    assert attack.outcome() == error("NothingBought(address)", attack.pool.address)


@EVERY_VAULT
def test_a_vault_that_never_calls_back_is_refused(fixture: VaultPools, kind: RouterPoolKind, is_bin: bool) -> None:
    attack = VaultAttack(fixture, kind, is_bin=is_bin)
    attack.plan(attack.gift())
    assert attack.outcome() == error("PartlyTaken(address)", attack.pool.address)


CHANGES: dict[RouterPoolKind, Sequence[dict[str, object]]] = {
    BALANCER: (
        {"amount": AMOUNT + 1},
        {"amount": AMOUNT - 1},
        {"pool": MALLORY},
        {"token_in": NATIVE},
        {"token_out": MALLORY},
        {"wrapper_in": MALLORY},
        {"wrapper_out": MALLORY},
    ),
    INFINITY: ({"amount": AMOUNT + 1}, {"manager": MALLORY}, {"is_bin": True}, {"forward": False}),
}


@pytest.mark.parametrize("kind", [BALANCER, INFINITY])
def test_a_vault_cannot_change_its_bytes(fixture: VaultPools, kind: RouterPoolKind) -> None:
    """Not even to spend what others left in the router."""
    attack = VaultAttack(fixture, kind)
    for symbol in fixture.contracts:
        fixture.give(symbol, attack.router, 10 * AMOUNT)
    changed = [attack.data(**each) for each in CHANGES[kind] if attack.data(**each) != attack.data()]
    assert len(changed) >= 3
    for data in (*changed, attack.data() + bytes(32), attack.data() + b"\0"):
        attack.plan(attack.calling_back(data), attack.gift())
        assert attack.outcome() == error("UnexpectedCaller(address)", attack.vault.address)


@pytest.mark.parametrize("kind", [BALANCER, INFINITY])
def test_a_vault_cannot_reach_another_callback(fixture: VaultPools, kind: RouterPoolKind) -> None:
    attack = VaultAttack(fixture, kind)
    refused = error("UnexpectedCaller(address)", attack.vault.address)
    data = attack.data()
    for name in CALLBACKS:
        for owed in (AMOUNT, int(attack.usdc, 16)):
            attack.plan((attack.router, callback(name, owed, -1, data)), attack.gift())
            assert attack.outcome() == refused
    others = {"unlockCallback", "lockAcquired"} - ({"lockAcquired"} if kind is INFINITY else set())
    for function in others:
        attack.plan((attack.router, fixture.router.calldata(function, data)), attack.gift())
        assert attack.outcome() == refused
    if kind is INFINITY:
        own = VaultAttack(fixture, BALANCER).data(pool=attack.pool.address)
        attack.plan((attack.router, own), attack.gift())
        assert attack.outcome() == refused


@EVERY_VAULT
def test_no_one_else_calls_back_for_a_vault(fixture: VaultPools, kind: RouterPoolKind, is_bin: bool) -> None:
    attack = VaultAttack(fixture, kind, is_bin=is_bin)
    thief = fixture.chain.deploy(attack.sources["Script"])
    thief.send("plan", [attack.calling_back()], encode(["uint256"] * 3, [AMOUNT, AMOUNT, OUTPUT]))
    attack.plan((thief.address, thief.calldata("run")), attack.gift())
    assert attack.outcome() == error("UnexpectedCaller(address)", thief.address)


@EVERY_VAULT
def test_a_pool_cannot_name_another_vault_later(fixture: VaultPools, kind: RouterPoolKind, is_bin: bool) -> None:
    """The vault that was named first is called, and it alone may call back."""
    attack = VaultAttack(fixture, kind, is_bin=is_bin)
    second = fixture.chain.deploy(attack.sources["Script"])
    second.send("plan", [attack.calling_back()], encode(["uint256"] * 3, [AMOUNT, AMOUNT, OUTPUT]))
    rename = attack.pool.address, attack.pool.calldata("rename", second.address)
    attack.plan(rename, (second.address, second.calldata("run")), attack.gift())
    assert attack.outcome() == error("UnexpectedCaller(address)", second.address)
    attack.plan(rename, attack.calling_back(), attack.gift())
    provide(fixture, attack.usdc, AMOUNT)
    assert send_raw(fixture, attack.call) == OUTPUT
    assert fixture.balance(attack.usdc, second.address) == 0


@pytest.mark.parametrize("kind", [BALANCER, INFINITY])
def test_a_vault_cannot_reenter_the_router(fixture: VaultPools, kind: RouterPoolKind) -> None:
    attack = VaultAttack(fixture, kind)
    enter = fixture.router.calldata("swap", tuple(attack.call.route), [])
    attack.plan((attack.router, enter))
    assert attack.outcome() == error("Reentered()")


@pytest.mark.parametrize("kind", [BALANCER, INFINITY])
def test_callbacks_of_vaults_are_refused_when_idle(fixture: VaultPools, kind: RouterPoolKind) -> None:
    attack = VaultAttack(fixture, kind)
    fixture.give("USDC", attack.router, AMOUNT)
    for sender in (MALLORY, ALICE):
        with pytest.raises(RevertedError) as caught:
            fixture.chain.send(*attack.calling_back(), sender=sender)
        assert caught.value.data == error("UnexpectedCaller(address)", sender)


@pytest.mark.parametrize("is_bin", [False, True])
@pytest.mark.parametrize("taken", [AMOUNT - 1, AMOUNT + 1, 0, 1, 2**127 - 1])
def test_a_manager_that_takes_another_amount_is_refused(fixture: VaultPools, taken: int, is_bin: bool) -> None:
    attack = VaultAttack(fixture, INFINITY, is_bin=is_bin, taken=taken)
    attack.plan(attack.calling_back(), attack.gift())
    assert attack.outcome() == error("PartlyTaken(address)", attack.vault.address)


@pytest.mark.parametrize("kind", [BALANCER, INFINITY])
def test_a_false_pool_of_the_true_vault_gains_nothing(fixture: VaultPools, kind: RouterPoolKind) -> None:
    attack = VaultAttack(fixture, kind)
    attack.pool.send("rename", (fixture.balancer if kind is BALANCER else fixture.infinity).address)
    expected = error("TokenNotRegistered(address)", attack.usdc) if kind is BALANCER else error("CurrencyNotSettled()")
    assert attack.outcome() == expected


def test_a_vault_cannot_pay_native_currency_with_the_routers(fixture: VaultPools) -> None:
    """The router wraps what it takes: without the vault's payment that would be what others left there."""
    attack = VaultAttack(fixture, INFINITY)
    bomb = fixture.chain.deploy(attack.sources["Bomb"])
    bomb.send("burst", attack.router, value=OUTPUT)
    pool = fixture.chain.deploy(attack.sources["Naming"], attack.vault.address, _packed(OUTPUT, -AMOUNT))
    attack.pool, attack.forward = pool, False
    attack.key = (NATIVE, attack.usdc, NATIVE, pool.address, 3000, bytes(32))
    swap = attack.call.swaps[0]._replace(
        token_out=weth(fixture), pool_address=pool.address, extra_data=encode([INFINITY_KEY], [attack.key])
    )
    attack.call = RouterCall(attack.call.route._replace(token_out=weth(fixture)), (swap,))
    attack.plan(attack.calling_back())
    assert attack.outcome() == error("NotSettled(address)", NATIVE)


def hostile_shares(fixture: VaultPools, missing: int = 0) -> tuple[Contract, RouterCall]:
    """Return shares of USDC that misbehave, and a boosted swap of USDC for DAI through them."""
    shares = fixture.chain.deploy(compile_solidity("hostile.sol")["HostileShares"], fixture.address("USDC"), missing)
    pool = fixture.chain.deploy(fixture.models["BalancerPool"], fixture.balancer.address)
    shares.send("mint", fixture.balancer.address, 10**12)
    fixture.balancer.send("register", pool.address, shares.address)
    fixture.fill(fixture.balancer.address, "DAI")
    fixture.balancer.send("register", pool.address, fixture.address("DAI"))
    extra = bytes.fromhex(shares.address[2:]) + bytes(20)
    return shares, hostile_call(BALANCER, pool.address, fixture.address("USDC"), fixture.address("DAI"), extra)


def test_shares_that_reenter_during_a_deposit_gain_nothing(fixture: VaultPools) -> None:
    shares, call = hostile_shares(fixture)
    script = fixture.chain.deploy(compile_solidity("hostile.sol")["Script"])
    shares.send("setHook", script.address)
    provide(fixture, call.route.token_in, AMOUNT)
    pool = call.swaps[0].pool_address
    trade = pool, call.route.token_in, call.route.token_out, shares.address, NATIVE, AMOUNT
    usdc = call.route.token_in
    actions = {
        (fixture.router.address, fixture.router.calldata("swap", tuple(call.route), [])): error("Reentered()"),
        (fixture.router.address, fixture.router.calldata("balancerCallback", trade)): error(
            "UnexpectedCaller(address)", script.address
        ),
        (
            fixture.balancer.address,
            fixture.balancer.calldata("sendTo", usdc, MALLORY, AMOUNT),
        ): error("ReentrancyGuardReentrantCall()"),
    }
    for action, expected in actions.items():
        script.send("plan", [action], b"")
        with fixture.chain.revert_after():
            assert send_raw(fixture, call) > 0
            assert shares.call("failures") == ((expected,),)
            assert fixture.balance(usdc, MALLORY) == 0


def test_shares_that_are_missing_make_the_vault_revert(fixture: VaultPools) -> None:
    _, call = hostile_shares(fixture, missing=3)
    assert b"the wrapper took too much or gave too little" in raw_refusal(fixture, call)


@pytest.mark.parametrize("kind", [RouterPoolKind.VAULT, RouterPoolKind.BRIDGE])
def test_shares_left_in_the_router_cannot_be_burned(fixture: VaultPools, kind: RouterPoolKind) -> None:
    """A token that shows them as its own is sold in their place."""
    sold, bought = ("sUSDC", "USDC") if kind is RouterPoolKind.VAULT else ("MINT", "USDC")
    fixture.give(sold, fixture.router.address, 10 * AMOUNT)
    lying = fixture.chain.deploy(compile_solidity("hostile.sol")["LyingCoin"], fixture.address(sold))
    lying.send("mint", ALICE, AMOUNT)
    offer = next(o for o in fixture.offers if o.kind is kind and o.token_in == fixture.address(sold))
    route = RouterRouteParam(lying.address, fixture.address(bought), AMOUNT, 1, 0, BOB, SwapType.TOKEN_TO_TOKEN)
    for pool in (offer.pool_address, fixture.address(sold)):
        swap = offer.swap()._replace(token_in=lying.address, pool_address=pool)
        with pytest.raises(RevertedError) as caught:
            send_raw(fixture, RouterCall(route, (swap,)))
        if pool == offer.pool_address:
            assert caught.value.data == error("WrongPool(address)", pool)
    assert fixture.balance(fixture.address(sold), fixture.router.address) == 10 * AMOUNT


def test_shares_that_are_not_burned_are_refused(fixture: VaultPools) -> None:
    shares = fixture.chain.deploy(compile_solidity("hostile.sol")["LastingShares"], fixture.address("USDC"))
    fixture.give("USDC", shares.address, AMOUNT)
    shares.send("mint", ALICE, AMOUNT)
    shares.send("approve", fixture.router.address, AMOUNT, sender=ALICE)
    call = hostile_call(RouterPoolKind.VAULT, shares.address, shares.address, fixture.address("USDC"), b"\1")
    assert raw_refusal(fixture, call) == error("PartlyTaken(address)", shares.address)


class NativeAttack:
    """A swap of native currency, listed as wrapped, for DAI in a hostile pool of Fluid's kind."""

    def __init__(self, fixture: VaultPools) -> None:
        self.fixture = fixture
        self.pool = fixture.chain.deploy(compile_solidity("hostile.sol")["Script"])
        self.ends = weth(fixture), fixture.address("DAI")
        self.call = hostile_call(RouterPoolKind.FLUID, self.pool.address, *self.ends, b"\0")
        fixture.give("DAI", self.pool.address, OUTPUT)
        self.gift = self.ends[1], fixture.contracts["DAI"].calldata("transfer", fixture.router.address, OUTPUT)

    def outcome(self, *actions: Action) -> bytes:
        self.pool.send("plan", actions, b"")
        return raw_refusal(self.fixture, self.call)

    def refund(self, wei: int) -> Action:
        """Return the action that sends native currency to the router."""
        bomb = self.fixture.chain.deploy(compile_solidity("hostile.sol")["Bomb"])
        self.fixture.chain.send(bomb.address, b"", value=wei)
        return bomb.address, bomb.calldata("burst", self.fixture.router.address)


def test_native_currency_is_taken_whole_or_not_at_all(fixture: VaultPools) -> None:
    attack = NativeAttack(fixture)
    provide(fixture, attack.ends[0], AMOUNT)
    attack.pool.send("plan", [attack.gift], b"")
    with fixture.chain.revert_after():
        assert send_raw(fixture, attack.call) == OUTPUT
        assert fixture.chain.native_balance(attack.pool.address) == AMOUNT
    assert attack.outcome() == error("NothingBought(address)", attack.pool.address)
    refused = error("PartlyTaken(address)", attack.pool.address)
    assert attack.outcome(attack.gift, attack.refund(1)) == refused


def test_native_currency_that_nobody_bought_is_refused(fixture: VaultPools) -> None:
    attack = NativeAttack(fixture)
    usdc = fixture.address("USDC")
    swap = attack.call.swaps[0]._replace(token_in=usdc)
    attack.call = RouterCall(attack.call.route._replace(token_in=usdc), (swap,))
    take = usdc, fixture.contracts["USDC"].calldata("transferFrom", fixture.router.address, MALLORY, AMOUNT)
    assert attack.outcome(take, attack.gift, attack.refund(1)) == error("NotSettled(address)", NATIVE)


def test_a_vault_beside_its_pool_keeps_no_allowance(fixture: VaultPools) -> None:
    """The allowance is the vault's: one that is left would let it take another user's tokens later."""
    sources = compile_solidity("hostile.sol")
    vault = fixture.chain.deploy(sources["Script"])
    pool = fixture.chain.deploy(sources["Naming"], vault.address, 0)
    usdc, dai = fixture.address("USDC"), fixture.address("DAI")
    fixture.give("DAI", vault.address, OUTPUT)
    gift = fixture.contracts["DAI"].calldata("transfer", fixture.router.address, OUTPUT)
    call = hostile_call(BALANCER, pool.address, usdc, dai, bytes(32))
    call = call._replace(swaps=(call.swaps[0]._replace(protocol_id=WEIGHTED),))
    for taken, refused in ((AMOUNT, b""), (AMOUNT // 2, error("PartlyTaken(address)", vault.address))):
        take = fixture.contracts["USDC"].calldata("transferFrom", fixture.router.address, MALLORY, taken)
        vault.send("plan", [(usdc, take), (dai, gift)], encode(["uint256"], [OUTPUT]))
        with fixture.chain.revert_after():
            provide(fixture, usdc, AMOUNT)
            assert (raw_refusal(fixture, call) if refused else send_raw(fixture, call)) == (refused or OUTPUT)
