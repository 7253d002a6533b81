"""Describe the parameters of an endpoint: which ones exist on a network, and their JSON schemas."""

from __future__ import annotations

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.swap_terms import DEFAULT_SLIPPAGE_PPM, MAX_FEE_BPS, MAX_SURPLUS_BPS, PPM_PER_PERCENT
from swapcli.core.records import NamedTuple
from swapcli.interface import value_types
from swapcli.interface.interface_by_network import network_variant
from swapcli.interface.json_schemas import ADDRESS, AMOUNT, BOOLEAN, STRINGS, Schema, slippage_schema
from swapcli.interface.quote_parameters import PARAMETERS, SENT, QuoteParameter
from swapcli.interface.requests import LISTED, PROTOCOL_LISTS, ROUTE_V1, OrderParameters
from swapcli.quoting.pictures.picture_width import DEFAULT_WIDTH, MAX_WIDTH, MIN_WIDTH

_DETAILS = (
    "Whether to add the quote's figures, state and warnings, and for a transaction its `Verdict` if a node "
    "responds in time."
)
_ADVICE = "Whether the details include the advised slippage, if the prices are real."
_DIALECT = (
    "The dialect of the network's router; required for transactions without `swap_parameters`, so that no client "
    "sends them to the wrong router."
)


class Parameter(NamedTuple):
    """A query parameter, or a path parameter if `is_path`."""

    name: str
    schema: Schema
    description: str
    is_required: bool = False
    is_path: bool = False


_ONLY_PROTOCOLS = Parameter("onlyProtocols", STRINGS, "Ids or names of the protocols to use, and no others.")


def no_parameters(_network: Network) -> tuple[Parameter, ...]:
    """Return an empty tuple, for an endpoint without parameters."""
    return ()


def describe_order(accepted: OrderParameters, network: Network) -> tuple[Parameter, ...]:
    """Return the parameters of an order, with slippage and recipient if the endpoint accepts them."""
    order = _order_v2(network) if accepted.api_version is ApiVersion.V2 else _order_v1(network)
    details = Parameter("details", {**BOOLEAN, "default": False}, _DETAILS)
    advice = Parameter("advice", {**BOOLEAN, "default": False}, _ADVICE)
    protocols = (_ONLY_PROTOCOLS, *describe_protocol_list(network))
    return (*order, *_sent(network), details, advice, *protocols, *_terms(accepted, network))


def describe_picture(network: Network) -> tuple[Parameter, ...]:
    """Return the parameters of an order and of its picture."""
    schema = {"type": "integer", "minimum": MIN_WIDTH, "maximum": MAX_WIDTH, "default": DEFAULT_WIDTH}
    width = Parameter("width", schema, "Width of the picture in pixels; text has the same size at every width.")
    return (
        *(each for each in describe_order(ROUTE_V1, network) if each.name not in ("details", "advice", "proof")),
        width,
    )


def describe_batch(accepted: OrderParameters, network: Network) -> tuple[Parameter, ...]:
    """Return the parameters of a batch of two or three orders for the same output token."""
    amount, address = (schema["pattern"].strip("^$") for schema in (AMOUNT, ADDRESS[network.kind]))
    return (
        _text("amounts", f"^{amount}(,{amount}){{1,2}}$", "Two or three input amounts, comma-separated."),
        _text("tokenInAddresses", f"^{address}(,{address}){{1,2}}$", "The input token of each amount."),
        _text("tokenOutAddresses", f"^{address}$", "The output token."),
        _excluded_protocols(network),
        _direct(network),
        *(each for each in _sent(network) if each.name != "proof"),
        _ONLY_PROTOCOLS,
        *describe_protocol_list(network),
        *_terms(accepted, network),
    )


def describe_protocol_list(_network: Network) -> tuple[Parameter, ...]:
    """Return the parameter that adds protocols outside the Fibrous API's list."""
    schema = {"type": "string", "enum": list(PROTOCOL_LISTS), "default": LISTED}
    return (Parameter("protocols", schema, "Protocols to use: those in the Fibrous API, or all."),)


def describe_token(network: Network) -> tuple[Parameter, ...]:
    """Return the path parameter of one token."""
    return (Parameter("address", ADDRESS[network.kind], "A token of the network.", is_required=True, is_path=True),)


def _order_v1(network: Network) -> tuple[Parameter, ...]:
    reverse = Parameter("reverse", {**BOOLEAN, "default": False}, "Whether `amount` is the desired output amount.")
    has_reverse = network_variant(network.name).reverse
    return (*_order(network), *((reverse,) if has_reverse else ()), _direct(network), _excluded_protocols(network))


def _order_v2(network: Network) -> tuple[Parameter, ...]:
    excluded = "Comma-separated IDs of protocols to exclude."
    recipient = "Recipient of the integrator's fee or surplus; needs a key."
    return (
        *_order(network),
        Parameter("reverse", {"type": "string", "enum": ["false"], "default": "false"}, "Reserved."),
        _direct(network),
        Parameter("excludeProtocols", {"type": "string", "default": ""}, excluded),
        Parameter("integratorAddress", ADDRESS[network.kind], recipient),
        _bps("integratorFeePercentageBps", MAX_FEE_BPS, "of the output"),
        _bps("integratorSurplusPercentageBps", MAX_SURPLUS_BPS, "of the output above the quote"),
        Parameter("dialect", {"type": "string", "enum": [network.router_dialect]}, _DIALECT),
    )


def _bps(name: str, max_bps: int, base: str) -> Parameter:
    text = (
        f"Basis points {base}; needs a key. A fee cannot be combined with a share of the surplus; 0 counts as absent."
    )
    return Parameter(name, {"type": "integer", "minimum": 0, "maximum": max_bps, "default": 0}, text)


def _order(network: Network) -> tuple[Parameter, ...]:
    is_token = network.kind.traits.native_is_token
    native = "" if is_token else "; the zero address, or the address of forty `e`, is the native token"
    return (
        Parameter("amount", AMOUNT, "Input amount in base units, 1 to 2^256 - 1.", is_required=True),
        Parameter("tokenInAddress", ADDRESS[network.kind], f"The input token{native}.", is_required=True),
        Parameter("tokenOutAddress", ADDRESS[network.kind], f"The output token{native}.", is_required=True),
    )


def _terms(accepted: OrderParameters, network: Network) -> tuple[Parameter, ...]:
    if accepted.slippage is None:
        return ()
    is_required = accepted.needs_terms
    default = {} if is_required else {"default": DEFAULT_SLIPPAGE_PPM / PPM_PER_PERCENT}
    text = (
        "Maximum slippage below the quote, in percent, rounded down to four decimals. The operator's max_slippage only"
        " adds a warning."
    )
    return (
        Parameter("slippage", slippage_schema(accepted.slippage) | default, text, is_required=is_required),
        Parameter("destination", ADDRESS[network.kind], "Recipient of the output.", is_required=is_required),
    )


def _direct(network: Network) -> Parameter:
    """Describe the quote parameter that the published API itself has, at its position there."""
    return _describe_parameter(PARAMETERS["direct"], network)


def _sent(network: Network) -> tuple[Parameter, ...]:
    return tuple(_describe_parameter(each, network) for each in SENT if each.name != "direct")


def _describe_parameter(parameter: QuoteParameter, network: Network) -> Parameter:
    kind = parameter.value_type
    schema = ADDRESS[network.kind] if kind is value_types.ADDRESS else dict(kind.schema)
    default = {} if parameter.served is None else {"default": kind.to_json(parameter.served)}
    return Parameter(parameter.query, schema | default, parameter.description)


def _excluded_protocols(network: Network) -> Parameter:
    by_name = network_variant(network.name).excludes_by_name
    return Parameter("excludeProtocols", STRINGS, f"{'Names' if by_name else 'Ids'} of protocols to exclude.")


def _text(name: str, pattern: str, description: str) -> Parameter:
    return Parameter(name, {"type": "string", "pattern": pattern}, description, is_required=True)
