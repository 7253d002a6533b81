"""Whatever calls say, the router ends as it began, and a caller loses nothing but his input."""

from __future__ import annotations

from random import Random

from eth_abi.abi import encode
from hypothesis import event, given, settings
from hypothesis import strategies as st

from swapcli.evm.extra_data import PoolUse, encode_extra_data
from swapcli.model.market import Market
from swapcli.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, SwapType
from tests.chain.contract_fixture import DECIMALS, PROTOCOLS, ContractFixture
from tests.contracts.evm import RevertedError
from tests.evm.router.driving import ALICE, BOB, CAROL, NATIVE, weth
from tests.evm.router.raw import send_raw
from tests.evm.router.test_hostile import allowances
from tests.examples import examples

WEALTH = 10**24
LEFT_BEHIND = 10**7
SYMBOLS = tuple(DECIMALS)
RATES = (1_000_000,) * 12 + (500_000, 1, 0, 1_000_001, 2**32 - 1)
AMOUNTS = (10**6, 10**9, 10**9, 10**18, 10**18, 1, 0, WEALTH, WEALTH + 1)
SHARES = ((0, 0), (500, 0), (0, 900), (30, 0))


def random_call(rng: Random, world: ContractFixture, market: Market) -> RouterCall:
    """Mostly what makes sense, with something wrong here and there."""
    tokens = [world.address(rng.choice(SYMBOLS))]
    swaps = []
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 5))):
        swaps.append(random_swap(rng, world, market, tokens[-1] if rng.random() < 0.9 else rng.choice(tokens)))
        tokens.append(swaps[-1].token_out)
    ends = tokens[0], tokens[-1] if rng.random() < 0.95 else rng.choice(tokens)
    native = [kind for kind, end in zip(SwapType, ends, strict=False) if end == weth(world)]
    kinds = [*native, SwapType.TOKEN_TO_TOKEN] if rng.random() < 0.95 else [*SwapType]
    least = rng.choice(AMOUNTS) if rng.random() < 0.2 else 0
    destination = rng.choice((BOB, BOB, ALICE)) if rng.random() < 0.95 else rng.choice((world.router.address, NATIVE))
    amounts = rng.choice(AMOUNTS), rng.choice(AMOUNTS)
    integrator = encode(["address", "uint256", "uint256"], [CAROL, *rng.choice(SHARES)])
    route = RouterRouteParam(*ends, *amounts, least, destination, rng.choice(kinds))
    return RouterCall(route, tuple(swaps), rng.choice((b"", integrator)))


def random_swap(rng: Random, world: ContractFixture, market: Market, token_in: str) -> RouterSwapParam:
    pool = rng.choice([pool for pool in market.pools.values() if token_in in pool.tokens])
    token_out = rng.choice([token for token in pool.tokens if token != token_in])
    protocol = world.network.protocol(pool.protocol)
    assert protocol is not None
    extra = encode_extra_data(PoolUse(pool, token_in, token_out, protocol))
    sound = RouterSwapParam(
        token_in, token_out, rng.choice(RATES), protocol.id, pool.address, SwapType.TOKEN_TO_TOKEN, extra
    )
    return sound if rng.random() < 0.85 else changed(rng, world, market, sound)


def changed(rng: Random, world: ContractFixture, market: Market, swap: RouterSwapParam) -> RouterSwapParam:
    """One thing of it is another."""
    tokens = [world.address(symbol) for symbol in SYMBOLS]
    homes = [*(pool.address for pool in market.pools.values()), world.router.address, *tokens]
    ids = [*(protocol.id for protocol in PROTOCOLS), rng.randint(-(2**23), 2**23 - 1)]
    return rng.choice(
        (
            swap._replace(token_in=rng.choice(tokens)),
            swap._replace(token_out=rng.choice(tokens)),
            swap._replace(protocol_id=rng.choice(ids)),
            swap._replace(pool_address=rng.choice(homes)),
            swap._replace(extra_data=rng.randbytes(rng.choice((0, 1, 2, 3, 32, 160)))),
            swap._replace(extra_data=bytes(rng.choice((2, 3, 32, 160, 192)))),
        )
    )


def wealth(world: ContractFixture, owner: str) -> dict[str, int]:
    return {token: world.balance(token, owner) for token in (*map(world.address, SYMBOLS), NATIVE)}


@settings(max_examples=examples(150, full=400))
@given(seed=st.integers(0, 2**64))
def test_a_call_moves_only_the_callers_input_and_output(world: ContractFixture, market: Market, seed: int) -> None:
    call = random_call(Random(seed), world, market)
    with world.chain.revert_after():
        prepare(world)
        router, alice, bob = (wealth(world, each) for each in (world.router.address, ALICE, BOB))
        try:
            paid_out = send_raw(world, call)
        except RevertedError as reverted:
            paid_out = None
            event(f"refused with {reverted.data[:4].hex()}")
        else:
            event("carried out")
        assert wealth(world, world.router.address) == router
        assert allowances(world, market) == {0}
        check_caller(world, call, alice, paid_out)
        if paid_out is not None and call.route.recipient == BOB:
            bought = NATIVE if call.route.swap_type is SwapType.TOKEN_TO_NATIVE else call.route.token_out
            gained = {token: amount - bob[token] for token, amount in wealth(world, BOB).items()}
            assert gained == {**dict.fromkeys(gained, 0), bought: paid_out}
            assert paid_out >= call.route.min_received


def prepare(world: ContractFixture) -> None:
    """Alice owns and approves all there is, and something of everything was left in the router."""
    for symbol in SYMBOLS:
        world.give(symbol, ALICE, WEALTH)
        world.give(symbol, world.router.address, LEFT_BEHIND)
        world.contracts[symbol].send("approve", world.router.address, 2**256 - 1, sender=ALICE)
    world.chain.fund(ALICE, WEALTH)


def check_caller(world: ContractFixture, call: RouterCall, before: dict[str, int], paid_out: int | None) -> None:
    """She pays exactly the input, or nothing."""
    after = wealth(world, ALICE)
    if paid_out is None:
        assert after == before
        return
    native_in = call.route.swap_type is SwapType.NATIVE_TO_TOKEN
    native_out = call.route.swap_type is SwapType.TOKEN_TO_NATIVE
    expected = dict(before)
    expected[NATIVE if native_in else call.route.token_in] -= call.route.amount_in
    if call.route.recipient == ALICE:
        expected[NATIVE if native_out else call.route.token_out] += paid_out
    assert after == expected


@given(selector=st.binary(min_size=0, max_size=4), rest=st.binary(max_size=300))
def test_bytes_that_are_no_call_are_refused(world: ContractFixture, selector: bytes, rest: bytes) -> None:
    for sender in (ALICE, BOB):
        try:
            world.chain.send(world.router.address, selector + rest, sender=sender)
        except RevertedError:
            continue
        raise AssertionError("the router did something")
