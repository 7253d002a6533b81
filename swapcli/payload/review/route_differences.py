"""Compare the calldata of a document with the route that the document shows.

The shares of a route determine the rates, the paths and the pools of its payload whatever the state of the pools. So
the payload is rebuilt from the route and must be the same to the last byte. The output and the minimum, which depend on
the state, must be the same everywhere in the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING

from swapcli.core.encoding.strict_json import WrittenFloat
from swapcli.core.encoding.text import counted
from swapcli.core.errors import InvalidInput, InvalidRoute, NoRoute, SwapcliError
from swapcli.core.model.decoded_call import DecodedCall, DecodedOrder
from swapcli.core.model.network import INTERFACE_DIALECTS, SETTLER, Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Swap
from swapcli.core.model.route_result import ResultSwap, RouteResult, result_swap
from swapcli.core.model.router_dialect import ReplayedSwap
from swapcli.core.model.router_findings import VARIANTS
from swapcli.core.model.router_variant import RateVariant
from swapcli.core.model.swap_terms import after_fee, min_received
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import planned_steps
from swapcli.interface.fields import Fields
from swapcli.interface.route import parse_result, parse_short, raise_if_no_route
from swapcli.interface.router_call import parse_call_route, parse_swap_parameters
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.decode.quantities import parse_quantity
from swapcli.payload.dialects import execution_of, has_variants, interface_dialect, router_dialect
from swapcli.payload.evm.wrapped_native import build_wrap
from swapcli.payload.payloads import check_ends, pools_for
from swapcli.payload.review.transaction_warnings import FindToken

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState

_PPM_PER_PERCENT = 10_000
_NAMES = {
    "token_in": "the sold token",
    "token_out": "the bought token",
    "amount_in": "the amount",
    "amount_out": "the quoted output",
    "min_received": "the minimum",
    "recipient": "the recipient",
    "swap_type": "the swap type",
}
"""The display names of the fields in a call's route."""


class RoutedMarket(NamedTuple):
    """The known tokens and pools of a route: `open_market` returns all pools, None if they are unknown."""

    network: Network
    find_token: FindToken
    open_market: Callable[[], MarketState | None]


def find_differences(
    document: Mapping[str, object], payload: GivenTransaction, call: DecodedCall, market: RoutedMarket
) -> Iterator[str]:
    """Yield a sentence for each difference between a document and its payload. `payload.to` is canonical.

    Raises `InvalidInput` for a field of the document that cannot be read.
    """
    if not {"route", "quote", "swap", "swap_parameters", "minReceived"} & document.keys():
        return
    if call.order is None:
        yield "the document has a swap, but its calldata is not one"
        return
    try:
        yield from _Comparison(document, payload, call, call.order, market).differences()
    except NoRoute as error:
        yield f"the document has no route: {error.message}"


def promised_output(document: Mapping[str, object]) -> int | None:
    """Return the output that a document promises before any fee, or None if it promises none."""
    for path in (("quote", "outputAmount"), ("route", "outputAmount"), ("route", "amount_out"), ("swap", "amount_out")):
        if (value := _nested(document, *path)) is not None:
            with suppress(InvalidInput):
                return parse_quantity(value, path[-1])
    return None


class _Comparison:
    def __init__(
        self,
        document: Mapping[str, object],
        payload: GivenTransaction,
        call: DecodedCall,
        order: DecodedOrder,
        market: RoutedMarket,
    ) -> None:
        self._document, self._payload, self._call, self._order = document, payload, call, order
        self._market, self._network = market, market.network
        self._fields = Fields(document)

    def differences(self) -> Iterator[str]:
        """Yield the sentences."""
        document, order = self._document, self._order
        raise_if_no_route(self._fields)
        if document.get("minReceived") is not None:
            minimum = parse_quantity(document["minReceived"], "minReceived")
            if minimum != order.min_received:
                yield f"minReceived is {minimum}, but {order.min_received} in the calldata"
        if document.get("router_address") is not None:
            router = self._fields.address("router_address", self._network.kind)
            if self._payload.to not in (None, router):
                yield f"router_address is {router}, but the transaction goes to {self._payload.to}"
        if document.get("dialect") is not None and not self._is_dialect(self._fields.text("dialect")):
            yield f"the dialect is {self._fields.text('dialect')}, but the calldata is for {self._call.dialect}"
        route = self._call_route()
        if route is not None:
            yield from self._of_call_route(route)
            yield from self._of_deadline()
        if self._call.trailing_bytes:
            yield "the calldata has data after its end"
        if document.get("swap_parameters") is not None:
            yield from self._of_call(self._described_call(route))
        result = self._result()
        if result is None:
            return
        yield from self._of_result(result, route)
        yield from self._of_pools(result, route or _route_of(order, result.output_amount))

    def _is_dialect(self, dialect: str) -> bool:
        if self._call.wraps:  # for the wrapped native token, in place of any router
            return True
        return dialect == self._call.dialect or {dialect, self._call.dialect} <= {*INTERFACE_DIALECTS}

    # --- the call as JSON

    def _call_route(self) -> RouterRouteParam | None:
        """Return the route of the call that the document describes, or None if it has none."""
        for name in ("swap", "route"):
            described = self._document.get(name)
            if isinstance(described, Mapping) and "min_received" in described:
                ends = {"token_in": self._order.token_in, "token_out": self._order.token_out}
                return parse_call_route(Fields({**ends, **described}, name), (), self._network)
        return None

    def _described_call(self, route: RouterRouteParam | None) -> RouterCall:
        """Return the call that the document describes; V1 describes only the swaps."""
        swaps = parse_swap_parameters(self._fields, self._network)
        return RouterCall(
            route or _route_of(self._order, self._order.amount_out or 0),
            swaps,
            self._fields.hex_bytes("integrator_data"),
        )

    def _of_call_route(self, route: RouterRouteParam) -> Iterator[str]:
        for name, found in self._order_fields().items():
            described = getattr(route, name)
            if found is not None and described != found:
                yield f"{_NAMES[name]} is {described} in the document, but {found} in the calldata"

    def _order_fields(self) -> dict[str, object]:
        """Return the fields of a call's route in the calldata's form, with None for missing fields."""
        order = self._order
        return {
            "token_in": order.token_in,
            "token_out": order.token_out,
            "amount_in": order.amount_in,
            "amount_out": order.amount_out,
            "min_received": order.min_received,
            "recipient": None if self._call.wraps else order.recipient,
            "swap_type": _swap_type(order),
        }

    def _of_deadline(self) -> Iterator[str]:
        swap = self._document.get("swap")
        path, described = ("swap.", swap) if isinstance(swap, Mapping) else ("", self._document)
        if "deadline" not in described or not self._order.has_deadline:
            return
        deadline = described["deadline"]
        deadline_s = None if deadline is None else parse_quantity(deadline, f"{path}deadline")
        if deadline_s != self._order.deadline_s:
            yield f"the deadline is {deadline_s} in the document, but {self._order.deadline_s} in the calldata"

    def _of_call(self, described: RouterCall) -> Iterator[str]:
        """Compare the call that the document describes with the calldata's, field by field."""
        actual = self._actual_call(described)
        if actual is None:
            return
        if len(described.swaps) != len(actual.swaps):
            yield f"the document has {counted(len(described.swaps), 'swap')}, but the calldata has {len(actual.swaps)}"
            return
        for number, (swap, found) in enumerate(zip(self._completed(described, actual), actual.swaps, strict=True), 1):
            for name in RouterSwapParam._fields:
                if getattr(swap, name) != getattr(found, name):
                    yield (
                        f"{name} of swap {number} is {_shown(getattr(swap, name))} in the document, but "
                        f"{_shown(getattr(found, name))} in the calldata"
                    )
        if described.integrator_data != actual.integrator_data:
            yield "integrator_data differs between document and calldata"

    def _actual_call(self, described: RouterCall) -> RouterCall | None:
        if self._call.dialect not in INTERFACE_DIALECTS:
            return None
        if self._payload.felts is None:
            from swapcli.payload.evm.fibrous_calldata import decode_any_call

            return decode_any_call(self._payload.calldata).call
        from swapcli.payload.starknet.swap_call_felts import deserialise_call_with_rest

        return deserialise_call_with_rest(self._payload.felts, amount_out=described.route.amount_out)[0]

    def _completed(self, described: RouterCall, actual: RouterCall) -> Iterator[RouterSwapParam]:
        """Yield the described swaps, with the fields that V1 omits filled in from the calldata."""
        entries = self._document["swap_parameters"]
        assert isinstance(entries, list)
        for entry, swap, found in zip(entries, described.swaps, actual.swaps, strict=True):
            names = ("extra_data", "extra_felts") if "extra_data" not in entry else ()
            left_out = (*names, "swap_type") if "swap_type" not in entry else names
            yield swap._replace(**{name: getattr(found, name) for name in left_out})

    # --- the route as JSON

    def _result(self) -> RouteResult | None:
        for name in ("quote", "route"):
            described = self._document.get(name)
            if not isinstance(described, Mapping) or "inputToken" not in described:
                continue
            if "routeSwapType" in described:
                return parse_result(described, self._network, name)
            return parse_short(self._fields.nested(name), self._network)
        return None

    def _of_result(self, result: RouteResult, route: RouterRouteParam | None) -> Iterator[str]:
        order, network = self._order, self._network
        try:
            check_ends(result, network)
        except InvalidRoute as error:
            yield error.message
        if result.input_amount != order.amount_in:
            yield f"the route sells {result.input_amount}, but the calldata sells {order.amount_in}"
        quoted = route.amount_out if route else order.amount_out
        if quoted is not None and result.output_amount != quoted:
            yield f"the route pays {result.output_amount}, but the call quotes {quoted}"
        for token, sold in ((result.input_token, order.token_in), (result.output_token, order.token_out)):
            if network.to_wrapped(token.address) != sold:
                yield f"the route trades {token.address}, but the calldata trades {sold}"
            known = self._market.find_token(token.address)
            if known is not None and (known.decimals, known.symbol) != (token.decimals, token.symbol):
                yield f"{token.address} is {known.symbol} with {known.decimals} decimals, but the document differs"
        if result.swap_type is not _swap_type(order):
            yield "route and calldata pay or receive the native token differently"
        integrator, fee = result.integrator, self._call.fee
        described = (integrator.address, integrator.fee_bps, integrator.surplus_bps) if integrator else None
        found = (fee.recipient, fee.fee_bps, fee.surplus_bps) if fee else None
        if described != found and not (described is not None and described[1:] == (0, 0) and found is None):
            yield "the route and the calldata have different integrators"
        yield from self._of_minimum(result)

    def _of_minimum(self, result: RouteResult) -> Iterator[str]:
        fee = self._call.fee
        left = after_fee(result.output_amount, ceil(fee.fee_bps) if fee else 0)
        shown = _nested(self._document, "quote", "outputAmountAfterFee") or _nested(
            self._document, "route", "outputAmountAfterFee"
        )
        if shown is not None and parse_quantity(shown, "outputAmountAfterFee") != left:
            yield f"outputAmountAfterFee is {shown}, but the output after the fee is {left}"
        if self._document.get("slippage") is None:
            return
        minimum = min_received(left, _slippage_ppm(self._document["slippage"]))
        # Wrapping has no slippage.
        is_wrapping = self._order.token_in == self._order.token_out
        if self._order.min_received != minimum and not (is_wrapping and self._order.min_received == left):
            yield f"the minimum is {self._order.min_received}, but the document's slippage gives {minimum}"

    # --- the payload of the route

    def _of_pools(self, result: RouteResult, route: RouterRouteParam) -> Iterator[str]:
        market = self._market.open_market()
        if market is None:
            yield from self._of_shares(result)
            return
        pools = pools_for(result, market)
        missing = [key for key in result.pool_keys if key not in pools]
        if missing:
            yield f"the pool {missing[0]} of the route is unknown"
            return
        for segment in result.segments:
            for hop in segment.hops:
                for swap in hop:
                    expected = result_swap(
                        Swap(swap.pool_key, swap.token_in, swap.token_out, swap.share),
                        self._network,
                        pools[swap.pool_key],
                    )
                    if not {swap.token_in, swap.token_out} <= {*pools[swap.pool_key].tokens}:
                        yield f"the pool {swap.pool_key} does not trade the tokens in its route"
                    if _in_lower_case(expected) != _in_lower_case(swap):
                        yield f"the pool {swap.pool_key} differs from its description in the route"
        try:
            yield from self._of_rebuilt(result, route, market)
        except InvalidInput as error:
            yield f"the document's route cannot be executed: {error.message}"

    def _of_rebuilt(self, result: RouteResult, route: RouterRouteParam, market: MarketState) -> Iterator[str]:
        """Rebuild the payload of the route, and compare its calldata. `GivenTransaction` has it in lower case."""
        if self._call.permit is not None:  # its signature is not in the route
            return
        if self._call.dialect in INTERFACE_DIALECTS:
            if not self._is_call_of(result, route, market):
                yield "the swaps of the calldata and the route differ in tokens, shares or pools"
            return
        payload, network = self._payload, self._network
        if self._call.wraps:
            if build_wrap(route).calldata != payload.calldata:
                yield "the calldata and the route wrap or unwrap differently"
            return
        router = payload.to
        if self._call.dialect == SETTLER and self._call.router:
            router = self._call.router
        steps = planned_steps(result.route, result.input_amount, execution_of(network))
        pools = pools_for(result, market)
        swap = ReplayedSwap(route, steps, pools, result.integrator, self._order.deadline_s)
        rebuilt = router_dialect(network).build_payload(swap, router or network.router or "")
        if rebuilt.calldata.lower() != payload.calldata:
            yield "the calldata differs from the route in shares, pools, amounts or data"

    def _is_call_of(self, result: RouteResult, route: RouterRouteParam, market: MarketState) -> bool:
        """Return whether the route gives this calldata under one rate variant, in any form of extra data."""
        actual = self._actual_call(RouterCall(route, ()))
        if actual is None:
            return False
        networks = [self._network]
        if has_variants(self._network):
            networks += [self._network._replace(router_variant=variant) for variant in VARIANTS]
        accepted: dict[RateVariant, list[set[RouterSwapParam]]] = {}
        for network in networks:
            swaps = _call_swaps(network, result, route, pools_for(result, market))
            if swaps is None or len(swaps) != len(actual.swaps):
                continue
            sets = accepted.setdefault(network.router_variant.rate, [set() for _ in actual.swaps])
            for each, swap in zip(sets, swaps, strict=True):
                each.add(swap)
        return any(
            all(swap in each for each, swap in zip(sets, actual.swaps, strict=True)) for sets in accepted.values()
        )

    def _of_shares(self, result: RouteResult) -> Iterator[str]:
        """Compare rates without knowing the pools, based on the description of the call in the interface."""
        actual = self._actual_call(RouterCall(_route_of(self._order, result.output_amount), ()))
        if actual is None:
            return
        found = [(swap.token_in, swap.token_out, swap.rate) for swap in actual.swaps]
        for rate in RateVariant:
            network = self._network._replace(router_variant=self._network.router_variant._replace(rate=rate))
            steps = planned_steps(result.route, result.input_amount, execution_of(network))
            to_wrapped = network.to_wrapped
            if [(to_wrapped(step.token_in), to_wrapped(step.token_out), step.rate) for step in steps] == found:
                return
        yield "the swaps of the calldata and the route differ in tokens or shares"


def _call_swaps(
    network: Network, result: RouteResult, route: RouterRouteParam, pools: Mapping[str, Pool]
) -> tuple[RouterSwapParam, ...] | None:
    """Return the swaps in the call of a route, or None if this variant of the router cannot encode them."""
    steps = planned_steps(result.route, result.input_amount, execution_of(network))
    try:
        return interface_dialect(network).build_call(route, steps, pools, result.integrator).swaps
    except SwapcliError:
        return None


def _in_lower_case(swap: ResultSwap) -> ResultSwap:
    """Return a swap with the addresses and IDs in its extra data in lower case."""
    return swap._replace(
        extra={key: value.lower() if isinstance(value, str) else value for key, value in swap.extra.items()}
    )


def _route_of(order: DecodedOrder, amount_out: int) -> RouterRouteParam:
    """Return the route of a call from its calldata."""
    return RouterRouteParam(
        order.token_in,
        order.token_out,
        order.amount_in,
        amount_out,
        order.min_received,
        order.recipient,
        _swap_type(order),
    )


def _swap_type(order: DecodedOrder) -> SwapType:
    if order.is_native_in:
        return SwapType.NATIVE_TO_TOKEN
    return SwapType.TOKEN_TO_NATIVE if order.is_native_out else SwapType.TOKEN_TO_TOKEN


def _slippage_ppm(value: object) -> int:
    """Return a slippage given in percent as parts per million. Raises `InvalidInput`."""
    text = value.text if isinstance(value, WrittenFloat) else str(value)
    try:
        percent = Decimal(text)
    except ArithmeticError:
        percent = Decimal(-1)
    if not 0 <= percent <= 100:
        raise InvalidInput("slippage: expected a percentage", details={"field": "slippage"})
    return int(percent * _PPM_PER_PERCENT)


def _nested(document: Mapping[str, object], *path: str) -> object | None:
    found: object = document
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _shown(value: object) -> object:
    return f"0x{value.hex()}" if isinstance(value, bytes) else value
