"""Build and send router calls as users do, and read the balances they change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from swapcli.core.encoding.abi import encode_uint
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, UnsignedTransaction
from swapcli.core.routing.replay import Replay, replay
from swapcli.payload.evm import build_call, build_transaction
from swapcli.testing.evm import RevertedError, selector
from tests.chain.contract_fixture import WETH, ContractFixture

ALICE = "0x" + "a1" * 20
BOB = "0x" + "b0" * 20
CAROL = "0x" + "ca" * 20
"""Alice sends, Bob receives, Carol is the integrator."""
NATIVE = "0x" + "0" * 40


class Built(NamedTuple):
    """A payload and the replay of its route."""

    payload: UnsignedTransaction
    replay: Replay

    @property
    def call(self) -> RouterCall:
        return self.payload.router_call


def single(pool: str, token_in: str, token_out: str) -> Route:
    """Return a route of one swap."""
    return Route((Segment(SHARES_PER_ROUTE, ((Swap(pool, token_in, token_out, SHARES_PER_HOP),),)),))


def build(
    market: MarketState,
    route: Route,
    amount_in: int,
    swap_type: SwapType = SwapType.TOKEN_TO_TOKEN,
    *,
    min_received: int | None = None,
    integrator: Integrator | None = None,
) -> Built:
    """Return the payload that executes `route` from Alice to Bob; `min_received` defaults to the replayed output."""
    replayed = replay(market.pools, route, amount_in)
    ends = route.segments[0].hops[0][0].token_in, route.segments[0].hops[-1][0].token_out
    minimum = replayed.amount_out if min_received is None else min_received
    head = RouterRouteParam(*ends, amount_in, replayed.amount_out, minimum, BOB, swap_type)
    assert market.network.router is not None
    call = build_call(head, replayed.steps, market.pools, market.network, integrator)
    return Built(build_transaction(call, market.network, market.network.router), replayed)


def provide(fixture: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> None:
    """Give the sender the input and approve exactly that amount."""
    route = payload.call.route
    if route.swap_type is SwapType.NATIVE_TO_TOKEN:
        fixture.chain.fund(sender, route.amount_in + 10**18)
        return
    symbol = fixture.symbol(route.token_in)
    fixture.give(symbol, sender, route.amount_in)
    fixture.contracts[symbol].send("approve", payload.to, route.amount_in, sender=sender)


def token_received(route: RouterRouteParam) -> str:
    """Return the address of the token that the recipient gets: zero for the native token."""
    return NATIVE if route.swap_type is SwapType.TOKEN_TO_NATIVE else route.token_out


def carry_out(fixture: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> int:
    """Fund the sender, send the call and return what its recipient received. Raises `RevertedError`."""
    provide(fixture, payload, sender)
    return send(fixture, payload, sender)


def send(fixture: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> int:
    """Send the call without funding and check that the router's balances do not change. Raises `RevertedError`."""
    route = payload.call.route
    bought, tokens = token_received(route), tokens_of(payload.router_call.swaps)
    before, router_before = fixture.balance(bought, route.recipient), balances_of(fixture, payload.to, tokens)
    return_data = fixture.chain.send(
        payload.to, bytes.fromhex(payload.calldata[2:]), value=payload.value, sender=sender
    )
    received = fixture.balance(bought, route.recipient) - before
    assert int.from_bytes(return_data) == received
    assert balances_of(fixture, payload.to, tokens) == router_before
    return received


def balances_of(fixture: ContractFixture, owner: str, tokens: Iterable[str]) -> dict[str, int]:
    """Return the balances of `owner` by token, including the native one."""
    return {token: fixture.balance(token, owner) for token in (*tokens, NATIVE)}


def tokens_of(swaps: Iterable[RouterSwapParam]) -> set[str]:
    return {token for swap in swaps for token in (swap.token_in, swap.token_out)}


def error(signature: str, *numbers: int | str) -> bytes:
    """Return the bytes of a custom error."""
    words = (int(each, 16) if isinstance(each, str) else each for each in numbers)
    return selector(signature) + bytes.fromhex("".join(encode_uint(word, 256, "argument") for word in words))


def refusal(fixture: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> bytes:
    """Return the error data of the call, which must revert and change no balance."""
    with fixture.chain.revert_after():
        provide(fixture, payload, sender)
        before = {token.address: fixture.balance(token.address, sender) for token in fixture.tokens.values()}
        try:
            send(fixture, payload, sender)
        except RevertedError as reverted:
            assert before == {token: fixture.balance(token, sender) for token in before}
            return reverted.data
    raise AssertionError("the call went through")


def weth(fixture: ContractFixture) -> str:
    return fixture.address(WETH)
