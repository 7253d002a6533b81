"""A node's verdict on a transaction, which responses include if the request asks for `details`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from swapcli.core.model.pool import Pool
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.faces.service.endpoint_messages import NodeCheck
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.quoting.sources.in_memory import InMemorySource

if TYPE_CHECKING:
    from swapcli.interface.json_types import VerdictJson
    from swapcli.state.rpc.node import StateOverrideNode


class BuiltResponse(NamedTuple):
    """The transaction in a response, and what it was built from: a route on `pools` (by key) in the state `origin`."""

    payload: UnsignedTransaction
    result: RouteResult
    pools: Mapping[str, Pool]
    origin: StateSource
    source: InMemorySource


def amend_with_verdict(
    registry: MarketRegistry, built: BuiltResponse, amend: Callable[[VerdictJson], object]
) -> NodeCheck:
    """Return a function that gets the verdict from a node and adds it to the document with `amend`.

    Call this on the thread of the registry's sources, because it reads the known pools at once.
    """
    payload, result, pools, origin, source = built
    network = source.network
    route = payload.call.route
    known = source.known().trading({route.token_in, route.token_out})
    token_in, token_out = (source.token(each.address) for each in (result.input_token, result.output_token))
    now_s = int(registry.network_time_s(network.name))

    def judge(node: StateOverrideNode) -> object:
        from swapcli.payload.checks.simulated_variants import TradedTokens
        from swapcli.payload.transactions_to_send import traded_tokens
        from swapcli.payload.verdict.swap_rehearsal import JudgedSwap, judge_swap, price_guard
        from swapcli.quoting.review.verdict import catalogue_tokens

        described = result._replace(input_token=token_in, output_token=token_out)
        ends = TradedTokens(*traded_tokens(described, payload, network), network.native)
        swap = JudgedSwap(payload, described, pools, network, ends, origin, catalogue_tokens(network))
        guard = price_guard(swap, known, now_s, registry.rules.price_limits_ppm)
        return amend(judge_swap(node, swap, None, guard).document())

    return judge
