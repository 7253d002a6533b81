"""The errors for orders without a route: the reason, and a similar order that would have a route."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from math import ceil, log10

from swapcli.core.annotations import TYPE_CHECKING
from swapcli.core.errors import NoRoute
from swapcli.core.model.order import DEFAULT_MAX_HOPS, Order
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.routing.cancellation import CancelCheck
from swapcli.core.routing.graph.best_paths import best_spot_rate
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.market_capacity import max_input, max_output

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.routing.market_index import MarketIndex

_MAX_NAMES = 5  # of protocols listed in an error; more are only counted
_FEW_UNITS = 1_000_000  # smaller amounts may round to nothing in a hop through a token with few decimals
_DIGITS = 6  # significant digits of a bound in messages
LARGER = "try a larger amount"
"""The hint if no pool helps, because the amount is too small."""
_OUT_OF_LIQUIDITY = "every path runs out of liquidity"
_RETURNED_NOTHING = "returned 0 bytes"
"""In the reason of a call to an address without a contract."""
_NOT_JOINED = "no pools of this market connect them"

Ends = tuple[int, int]


def exceeds_liquidity(
    order: Order, graph: MarketGraph, endpoints: Ends, max_hops: int, check: CancelCheck
) -> NoRoute | None:
    """Return the error for an order larger than the pools' total input or output; None if it may have a route.

    `endpoints` are the numbers of the order's tokens in `graph`.
    """
    bound = max_output if order.reverse else max_input
    most = bound(graph, endpoints, max_hops, float(order.amount), check)
    if most >= order.amount:
        return None
    token, done, name = (order.token_out, "bought", "out") if order.reverse else (order.token_in, "sold", "in")
    shown = _round_up(most)
    can_be = f"at most {in_tokens(shown, token)} can be {done}" if shown else f"nothing can be {done}"
    hint = "try a smaller amount" if shown else "try different tokens"
    return _no_route(order, f"{_OUT_OF_LIQUIDITY}; {can_be}", hint, **{f"max_amount_{name}": str(shown)})


def no_route_found(
    order: Order, graph: MarketGraph, endpoints: Ends, max_hops: int, check: CancelCheck, delivered: int = 0
) -> NoRoute:
    """Return the error for an order between connected tokens for which a search found no route.

    `delivered` is the largest output found for a reverse order.
    """
    rate = best_spot_rate(graph, endpoints, max_hops)
    bought, sold = (order.amount, order.amount / rate) if order.reverse else (order.amount * rate, order.amount)
    if bought < 1:
        return _no_route(order, "it is too small to buy even one base unit", LARGER)
    if delivered:
        reached = f"the largest amount with a route is {in_tokens(delivered, order.token_out)}"
        return _no_route(order, f"{_OUT_OF_LIQUIDITY}; {reached}", "try a smaller amount", max_found_out=str(delivered))
    if min(bought, sold) < _FEW_UNITS:
        return _no_route(order, "every path rounds to zero or runs out of liquidity", "try a different amount")
    refused = exceeds_liquidity(order, graph, endpoints, max_hops, check)
    return refused or _no_route(order, _OUT_OF_LIQUIDITY, "try a smaller amount")


def search_timed_out(order: Order) -> NoRoute:
    """Return the error for an order whose search ran out of time."""
    return _no_route(order, "the search ran out of time", "allow more time with the setting solve_time_s")


def tokens_not_connected(order: Order, graph: MarketGraph, network: Network) -> NoRoute:
    """Return the error for an order whose tokens are not connected by any path within its limits."""
    few_hops = order.direct or order.max_hops < DEFAULT_MAX_HOPS
    limit = "in one hop" if order.direct else f"in at most {order.max_hops} hop{'s' if order.max_hops != 1 else ''}"
    protocols, hint_of_protocols = "", []
    named = order.excluded_protocols - network.extended_protocols  # most orders exclude these without naming them
    if order.allows_only:
        protocols = f" with only {_shown(_allowed(order, network), 'protocols')}"
        hint_of_protocols = ["allow more protocols"]
    elif named:
        protocols = f" without {_shown(sorted(named), 'excluded protocols')}"
        hint_of_protocols = ["exclude fewer protocols"]
    hints = [*["allow more hops"] * few_hops, *hint_of_protocols]
    tried = f"{graph.pool_count} pool{'s' if graph.pool_count != 1 else ''} tried"
    hint = ", or ".join(hints) or _NOT_JOINED
    return NoRoute(f"no route from {_names(order)} {limit}{protocols}: {tried}", hint=hint, details=_tokens(order))


def _allowed(order: Order, network: Network) -> list[str]:
    """Return the protocols that an order allows by name; the wrapper, which is always allowed, only if it is alone."""
    names = [each.amm_name for each in network.protocols if each.amm_name not in order.excluded_protocols]
    wrappers = {each.amm_name for each in network.protocols if each.is_wrapper}
    return sorted(set(names) - wrappers) or sorted(names)


def _shown(names: Sequence[str], kind: str) -> str:
    return ", ".join(names) if len(names) <= _MAX_NAMES else f"{len(names)} {kind}"


def add_extended_protocols(error: NoRoute, order: Order, index: MarketIndex) -> None:
    """Name, in the hint of an error, the extended protocols excluded by the order that have pools for it.

    A protocol is named if its pools connect tokens that no other pools connect within the order's limits, or if all
    other pools run out of liquidity and it has some for the pair. Nothing is added if the order names the protocols it
    allows.
    """
    if order.allows_only:
        return
    extended = index.market.network.extended_protocols & order.excluded_protocols & index.protocols
    if not extended:
        return
    usual_path = _path(order, order.excluded_protocols, index)
    if usual_path and _OUT_OF_LIQUIDITY not in error.message:
        return
    allowed = order.excluded_protocols - extended
    path = [order.token_in.address, order.token_out.address] if usual_path else _path(order, allowed, index)
    graph = index.graph(allowed)
    numbers = [graph.token_index[address] for address in path]
    arcs = (arc for i, j in pairwise(numbers) for arc in graph.arcs_by_pair[i].get(j, ()))
    names = sorted({arc.pool.protocol for arc in arcs} & extended)
    if names:
        owners = f"{', '.join(names)} {'have' if len(names) > 1 else 'has'} pools for this order"
        added = f"add the extended protocols (--extended-protocols): {owners}"
        error.hint = added if error.hint in (None, _NOT_JOINED) else f"{error.hint}, or {added}"


def _path(order: Order, excluded: Set[str], index: MarketIndex) -> list[str]:
    """Return the addresses of the tokens on the best path within the limits of an order; empty if there is none."""
    prices = index.dust_filter(frozenset(excluded))
    source, target = (prices.graph.token_index[each.address] for each in (order.token_in, order.token_out))
    found = prices.spot_prices(target, 1 if order.direct else order.max_hops).path(source)
    return [prices.graph.addresses[number] for number in found or ()]


def with_unread_pools(error: NoRoute, reasons: Sequence[str], hint: str) -> NoRoute:
    """Return the error for the same order, extended by the reasons why pools could not be read. `hint` replaces its own
    hint.

    `reasons` has one entry per pool.
    """
    return _with_unread(error, f"{_pools(len(reasons))} could not be read: {reasons[0]}", len(reasons), hint)


def with_unread_past_pools(error: NoRoute, reasons: Sequence[str], block: int) -> NoRoute:
    """Return the error of `with_unread_pools` for a past block. Pools that return nothing had no contract at that
    block."""
    count, absent = len(reasons), sum(_RETURNED_NOTHING in reason for reason in reasons)
    problem = reasons[0]
    if absent:
        problem = f"{'it' if count == 1 else 'they' if absent == count else f'{absent} of them'} did not exist yet"
    unread = f"{_pools(count)} could not be read at block {block:,}: {problem}"
    return _with_unread(error, unread, count, "choose a later block: --block N")


def _with_unread(error: NoRoute, unread: str, count: int, hint: str) -> NoRoute:
    return NoRoute(f"{error.message}; {unread}", hint=hint, details=error.details | {"unread_pools": count})


def _pools(count: int) -> str:
    return f"{count} pool{'s' if count != 1 else ''}"


def _no_route(order: Order, problem: str, hint: str, **details: object) -> NoRoute:
    message = f"no route from {_names(order)} for this amount: {problem}"
    return NoRoute(message, hint=hint, details=_tokens(order) | details)


def _names(order: Order) -> str:
    return f"{_name(order.token_in)} to {_name(order.token_out)}"


def _name(token: Token) -> str:
    return token.symbol or token.address


def _tokens(order: Order) -> dict[str, object]:
    return {"token_in": order.token_in.address, "token_out": order.token_out.address}


def _round_up(amount: float) -> int:
    """Return a bound in base units, rounded up to a few digits."""
    unit = 10 ** max(0, ceil(log10(amount)) - _DIGITS) if amount > 0.0 else 1
    return -(-int(amount) // unit) * unit
