"""No call takes what is in the router, or leaves more there than rounding; a caller loses at most the input."""

from __future__ import annotations

from random import Random

from eth_abi.abi import encode
from hypothesis import event, given, settings
from hypothesis import strategies as st

from swapcli.core.model.market import MarketState
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.families.row import PoolUse
from swapcli.payload.evm.extra_data import encode_extra_data
from swapcli.testing.evm import RevertedError
from tests.chain.contract_fixture import DECIMALS, PROTOCOLS
from tests.examples import examples
from tests.payload.evm.router.driving import ALICE, BOB, CAROL, NATIVE, weth
from tests.payload.evm.router.raw import send_raw
from tests.payload.evm.router.test_share_tokens import MAX_ROUNDING
from tests.payload.evm.router.vault_pools import MINTED, PROTOCOL_IDS, SHARES, VaultPools

WEALTH = 10**24
LEFT_BEHIND = 10**7
SYMBOLS = (*DECIMALS, *SHARES, MINTED)
VICTIM = "0x" + "1c" * 20
"""Approved the router without limit."""
RATES = (1_000_000,) * 12 + (500_000, 1, 0, 1_000_001, 2**32 - 1)
AMOUNTS = (10**6, 10**9, 10**9, 10**18, 10**18, 1, 0, WEALTH, WEALTH + 1)
INTEGRATOR_SHARES = ((0, 0), (500, 0), (0, 900), (30, 0))


def random_call(rng: Random, fixture: VaultPools, market: MarketState) -> RouterCall:
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
    integrator = encode(["address", "uint256", "uint256"], [CAROL, *rng.choice(INTEGRATOR_SHARES)])
    route = RouterRouteParam(*ends, *amounts, minimum, recipient, rng.choice(kinds))
    return RouterCall(route, tuple(swaps), rng.choice((b"", integrator)))


def random_swap(rng: Random, fixture: VaultPools, market: MarketState, token_in: str) -> RouterSwapParam:
    pools = [pool for pool in market.pools.values() if token_in in pool.tokens]
    offers = [offer for offer in fixture.offers if offer.token_in == token_in]
    if rng.randrange(len(pools) + len(offers)) < len(offers):
        valid = rng.choice(offers).swap(rng.choice(RATES))
    else:
        pool = rng.choice(pools)
        token_out = rng.choice([token for token in pool.tokens if token != token_in])
        protocol = fixture.network.protocol(pool.protocol)
        assert protocol is not None
        extra = encode_extra_data(PoolUse(pool, token_in, token_out, protocol))
        rate = rng.choice(RATES)
        valid = RouterSwapParam(token_in, token_out, rate, protocol.id, pool.address, SwapType.TOKEN_TO_TOKEN, extra)
    return valid if rng.random() < 0.85 else changed(rng, fixture, market, valid)


def changed(rng: Random, fixture: VaultPools, market: MarketState, swap: RouterSwapParam) -> RouterSwapParam:
    """Return the swap with one field changed."""
    tokens = [fixture.address(symbol) for symbol in SYMBOLS]
    addresses = [*spenders(fixture, market), fixture.router.address, VICTIM, *tokens]
    ids = [
        *(protocol.id for protocol in PROTOCOLS),
        *PROTOCOL_IDS.values(),
        *PROTOCOL_IDS.values(),
        rng.randint(-(2**23), 2**23 - 1),
    ]
    return rng.choice(
        (
            swap._replace(token_in=rng.choice(tokens)),
            swap._replace(token_out=rng.choice(tokens)),
            swap._replace(protocol_id=rng.choice(ids)),
            swap._replace(pool_address=rng.choice(addresses)),
            swap._replace(extra_data=rng.randbytes(rng.choice((0, 1, 2, 3, 32, 40, 160)))),
            swap._replace(extra_data=bytes(rng.choice((1, 2, 3, 32, 40, 160, 192)))),
            swap._replace(extra_data=rng.choice(fixture.offers).extra_data),
            swap._replace(protocol_id=rng.choice(ids), extra_data=rng.choice((b"", b"\0", b"\1", b"\0\1"))),
        )
    )


def spenders(fixture: VaultPools, market: MarketState) -> set[str]:
    """Return the pools and vaults."""
    found = {pool.address for pool in market.pools.values()} | {offer.pool_address for offer in fixture.offers}
    weighted = next(place.contract for place in fixture.places if place.protocol == "balancerV2Weighted")
    return found | {*weighted.call("getVault"), fixture.balancer.address, fixture.infinity.address}


def allowances(fixture: VaultPools, call: RouterCall, market: MarketState) -> set[int]:
    """Return the allowances of the router for the tokens of a call."""
    tokens = {swap.token_in for swap in call.swaps} | {call.route.token_in}
    coin = fixture.contracts["DAI"]
    questions = [
        (token, coin.calldata("allowance", fixture.router.address, each))
        for token in tokens
        for each in (*spenders(fixture, market), *(swap.pool_address for swap in call.swaps))
    ]
    return {int.from_bytes(answer) for answer in fixture.chain.call_all(questions)}


def balances_of(fixture: VaultPools, owner: str) -> dict[str, int]:
    return {token: fixture.balance(token, owner) for token in (*map(fixture.address, SYMBOLS), NATIVE)}


@settings(max_examples=examples(120, full=1_500, fuzz=5_000))
@given(seed=st.integers(0, 2**64))
def test_a_call_moves_only_the_callers_input_and_output(fixture: VaultPools, market: MarketState, seed: int) -> None:
    call = random_call(Random(seed), fixture, market)
    with fixture.chain.revert_after():
        prepare(fixture)
        router, alice, bob, victim = (
            balances_of(fixture, each) for each in (fixture.router.address, ALICE, BOB, VICTIM)
        )
        try:
            paid_out = send_raw(fixture, call)
        except RevertedError as reverted:
            paid_out = None
            event(f"refused with {reverted.data[:4].hex()}")
        else:
            event("executed")
            for swap in call.swaps:
                event(f"executed with protocol {swap.protocol_id}")
        # A list may buy one or two units of a token and leave them: `NotSettled` does not see what rounding may leave.
        remaining = balances_of(fixture, fixture.router.address)
        assert all(0 <= remaining[token] - before <= MAX_ROUNDING for token, before in router.items())
        assert remaining[NATIVE] == router[NATIVE]
        assert balances_of(fixture, VICTIM) == victim
        assert allowances(fixture, call, market) <= {0}
        check_caller(fixture, call, alice, paid_out)
        if paid_out is not None and call.route.recipient == BOB:
            bought = NATIVE if call.route.swap_type is SwapType.TOKEN_TO_NATIVE else call.route.token_out
            gained = {token: amount - bob[token] for token, amount in balances_of(fixture, BOB).items()}
            assert gained == {**dict.fromkeys(gained, 0), bought: paid_out}
            assert paid_out >= call.route.min_received


def prepare(fixture: VaultPools) -> None:
    """Give Alice and the victim every token with unlimited approvals, and leave some of each in the router."""
    for symbol in SYMBOLS:
        fixture.give(symbol, fixture.router.address, LEFT_BEHIND)
        for owner in (ALICE, VICTIM):
            fixture.give(symbol, owner, WEALTH)
            fixture.contracts[symbol].send("approve", fixture.router.address, 2**256 - 1, sender=owner)
    fixture.chain.fund(ALICE, WEALTH)


def check_caller(fixture: VaultPools, call: RouterCall, before: dict[str, int], paid_out: int | None) -> None:
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
def test_malformed_calldata_is_refused(fixture: VaultPools, selector: bytes, rest: bytes) -> None:
    for sender in (ALICE, BOB):
        try:
            fixture.chain.send(fixture.router.address, selector + rest, sender=sender)
        except RevertedError:
            continue
        raise AssertionError("the router accepted the call")
