"""Whatever does not fit is refused with an error that says what, and nothing moves."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode

from swapcli.model.market import Market
from swapcli.model.swap_terms import Integrator
from swapcli.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, SwapType
from tests.chain.contract_fixture import ContractFixture
from tests.contracts.evm import RevertedError, compile_solidity
from tests.evm.router.driving import ALICE, BOB, CAROL, NATIVE, Built, build, carry_out, error, refusal, single, weth
from tests.evm.router.raw import raw_refusal
from tests.evm.router.test_families import pool_of

AMOUNT = 1_000_000_000


@pytest.fixture
def sound(world: ContractFixture, market: Market) -> Built:
    """USDC for DAI through Curve's pool: nothing is wrong with it."""
    usdc, dai = world.address("USDC"), world.address("DAI")
    return build(market, single(pool_of(market, "curveFi", usdc, dai), usdc, dai), AMOUNT)


def swapped(call: RouterCall, **changes: object) -> RouterCall:
    """The call with its first swap changed."""
    first = RouterSwapParam(**{**call.swaps[0]._asdict(), **changes})
    return call._replace(swaps=(first, *call.swaps[1:]))


def routed(call: RouterCall, **changes: object) -> RouterCall:
    return call._replace(route=RouterRouteParam(**{**call.route._asdict(), **changes}))


def test_the_sound_call_goes_through(world: ContractFixture, sound: Built) -> None:
    assert carry_out(world, sound.payload) == sound.replay.amount_out


@pytest.mark.parametrize(
    ("rate", "signature"),
    [
        (0, "RateZero()"),
        (1_000_001, "RateExceedsMaximum()"),
        (2**32 - 1, "RateExceedsMaximum()"),
    ],
)
def test_rates_beyond_the_scale_are_refused(world: ContractFixture, sound: Built, rate: int, signature: str) -> None:
    assert raw_refusal(world, swapped(sound.call, rate=rate)) == error(signature)


def test_a_rate_that_spends_nothing_is_refused(world: ContractFixture, sound: Built) -> None:
    call = swapped(routed(sound.call, amount_in=999), rate=1_000)
    assert raw_refusal(world, call) == error("AmountTooSmallForRate()")
    assert raw_refusal(world, routed(sound.call, amount_in=0)) == error("AmountTooSmallForRate()")


def test_a_list_that_leaves_input_behind_is_refused(world: ContractFixture, sound: Built) -> None:
    call = routed(swapped(sound.call, rate=999_999), min_received=0)
    assert raw_refusal(world, call) == error("NotSettled(address)", world.address("USDC"))


def test_an_empty_list_is_refused(world: ContractFixture, sound: Built) -> None:
    call = routed(sound.call, min_received=0)._replace(swaps=())
    assert raw_refusal(world, call) == error("NotSettled(address)", world.address("USDC"))


def test_less_than_was_promised_is_refused_by_a_unit(world: ContractFixture, sound: Built) -> None:
    out = sound.replay.amount_out
    assert raw_refusal(world, routed(sound.call, min_received=out + 1)) == error(
        "ReceivedTooLittle(uint256,uint256)", out, out + 1
    )


@pytest.mark.parametrize("swap_type", [3, 255])
def test_unknown_swap_types_are_refused(world: ContractFixture, sound: Built, swap_type: int) -> None:
    call = routed(sound.call, swap_type=swap_type)
    assert raw_refusal(world, call) == error("UnknownSwapType(uint8)", swap_type)


def test_only_the_wrapped_token_passes_for_native(world: ContractFixture, sound: Built) -> None:
    into = routed(sound.call, swap_type=SwapType.NATIVE_TO_TOKEN)
    assert raw_refusal(world, into, value=AMOUNT) == error("WrongNativeToken(address)", world.address("USDC"))
    out = routed(sound.call, swap_type=SwapType.TOKEN_TO_NATIVE)
    assert raw_refusal(world, out) == error("WrongNativeToken(address)", world.address("DAI"))


def test_the_value_must_be_the_native_input_exactly(world: ContractFixture, market: Market, sound: Built) -> None:
    assert raw_refusal(world, sound.call, value=1) == error("WrongValue(uint256,uint256)", 1, 0)
    dai = world.address("DAI")
    route = single(pool_of(market, "algebra", weth(world), dai), weth(world), dai)
    native = build(market, route, 10**18, SwapType.NATIVE_TO_TOKEN).call
    for value in (0, 10**18 - 1, 10**18 + 1):
        assert raw_refusal(world, native, value=value) == error("WrongValue(uint256,uint256)", value, 10**18)


def test_nobody_and_the_router_itself_receive_nothing(world: ContractFixture, sound: Built) -> None:
    for nobody in (NATIVE, world.router.address):
        assert raw_refusal(world, routed(sound.call, recipient=nobody)) == error("BadDestination(address)", nobody)


@pytest.mark.parametrize("protocol_id", [100, 99, 128, 2**23 - 1, -1, -(2**23)])
def test_protocols_that_the_network_does_not_have_are_refused(
    world: ContractFixture, sound: Built, protocol_id: int
) -> None:
    call = swapped(sound.call, protocol_id=protocol_id)
    assert raw_refusal(world, call) == error("UnknownProtocol(int24)", protocol_id % 2**256)


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
    world: ContractFixture, market: Market, protocol: str, extra: bytes, signature: str
) -> None:
    usdt, dai = world.address("USDT"), world.address("DAI")
    call = build(market, single(pool_of(market, protocol, dai, usdt), dai, usdt), 10**18).call
    assert raw_refusal(world, swapped(call, extra_data=extra)) == error(signature)


def test_a_v4_pool_key_must_match_the_traded_tokens(world: ContractFixture, market: Market) -> None:
    usdt, wbtc, tkn = (world.address(each) for each in ("USDT", "WBTC", "TKN"))
    call = build(market, single(pool_of(market, "uniswapV4", usdt, wbtc), wbtc, usdt), 10**6).call
    for tokens in ((tkn, usdt), (wbtc, tkn), (usdt, usdt), (wbtc, wbtc)):
        changed = swapped(call, token_in=tokens[0], token_out=tokens[1])
        assert raw_refusal(world, routed(changed, token_in=tokens[0])) == error("BadExtraData()")
    assert raw_refusal(world, swapped(call, extra_data=call.swaps[0].extra_data[:159])) == b""
    other = "0x" + "44" * 20
    assert raw_refusal(world, swapped(call, pool_address=other)) == error("WrongPool(address)", other)


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
    world: ContractFixture, market: Market, protocol: str, sold: str, bought: str, claimed: str
) -> None:
    """What it gives would stay behind unseen."""
    route = single(
        pool_of(market, protocol, world.address(sold), world.address(bought)), *map(world.address, (sold, bought))
    )
    call = build(market, route, 10 ** world.tokens[sold].decimals).call
    other = routed(swapped(call, token_out=world.address(claimed)), token_out=world.address(claimed), min_received=0)
    assert raw_refusal(world, other) == error("NothingBought(address)", call.swaps[0].pool_address)


def test_only_the_wrapped_token_wraps(world: ContractFixture, sound: Built) -> None:
    pool = sound.call.swaps[0].pool_address
    assert raw_refusal(world, swapped(sound.call, protocol_id=0)) == error("WrongPool(address)", pool)
    assert raw_refusal(world, swapped(sound.call, protocol_id=0, pool_address=weth(world))) == error(
        "WrongPool(address)", weth(world)
    )


@pytest.mark.parametrize("protocol", ["uniswapV3", "pancakeSwapV3", "slipstream", "algebra", "uniswapV4"])
def test_a_pool_that_runs_out_reverts_instead_of_a_partial_fill(
    world: ContractFixture, market: Market, protocol: str
) -> None:
    """A router that keeps the rest would lose it to the next caller."""
    pool = next(each for each in market.pools.values() if each.protocol == protocol)
    token_in, token_out = pool.tokens
    call = build(market, single(pool.key, token_in, token_out), 10 ** pool.decimals[0]).call
    far = routed(call, amount_in=10**9 * 10 ** pool.decimals[0], min_received=0)
    assert raw_refusal(world, far) == error("PartlyTaken(address)", pool.address)


def test_an_amount_that_would_turn_negative_is_refused(world: ContractFixture, market: Market) -> None:
    """Pools take a negative amount for an output. What a route may hold ends far below."""
    big = world.chain.deploy(world.sources["Coin"], "BIG", 18)
    big.send("mint", ALICE, 2**255)
    big.send("approve", world.router.address, 2**256 - 1, sender=ALICE)
    pool = next(each for each in market.pools.values() if each.protocol == "uniswapV3")
    call = swapped(build(market, single(pool.key, *pool.tokens), 10**18).call, token_in=big.address)
    for amount in (2**255, 2**237):
        huge = routed(call, token_in=big.address, amount_in=amount)
        assert raw_refusal(world, huge) == error("Panic(uint256)", 0x11)


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
    world: ContractFixture, sound: Built, shares: tuple[str, int, int], signature: str
) -> None:
    data = encode(["address", "uint256", "uint256"], shares)
    assert raw_refusal(world, sound.call._replace(integrator_data=data)) == error(signature)


def test_a_fee_must_be_somebodys(world: ContractFixture, sound: Built) -> None:
    for nobody in (NATIVE, world.router.address):
        data = encode(["address", "uint256", "uint256"], [nobody, 100, 0])
        call = routed(sound.call._replace(integrator_data=data), min_received=0)
        assert raw_refusal(world, call) == error("BadDestination(address)", nobody)


def test_integrator_data_that_is_cut_short_is_refused(world: ContractFixture, sound: Built) -> None:
    data = encode(["address", "uint256", "uint256"], [CAROL, 100, 0])[:-1]
    assert raw_refusal(world, sound.call._replace(integrator_data=data)) == b""


def test_a_destination_that_takes_no_native_currency_is_told(world: ContractFixture, market: Market) -> None:
    closed = world.chain.deploy(compile_solidity("hostile.sol")["Closed"]).address
    usdc = world.address("USDC")
    route = single(pool_of(market, "uniswapV3", weth(world), usdc), usdc, weth(world))
    carol = Integrator(CAROL, fee_bps=10)
    built = build(market, route, 10**9, SwapType.TOKEN_TO_NATIVE, integrator=carol, min_received=0)
    call = routed(built.call, recipient=closed)
    assert raw_refusal(world, call) == error("NativeRefused(address)", closed)


def test_what_was_not_approved_or_is_not_there_is_not_taken(world: ContractFixture, sound: Built) -> None:
    world.give("USDC", ALICE, AMOUNT - 1)
    for approved in (0, AMOUNT):
        world.contracts["USDC"].send("approve", world.router.address, approved, sender=ALICE)
        with pytest.raises(RevertedError) as caught:
            world.chain.send(sound.payload.to, bytes.fromhex(sound.payload.calldata[2:]), sender=ALICE)
        assert caught.value.data == error("TokenRefused(address)", world.address("USDC"))


def test_a_worse_price_reverts_and_a_better_one_is_paid_out(world: ContractFixture, market: Market) -> None:
    usdc, dai = world.address("USDC"), world.address("DAI")
    curve = pool_of(market, "curveFi", usdc, dai)
    promised = build(market, single(curve, usdc, dai), AMOUNT)
    against = build(market, single(curve, usdc, dai), 50_000 * AMOUNT // 1_000)
    along = build(market, single(curve, dai, usdc), 50_000 * 10**18)
    with world.chain.revert_after():
        carry_out(world, along.payload)
        assert carry_out(world, promised.payload) > promised.replay.amount_out
    carry_out(world, against.payload)
    assert refusal(world, promised.payload)[:4] == error("ReceivedTooLittle(uint256,uint256)")[:4]
    assert world.balance(usdc, BOB) == 0
