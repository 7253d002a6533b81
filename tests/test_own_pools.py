"""A program's own pools: what the public names refuse, and proofs of quotes on them."""

from __future__ import annotations

from decimal import getcontext
from typing import Any

import pytest

from swapcli import (
    InvalidAmount,
    InvalidPoolState,
    MarketState,
    NoProof,
    Order,
    Pool,
    Proof,
    Router,
    Token,
    UnknownFamily,
    UnknownToken,
    check_proof,
    family,
)
from tests.support.pools import build_constant_product, build_market, build_token

TOKENS = tuple(build_token(number) for number in range(3))
NETWORK = build_market([], TOKENS).network
POOLS: tuple[Pool, ...] = (
    build_constant_product(1, TOKENS[0], TOKENS[1], 10**24, 3 * 10**24),
    build_constant_product(2, TOKENS[0], TOKENS[1], 10**23, 3 * 10**23),
    build_constant_product(3, TOKENS[1], TOKENS[2], 10**24, 10**24),
)
ORDER = Order(TOKENS[0], TOKENS[1], 10**21)


@pytest.mark.parametrize(
    ("pools", "tokens", "field"),
    [
        ((POOLS[0], POOLS[0]), TOKENS, "address"),
        (POOLS, TOKENS[:2], "tokens"),
        (POOLS, (*TOKENS[:2], TOKENS[2]._replace(decimals=6)), "decimals"),
    ],
)
def test_a_market_refuses_pools_that_contradict_it(
    pools: tuple[Pool, ...], tokens: tuple[Token, ...], field: str
) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        MarketState.of_pools(NETWORK, pools, tokens)
    assert caught.value.field == field
    assert caught.value.pool in {pool.key for pool in POOLS}


def test_a_market_is_the_networks_unless_it_says_otherwise() -> None:
    market = MarketState.of_pools(NETWORK._replace(gas_price_wei=7), POOLS)
    assert {*market.tokens} == {token.address for token in TOKENS}
    assert (market.gas_price_wei, market.block, market.timestamp) == (7, None, None)
    other = MarketState.of_pools(NETWORK, POOLS, gas_price_wei=0, block=5, timestamp=6)
    assert (other.gas_price_wei, other.block, other.timestamp) == (0, 5, 6)


@pytest.mark.parametrize("amount", [0, -1, 1.5, "1", None])
@pytest.mark.parametrize("reverse", [False, True])
def test_an_order_has_a_positive_integer(amount: Any, reverse: bool) -> None:
    with pytest.raises(InvalidAmount, match="positive integer in base units"):
        Router(MarketState.of_pools(NETWORK, POOLS)).quote(ORDER._replace(amount=amount, reverse=reverse))


@pytest.mark.parametrize("name", ["nothing", "", "a" * 10**5])
def test_an_unknown_family_is_an_error_of_ours_and_a_key_error(name: str) -> None:
    with pytest.raises(UnknownFamily) as caught:
        family(name)
    assert isinstance(caught.value, KeyError)
    assert str(caught.value) == caught.value.message
    with pytest.raises(UnknownFamily) as caught:
        family("concentratd")
    assert caught.value.hint == "did you mean concentrated?"


def test_the_native_token_is_not_in_pools() -> None:
    with pytest.raises(UnknownToken) as caught:
        Router(MarketState.of_pools(NETWORK, POOLS)).quote(ORDER._replace(token_in=NETWORK.native))
    assert "to_wrapped_token" in str(caught.value.hint)


def test_a_proof_is_accepted_and_a_forged_one_is_not() -> None:
    market = MarketState.of_pools(NETWORK, POOLS)
    router = Router(market)
    with pytest.raises(NoProof, match="without a proof"):
        Proof.of(router.quote(ORDER, certify=True), market)
    quote = router.quote(ORDER, proof=True)
    proof = Proof.of(quote, market)
    for pools in (POOLS[1:], (build_constant_product(1, TOKENS[0], TOKENS[1], 10**24, 10**24), *POOLS[1:])):
        with pytest.raises(NoProof, match="different pools"):
            Proof.of(quote, MarketState.of_pools(NETWORK, pools))
    precision = getcontext().prec
    checked = proof.check()
    assert checked.is_accepted
    assert not checked.reasons
    assert checked.bounds[0].kind == "output"
    assert checked.bounds[0].bound >= quote.amount_out
    forged = proof.to_json().replace(f'"{quote.amount_out}"', f'"{quote.amount_out + 1}"')
    assert not check_proof(forged).is_accepted
    assert getcontext().prec == precision, "the checker's precision stays with it"


@pytest.mark.parametrize("text", ["", "{}", "[]", b"\x1f\x8b123", "\ud800", '{"format": "swapcli-proof"}'])
def test_what_is_no_proof_is_rejected_in_a_sentence(text: str | bytes) -> None:
    checked = check_proof(text)
    assert not checked.is_accepted
    assert len(checked.reasons) == len(checked.lines) == 1
