"""Plan the commands that execute a replayed route: one path of single pools after another, then one payment.

Consecutive hops of one generation of Uniswap become one command. The first command of a path spends an absolute amount.
Each further command spends the router's whole balance of its token, which is the output of the previous command: no
other path leaves any there, since paths are simple and none of them spends the output token.

Pools list the native currency in its wrapped form, but V4's native pools take and pay it unwrapped. Within a path, the
router converts between commands. At the start of paths, the input is converted before anything else is in the router.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.network import UNISWAP_GENERATIONS
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.quote import Step
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.universal_router.commands import (
    CONTRACT_BALANCE,
    Command,
    V4Encoding,
    V4Hop,
    pay_fee,
    pull,
    sweep,
    unwrap,
    v2_swap,
    v3_swap,
    v4_swap,
    wrap,
)

V2, V3, V4 = UNISWAP_GENERATIONS


class RouterHop(NamedTuple):
    """One swap as the router executes it: in V4, the native currency is the zero address.

    `key_fee` is the fee by which the router finds the pool.
    """

    generation: str
    currency_in: str
    currency_out: str
    amount_in: int
    key_fee: int = 0
    tick_spacing: int = 0
    hooks: str = ZERO_ADDRESS


class Pools(Protocol):
    """Describes a step's pool in the form in which the router executes it."""

    def hop(self, step: Step) -> RouterHop:
        """Return the swap of a step. Raises `InvalidRoute` if the router cannot execute it."""


class CommandHops(NamedTuple):
    """Consecutive hops of one Uniswap generation whose currencies connect. They become one command."""

    hops: tuple[RouterHop, ...]

    @property
    def currency_in(self) -> str:
        """The currency that the command spends."""
        return self.hops[0].currency_in

    @property
    def currency_out(self) -> str:
        """The currency that the command pays."""
        return self.hops[-1].currency_out


def plan_commands(swap: ReplayedSwap, pools: Pools, wrapped: str | None, encoding: V4Encoding) -> Iterator[Command]:
    """Yield the commands of a swap in order; `wrapped` is the wrapped native token, None if there is none.

    Raises `InvalidRoute` if the router cannot execute it.
    """
    route = swap.route
    paths = list(_paths(swap.steps, route.token_in, pools))
    yield from _convert_input(route, paths, wrapped)
    for path in paths:
        yield from _path_commands(path, route, wrapped, encoding)
    yield from _pay(swap, {path[-1].currency_out for path in paths})


def wrap_commands(swap: ReplayedSwap) -> Iterator[Command]:
    """Yield the commands of a swap of the native currency for its wrapped form, or vice versa."""
    route = swap.route
    if route.swap_type is SwapType.NATIVE_TO_TOKEN:
        yield wrap(route.amount_in)
    else:
        yield pull(route.token_in, route.amount_in)
    yield from _pay(swap, {route.token_out})


def _paths(steps: Sequence[Step], token_in: str, pools: Pools) -> Iterator[list[CommandHops]]:
    """Yield the legs of each path. A path begins at a step that spends the input token."""
    legs: list[CommandHops] = []
    for step in steps:
        hop = pools.hop(step)
        if step.token_in == token_in and legs:
            yield legs
            legs = []
        if legs and (legs[-1].hops[-1].generation, legs[-1].currency_out) == (hop.generation, hop.currency_in):
            legs[-1] = CommandHops((*legs[-1].hops, hop))
        else:
            legs.append(CommandHops((hop,)))
    if not legs:
        raise InvalidRoute("the route has no swaps")
    yield legs


def _convert_input(
    route: RouterRouteParam, paths: Sequence[Sequence[CommandHops]], wrapped: str | None
) -> Iterator[Command]:
    """Yield the commands that wrap or unwrap the part of the input that paths need in the other form."""
    is_native = route.swap_type is SwapType.NATIVE_TO_TOKEN
    if route.token_in != wrapped:
        return
    amounts = [path[0].hops[0].amount_in for path in paths if (path[0].currency_in == ZERO_ADDRESS) != is_native]
    if not amounts:
        return
    if is_native:
        yield wrap(sum(amounts))
    else:
        yield pull(route.token_in, sum(amounts))
        yield unwrap()


def _path_commands(
    path: Sequence[CommandHops], route: RouterRouteParam, wrapped: str | None, encoding: V4Encoding
) -> Iterator[Command]:
    first = path[0]
    pulls = route.swap_type is not SwapType.NATIVE_TO_TOKEN and first.currency_in == route.token_in
    yield _leg_command(first, first.hops[0].amount_in, encoding, pulls=pulls)
    present = first.currency_out
    for leg in path[1:]:
        if present != leg.currency_in:
            if {present, leg.currency_in} != {ZERO_ADDRESS, wrapped}:
                raise InvalidRoute("the swaps of a path do not connect")
            yield wrap(CONTRACT_BALANCE) if present == ZERO_ADDRESS else unwrap()
        yield _leg_command(leg, CONTRACT_BALANCE, encoding, pulls=False)
        present = leg.currency_out


def _leg_command(leg: CommandHops, amount_in: int, encoding: V4Encoding, *, pulls: bool) -> Command:
    hops = leg.hops
    tokens = [leg.currency_in, *(hop.currency_out for hop in hops)]
    if hops[0].generation == V2:
        return v2_swap(tokens, amount_in, pulls=pulls)
    if hops[0].generation == V3:
        return v3_swap(tokens, [hop.key_fee for hop in hops], amount_in, pulls=pulls)
    v4_hops = [V4Hop(hop.currency_in, hop.currency_out, hop.key_fee, hop.tick_spacing, hop.hooks) for hop in hops]
    return v4_swap(v4_hops, amount_in, encoding, pulls=pulls)


def _pay(swap: ReplayedSwap, currencies: set[str]) -> Iterator[Command]:
    """Yield the payment of the output, which the router holds as `currencies`: the integrator's part, then the rest.

    The minimum applies to the rest, so that one check covers all paths.
    """
    route, integrator = swap.route, swap.integrator
    fee_bps = integrator.fee_bps if integrator else 0
    if route.swap_type is not SwapType.TOKEN_TO_NATIVE:
        paid = route.token_out
        if ZERO_ADDRESS in currencies:
            yield wrap(CONTRACT_BALANCE)
    elif ZERO_ADDRESS not in currencies and not fee_bps:
        yield unwrap(route.recipient, route.min_received)
        return
    else:
        paid = ZERO_ADDRESS
        if currencies != {ZERO_ADDRESS}:
            yield unwrap()
    if integrator and fee_bps:
        yield pay_fee(paid, integrator.address, fee_bps)
    yield sweep(paid, route.recipient, route.min_received)
