"""A fresh quote for a payload's order, and the payload's pools in the state of that quote."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import InvalidInput, ModelledState, NoRoute, PoolError, SwapcliError, UpstreamError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.decoded_call import DecodedOrder
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.records import NamedTuple
from swapcli.quoting.price_policy import PriceRequest, PriceUse, may_use
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.quote_source import PoolAccess

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource

_NO_POOLS: Final[Mapping[str, Pool]] = MappingProxyType({})


class FreshQuote(NamedTuple):
    """The output of an order on `state`, before any fee, or the `problem` that prevented a quote.

    `pools`, by key, are in the same state. They are the pools that the search used, and those in the payload that could
    be read.
    """

    amount_out: int | None
    state: StateSource | None = None
    pools: Mapping[str, Pool] = _NO_POOLS
    problem: SwapcliError | None = None


def quote_order(
    order: DecodedOrder, keys: Collection[str], source: QuoteSource, price_request: PriceRequest
) -> FreshQuote:
    """Return a fresh quote for an order, with the pools `keys` in the same state. Raises `UpstreamError`."""
    if order.amount_in == 0:
        problem = InvalidInput("the call does not contain the amount it sells; add the transaction's value")
        return FreshQuote(None, problem=problem)
    network = source.network
    source.pin(pinned=True)
    try:
        token_in = network.native if order.is_native_in else source.token(order.token_in)
        token_out = network.native if order.is_native_out else source.token(order.token_out)
        answer = source.quote(QuoteRequest(Order(token_in, token_out, order.amount_in), ApiVersion.V1))
        state = answer.state_source
        if not may_use(state, PriceUse.PAYLOAD, price_request):  # why, the warnings of the state say
            return FreshQuote(None, problem=ModelledState(f"only {state.kind} prices are available"))
        pools = _read_pools(keys, answer, source) if isinstance(answer, LocalQuote) else _NO_POOLS
        return FreshQuote(answer.result.output_amount, answer.state_source, pools)
    except (NoRoute, PoolError, InvalidInput) as error:
        return FreshQuote(None, problem=error)
    finally:
        source.pin(pinned=False)


def _read_pools(keys: Collection[str], answer: LocalQuote, source: QuoteSource) -> Mapping[str, Pool]:
    """Return the pools of a quote, and those of `keys` that it has not read, in the same state."""
    found = answer.pools
    unread = [key for key in keys if key not in found]
    if not unread or not isinstance(source, PoolAccess):
        return found
    try:
        part = source.read(source.known().with_pools(unread), unread, ())
    except UpstreamError:
        return found
    if _moment(part.state_source) != _moment(answer.state_source):
        return found
    pools = {**part.market.pools, **part.executable.pools}
    return {**found, **{key: pools[key] for key in unread if key in pools}}


def _moment(state: StateSource) -> tuple[object, ...]:
    return state.provenance, state.block, state.timestamp
