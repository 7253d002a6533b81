"""Build transactions from routes: check the route, replay it on the current state, encode it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from swapcli.core.errors import ConfigError, InvalidOption, InvalidRoute, RouteExpired, SlippageExceeded, SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, INTERFACE_DIALECTS, OWN, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.route_result import ResultSwap, RouteResult
from swapcli.core.model.swap_terms import Integrator, SwapTerms, after_fee, min_received
from swapcli.core.model.swap_type import SwapType
from swapcli.core.routing.gas import before_refunds, with_margin
from swapcli.core.routing.replay import Replay, replay
from swapcli.families.wrap import wrapper_pool
from swapcli.payload.dialects import execution_of, router_dialect

if TYPE_CHECKING:
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.routing.route_limits import FitsCalldata

CLOCK_SKEW_MS = 5_000
"""How far the clock of a route's issuer may be ahead of ours: more than the error that NTP leaves."""

MAX_CALLDATA_BYTES = 126 * 1024
"""Nodes accept transactions of at most 128 KiB (geth's `txMaxSize`); the other fields take less than 2 KiB."""

MAX_BYTES_A_STEP = 1_280
"""The maximum number of bytes per step: more than any dialect writes for one pool.

This covers a command or action, of 7 words for a V4 swap to 15 for Balancer's vault, in up to three levels of nesting,
and the wrapping before and after it.
"""
MAX_BYTES_OF_TERMS = 2_048
"""The maximum number of bytes independent of the pools: the call, the payment, a permit, an integrator."""
_ANY_ADDRESS = "0x" + "ff" * 20


def check_age(result: RouteResult, issued_ms: int | None, now_ms: int, ttl_s: int) -> None:
    """Raise `RouteExpired` for a route older than `ttl_s`, and `InvalidRoute` for one from the future.

    A V2 route contains its time; `issued_ms` is the time of a V1 route. A route without a time is accepted, because the
    replay checks it.
    """
    quoted_ms = result.timestamp_ms if result.api_version is ApiVersion.V2 else issued_ms
    if quoted_ms is None:
        return
    age_ms = now_ms - quoted_ms
    if age_ms < -CLOCK_SKEW_MS:
        raise InvalidRoute("the route's issue time is in the future", details={"timestamp_ms": quoted_ms})
    if age_ms > ttl_s * 1000:
        raise RouteExpired(
            f"the route is {age_ms // 1000} seconds old, but routes are valid for {ttl_s}",
            hint="fetch a fresh route",
            details={"age_s": age_ms // 1000, "ttl_s": ttl_s},
        )


def check_block_limit(gas_units: int, network: Network) -> None:
    """Raise `InvalidRoute` if the gas limit of a transaction that uses `gas_units` does not fit in a block."""
    limit, needed = network.block_gas_limit, with_margin(before_refunds(gas_units))
    if limit is not None and needed > limit:
        raise InvalidRoute(
            f"the route takes up to {needed:,} gas, more than the {limit:,} that a {network.name} block allows",
            hint="fetch a fresh route, which will fit; if your account uses larger blocks, set"
            f" networks.{network.name}.block_gas_limit",
            details={"gas": needed, "block_gas_limit": limit},
        )


def calldata_limit(network: Network) -> FitsCalldata | None:
    """Return a function that checks whether a route fits in one transaction on a network, or None if every route fits.

    Nodes limit the bytes of calldata, and no list of field elements has come close to a limit.
    """
    return None if network.kind.traits.has_felts else partial(_fits_calldata, network=network)


def _fits_calldata(steps: Sequence[Step], pools: Mapping[str, Pool], *, network: Network) -> bool:
    """Return whether one transaction can carry the calldata that executes `steps`, whatever the terms.

    A payload that cannot be built counts as fitting: building it later gives the reason.
    """
    if len(steps) * MAX_BYTES_A_STEP + MAX_BYTES_OF_TERMS <= MAX_CALLDATA_BYTES:
        return True
    first, last = steps[0], steps[-1]
    from swapcli.core.model.router_dialect import ReplayedSwap
    from swapcli.core.model.transaction import RouterRouteParam

    # Only the size matters, so any addresses and amounts will do.
    amount, swap_type = first.amount_in, SwapType.TOKEN_TO_TOKEN
    route = RouterRouteParam(first.token_in, last.token_out, amount, 1, 1, _ANY_ADDRESS, swap_type)
    try:
        payload = router_dialect(network).build_payload(ReplayedSwap(route, steps, pools), _ANY_ADDRESS)
    except SwapcliError:
        return True
    return _calldata_bytes(payload) + MAX_BYTES_OF_TERMS <= MAX_CALLDATA_BYTES


def _check_size(payload: UnsignedTransaction, network: Network) -> None:
    """Raise `InvalidRoute` if nodes would not accept a transaction of this size."""
    size = _calldata_bytes(payload)
    if size > MAX_CALLDATA_BYTES:
        raise InvalidRoute(
            f"the calldata of the route for the router {network.router_dialect} has {size:,} bytes, but nodes "
            f"accept at most {MAX_CALLDATA_BYTES:,}",
            hint="fetch a fresh route, which will fit",
            details={"calldata_bytes": size, "max_calldata_bytes": MAX_CALLDATA_BYTES},
        )


def _calldata_bytes(payload: UnsignedTransaction) -> int:
    return len(payload.calldata) // 2 - 1 if payload.calldata else 0


def replay_result(result: RouteResult, market: MarketState, slippage_ppm: int) -> tuple[Replay, Mapping[str, Pool]]:
    """Return the replay of a submitted route on the market's state, and the market's pools by key.

    Raises `InvalidRoute` if the route does not match its tokens or the market, `SlippageExceeded` if its output has
    dropped by more than the slippage, `PoolError` if a pool cannot execute its swap.
    """
    pools = pools_for(result, market)
    _check_generation(result, market.network)
    check_ends(result, market.network)
    _check_protocols(result, market.network, pools)
    done = replay(pools, result.route, result.input_amount, execution_of(market.network))
    least = min_received(result.output_amount, slippage_ppm)
    if done.amount_out < least:
        raise SlippageExceeded(
            f"the route now pays {done.amount_out}, less than the {least} its slippage allows",
            hint="fetch a fresh route",
            details={"amount_out": str(done.amount_out), "least": str(least)},
        )
    return done, pools


def build_transaction(
    result: RouteResult,
    steps: Sequence[Step],
    amount_out: int,
    pools: Mapping[str, Pool],
    network: Network,
    terms: SwapTerms,
) -> UnsignedTransaction:
    """Return the transaction to the network's router, or to the wrapped native token if no router is needed.

    `steps` and `amount_out` come from the replay; of the amounts in `result`, only the input is used. Raises
    `ConfigError` if the router is unknown, `InvalidOption` if its swaps are paused, `InvalidRoute` if the router cannot
    execute the steps, or not in one transaction.
    """
    from swapcli.core.model.router_dialect import ReplayedSwap
    from swapcli.core.model.transaction import RouterRouteParam

    integrator = result.integrator
    left = after_fee(amount_out, integrator.fee_bps if integrator else 0)
    token_in, token_out = (network.to_wrapped(each.address) for each in (result.input_token, result.output_token))
    slippage_ppm = 0 if token_in == token_out else terms.slippage_ppm  # wrapping has no slippage
    route = RouterRouteParam(
        token_in=token_in,
        token_out=token_out,
        amount_in=result.input_amount,
        amount_out=amount_out,
        min_received=min_received(left, slippage_ppm),
        recipient=terms.required_recipient,
        swap_type=result.swap_type,
    )
    if token_in == token_out and _pays_caller(network, terms, integrator):
        from swapcli.payload.evm.wrapped_native import build_wrap

        return build_wrap(route)
    router = _router(network)
    swap = ReplayedSwap(route, steps, pools, integrator, terms.deadline_s, terms.permit)
    payload = router_dialect(network).build_payload(swap, router)
    _check_size(payload, network)
    return payload


def _pays_caller(network: Network, terms: SwapTerms, integrator: Integrator | None) -> bool:
    """Return whether the wrapped native token may be called directly, without a router: it pays its caller.

    The Fibrous API describes payloads of its dialects as router calls.
    """
    is_free = network.router_dialect not in INTERFACE_DIALECTS
    return is_free and integrator is None and terms.permit is None and terms.sender == terms.recipient is not None


def _router(network: Network) -> str:
    if network.dialect_router.is_paused:
        raise InvalidOption(
            f"swaps by {network.router_dialect} are paused on {network.name}: its registry lists no router",
            hint=f"try again later{_others_instead(network)}",
            details={"dialect": network.router_dialect},
        )
    if network.router_registry is not None:
        raise ConfigError(
            f"a payload for {network.router_dialect} on {network.name} needs the router's address, which only a "
            "node can read from its registry",
            hint=f"set networks.{network.name}.rpc_url, or networks.{network.name}.router to a verified router",
            details={"key": f"networks.{network.name}.router"},
        )
    if network.router is None:
        settings = f"networks.{network.name}.router"
        if network.router_dialect != FIBROUS:
            settings += f", and networks.{network.name}.router_dialect to {network.router_dialect}"
        raise ConfigError(
            f"no payload can be built on {network.name}: its router is unknown",
            hint=f"set {settings}{_others_instead(network)}",
            details={"key": f"networks.{network.name}.router"},
        )
    return network.router


def _others_instead(network: Network) -> str:
    """Return a clause for a hint that names the other dialects with a router on a network; empty if there are none."""
    from swapcli.payload.router_trust import known_dialects

    others = [each for each in known_dialects(network) if each not in (network.router_dialect, OWN)]
    return f", or use the router dialect {' or '.join(others)}" if others else ""


def pools_for(result: RouteResult, market: MarketState) -> Mapping[str, Pool]:
    """Return the market's pools by key; for a wrap or unwrap, only the wrapper."""
    wrapped = market.network.wrapped_native
    if wrapped is None or market.network.kind.traits.native_is_token:
        return market.pools
    ends = {market.network.to_wrapped(each) for each in (result.input_token.address, result.output_token.address)}
    if ends != {wrapped.address}:
        return market.pools
    pool = wrapper_pool(wrapped)
    return {pool.key: pool}


def _check_generation(result: RouteResult, network: Network) -> None:
    """Raise `InvalidRoute` if the network does not have the API version, or if the version does not support
    integrators."""
    if result.api_version is ApiVersion.V2 and not network.has_v2:
        raise InvalidRoute(f"{network.name} has no v2, so the route must not have meta")
    if result.api_version is ApiVersion.V1 and result.integrator is not None:
        raise InvalidRoute("integrator fields exist only in v2, and the route has no meta")


def check_ends(result: RouteResult, network: Network) -> None:
    """Raise `InvalidRoute` unless the hops begin and end at the result's tokens, and the result's swap type matches
    these tokens."""
    first, last = result.route.segments[0].hops[0][0], result.route.segments[0].hops[-1][0]
    native_in, native_out = result.swap_type is SwapType.NATIVE_TO_TOKEN, result.swap_type is SwapType.TOKEN_TO_NATIVE
    native = network.to_wrapped(ZERO_ADDRESS)
    token_in, token_out = (network.to_wrapped(each.address) for each in (result.input_token, result.output_token))
    if native_in and token_in != native:
        raise InvalidRoute("routeSwapType sells the native token, but inputToken is a different token")
    if native_out and token_out != native:
        raise InvalidRoute("routeSwapType buys the native token, but outputToken is a different token")
    if network.to_wrapped(first.token_in) != token_in:
        raise InvalidRoute("the route does not start at inputToken")
    if network.to_wrapped(last.token_out) != token_out:
        raise InvalidRoute("the route does not end at outputToken")


def _check_protocols(result: RouteResult, network: Network, pools: Mapping[str, Pool]) -> None:
    """Raise `InvalidRoute` if a swap's protocol differs from its pool's. The replay detects unknown pools."""
    for swap in _swaps(result):
        pool = pools.get(swap.pool_key)
        protocol = network.protocol(pool.protocol) if pool else None
        if protocol is not None and protocol.id != swap.protocol_id:
            raise InvalidRoute(
                f"pool {swap.pool_key} belongs to protocol {protocol.id}, not {swap.protocol_id}",
                details={"pool": swap.pool_key},
            )


def _swaps(result: RouteResult) -> Sequence[ResultSwap]:
    return [swap for segment in result.segments for hop in segment.hops for swap in hop]
