"""Holds what a service answers to what was asked of it: nobody should sign what they did not order.

What only a market can tell is the service's word: what a route pays out, its gas, and how the router is told of a pool
(rates and extra data, which services round and encode in their own ways). Checked is what a signer risks: the tokens
and their decimals, the amount, the receiver, who earns, the pools, the router, the value, and that no less is
guaranteed than the slippage allows.
"""

from __future__ import annotations

from typing import NamedTuple

from swapcli.api.payload_bodies import ParsedTransaction
from swapcli.api.route_result import RouteResult
from swapcli.errors import ConfigError
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Kind, Network
from swapcli.model.order import Order
from swapcli.model.swap_terms import Integrator, after_fee, min_received
from swapcli.model.token import Token
from swapcli.model.transaction import RouterCall, SwapType, UnsignedTransaction
from swapcli.networks.address import display_address


class Disagreement(Exception):
    """How an answer differs from what was asked; completes "answered with ...". `hint` says what to do."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.hint = hint


class Wanted(NamedTuple):
    """What a route was asked for."""

    order: Order
    api_version: ApiVersion
    integrator: Integrator | None
    network: Network


class Terms(NamedTuple):
    """What a payload was asked for. `at_once` where it came with its route, on one and the same state."""

    slippage_ppm: int
    destination: str
    network: Network
    at_once: bool


def agreed_result(result: RouteResult, wanted: Wanted) -> RouteResult:
    """The result, its tokens called as they were asked for. Raises `Disagreement`.

    Some services write the wrapped native token in V1 too, where the addresses should tell: what was asked decides.
    """
    order = wanted.order
    if result.api_version is not wanted.api_version:
        raise Disagreement(f"a route of {result.api_version}, not of {wanted.api_version}")
    swap_type = SwapType.of(order.token_in.address, order.token_out.address)
    if wanted.api_version is ApiVersion.V2 and result.swap_type is not swap_type:
        raise Disagreement(f"a route of type {result.swap_type.value}, not {swap_type.value}")
    agreed = result._replace(
        swap_type=swap_type,
        input_token=_agreed_token("input", result.input_token, order.token_in, wanted),
        output_token=_agreed_token("output", result.output_token, order.token_out, wanted),
    )
    _check_amount(result, order)
    _check_integrator(result.integrator, wanted.integrator)
    _check_path(agreed, wanted)
    return agreed


def agreed_payload(parsed: ParsedTransaction, result: RouteResult, terms: Terms) -> UnsignedTransaction:
    """The payload for `result` that an answer gives, encoded here where the answer did not. Raises `Disagreement`,
    `InvalidInput` for what cannot be encoded, and `ConfigError` where nobody knows the router."""
    network = terms.network
    call = _only_call(parsed, result, network)
    _check_promise(call, result, terms)
    _check_pools(call, result, network)
    payload = _transaction(call, network, _router(parsed.to, network))
    if parsed.calldata is not None and parsed.calldata.lower() != payload.calldata:
        raise Disagreement("calldata that says more than its call")
    if parsed.value is not None and parsed.value != payload.value:
        raise Disagreement(f"a value of {parsed.value} wei to send along, not {payload.value}")
    return payload


def _agreed_token(end: str, answered: Token, asked: Token, wanted: Wanted) -> Token:
    network = wanted.network
    expected = network.to_wrapped_token(asked) if wanted.api_version is ApiVersion.V2 else asked
    if answered.address not in (expected.address, network.to_wrapped(expected.address)):
        shown = [display_address(each, network.kind) for each in (answered.address, expected.address)]
        raise Disagreement(f"{shown[0]} as the {end} token, not {shown[1]}")
    if answered.decimals != expected.decimals:
        raise Disagreement(f"{answered.decimals} decimals of the {end} token, not {expected.decimals}")
    return expected._replace(price_usd=answered.price_usd)


def _check_amount(result: RouteResult, order: Order) -> None:
    if not order.reverse:
        if result.input_amount != order.amount:
            raise Disagreement(f"an input of {result.input_amount}, not {order.amount}")
    elif result.output_amount < order.amount:
        raise Disagreement(f"an output of {result.output_amount}, less than the {order.amount} that is wanted")
    elif result.output_amount - order.amount > _surplus_limit(result, order):
        raise Disagreement(f"an output of {result.output_amount}, far more than the {order.amount} that is wanted")


def _surplus_limit(result: RouteResult, order: Order) -> int:
    """How far the least input may overshoot the wanted output: by what its last unit buys and the units that each swap
    rounds away, and a percent for services that search less closely. Without it a service could have any amount sold.
    """
    rounded = 1 + sum(len(hop) for segment in result.segments for hop in segment.hops)
    return result.output_amount * rounded // result.input_amount + 1 + order.amount // 100


def _check_integrator(answered: Integrator | None, asked: Integrator | None) -> None:
    if _shares(answered) != _shares(asked):
        raise Disagreement(f"{_earning(answered)}, not {_earning(asked)}")


def _shares(integrator: Integrator | None) -> tuple[str, int, int] | None:
    """Who earns what; None where nobody earns anything."""
    if integrator is None or not (integrator.fee_bps or integrator.surplus_bps):
        return None
    return integrator.address, integrator.fee_bps, integrator.surplus_bps


def _earning(integrator: Integrator | None) -> str:
    shares = _shares(integrator)
    if shares is None:
        return "an integrator who earns nothing"
    address, fee_bps, surplus_bps = shares
    return f"{fee_bps} bps fee and {surplus_bps} bps surplus for the integrator {display_address(address, Kind.EVM)}"


def _check_path(result: RouteResult, wanted: Wanted) -> None:
    """The hops lead from the one token to the other, as the order wants them to."""
    order, network = wanted.order, wanted.network
    ends = tuple(network.to_wrapped(token.address) for token in (order.token_in, order.token_out))
    excluded = {info.id for info in network.protocols if info.amm_name in order.excluded_protocols}
    for segment in result.segments:
        first, last = segment.hops[0][0], segment.hops[-1][0]
        if (network.to_wrapped(first.token_in), network.to_wrapped(last.token_out)) != ends:
            raise Disagreement("hops that do not lead from the input token to the output token")
        if order.direct and len(segment.hops) > 1:
            raise Disagreement("a route of several hops, although only a direct one was wanted")
        if used := excluded.intersection(swap.protocol_id for hop in segment.hops for swap in hop):
            raise Disagreement(f"a route through protocol {min(used)}, which was excluded")


def _only_call(parsed: ParsedTransaction, result: RouteResult, network: Network) -> RouterCall:
    """The call of an answer, which may say it in two ways that must be one."""
    amount_out = parsed.call.route.amount_out if parsed.call else result.output_amount
    encoded = _decoded(parsed, amount_out, network)
    call = parsed.call if encoded is None else encoded
    if call is None:
        raise Disagreement("no call at all")
    if parsed.call is not None and call != parsed.call:
        raise Disagreement("calldata that does not say the same as the route and the swap_parameters beside it")
    return call


def _decoded(parsed: ParsedTransaction, amount_out: int, network: Network) -> RouterCall | None:
    if network.kind is Kind.STARKNET:
        from swapcli.starknet import deserialise_call

        return deserialise_call(parsed.felts, amount_out=amount_out) if parsed.felts else None
    from swapcli.evm import decode_call

    return None if parsed.calldata is None else decode_call(parsed.calldata)


def _check_promise(call: RouterCall, result: RouteResult, terms: Terms) -> None:
    """What the call promises is what the result and the terms say."""
    route, network = call.route, terms.network
    expected = [network.to_wrapped(token.address) for token in (result.input_token, result.output_token)]
    if [route.token_in, route.token_out] != expected:
        raise Disagreement("a call that trades other tokens")
    if route.amount_in != result.input_amount:
        raise Disagreement(f"a call that sells {route.amount_in}, not {result.input_amount}")
    if route.recipient != terms.destination:
        shown = [display_address(each, network.kind) for each in (route.recipient, terms.destination)]
        raise Disagreement(f"a call that pays {shown[0]}, not {shown[1]}")
    if route.swap_type is not result.swap_type:
        raise Disagreement(f"a call of type {route.swap_type.value}, not {result.swap_type.value}")
    _check_call_integrator(call, result)
    _check_least(call, result, terms)


def _check_call_integrator(call: RouterCall, result: RouteResult) -> None:
    from swapcli.evm import encode_integrator_data

    if call.integrator_data != encode_integrator_data(result.integrator):
        raise Disagreement("a call that pays an integrator otherwise than its route says")


def _check_least(call: RouterCall, result: RouteResult, terms: Terms) -> None:
    """No less than the slippage allows, of an output that is no less than the slippage allows of the route's."""
    promised, fee_bps = call.route.amount_out, result.integrator.fee_bps if result.integrator else 0
    if terms.at_once and promised != result.output_amount:
        raise Disagreement(f"a call whose output is {promised}, for a route whose output is {result.output_amount}")
    least_out = min_received(result.output_amount, terms.slippage_ppm)
    if promised < least_out:
        raise Disagreement(f"a call whose output is {promised}, less than the {least_out} that the slippage allows")
    least = min_received(after_fee(promised, fee_bps), terms.slippage_ppm)
    if call.route.min_received < least:
        raise Disagreement(f"a call that guarantees {call.route.min_received}, less than {least}")


def _check_pools(call: RouterCall, result: RouteResult, network: Network) -> None:
    """The call visits the pools of the route for the same tokens, and no others."""

    def use(pool: str, protocol_id: int, token_in: str, token_out: str) -> tuple[str, int, str, str]:
        return pool, protocol_id, network.to_wrapped(token_in), network.to_wrapped(token_out)

    called = {use(s.pool_address, s.protocol_id, s.token_in, s.token_out) for s in call.swaps}
    routed = {
        use(s.pool_address, s.protocol_id, s.token_in, s.token_out)
        for segment in result.segments
        for hop in segment.hops
        for s in hop
    }
    if called != routed:
        raise Disagreement("a call that uses other pools than its route")


def _transaction(call: RouterCall, network: Network, router: str) -> UnsignedTransaction:
    if network.kind is Kind.STARKNET:
        from swapcli import starknet

        return starknet.build_transaction(call, network, router)
    from swapcli import evm

    return evm.build_transaction(call, network, router)


def _router(answered: str | None, network: Network) -> str:
    """Who is trusted with the input: the router that is known here, the answered one only where none is."""
    setting = f"networks.{network.name}.router"
    if network.router is None:
        if answered is None:
            raise ConfigError(f"the router of {network.name} is not known", hint=f"set {setting}")
        return answered
    if answered not in (None, network.router):
        shown = [display_address(each, network.kind) for each in (answered, network.router) if each]
        raise Disagreement(
            f"a payload for the router {shown[0]}, not {shown[1]}", hint=f"if it is right, set {setting}"
        )
    return network.router
