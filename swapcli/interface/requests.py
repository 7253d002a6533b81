"""Parse API requests from a query or a body.

A request is read in three steps, each in one place: `faces/service/request_io.py` reads the bytes, `EndpointRequest`
decodes them into pairs or JSON, and this module knows the parameters of each request and reads them by name. Each body
is read once. The endpoint decides what a request may contain on a network, and with which API key.

Queries are decoded pairs, whose names `EndpointRequest` checks. Errors are `InvalidInput` with the parameter's name in
the API in `details["field"]`, and the published message if there is one; fee and surplus together are an
`IntegratorError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from swapcli.core.encoding.strict_json import WrittenFloat
from swapcli.core.errors import (
    InvalidAddress,
    InvalidAmount,
    InvalidDeadline,
    InvalidInput,
    InvalidOption,
    InvalidRoute,
    InvalidSlippage,
    NoRoute,
    SameToken,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import DIALECTS, Kind, Network, dialect_names
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import DEFAULT_DEADLINE_S, DEFAULT_SLIPPAGE_PPM, SwapTerms
from swapcli.core.networks.address import is_native, parse_address
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import (
    MAX_AMOUNT,
    Fields,
    invalid_field,
    parse_felts,
    require_decimal_string,
    require_token_holder,
)
from swapcli.interface.integrators import ADDRESS as INTEGRATOR_ADDRESS
from swapcli.interface.integrators import FEE, SURPLUS, check_integrator_shares
from swapcli.interface.interface_by_network import kind_variant, network_variant
from swapcli.interface.quote_parameters import SENT, QuoteParameter
from swapcli.interface.route import parse_posted_result
from swapcli.interface.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, SlippageRange, parse_slippage_ppm
from swapcli.interface.timestamps import find_unit
from swapcli.interface.value_types import ADDRESS, FLAG, TEXTS

LISTED, EXTENDED = PROTOCOL_LISTS = "listed", "extended"
"""The protocols that a route may use: those in the interface's list, or others as well."""
MAX_ENTRIES = 256  # a bound against hostile input; chosen
MAX_ENTRY_CHARACTERS = 80  # a bound against hostile input; chosen
MAX_DEADLINE_S = 2**63 - 1  # a signed 64-bit integer

_DIGITS = re.compile(r"[0-9]{1,78}")
_BPS = re.compile(r"[0-9]{1,9}")
_ARRAY_MARK = re.compile(r"\[[0-9]{0,3}\]")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}

Query = Sequence[tuple[str, str]]


class OrderRequest(NamedTuple):
    """An order, as stated in a request.

    Addresses are canonical, the native token is the zero address. `amount` is in base units: of `token_out` if
    `reverse` is set, otherwise of `token_in`. `excluded` and `only` are ids or names of protocols as the request spells
    them. The integrator's address and shares may each be absent; the API key decides whether they are allowed.
    Extensions of the API are `details`, which adds the figures of the quote to its route; `extended`, which adds
    protocols that the API does not list; `only`, which excludes all other protocols; and in V2 `dialect`, the router
    dialect that the client expects. `values` has the fields of `Order` and `QuoteRequest` that quote parameters set to
    values other than the defaults. `advice` adds the advised slippage to the details.
    """

    amount: int
    token_in: str
    token_out: str
    reverse: bool = False
    excluded: tuple[str, ...] = ()
    slippage_ppm: int = DEFAULT_SLIPPAGE_PPM
    recipient: str | None = None
    integrator_address: str | None = None
    fee_bps: int = 0
    surplus_bps: int = 0
    dialect: str | None = None
    details: bool = False
    extended: bool = False
    only: tuple[str, ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    advice: bool = False

    @property
    def has_integrator(self) -> bool:
        """Whether the request has any integrator parameter."""
        return bool(self.integrator_address or self.fee_bps or self.surplus_bps)


class PostedRoute(NamedTuple):
    """A route sent back in a request, and the terms of the call to build from it, which include a recipient.

    `dialect` and `details` mean the same as in `OrderRequest`.
    """

    result: RouteResult
    terms: SwapTerms
    dialect: str | None = None
    details: bool = False


class DecodeRequest(NamedTuple):
    """A transaction to decode: `calldata` in hex, or on Starknet the `felts` of a call. Addresses are canonical.

    `value` is in base units of the native token, None if unknown. `recipient` is the intended recipient, by default the
    sender.
    """

    to: str | None
    value: int | None
    calldata: str = ""
    felts: tuple[int, ...] = ()
    sender: str | None = None
    recipient: str | None = None


class OrderParameters(NamedTuple):
    """The parameters that an endpoint accepts with an order.

    If `slippage` is None, neither slippage nor a recipient is accepted; with `needs_terms`, both are required.
    """

    api_version: ApiVersion
    slippage: SlippageRange | None
    needs_terms: bool


ROUTE_V1 = OrderParameters(ApiVersion.V1, V1_SLIPPAGE, needs_terms=False)
ROUTE_V2 = OrderParameters(ApiVersion.V2, None, needs_terms=False)
PAYLOAD_V1 = OrderParameters(ApiVersion.V1, V1_SLIPPAGE, needs_terms=True)
"""V1 calldata, `routeAndCalldata` without a version, and GET /starknet/calldata."""
PAYLOAD_V2 = OrderParameters(ApiVersion.V2, V2_SLIPPAGE, needs_terms=True)
PAYLOAD_HYPEREVM = OrderParameters(ApiVersion.V1, SIGNER_SLIPPAGE, needs_terms=True)
"""GET /hyperevm/calldata."""


class BodyParameters(NamedTuple):
    """The parameters that an endpoint accepts with a route."""

    slippage: SlippageRange
    has_deadline: bool = False
    has_dialect: bool = False


EXECUTE_V1 = BodyParameters(V1_SLIPPAGE, has_deadline=True)
CALLDATA_V1 = BodyParameters(V1_SLIPPAGE)
CALLDATA_V2 = BodyParameters(V2_SLIPPAGE, has_dialect=True)


class RequestParameters(NamedTuple):
    """The parameters in a query (strings, or lists for repeated names) or in a body (any JSON values)."""

    values: Mapping[str, object]
    kind: Kind
    is_body: bool = False

    @classmethod
    def from_query(cls, query: Sequence[tuple[str, str]], kind: Kind) -> RequestParameters:
        """Collect the parameters of a decoded query. `name[]` and `name[0]` are entries of a list called `name`."""
        values: dict[str, object] = {}
        for raw_name, value in query:
            name = _ARRAY_MARK.sub("", raw_name)
            previous = values.get(name)
            if previous is None and name == raw_name:
                values[name] = value
            elif isinstance(previous, list):
                previous.append(value)
            else:
                values[name] = [value] if previous is None else [previous, value]
        return cls(values, kind)

    @classmethod
    def from_body(cls, document: object, kind: Kind) -> RequestParameters:
        """Return the fields of a JSON object. Raises `InvalidInput` for anything else."""
        return cls(Fields(document).values, kind, is_body=True)

    def has(self, name: str) -> bool:
        """Return whether there is a value other than null."""
        return self.values.get(name) is not None

    def amount(self, name: str) -> int:
        """Return an amount in base units. Raises `InvalidAmount`."""
        if not self.has(name):
            raise InvalidAmount(f"{name} should not be null or undefined", details={"field": name})
        return parse_amount(name, self.values[name])

    def address(self, name: str) -> str:
        """Return a canonical address. Raises `InvalidAddress`."""
        return parse_address_parameter(name, self.values.get(name), self.kind)

    def token(self, name: str) -> str:
        """Return the canonical address of a token; the zero address means the native token. Raises `InvalidAddress`."""
        return parse_token_parameter(name, self.values.get(name), self.kind)

    def recipient(self, name: str) -> str:
        """Return the canonical address of a recipient, not the native token's. Raises `InvalidAddress`."""
        return require_token_holder(name, self.address(name), self.kind)

    def flag(self, name: str) -> bool:
        """Return a boolean (a word in a query, JSON in a body); False if it is missing. Raises `InvalidOption`."""
        value = self.values.get(name)
        flag = value if self.is_body else _FLAGS.get(value.lower()) if isinstance(value, str) else None
        if value is None:
            return False
        if not isinstance(flag, bool):
            raise InvalidOption(f"{name} must be true or false", details={"field": name})
        return flag

    def text(self, name: str) -> str | None:
        """Return a string unchanged; None if it is missing. Raises `InvalidInput` for other values."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"{name} must be given once", details={"field": name})
        return value

    def choice(self, name: str, values: Sequence[str], default: str) -> str:
        """Return one of `values`, or the default if it is missing. Raises `InvalidOption`."""
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or value not in values:
            raise InvalidOption(f"{name} must be one of {', '.join(values)}", details={"field": name})
        return value

    def quote_value(self, parameter: QuoteParameter) -> Any:
        """Return the value of a quote parameter; None if it is missing. Raises `InvalidOption`."""
        name, value = parameter.query, self.values.get(parameter.query)
        if value is None or parameter.value_type is FLAG:
            return None if value is None else self.flag(name)
        if parameter.value_type is TEXTS:
            return self.string_list(name)
        if parameter.value_type is ADDRESS:
            return self.address(name)
        try:
            return parameter.value_type.parse(value.text if isinstance(value, WrittenFloat) else value)
        except ValueError:
            problem = f"{name} must be {parameter.value_type.expected}"
            raise InvalidOption(problem, details={"field": name}) from None

    def slippage_ppm(self, name: str, accepted: SlippageRange, *, required: bool) -> int:
        """Return a slippage within the `accepted` range, or the default if the slippage is optional and missing. Raises
        `InvalidSlippage`."""
        if not required and not self.has(name):
            return DEFAULT_SLIPPAGE_PPM
        try:
            return accepted.check(_percentage(name, self.values.get(name)))
        except InvalidSlippage as error:
            error.details["field"] = name
            raise

    def deadline_s(self, name: str, now_s: int, default_s: int) -> int:
        """Return a deadline in Unix seconds, later than `now_s`; if it is missing, the deadline is `default_s` seconds
        after `now_s`. Raises `InvalidDeadline`."""
        value = self.values.get(name)
        if value is None:
            return now_s + default_s
        if isinstance(value, int) and (found := find_unit(value, now_s)):
            unit, seconds = found
            raise InvalidDeadline(
                f"{name} looks like {unit}: it must be a future time in whole Unix seconds",
                hint=f"{value} in seconds is {seconds}",
                details={"field": name, "now": now_s},
            )
        if not isinstance(value, int) or isinstance(value, bool) or not now_s < value <= MAX_DEADLINE_S:
            raise InvalidDeadline(
                f"{name} must be a future time in whole Unix seconds", details={"field": name, "now": now_s}
            )
        return value

    def bps(self, name: str) -> int:
        """Return basis points; 0 if missing or empty. Raises `InvalidOption`."""
        value = self.values.get(name) or "0"
        if not isinstance(value, str) or not _BPS.fullmatch(value):
            raise InvalidOption(f"{name} must be a whole number of basis points", details={"field": name})
        return int(value)

    def string_list(self, name: str, *, may_repeat: bool = True) -> tuple[str, ...]:
        """Return the entries of a list: comma-separated, a JSON array, or repeated names if `may_repeat`."""
        value = self.values.get(name)
        if isinstance(value, list) and not (may_repeat or self.is_body):
            raise InvalidInput(f"{name} must be given once", details={"field": name})
        return _entries(name, value)


def parse_order(query: Query, network: Network, parameters: OrderParameters) -> OrderRequest:
    """Parse the order in a query."""
    return _read_order(RequestParameters.from_query(query, network.kind), network, parameters)


def parse_text(name: str, query: Query, network: Network) -> str | None:
    """Parse a parameter that an endpoint's query has besides the order; None if it is missing."""
    return RequestParameters.from_query(query, network.kind).text(name)


def parse_protocol_list(query: Query, network: Network) -> str:
    """Parse which protocols a query concerns, one of `PROTOCOL_LISTS`. Raises `InvalidOption`."""
    return _read_protocol_list(RequestParameters.from_query(query, network.kind))


def _read_protocol_list(parameters: RequestParameters) -> str:
    return parameters.choice("protocols", PROTOCOL_LISTS, default=LISTED)


def _read_only_protocols(parameters: RequestParameters) -> tuple[str, ...]:
    """Return the only protocols of an order; none allows all, so a parameter without a name is an error."""
    name = "onlyProtocols"
    only = parameters.string_list(name)
    if not only and parameters.values.get(name) not in (None, []):
        raise InvalidOption(f"{name} must name at least one protocol", details={"field": name})
    return only


def parse_calldata_body(document: object, network: Network, now_s: int) -> OrderRequest | PostedRoute:
    """Parse the body of V1 calldata: an order, or a route if it has the field `route`."""
    parameters = RequestParameters.from_body(document, network.kind)
    if parameters.has("route"):
        return _read_execute(parameters, network, CALLDATA_V1, now_s)
    return _read_order(parameters, network, PAYLOAD_V1)


def parse_execute_body(document: object, network: Network, accepted: BodyParameters, now_s: int) -> PostedRoute:
    """Parse the body of V1 execute or V2 calldata. The default deadline is 20 minutes after `now_s`."""
    return _read_execute(RequestParameters.from_body(document, network.kind), network, accepted, now_s)


def parse_signer_body(document: object, network: Network) -> PostedRoute:
    """Parse the body of GET /citrea/calldata. The signer is also the recipient.

    Raises `InvalidAddress` with the field `signer` for an invalid signer.
    """
    parameters = RequestParameters.from_body(document, network.kind)
    terms = SwapTerms(
        slippage_ppm=parameters.slippage_ppm("slippage", SIGNER_SLIPPAGE, required=True),
        recipient=parameters.recipient("signer"),
    )
    return PostedRoute(_read_route(parameters, "route_response", network), terms)


def parse_decode_body(document: object, network: Network) -> DecodeRequest:
    """Parse the body of POST /{network}/decode. The calldata is only checked to be text."""
    parameters = RequestParameters.from_body(document, network.kind)
    calldata = parameters.text("calldata")
    if calldata is None:
        raise invalid_field("calldata", "is missing")
    return _read_parties(parameters, DecodeRequest(parameters.address("to"), None, calldata))


def parse_decode_felts_body(document: object, network: Network) -> DecodeRequest:
    """Parse the body of POST /starknet/decode."""
    parameters = RequestParameters.from_body(document, network.kind)
    to = parameters.address("to") if parameters.has("to") else None
    felts = parse_felts(parameters.values.get("calldata"), "calldata")
    return _read_parties(parameters, DecodeRequest(to, None, felts=felts))


def _read_parties(parameters: RequestParameters, request: DecodeRequest) -> DecodeRequest:
    """Return the request with its value, sender and recipient, each of which may be missing."""
    both = parameters.has("sender") and parameters.has("from")
    sender, other, recipient = (
        parameters.recipient(name) if parameters.has(name) else None for name in ("sender", "from", "destination")
    )
    if both and sender != other:
        raise invalid_field("from", "is not the sender in the field sender")
    value = require_decimal_string(parameters.values["value"], "value") if parameters.has("value") else None
    return request._replace(value=value, sender=sender or other, recipient=recipient)


def _read_order(parameters: RequestParameters, network: Network, accepted: OrderParameters) -> OrderRequest:
    amount = parameters.amount("amount")
    token_in, token_out = parameters.token("tokenInAddress"), parameters.token("tokenOutAddress")
    check_distinct(token_in, token_out, "tokenOutAddress")
    options = read_order_options(parameters, network, accepted)
    return options._replace(amount=amount, token_in=token_in, token_out=token_out)


def read_order_options(parameters: RequestParameters, network: Network, accepted: OrderParameters) -> OrderRequest:
    """Read the parameters of an order besides its amount and tokens, which are left empty."""
    is_v2 = accepted.api_version is ApiVersion.V2
    reads_recipient = accepted.needs_terms or (accepted.slippage and parameters.has("destination"))
    options = OrderRequest(
        amount=0,
        token_in="",
        token_out="",
        reverse=_read_reverse(parameters, network, accepted),
        values=_read_values(parameters),
        excluded=parameters.string_list("excludeProtocols", may_repeat=not is_v2),
        slippage_ppm=_read_slippage(parameters, accepted),
        recipient=_read_recipient(parameters, accepted) if reads_recipient else None,
        details=parameters.flag("details"),
        extended=_read_protocol_list(parameters) == EXTENDED,
        only=_read_only_protocols(parameters),
        advice=not parameters.is_body and parameters.flag("advice"),
    )
    return _read_integrator(parameters, options)._replace(dialect=_read_dialect(parameters)) if is_v2 else options


def _read_values(parameters: RequestParameters) -> tuple[tuple[str, Any], ...]:
    given = ((each, parameters.quote_value(each)) for each in SENT)
    return tuple((each.field, value) for each, value in given if value not in (None, each.served))


def _read_dialect(parameters: RequestParameters) -> str | None:
    value = parameters.values.get("dialect")
    known = DIALECTS if value is None or value in DIALECTS else dialect_names()
    return parameters.choice("dialect", known, default="") or None


def _read_slippage(parameters: RequestParameters, accepted: OrderParameters) -> int:
    if accepted.slippage is None:
        return DEFAULT_SLIPPAGE_PPM
    return parameters.slippage_ppm("slippage", accepted.slippage, required=accepted.needs_terms)


def _read_recipient(parameters: RequestParameters, accepted: OrderParameters) -> str:
    return parameters.recipient("destination") if accepted.needs_terms else parameters.address("destination")


def _read_reverse(parameters: RequestParameters, network: Network, accepted: OrderParameters) -> bool:
    """Read `reverse`. Raises `InvalidOption` if it is not supported, since ignoring it would quote a different
    order."""
    reverse = parameters.flag("reverse")
    if reverse and accepted.api_version is ApiVersion.V2:
        raise InvalidOption("reverse is reserved and not supported", details={"field": "reverse"})
    if reverse and not network_variant(network.name).reverse:
        raise InvalidOption(f"reverse is not supported on {network.name}", details={"field": "reverse"})
    return reverse


def _read_integrator(parameters: RequestParameters, order: OrderRequest) -> OrderRequest:
    fee_bps, surplus_bps = parameters.bps(FEE), parameters.bps(SURPLUS)
    check_integrator_shares(fee_bps, surplus_bps)
    address = parameters.recipient(INTEGRATOR_ADDRESS) if parameters.values.get(INTEGRATOR_ADDRESS) else None
    return order._replace(integrator_address=address, fee_bps=fee_bps, surplus_bps=surplus_bps)


def _read_execute(parameters: RequestParameters, network: Network, accepted: BodyParameters, now_s: int) -> PostedRoute:
    deadline_s = parameters.deadline_s("deadline", now_s, DEFAULT_DEADLINE_S) if accepted.has_deadline else None
    terms = SwapTerms(
        slippage_ppm=parameters.slippage_ppm("slippage", accepted.slippage, required=True),
        recipient=parameters.recipient("destination"),
        deadline_s=deadline_s,
    )
    return PostedRoute(
        _read_route(parameters, "route", network),
        terms,
        dialect=_read_dialect(parameters) if accepted.has_dialect else None,
        details=parameters.flag("details"),
    )


def _read_route(parameters: RequestParameters, name: str, network: Network) -> RouteResult:
    try:
        return parse_posted_result(parameters.values.get(name), network, path=name)
    except InvalidInput as error:
        raise InvalidRoute(error.message, hint=error.hint, details={"field": name} | error.details) from None
    except NoRoute:
        raise InvalidRoute(f"{name} must be a route that was found", details={"field": name}) from None


def check_distinct(token_in: str, token_out: str, name: str) -> None:
    """Raise `SameToken` with the field `name` if the two tokens are the same."""
    if token_in == token_out:
        error = SameToken()
        error.details["field"] = name
        raise error


def parse_amount(name: str, value: object) -> int:
    """Parse an amount from a decimal integer string. Raises `InvalidAmount` with the field."""
    if not isinstance(value, str) or not _DIGITS.fullmatch(value) or not 1 <= int(value) <= MAX_AMOUNT:
        problem = f"{name} must be a decimal integer string from 1 to 2^256 - 1"
        raise InvalidAmount(problem, hint=_amount_hint(name, value), details={"field": name})
    return int(value)


def _amount_hint(name: str, value: object) -> str:
    if isinstance(value, str) and value.startswith("-"):
        return "write amounts without a sign"
    if isinstance(value, str) and value and not value.strip("0"):
        return "the minimum is one base unit of the token"
    return _presence_hint(name, value) or "write it in base units"


def _presence_hint(name: str, value: object) -> str | None:
    if value is None:
        return f"{name} is missing"
    return f"give {name} once" if isinstance(value, list) else None


def parse_address_parameter(name: str, value: object, kind: Kind) -> str:
    """Parse an address into its canonical form. Raises `InvalidAddress` with the field."""
    problem = f"{name} must be {kind_variant(kind).address_noun}"
    if not isinstance(value, str):
        raise InvalidAddress(problem, hint=_presence_hint(name, value), details={"field": name})
    try:
        return parse_address(value, kind)
    except InvalidAddress as error:
        wrong = ", but its checksum is wrong" if error.has_wrong_checksum else ""
        hint = f"{error.message}; {error.hint}" if error.hint else error.message
        raise InvalidAddress(problem + wrong, hint=hint, details={**error.details, "field": name}) from None


def parse_token_parameter(name: str, value: object, kind: Kind) -> str:
    """Parse the canonical address of a token; the zero address means the native token. Raises `InvalidAddress`."""
    native = isinstance(value, str) and is_native(value, kind)
    return ZERO_ADDRESS if native else parse_address_parameter(name, value, kind)


def _percentage(name: str, value: object) -> int:
    text = _number_as_written(value)
    try:
        return parse_slippage_ppm("" if text is None else text)
    except InvalidSlippage as error:
        raise InvalidSlippage(
            f"{name} must be a number conforming to the specified constraints",
            hint=None if text is None else f"{error.message}; {error.hint}",
        ) from None


def _number_as_written(value: object) -> str | None:
    if isinstance(value, WrittenFloat):
        return value.text
    if isinstance(value, str):
        return value
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _entries(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        array = _json_array(value)
        value = value.split(",") if array is None else array
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidInput(f"{name} must be an array", details={"field": name})
    entries = tuple(_entry(name, entry) for entry in value)
    flat = tuple(part.strip() for entry in entries for part in entry.split(","))
    parts = tuple(filter(None, flat))
    if len(parts) > MAX_ENTRIES or any(len(part) > MAX_ENTRY_CHARACTERS for part in parts):
        raise InvalidInput(f"{name} has too many or too long entries", details={"field": name})
    return parts


def _json_array(text: str) -> list[object] | None:
    """Parse a JSON array of plain values; return None for any other text."""
    if not text.startswith("["):
        return None
    try:
        array = json.loads(text) if text.count("[") == 1 and "{" not in text else None
    except ValueError:
        return None
    return array if isinstance(array, list) else None


def _entry(name: str, entry: object) -> str:
    if not isinstance(entry, str | int) or isinstance(entry, bool):
        raise InvalidInput(f"each entry of {name} must be a string", details={"field": name})
    return str(entry)
