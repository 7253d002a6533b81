"""Compare the responses of a service with the requests, so that users sign only swaps that they have ordered.

It checks everything that a signer risks: the tokens and their decimals, the amount, the recipient, the integrator and
their shares, the pools, the router, the value, and that the guaranteed output is not below what the slippage allows. It
does not check facts that only a market can show: a route's output and gas, and the rates and extra data of its pools,
which services round and encode in different ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.errors import ConfigError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.order import Order
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import Integrator, after_fee, min_received
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import RouterCall, UnsignedTransaction
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.transaction_responses import ParsedTransaction

if TYPE_CHECKING:
    from swapcli.core.model.router_dialect import InterfaceDialect


class ResponseMismatch(Exception):
    """A difference between a response and its request. The message completes "responded with ...". `hint` is
    optional."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.hint = hint


class ExpectedRoute(NamedTuple):
    """The request that the route in a response must match."""

    order: Order
    api_version: ApiVersion
    integrator: Integrator | None
    network: Network


class ExpectedPayload(NamedTuple):
    """The terms that a transaction must meet. `with_route` is true if one response contains both the transaction and
    its route."""

    slippage_ppm: int
    recipient: str
    network: Network
    dialect: InterfaceDialect
    with_route: bool


def validated_result(result: RouteResult, expected: ExpectedRoute) -> RouteResult:
    """Return the result with the tokens in the order. Raises `ResponseMismatch`.

    Some services return the wrapped token instead of the native one even in V1, so the order decides which of the two
    is swapped.
    """
    order = expected.order
    if result.api_version is not expected.api_version:
        raise ResponseMismatch(f"a route of {result.api_version}, not of {expected.api_version}")
    swap_type = SwapType.of(order.token_in.address, order.token_out.address)
    if expected.api_version is ApiVersion.V2 and result.swap_type is not swap_type:
        raise ResponseMismatch(f"a route of type {result.swap_type.value}, not {swap_type.value}")
    validated = result._replace(
        swap_type=swap_type,
        input_token=_validated_token("input", result.input_token, order.token_in, expected),
        output_token=_validated_token("output", result.output_token, order.token_out, expected),
    )
    _check_amount(result, order)
    _check_integrator(result.integrator, expected.integrator)
    _check_path(validated, expected)
    return validated


def validated_payload(parsed: ParsedTransaction, result: RouteResult, expected: ExpectedPayload) -> UnsignedTransaction:
    """Return the transaction for `result`. If the response has only the call, encode it here.

    Raises `ResponseMismatch`, `InvalidInput` for a call that cannot be encoded, and `ConfigError` if neither the
    settings nor the response name the router.
    """
    network = expected.network
    call = _consistent_call(parsed, result, expected.dialect)
    _check_route_param(call, result, expected)
    _check_pools(call, result, network)
    payload = expected.dialect.build_transaction(call, _trusted_router(parsed.to, network))
    if parsed.calldata is not None and parsed.calldata.lower() != payload.calldata:
        raise ResponseMismatch("calldata that differs from its call")
    if parsed.value is not None and parsed.value != payload.value:
        raise ResponseMismatch(f"a value of {parsed.value} wei, not {payload.value}")
    return payload


def _validated_token(end: str, reported: Token, requested: Token, expected: ExpectedRoute) -> Token:
    network = expected.network
    token = network.to_wrapped_token(requested) if expected.api_version is ApiVersion.V2 else requested
    if reported.address not in (token.address, network.to_wrapped(token.address)):
        shown = [display_address(address, network.kind) for address in (reported.address, token.address)]
        raise ResponseMismatch(f"{shown[0]} as the {end} token, not {shown[1]}")
    if reported.decimals != token.decimals:
        raise ResponseMismatch(f"{reported.decimals} decimals for the {end} token, not {token.decimals}")
    return token._replace(price_usd=reported.price_usd)


def _check_amount(result: RouteResult, order: Order) -> None:
    if not order.reverse:
        if result.input_amount != order.amount:
            raise ResponseMismatch(f"an input of {result.input_amount}, not {order.amount}")
    elif result.output_amount < order.amount:
        raise ResponseMismatch(f"an output of {result.output_amount}, less than the {order.amount} requested")
    elif result.output_amount - order.amount > _surplus_limit(result, order):
        raise ResponseMismatch(f"an output of {result.output_amount}, far more than the {order.amount} requested")


def _surplus_limit(result: RouteResult, order: Order) -> int:
    """Return by how much an exact-output route may exceed the requested output.

    The smallest sufficient input overshoots by the output of its last unit, plus the units that each swap rounds away;
    1% more allows for services that search less closely. Without a limit a service could make the user sell any amount.
    """
    rounded = 1 + sum(len(hop) for segment in result.segments for hop in segment.hops)
    return result.output_amount * rounded // result.input_amount + 1 + order.amount // 100


def _check_integrator(reported: Integrator | None, requested: Integrator | None) -> None:
    if _integrator_shares(reported) != _integrator_shares(requested):
        raise ResponseMismatch(f"{_describe_integrator(reported)}, not {_describe_integrator(requested)}")


def _integrator_shares(integrator: Integrator | None) -> tuple[str, int, int] | None:
    """Return address, fee and surplus share (bps) of an integrator; None if there is nothing to earn."""
    if integrator is None or not (integrator.fee_bps or integrator.surplus_bps):
        return None
    return integrator.address, integrator.fee_bps, integrator.surplus_bps


def _describe_integrator(integrator: Integrator | None) -> str:
    shares = _integrator_shares(integrator)
    if shares is None:
        return "no integrator shares"
    address, fee_bps, surplus_bps = shares
    return f"{fee_bps} bps fee and {surplus_bps} bps surplus for the integrator {display_address(address, Kind.EVM)}"


def _check_path(result: RouteResult, expected: ExpectedRoute) -> None:
    """Check that the hops lead from the input to the output token within the limits of the order."""
    order, network = expected.order, expected.network
    ends = tuple(network.to_wrapped(token.address) for token in (order.token_in, order.token_out))
    known = {info.id: info.amm_name for info in network.protocols}
    for segment in result.segments:
        first, last = segment.hops[0][0], segment.hops[-1][0]
        if (network.to_wrapped(first.token_in), network.to_wrapped(last.token_out)) != ends:
            raise ResponseMismatch("hops that do not lead from the input token to the output token")
        if order.direct and len(segment.hops) > 1:
            raise ResponseMismatch("a route of several hops, not a direct one")
        for used in sorted({swap.protocol_id for hop in segment.hops for swap in hop}):
            if known[used] in order.excluded_protocols if used in known else order.allows_only:
                raise ResponseMismatch(f"a route through protocol {used}, which was excluded")


def _consistent_call(parsed: ParsedTransaction, result: RouteResult, dialect: InterfaceDialect) -> RouterCall:
    """Return the call in a response, which may contain it as calldata, as JSON or as both; both must be equal."""
    amount_out = parsed.call.route.amount_out if parsed.call else result.output_amount
    encoded = None
    if parsed.calldata is not None or parsed.felts:
        encoded = dialect.decode_call(parsed.calldata or "", parsed.felts, amount_out)
    call = parsed.call if encoded is None else encoded
    if call is None:
        raise ResponseMismatch("no call")
    if parsed.call is not None and call._replace(deadline_s=None) != parsed.call:  # JSON has no place for a deadline
        raise ResponseMismatch("calldata that differs from its route and swap_parameters")
    return call


def _check_route_param(call: RouterCall, result: RouteResult, expected: ExpectedPayload) -> None:
    """Check the parameters of the call against the result and the terms."""
    route, network = call.route, expected.network
    tokens = [network.to_wrapped(token.address) for token in (result.input_token, result.output_token)]
    if [route.token_in, route.token_out] != tokens:
        raise ResponseMismatch("a call that trades different tokens")
    if route.amount_in != result.input_amount:
        raise ResponseMismatch(f"a call that sells {route.amount_in}, not {result.input_amount}")
    if route.recipient != expected.recipient:
        shown = [display_address(address, network.kind) for address in (route.recipient, expected.recipient)]
        raise ResponseMismatch(f"a call that pays {shown[0]}, not {shown[1]}")
    if route.swap_type is not result.swap_type:
        raise ResponseMismatch(f"a call of type {route.swap_type.value}, not {result.swap_type.value}")
    if call.integrator_data != expected.dialect.encode_integrator_data(result.integrator):
        raise ResponseMismatch("a call whose integrator differs from that of its route")
    _check_min_received(call, result, expected)


def _check_min_received(call: RouterCall, result: RouteResult, expected: ExpectedPayload) -> None:
    """Check the output of the call against that of the route, and its guaranteed output against the slippage."""
    amount_out, fee_bps = call.route.amount_out, result.integrator.fee_bps if result.integrator else 0
    if expected.with_route and amount_out != result.output_amount:
        raise ResponseMismatch(
            f"a call whose output is {amount_out}, for a route whose output is {result.output_amount}"
        )
    min_amount_out = min_received(result.output_amount, expected.slippage_ppm)
    if amount_out < min_amount_out:
        raise ResponseMismatch(
            f"a call whose output is {amount_out}, less than the {min_amount_out} that the slippage allows"
        )
    min_guaranteed = min_received(after_fee(amount_out, fee_bps), expected.slippage_ppm)
    if call.route.min_received < min_guaranteed:
        raise ResponseMismatch(f"a call that guarantees {call.route.min_received}, less than {min_guaranteed}")


def _check_pools(call: RouterCall, result: RouteResult, network: Network) -> None:
    """Check that the call uses the pools of the route, with the same tokens, and no others."""

    def pool_use(pool: str, protocol_id: int, token_in: str, token_out: str) -> tuple[str, int, str, str]:
        return pool, protocol_id, network.to_wrapped(token_in), network.to_wrapped(token_out)

    called = {pool_use(s.pool_address, s.protocol_id, s.token_in, s.token_out) for s in call.swaps}
    routed = {
        pool_use(s.pool_address, s.protocol_id, s.token_in, s.token_out)
        for segment in result.segments
        for hop in segment.hops
        for s in hop
    }
    if called != routed:
        raise ResponseMismatch("a call whose pools differ from its route's")


def _trusted_router(reported: str | None, network: Network) -> str:
    """Return the router from the settings or the catalogue; the reported one only if neither names one."""
    setting = f"networks.{network.name}.router"
    if network.router is None:
        if reported is None:
            raise ConfigError(f"the router of {network.name} is not known", hint=f"set {setting}")
        return reported
    if reported not in (None, network.router):
        shown = [display_address(address, network.kind) for address in (reported, network.router) if address]
        raise ResponseMismatch(
            f"a transaction for the router {shown[0]}, not {shown[1]}", hint=f"if it is right, set {setting}"
        )
    return network.router
