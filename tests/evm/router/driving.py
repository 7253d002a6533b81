"""Calls of the router as people make them, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from swapcli.encoding.abi import encode_uint
from swapcli.evm import build_call, build_transaction
from swapcli.model.market import Market
from swapcli.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.model.swap_terms import Integrator
from swapcli.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, SwapType, UnsignedTransaction
from swapcli.routing.replay import Replay, replay
from tests.chain.contract_fixture import WETH, ContractFixture
from tests.contracts.evm import RevertedError, selector

ALICE = "0x" + "a1" * 20
BOB = "0x" + "b0" * 20
CAROL = "0x" + "ca" * 20
"""She sends, he receives, she earns."""
NATIVE = "0x" + "0" * 40


class Built(NamedTuple):
    """A payload, and what the replay says of it."""

    payload: UnsignedTransaction
    replay: Replay

    @property
    def call(self) -> RouterCall:
        return self.payload.call


def single(pool: str, token_in: str, token_out: str) -> Route:
    """A route of one swap."""
    return Route((Segment(SHARES_PER_ROUTE, ((Swap(pool, token_in, token_out, SHARES_PER_HOP),),)),))


def build(
    market: Market,
    route: Route,
    amount_in: int,
    swap_type: SwapType = SwapType.TOKEN_TO_TOKEN,
    *,
    min_received: int | None = None,
    integrator: Integrator | None = None,
) -> Built:
    """The payload that carries out `route` for Alice to Bob; without `min_received` he must receive all."""
    done = replay(market.pools, route, amount_in)
    ends = route.segments[0].hops[0][0].token_in, route.segments[0].hops[-1][0].token_out
    least = done.amount_out if min_received is None else min_received
    head = RouterRouteParam(*ends, amount_in, done.amount_out, least, BOB, swap_type)
    assert market.network.router is not None
    call = build_call(head, done.steps, market.pools, market.network, integrator)
    return Built(build_transaction(call, market.network, market.network.router), done)


def provide(world: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> None:
    """What the call needs beforehand: the input, and the approval of just that."""
    route = payload.call.route
    if route.swap_type is SwapType.NATIVE_TO_TOKEN:
        world.chain.fund(sender, route.amount_in + 10**18)
        return
    symbol = world.symbol(route.token_in)
    world.give(symbol, sender, route.amount_in)
    world.contracts[symbol].send("approve", payload.to, route.amount_in, sender=sender)


def token_received(route: RouterRouteParam) -> str:
    """Its address, zero for the native one."""
    return NATIVE if route.swap_type is SwapType.TOKEN_TO_NATIVE else route.token_out


def carry_out(world: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> int:
    """Send the call; what its destination received. The router must be left as it was. Raises `RevertedError`."""
    provide(world, payload, sender)
    return send(world, payload, sender)


def send(world: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> int:
    """As `execute`, with what is there."""
    route = payload.call.route
    bought, tokens = token_received(route), tokens_of(payload.call.swaps)
    before, held = world.balance(bought, route.recipient), holdings(world, payload.to, tokens)
    return_data = world.chain.send(payload.to, bytes.fromhex(payload.calldata[2:]), value=payload.value, sender=sender)
    received = world.balance(bought, route.recipient) - before
    assert int.from_bytes(return_data) == received
    assert holdings(world, payload.to, tokens) == held
    return received


def holdings(world: ContractFixture, owner: str, tokens: Iterable[str]) -> dict[str, int]:
    """Balances by token, and the native one."""
    return {token: world.balance(token, owner) for token in (*tokens, NATIVE)}


def tokens_of(swaps: Iterable[RouterSwapParam]) -> set[str]:
    return {token for swap in swaps for token in (swap.token_in, swap.token_out)}


def error(signature: str, *numbers: int | str) -> bytes:
    """A custom error's bytes."""
    words = (int(each, 16) if isinstance(each, str) else each for each in numbers)
    return selector(signature) + bytes.fromhex("".join(encode_uint(word, 256, "argument") for word in words))


def refusal(world: ContractFixture, payload: UnsignedTransaction, sender: str = ALICE) -> bytes:
    """The error with which the call reverts; everything is as before."""
    with world.chain.revert_after():
        provide(world, payload, sender)
        before = {token.address: world.balance(token.address, sender) for token in world.tokens.values()}
        try:
            send(world, payload, sender)
        except RevertedError as reverted:
            assert before == {token: world.balance(token, sender) for token in before}
            return reverted.data
    raise AssertionError("the call went through")


def weth(world: ContractFixture) -> str:
    return world.address(WETH)
