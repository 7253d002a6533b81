"""No call changes the router's balances, and a caller loses at most the input."""

from __future__ import annotations

from random import Random

from eth_abi.abi import encode
from hypothesis import event, given, settings
from hypothesis import strategies as st

from swapcli.evm.extra_data import PoolUse, encode_extra_data
from swapcli.model.market import MarketState
from swapcli.model.swap_type import SwapType
from swapcli.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
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


def random_call(rng: Random, fixture: ContractFixture, market: MarketState) -> RouterCall:
    """Return a random call that is mostly valid, with an occasional invalid part."""
    tokens = [fixture.address(rng.choice(SYMBOLS))]
    swaps = []
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 5))):
        swaps.append(random_swap(rng, fixture, market, tokens[-1] if rng.random() < 0.9 else rng.choice(tokens)))
        tokens.append(swaps[-1].token_out)
    ends = tokens[0], tokens[-1] if rng.random() < 0.95 else rng.choice(tokens)
    native = [kind for kind, end in zip(SwapType, ends, strict=False) if end == weth(fixture)]
    kinds = [*native, SwapType.TOKEN_TO_TOKEN] if rng.random() < 0.95 else [*SwapType]
    minimum = rng.choice(AMOUNTS) if rng.random() < 0.2 else 0
    recipient = rng.choice((BOB, BOB, ALICE)) if rng.random() < 0.95 else rng.choice((fixture.router.address, NATIVE))
    amounts = rng.choice(AMOUNTS), rng.choice(AMOUNTS)
    integrator = encode(["address", "uint256", "uint256"], [CAROL, *rng.choice(SHARES)])
    route = RouterRouteParam(*ends, *amounts, minimum, recipient, rng.choice(kinds))
    return RouterCall(route, tuple(swaps), rng.choice((b"", integrator)))


def random_swap(rng: Random, fixture: ContractFixture, market: MarketState, token_in: str) -> RouterSwapParam:
    pool = rng.choice([pool for pool in market.pools.values() if token_in in pool.tokens])
    token_out = rng.choice([token for token in pool.tokens if token != token_in])
    protocol = fixture.network.protocol(pool.protocol)
    assert protocol is not None
    extra = encode_extra_data(PoolUse(pool, token_in, token_out, protocol))
    valid = RouterSwapParam(
        token_in, token_out, rng.choice(RATES), protocol.id, pool.address, SwapType.TOKEN_TO_TOKEN, extra
    )
    return valid if rng.random() < 0.85 else changed(rng, fixture, market, valid)


def changed(rng: Random, fixture: ContractFixture, market: MarketState, swap: RouterSwapParam) -> RouterSwapParam:
    """Return the swap with one field changed."""
    tokens = [fixture.address(symbol) for symbol in SYMBOLS]
    addresses = [*(pool.address for pool in market.pools.values()), fixture.router.address, *tokens]
    ids = [*(protocol.id for protocol in PROTOCOLS), rng.randint(-(2**23), 2**23 - 1)]
    return rng.choice(
        (
            swap._replace(token_in=rng.choice(tokens)),
            swap._replace(token_out=rng.choice(tokens)),
            swap._replace(protocol_id=rng.choice(ids)),
            swap._replace(pool_address=rng.choice(addresses)),
            swap._replace(extra_data=rng.randbytes(rng.choice((0, 1, 2, 3, 32, 160)))),
            swap._replace(extra_data=bytes(rng.choice((2, 3, 32, 160, 192)))),
        )
    )


def balances_of(fixture: ContractFixture, owner: str) -> dict[str, int]:
    return {token: fixture.balance(token, owner) for token in (*map(fixture.address, SYMBOLS), NATIVE)}


@settings(max_examples=examples(150, full=400))
@given(seed=st.integers(0, 2**64))
def test_a_call_moves_only_the_callers_input_and_output(
    fixture: ContractFixture, market: MarketState, seed: int
) -> None:
    call = random_call(Random(seed), fixture, market)
    with fixture.chain.revert_after():
        prepare(fixture)
        router, alice, bob = (balances_of(fixture, each) for each in (fixture.router.address, ALICE, BOB))
        try:
            paid_out = send_raw(fixture, call)
        except RevertedError as reverted:
            paid_out = None
            event(f"refused with {reverted.data[:4].hex()}")
        else:
            event("executed")
        assert balances_of(fixture, fixture.router.address) == router
        assert allowances(fixture, market) == {0}
        check_caller(fixture, call, alice, paid_out)
        if paid_out is not None and call.route.recipient == BOB:
            bought = NATIVE if call.route.swap_type is SwapType.TOKEN_TO_NATIVE else call.route.token_out
            gained = {token: amount - bob[token] for token, amount in balances_of(fixture, BOB).items()}
            assert gained == {**dict.fromkeys(gained, 0), bought: paid_out}
            assert paid_out >= call.route.min_received


def prepare(fixture: ContractFixture) -> None:
    """Give Alice every token with unlimited approvals, and leave some of each token in the router."""
    for symbol in SYMBOLS:
        fixture.give(symbol, ALICE, WEALTH)
        fixture.give(symbol, fixture.router.address, LEFT_BEHIND)
        fixture.contracts[symbol].send("approve", fixture.router.address, 2**256 - 1, sender=ALICE)
    fixture.chain.fund(ALICE, WEALTH)


def check_caller(fixture: ContractFixture, call: RouterCall, before: dict[str, int], paid_out: int | None) -> None:
    """Check that Alice pays exactly the input, or nothing."""
    after = balances_of(fixture, ALICE)
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
def test_malformed_calldata_is_refused(fixture: ContractFixture, selector: bytes, rest: bytes) -> None:
    for sender in (ALICE, BOB):
        try:
            fixture.chain.send(fixture.router.address, selector + rest, sender=sender)
        except RevertedError:
            continue
        raise AssertionError("the router accepted the call")
