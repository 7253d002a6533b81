"""Invalid calls revert with a specific error and change no balance."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode

from swapcli.core.model.market import MarketState
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.testing.evm import RevertedError
from tests.chain.contract_fixture import ContractFixture
from tests.contracts.evm import compile_solidity
from tests.payload.evm.router.driving import (
    ALICE,
    BOB,
    CAROL,
    NATIVE,
    Built,
    build,
    carry_out,
    error,
    refusal,
    single,
    weth,
)
from tests.payload.evm.router.raw import raw_refusal
from tests.payload.evm.router.test_families import pool_of

AMOUNT = 1_000_000_000


@pytest.fixture
def sound(fixture: ContractFixture, market: MarketState) -> Built:
    """A valid call: USDC for DAI through the Curve pool."""
    usdc, dai = fixture.address("USDC"), fixture.address("DAI")
    return build(market, single(pool_of(market, "curveFi", usdc, dai), usdc, dai), AMOUNT)


def swapped(call: RouterCall, **changes: object) -> RouterCall:
    """Return the call with its first swap changed."""
    first = RouterSwapParam(**{**call.swaps[0]._asdict(), **changes})
    return call._replace(swaps=(first, *call.swaps[1:]))


def routed(call: RouterCall, **changes: object) -> RouterCall:
    return call._replace(route=RouterRouteParam(**{**call.route._asdict(), **changes}))


def test_the_valid_call_succeeds(fixture: ContractFixture, sound: Built) -> None:
    assert carry_out(fixture, sound.payload) == sound.replay.amount_out


@pytest.mark.parametrize(
    ("rate", "signature"),
    [
        (0, "RateZero()"),
        (1_000_001, "RateExceedsMaximum()"),
        (2**32 - 1, "RateExceedsMaximum()"),
    ],
)
def test_rates_beyond_the_scale_are_refused(fixture: ContractFixture, sound: Built, rate: int, signature: str) -> None:
    assert raw_refusal(fixture, swapped(sound.call, rate=rate)) == error(signature)


def test_a_rate_that_spends_nothing_is_refused(fixture: ContractFixture, sound: Built) -> None:
    call = swapped(routed(sound.call, amount_in=999), rate=1_000)
    assert raw_refusal(fixture, call) == error("AmountTooSmallForRate()")
    assert raw_refusal(fixture, routed(sound.call, amount_in=0)) == error("AmountTooSmallForRate()")


def test_a_list_that_leaves_input_behind_is_refused(fixture: ContractFixture, sound: Built) -> None:
    call = routed(swapped(sound.call, rate=999_999), min_received=0)
    assert raw_refusal(fixture, call) == error("NotSettled(address)", fixture.address("USDC"))


def test_an_empty_list_is_refused(fixture: ContractFixture, sound: Built) -> None:
    call = routed(sound.call, min_received=0)._replace(swaps=())
    assert raw_refusal(fixture, call) == error("NotSettled(address)", fixture.address("USDC"))


def test_one_unit_below_the_minimum_is_refused(fixture: ContractFixture, sound: Built) -> None:
    out = sound.replay.amount_out
    assert raw_refusal(fixture, routed(sound.call, min_received=out + 1)) == error(
        "ReceivedTooLittle(uint256,uint256)", out, out + 1
    )


@pytest.mark.parametrize("swap_type", [3, 255])
def test_unknown_swap_types_are_refused(fixture: ContractFixture, sound: Built, swap_type: int) -> None:
    call = routed(sound.call, swap_type=swap_type)
    assert raw_refusal(fixture, call) == error("UnknownSwapType(uint8)", swap_type)


def test_only_the_wrapped_token_counts_as_native(fixture: ContractFixture, sound: Built) -> None:
    into = routed(sound.call, swap_type=SwapType.NATIVE_TO_TOKEN)
    assert raw_refusal(fixture, into, value=AMOUNT) == error("WrongNativeToken(address)", fixture.address("USDC"))
    out = routed(sound.call, swap_type=SwapType.TOKEN_TO_NATIVE)
    assert raw_refusal(fixture, out) == error("WrongNativeToken(address)", fixture.address("DAI"))


def test_the_value_must_be_the_native_input_exactly(
    fixture: ContractFixture, market: MarketState, sound: Built
) -> None:
    assert raw_refusal(fixture, sound.call, value=1) == error("WrongValue(uint256,uint256)", 1, 0)
    dai = fixture.address("DAI")
    route = single(pool_of(market, "algebra", weth(fixture), dai), weth(fixture), dai)
    native = build(market, route, 10**18, SwapType.NATIVE_TO_TOKEN).call
    for value in (0, 10**18 - 1, 10**18 + 1):
        assert raw_refusal(fixture, native, value=value) == error("WrongValue(uint256,uint256)", value, 10**18)


def test_zero_and_the_router_are_refused_as_recipients(fixture: ContractFixture, sound: Built) -> None:
    for recipient in (NATIVE, fixture.router.address):
        assert raw_refusal(fixture, routed(sound.call, recipient=recipient)) == error(
            "BadDestination(address)", recipient
        )


@pytest.mark.parametrize("protocol_id", [100, 99, 128, 2**23 - 1, -1, -(2**23)])
def test_protocols_that_the_network_does_not_have_are_refused(
    fixture: ContractFixture, sound: Built, protocol_id: int
) -> None:
    call = swapped(sound.call, protocol_id=protocol_id)
    assert raw_refusal(fixture, call) == error("UnknownProtocol(int24)", protocol_id % 2**256)


@pytest.mark.parametrize(
    ("protocol", "extra", "signature"),
    [
        ("curveFi", b"", "BadExtraData()"),
        ("curveFi", b"\0\1\2", "BadExtraData()"),
        ("uniswapV2", b"\0\0\0\x0b\xb8", "BadExtraData()"),
        ("uniswapV2", (1_000_000).to_bytes(3), "BadExtraData()"),
    ],
)
def test_extra_data_of_a_wrong_shape_is_refused(
    fixture: ContractFixture, market: MarketState, protocol: str, extra: bytes, signature: str
) -> None:
    usdt, dai = fixture.address("USDT"), fixture.address("DAI")
    call = build(market, single(pool_of(market, protocol, dai, usdt), dai, usdt), 10**18).call
    assert raw_refusal(fixture, swapped(call, extra_data=extra)) == error(signature)


def test_a_v4_pool_key_must_match_the_traded_tokens(fixture: ContractFixture, market: MarketState) -> None:
    usdt, wbtc, tkn = (fixture.address(each) for each in ("USDT", "WBTC", "TKN"))
    call = build(market, single(pool_of(market, "uniswapV4", usdt, wbtc), wbtc, usdt), 10**6).call
    for tokens in ((tkn, usdt), (wbtc, tkn), (usdt, usdt), (wbtc, wbtc)):
        changed = swapped(call, token_in=tokens[0], token_out=tokens[1])
        assert raw_refusal(fixture, routed(changed, token_in=tokens[0])) == error("BadExtraData()")
    assert raw_refusal(fixture, swapped(call, extra_data=call.swaps[0].extra_data[:159])) == b""
    other = "0x" + "44" * 20
    assert raw_refusal(fixture, swapped(call, pool_address=other)) == error("WrongPool(address)", other)


@pytest.mark.parametrize(
    ("protocol", "sold", "bought", "claimed"),
    [
        ("curveFi", "USDC", "USDT", "DAI"),
        ("uniswapV2", "DAI", "USDT", "WBTC"),
        ("uniswapV3", "WETH", "USDC", "WBTC"),
        ("algebra", "WETH", "DAI", "WBTC"),
        ("solidlyStable", "DAI", "USDC", "WBTC"),
    ],
)
def test_a_pool_of_other_tokens_than_claimed_is_refused(
    fixture: ContractFixture, market: MarketState, protocol: str, sold: str, bought: str, claimed: str
) -> None:
    """Its output would remain in the router unnoticed."""
    route = single(
        pool_of(market, protocol, fixture.address(sold), fixture.address(bought)), *map(fixture.address, (sold, bought))
    )
    call = build(market, route, 10 ** fixture.tokens[sold].decimals).call
    other = routed(
        swapped(call, token_out=fixture.address(claimed)), token_out=fixture.address(claimed), min_received=0
    )
    assert raw_refusal(fixture, other) == error("NothingBought(address)", call.swaps[0].pool_address)


def test_only_the_wrapped_token_wraps(fixture: ContractFixture, sound: Built) -> None:
    pool = sound.call.swaps[0].pool_address
    assert raw_refusal(fixture, swapped(sound.call, protocol_id=0)) == error("WrongPool(address)", pool)
    assert raw_refusal(fixture, swapped(sound.call, protocol_id=0, pool_address=weth(fixture))) == error(
        "WrongPool(address)", weth(fixture)
    )


@pytest.mark.parametrize("protocol", ["uniswapV3", "pancakeSwapV3", "slipstream", "algebra", "uniswapV4"])
def test_a_pool_that_runs_out_reverts_instead_of_a_partial_fill(
    fixture: ContractFixture, market: MarketState, protocol: str
) -> None:
    """A router that kept the rest would lose it to the next caller."""
    pool = next(each for each in market.pools.values() if each.protocol == protocol)
    token_in, token_out = pool.tokens
    call = build(market, single(pool.key, token_in, token_out), 10 ** pool.decimals[0]).call
    far = routed(call, amount_in=10**9 * 10 ** pool.decimals[0], min_received=0)
    assert raw_refusal(fixture, far) == error("PartlyTaken(address)", pool.address)


def test_an_amount_that_would_turn_negative_is_refused(fixture: ContractFixture, market: MarketState) -> None:
    """Pools read a negative amount as an exact output; the router's limit is far below."""
    big = fixture.chain.deploy(fixture.sources["Coin"], "BIG", 18)
    big.send("mint", ALICE, 2**255)
    big.send("approve", fixture.router.address, 2**256 - 1, sender=ALICE)
    pool = next(each for each in market.pools.values() if each.protocol == "uniswapV3")
    call = swapped(build(market, single(pool.key, *pool.tokens), 10**18).call, token_in=big.address)
    for amount in (2**255, 2**237):
        huge = routed(call, token_in=big.address, amount_in=amount)
        assert raw_refusal(fixture, huge) == error("Panic(uint256)", 0x11)


@pytest.mark.parametrize(
    ("shares", "signature"),
    [
        ((CAROL, 1, 1), "CannotTakeBothFeeAndSurplus()"),
        ((CAROL, 501, 0), "FeePercentageExceedsMaximum()"),
        ((CAROL, 2**256 - 1, 0), "FeePercentageExceedsMaximum()"),
        ((CAROL, 0, 5_001), "SurplusPercentageExceedsMaximum()"),
        ((CAROL, 0, 2**256 - 1), "SurplusPercentageExceedsMaximum()"),
    ],
)
def test_shares_beyond_their_limits_are_refused(
    fixture: ContractFixture, sound: Built, shares: tuple[str, int, int], signature: str
) -> None:
    data = encode(["address", "uint256", "uint256"], shares)
    assert raw_refusal(fixture, sound.call._replace(integrator_data=data)) == error(signature)


def test_zero_and_the_router_are_refused_as_integrators(fixture: ContractFixture, sound: Built) -> None:
    for recipient in (NATIVE, fixture.router.address):
        data = encode(["address", "uint256", "uint256"], [recipient, 100, 0])
        call = routed(sound.call._replace(integrator_data=data), min_received=0)
        assert raw_refusal(fixture, call) == error("BadDestination(address)", recipient)


def test_integrator_data_that_is_cut_short_is_refused(fixture: ContractFixture, sound: Built) -> None:
    data = encode(["address", "uint256", "uint256"], [CAROL, 100, 0])[:-1]
    assert raw_refusal(fixture, sound.call._replace(integrator_data=data)) == b""


def test_a_recipient_that_rejects_native_currency_is_named(fixture: ContractFixture, market: MarketState) -> None:
    closed = fixture.chain.deploy(compile_solidity("hostile.sol")["Closed"]).address
    usdc = fixture.address("USDC")
    route = single(pool_of(market, "uniswapV3", weth(fixture), usdc), usdc, weth(fixture))
    carol = Integrator(CAROL, fee_bps=10)
    built = build(market, route, 10**9, SwapType.TOKEN_TO_NATIVE, integrator=carol, min_received=0)
    call = routed(built.call, recipient=closed)
    assert raw_refusal(fixture, call) == error("NativeRefused(address)", closed)


def test_an_input_without_approval_or_balance_is_refused(fixture: ContractFixture, sound: Built) -> None:
    fixture.give("USDC", ALICE, AMOUNT - 1)
    for approved in (0, AMOUNT):
        fixture.contracts["USDC"].send("approve", fixture.router.address, approved, sender=ALICE)
        with pytest.raises(RevertedError) as caught:
            fixture.chain.send(sound.payload.to, bytes.fromhex(sound.payload.calldata[2:]), sender=ALICE)
        assert caught.value.data == error("TokenRefused(address)", fixture.address("USDC"))


def test_a_worse_price_reverts_and_a_better_one_is_paid_out(fixture: ContractFixture, market: MarketState) -> None:
    usdc, dai = fixture.address("USDC"), fixture.address("DAI")
    curve = pool_of(market, "curveFi", usdc, dai)
    promised = build(market, single(curve, usdc, dai), AMOUNT)
    against = build(market, single(curve, usdc, dai), 50_000 * AMOUNT // 1_000)
    along = build(market, single(curve, dai, usdc), 50_000 * 10**18)
    with fixture.chain.revert_after():
        carry_out(fixture, along.payload)
        assert carry_out(fixture, promised.payload) > promised.replay.amount_out
    carry_out(fixture, against.payload)
    assert refusal(fixture, promised.payload)[:4] == error("ReceivedTooLittle(uint256,uint256)")[:4]
    assert fixture.balance(usdc, BOB) == 0
