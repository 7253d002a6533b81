"""The router pays exactly what pools of every modelled kind quote, in routes of any shape."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.families.row import RouterPoolKind
from swapcli.testing.evm import RevertedError
from tests.chain.odd_tokens import STETH_POT, add_token, forget_tokens
from tests.contracts.evm import compile_solidity
from tests.payload.evm.router.driving import ALICE, BOB, NATIVE, balances_of, error, weth
from tests.payload.evm.router.raw import raw_refusal, send_raw
from tests.payload.evm.router.test_share_tokens import MAX_ROUNDING
from tests.payload.evm.router.vault_pools import FAMILIES, Offer, VaultPools

UNLIMITED = 2**256 - 1
OLD_KINDS = {
    RouterPoolKind.WRAPPER,
    RouterPoolKind.PAIR,
    RouterPoolKind.CONCENTRATED,
    RouterPoolKind.SINGLETON,
    RouterPoolKind.BALANCER_V2,
}


def call_of(token_in: str, token_out: str, amount: int, *swaps: RouterSwapParam, minimum: int = 0) -> RouterCall:
    route = RouterRouteParam(token_in, token_out, amount, 1, minimum, BOB, SwapType.TOKEN_TO_TOKEN)
    return RouterCall(route, swaps)


def single_call(offer: Offer, amount: int, minimum: int = 0) -> RouterCall:
    return call_of(offer.token_in, offer.token_out, amount, offer.swap(), minimum=minimum)


def provide(fixture: VaultPools, token: str, amount: int) -> None:
    symbol = fixture.symbol(token)
    fixture.give(symbol, ALICE, amount)
    fixture.contracts[symbol].send("approve", fixture.router.address, UNLIMITED, sender=ALICE)


def carry_out(fixture: VaultPools, call: RouterCall) -> int:
    """Send the call and check that the router's balances do not change and that no allowance is left."""
    provide(fixture, call.route.token_in, call.route.amount_in)
    tokens = [contract.address for contract in fixture.contracts.values()]
    before, had = balances_of(fixture, fixture.router.address, tokens), fixture.balance(call.route.token_out, BOB)
    received = send_raw(fixture, call)
    assert balances_of(fixture, fixture.router.address, tokens) == before
    assert fixture.balance(call.route.token_out, BOB) - had == received
    for swap in call.swaps:
        assert allowance(fixture, swap.token_in, swap.pool_address) == 0
    return received


def allowance(fixture: VaultPools, token: str, spender: str) -> int:
    if token == weth(fixture):
        return int(fixture.contracts["WETH"].call("allowance", fixture.router.address, spender)[0])
    return int(fixture.contracts[fixture.symbol(token)].call("allowance", fixture.router.address, spender)[0])


def random_amount(rng: Random, fixture: VaultPools, token: str, max_dollars: float = 100_000) -> int:
    return int(fixture.dollars(fixture.symbol(token), 1) * max_dollars ** rng.uniform(0.2, 1)) + rng.randint(0, 99)


def leave_behind(fixture: VaultPools) -> None:
    """Leave some of every token in the router."""
    for symbol in fixture.contracts:
        fixture.give(symbol, fixture.router.address, 10_007)
    bomb = fixture.chain.deploy(compile_solidity("hostile.sol")["Bomb"])
    bomb.send("burst", fixture.router.address, value=12_345)


def test_every_kind_of_the_contract_is_in_the_tests() -> None:
    assert set(RouterPoolKind) == OLD_KINDS | set(FAMILIES)


def test_every_offer_pays_what_its_pool_quotes(fixture: VaultPools) -> None:
    rng = Random("offers")
    leave_behind(fixture)
    assert {offer.kind for offer in fixture.offers} == set(FAMILIES)
    for offer in fixture.offers:
        for _ in range(3):
            amount = random_amount(rng, fixture, offer.token_in)
            with fixture.chain.revert_after():
                quoted = offer.quote(amount)
                assert carry_out(fixture, single_call(offer, amount, quoted)) == quoted, offer.name
                assert offer.kind in (RouterPoolKind.PSM, RouterPoolKind.VAULT, RouterPoolKind.BRIDGE) or (
                    offer.quote(amount) < quoted
                )


def test_one_unit_above_the_quote_is_refused(fixture: VaultPools) -> None:
    for offer in fixture.offers:
        amount = fixture.dollars(fixture.symbol(offer.token_in), 1_000)
        quoted = offer.quote(amount)
        assert raw_refusal(fixture, single_call(offer, amount, quoted + 1)) == error(
            "ReceivedTooLittle(uint256,uint256)", quoted, quoted + 1
        ), offer.name


def random_path(rng: Random, fixture: VaultPools, hops: int) -> list[Offer]:
    """Return offers that follow one another, each token at most once."""
    path = [rng.choice(fixture.offers)]
    while len(path) < hops:
        seen = {path[0].token_in, *(offer.token_out for offer in path)}
        further = [o for o in fixture.offers if o.token_in == path[-1].token_out and o.token_out not in seen]
        if not further:
            break
        path.append(rng.choice(further))
    return path


@pytest.mark.parametrize("seed", range(4))
def test_paths_over_all_kinds_pay_the_quotes_in_a_row(fixture: VaultPools, seed: int) -> None:
    rng = Random(f"paths {seed}")
    leave_behind(fixture)
    for _ in range(12):
        path = random_path(rng, fixture, rng.randint(2, 5))
        amount = quoted = random_amount(rng, fixture, path[0].token_in, 10_000)
        # Quotes hold until a pool is used; two of one pool or of one layer of liquidity would change each other.
        if len({offer.pool_address for offer in path}) < len(path):
            continue
        for offer in path:
            quoted = offer.quote(quoted)
        call = call_of(path[0].token_in, path[-1].token_out, amount, *(offer.swap() for offer in path))
        with fixture.chain.revert_after():
            assert carry_out(fixture, call) == quoted, [offer.name for offer in path]


def test_a_split_over_two_kinds_spends_the_whole_input(fixture: VaultPools) -> None:
    rng = Random("splits")
    for first in fixture.offers:
        others = [
            offer
            for offer in fixture.offers
            if (offer.token_in, offer.token_out) == (first.token_in, first.token_out)
            and offer.pool_address != first.pool_address
        ]
        if not others:
            continue
        second, amount = rng.choice(others), random_amount(rng, fixture, first.token_in, 10_000)
        part = amount * 400_000 // 1_000_000
        with fixture.chain.revert_after():
            quoted = first.quote(part) + second.quote(amount - part)
            call = call_of(first.token_in, first.token_out, amount, first.swap(400_000), second.swap())
            assert carry_out(fixture, call) == quoted, (first.name, second.name)


@pytest.mark.parametrize("kind", [RouterPoolKind.FLUID, RouterPoolKind.INFINITY])
def test_native_input_and_output_pass_through_native_pools(fixture: VaultPools, kind: RouterPoolKind) -> None:
    wrapped = weth(fixture)
    offers = [each for each in fixture.offers if each.kind is kind and wrapped in (each.token_in, each.token_out)]
    assert len(offers) == (2 if kind is RouterPoolKind.FLUID else 4)
    for offer in offers:
        amount = fixture.dollars(fixture.symbol(offer.token_in), 1_000)
        call = single_call(offer, amount)
        with fixture.chain.revert_after():
            quoted = offer.quote(amount)
            if offer.token_in == wrapped:
                fixture.chain.fund(ALICE, amount)
                route = call.route._replace(swap_type=SwapType.NATIVE_TO_TOKEN)
                assert send_raw(fixture, call._replace(route=route)) == quoted
                assert fixture.balance(offer.token_out, BOB) == quoted
            else:
                provide(fixture, offer.token_in, amount)
                route = call.route._replace(swap_type=SwapType.TOKEN_TO_NATIVE)
                assert send_raw(fixture, call._replace(route=route)) == quoted
                assert fixture.balance(NATIVE, BOB) == quoted
            assert fixture.balance(NATIVE, fixture.router.address) == 0


def test_a_boosted_swap_larger_than_the_buffers_is_exact(fixture: VaultPools) -> None:
    """The vault then wraps and unwraps at the wrapper, with what it was paid before."""
    boosted = [offer for offer in fixture.offers if offer.name.startswith("boosted")]
    assert len(boosted) == 6
    for offer in boosted:
        for dollars in (1, 500_000):
            amount = fixture.dollars(fixture.symbol(offer.token_in), dollars)
            with fixture.chain.revert_after():
                quoted = offer.quote(amount)
                assert carry_out(fixture, single_call(offer, amount)) == quoted


@pytest.mark.parametrize("is_bin", [False, True])
def test_an_infinity_pool_that_runs_out_reverts(fixture: VaultPools, is_bin: bool) -> None:
    kind = "bins" if is_bin else "ticks"
    for offer in (each for each in fixture.offers if each.name.startswith(f"Infinity {kind}")):
        amount = 2**96
        expected = error("PartlyTaken(address)", fixture.infinity.address)
        if is_bin:
            expected = error("BinPool__OutOfLiquidity()")
        assert raw_refusal(fixture, single_call(offer, amount)) == expected


WRONG_DATA = {
    RouterPoolKind.STABLESWAP: (b"", b"\0", b"\0\1\0", b"\0\1\2", b"\0\1\1\1"),
    RouterPoolKind.CURVE_CRYPTO: (b"", b"\0", b"\0\1\1"),
    RouterPoolKind.BALANCER_V3: (b"\0", bytes(20), bytes(39), bytes(41), bytes(64)),
    RouterPoolKind.INFINITY: (b"", bytes(160), bytes(191), bytes(193), bytes(192) + b"\2", bytes(194)),
    RouterPoolKind.FLUID: (b"", b"\2", b"\0\0"),
    RouterPoolKind.VAULT: (b"", b"\2", b"\0\0"),
    RouterPoolKind.PSM: (b"\0", bytes(32)),
    RouterPoolKind.LIQUIDITY_BOOK: (b"", b"\2", b"\0\0"),
    RouterPoolKind.BRIDGE: (b"", b"\2", b"\0\0"),
}


@pytest.mark.parametrize("kind", FAMILIES)
def test_data_of_another_form_is_refused(fixture: VaultPools, kind: RouterPoolKind) -> None:
    offer = next(each for each in fixture.offers if each.kind is kind)
    for data in WRONG_DATA[kind]:
        call = call_of(offer.token_in, offer.token_out, 10**6, offer.swap()._replace(extra_data=data))
        assert raw_refusal(fixture, call) == error("BadExtraData()"), data.hex()


@pytest.mark.parametrize("mark", [b"\0", b"\2", b"\xff"])
def test_a_bin_pool_of_infinity_is_marked_by_one_only(fixture: VaultPools, mark: bytes) -> None:
    offer = next(each for each in fixture.offers if each.kind is RouterPoolKind.INFINITY)
    swap = offer.swap()
    marked = swap._replace(extra_data=swap.extra_data[:192] + mark)
    call = call_of(offer.token_in, offer.token_out, 10**6, marked)
    assert raw_refusal(fixture, call) == error("BadExtraData()")


def test_the_other_direction_of_a_pool_is_refused(fixture: VaultPools) -> None:
    """The data say which coin is sold; a pool asked for the other direction is not paid."""
    for offer in fixture.offers:
        back = next(
            (o for o in fixture.offers if o.pool_address == offer.pool_address and o.token_in == offer.token_out), None
        )
        if back is None or back.extra_data == offer.extra_data:
            continue
        amount = fixture.dollars(fixture.symbol(offer.token_in), 1_000)
        call = call_of(offer.token_in, offer.token_out, amount, offer.swap()._replace(extra_data=back.extra_data))
        with fixture.chain.revert_after():
            leave_behind(fixture)
            provide(fixture, offer.token_in, amount)
            with pytest.raises(RevertedError):
                send_raw(fixture, call)


SHARE_POTS = (STETH_POT, 10**30, 7 * 10**29 + 1)


@pytest.mark.parametrize("pot", SHARE_POTS)
def test_pools_that_are_paid_first_sell_what_they_received(fixture: VaultPools, pot: int) -> None:
    """A token that keeps shares may lose a unit on the way: a vault that wanted the whole amount would refuse it."""
    rng = Random(f"shares {pot}")
    try:
        odd = add_token(fixture, "ShareCoin", pot)
        dai = fixture.address("DAI")
        offers = fixture.open_share_token("ODD", "DAI")
        assert {offer.kind for offer in offers} == {
            RouterPoolKind.BALANCER_V3,
            RouterPoolKind.INFINITY,
            RouterPoolKind.LIQUIDITY_BOOK,
        }
        for offer in offers:
            for _ in range(4):
                desired = int(10 ** rng.uniform(9, 22))
                with fixture.chain.revert_after():
                    provide(fixture, odd.address, desired + 2)
                    amount = min(desired, fixture.balance(odd.address, ALICE))
                    received = send_raw(fixture, single_call(offer, amount))
                    assert offer.token_out == dai
                assert offer.quote(amount - 4) <= received <= offer.quote(amount), offer.name
                assert fixture.balance(odd.address, fixture.router.address) <= MAX_ROUNDING
    finally:
        forget_tokens(fixture, "ODD")
