"""Compute the price impact of a swap, the fraction of its value that is lost, by every available measure.

USD prices reveal a pool whose price is off the market. Spot prices in the route's pools need no USD prices, and are
hard to manipulate with tiny amounts. Neither measure is certain, so the highest figure is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.token import Token
from swapcli.core.routing.route_price_impact import route_impact
from swapcli.quoting.quote_results import LocalQuote, QuoteResult


def impact_of(answer: QuoteResult) -> PriceImpact | None:
    """Return the price impact of a quote, the highest by any measure; None if it is unknown."""
    return _highest(measure_impacts(answer))


def measure_impacts(answer: QuoteResult) -> tuple[PriceImpact, ...]:
    """Return the price impact of a quote by each available measure, starting with USD prices."""
    pools = answer.pools if isinstance(answer, LocalQuote) else None
    reported = answer.state_source.reported.price_impact
    return _measure(answer.result, answer.result.output_amount, answer.network, pools, reported)


def highest_impact(
    result: RouteResult,
    amount_out: int,
    network: Network,
    pools: Mapping[str, Pool] | None = None,
    *,
    reported: float | None = None,
) -> PriceImpact | None:
    """Return the highest price impact by any measure, for a route that pays `amount_out`; None if it is unknown.

    `pools` are the route's pools in the state before the swap, None if only a service knows them. `reported` is the
    figure that the service reports.
    """
    return _highest(_measure(result, amount_out, network, pools, reported))


def _highest(known: Iterable[PriceImpact]) -> PriceImpact | None:
    # Of equal figures, the first is used: amounts in USD mean more to a reader than a percentage.
    return max(known, default=None, key=lambda each: round(each.fraction, 2))


def _measure(
    result: RouteResult, amount_out: int, network: Network, pools: Mapping[str, Pool] | None, reported: float | None
) -> tuple[PriceImpact, ...]:
    known = [_usd_impact(result, amount_out, network)]
    if pools is not None:
        try:
            fraction = route_impact(pools, result.route, result.input_amount, amount_out)
        except Exception as error:  # a pool whose state is not the quoted one
            from swapcli.core.model.skipped_pool import pass_request_errors

            pass_request_errors(error)
            fraction = None
        known.append(None if fraction is None else PriceImpact(fraction, ImpactBasis.POOLS))
    if reported is not None:
        known.append(PriceImpact(reported, ImpactBasis.SERVICE))
    return tuple(each for each in known if each is not None)


def _usd_impact(result: RouteResult, amount_out: int, network: Network) -> PriceImpact | None:
    token_in, token_out = result.input_token, result.output_token
    price_in, price_out = (_price_usd(each, network) for each in (token_in, token_out))
    if not price_in or not price_out:
        return None
    sold_usd = result.input_amount / 10**token_in.decimals * price_in
    bought_usd = amount_out / 10**token_out.decimals * price_out
    # Each of the last swaps rounds down by less than one unit, which is not price impact.
    rounded = sum(len(segment.hops[-1]) for segment in result.segments)
    paid_usd = (amount_out + rounded) / 10**token_out.decimals * price_out
    return PriceImpact(1.0 - paid_usd / sold_usd, ImpactBasis.USD, sold_usd, bought_usd) if sold_usd > 0.0 else None


def _price_usd(token: Token, network: Network) -> float | None:
    """Return the price of a token; a stablecoin is 1.0, even if a service reports another price."""
    return 1.0 if token.address in network.stablecoins else token.price_usd
