"""A found route with its tokens, amounts and pools by name, in the form that both API versions return."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import WRAPPER_PROTOCOL, Network, ProtocolInfo
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Quote, Route, Segment, Swap
from swapcli.core.model.swap_terms import Integrator, after_fee
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple


class ResultSwap(NamedTuple):
    """One pool of a hop; `share` is in hundredths of a percent, and `extra` identifies the pool beyond its address."""

    protocol_id: int
    pool_name: str
    pool_address: str
    token_in: str
    token_out: str
    share: int
    extra: Mapping[str, int | str] = MappingProxyType({})

    @property
    def pool_key(self) -> str:
        """The key of the pool in a market: its id if the contract has several pools, otherwise its address."""
        return str(self.extra.get("poolId", self.pool_address)).lower()


class ResultSegment(NamedTuple):
    """A path with its share of the input in hundredths of a percent."""

    share: int
    hops: tuple[tuple[ResultSwap, ...], ...]


class RouteResult(NamedTuple):
    """A found route. Only V2 has `timestamp_ms` (Unix).

    V1 gives the gas as `gas_units`, V2 as `gas_cost_wei`; the other is None. A short route has neither.

    Tokens are as in the JSON of the version, with prices; a price or `gas_usd` of None is unknown. `best_quotes` are
    the outputs with each protocol alone, in the order of their IDs; 0 means no quote. `dialect` is the dialect of the
    router that a quote chose for the route, if a client returns it with the route.
    """

    api_version: ApiVersion
    swap_type: SwapType
    input_token: Token
    input_amount: int
    output_token: Token
    output_amount: int
    time_s: float
    gas_units: int | None
    gas_cost_wei: int | None
    gas_usd: float | None
    segments: tuple[ResultSegment, ...]
    initial: bool = True
    timestamp_ms: int = 0
    integrator: Integrator | None = None
    best_quotes: tuple[int, ...] = ()
    dialect: str | None = None

    @property
    def output_amount_after_fee(self) -> int | None:
        """The output less the integrator's fee; None without a fee."""
        fee_bps = self.integrator.fee_bps if self.integrator else 0
        return after_fee(self.output_amount, fee_bps) if fee_bps else None

    @property
    def pool_keys(self) -> tuple[str, ...]:
        """The keys of the pools, without duplicates."""
        hops = (hop for segment in self.segments for hop in segment.hops)
        return tuple(dict.fromkeys(swap.pool_key for hop in hops for swap in hop))

    @property
    def route(self) -> Route:
        """The route in the form that routing uses."""
        return Route(tuple(Segment(s.share, tuple(tuple(map(_swap, h)) for h in s.hops)) for s in self.segments))


def _swap(swap: ResultSwap) -> Swap:
    return Swap(swap.pool_key, swap.token_in, swap.token_out, swap.share)


def build_result(
    quote: Quote,
    order: Order,
    network: Network,
    pools: Mapping[str, Pool],
    api_version: ApiVersion,
    *,
    timestamp_ms: int,
    integrator: Integrator | None = None,
    best_quotes: tuple[int, ...] = (),
) -> RouteResult:
    """Return the result for an order from its quote. In the order, the native token has the zero address.

    `pools` contains at least the pools of the route, by key.
    """
    v2 = api_version is ApiVersion.V2
    return RouteResult(
        api_version=api_version,
        swap_type=SwapType.of(order.token_in.address, order.token_out.address),
        input_token=_priced(order.token_in, quote.price_in_usd, network if v2 else None),
        input_amount=quote.amount_in,
        output_token=_priced(order.token_out, quote.price_out_usd, network if v2 else None),
        output_amount=quote.amount_out,
        time_s=quote.time_s,
        gas_units=None if v2 else quote.gas_units,
        gas_cost_wei=quote.gas_wei if v2 else None,
        gas_usd=quote.gas_usd,
        segments=tuple(_segment(segment, network, pools) for segment in quote.route.segments),
        timestamp_ms=timestamp_ms if v2 else 0,
        integrator=integrator if v2 else None,
        best_quotes=best_quotes,
    )


def with_gas(result: RouteResult, quote: Quote) -> RouteResult:
    """Return `result` with the gas values from `quote`."""
    v2 = result.api_version is ApiVersion.V2
    return result._replace(
        gas_units=None if v2 else quote.gas_units, gas_cost_wei=quote.gas_wei if v2 else None, gas_usd=quote.gas_usd
    )


def _priced(token: Token, price_usd: float | None, wrap_on: Network | None) -> Token:
    token = wrap_on.to_wrapped_token(token) if wrap_on else token
    return Token(token.address, token.symbol, token.name, token.decimals, price_usd)


def _segment(segment: Segment, network: Network, pools: Mapping[str, Pool]) -> ResultSegment:
    hops = tuple(tuple(result_swap(swap, network, pools[swap.pool]) for swap in hop) for hop in segment.hops)
    return ResultSegment(segment.share, hops)


def result_swap(swap: Swap, network: Network, pool: Pool) -> ResultSwap:
    """Return one swap of a route in the form of the API."""
    protocol = network.protocol(pool.protocol) or WRAPPER_PROTOCOL
    name = protocol.display_name
    return ResultSwap(
        protocol.id, name, pool.address, swap.token_in, swap.token_out, swap.share, _extra(protocol, pool)
    )


def _extra(protocol: ProtocolInfo, pool: Pool) -> dict[str, int | str]:
    """Return the extra data that the API shows for the protocol's pools; all of it for an unknown protocol."""
    extra_data = pool.api_extra_data()
    keys = protocol.extra_keys if protocol.family else extra_data
    return {key: extra_data[key] for key in keys if key in extra_data}
