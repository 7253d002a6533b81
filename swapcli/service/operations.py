"""What can be asked of each network, as data: the one table that the service's description is made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from swapcli.api.network_variants import FaultShape, NetworkCalldata, NetworkVariant, network_variant
from swapcli.api.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, SlippageRange
from swapcli.model.network import Kind, Network
from swapcli.model.swap_terms import DEFAULT_SLIPPAGE_PPM, MAX_FEE_BPS, MAX_SURPLUS_BPS, PPM_PER_PERCENT
from swapcli.service.json_schemas import ADDRESS, AMOUNT, BOOLEAN, STRINGS, Schema, slippage_schema

V1, V2, STARKNET, DISCOVERY, SERVICE = "First generation", "Second generation", "Starknet", "Discovery", "Service"

_DEFAULT_SLIPPAGE = DEFAULT_SLIPPAGE_PPM / PPM_PER_PERCENT
_REPLAYED = (
    "The route is worked through anew on the present state: what is encoded comes from that, and a route that now gives"
    " less than its slippage allows is refused."
)
_CHECKED = (
    " Where a node of the network is set, so is one whose `recipient`, as the wallet that sells, holds too little."
)
_NOT_FOUND, _NOT_FOUND_V2 = "RouteNotFound", "RouteNotFoundV2"
_STATUS, _BRIEF, _DETAILED = "StatusFault", "BriefFault", "DetailedFault"
_FAULTS = {FaultShape.STATUS: _STATUS, FaultShape.BRIEF: _BRIEF, FaultShape.DETAILED: _DETAILED}


class Parameter(NamedTuple):
    """A parameter of a query, or of the path where `is_path`."""

    name: str
    schema: Schema
    description: str
    is_required: bool = False
    is_path: bool = False


class Operation(NamedTuple):
    """Something that can be request.

    `path` follows that of the network, if there is one. `body` and `answers` are names of types in `wire.shapes`, any
    one of them; `refusals` those of a 400.
    """

    method: str
    path: str
    id: str
    tag: str
    summary: str
    answers: tuple[str, ...]
    parameters: tuple[Parameter, ...] = ()
    body: tuple[str, ...] = ()
    refusals: tuple[str, ...] = (_STATUS,)
    description: str = ""
    may_be_unhealthy: bool = False

    @property
    def is_quote(self) -> bool:
        """Whether it answers with a route or a payload."""
        return self.tag in (V1, V2, STARKNET) and not self.may_be_unhealthy


def operations_of(network: Network) -> Iterator[Operation]:
    """All that can be asked of one network."""
    yield from _first_generation(network)
    if network.has_v2 and network.kind is Kind.EVM:
        yield from _second_generation(network)
    if network.kind is Kind.STARKNET:
        yield from _batches(network)
    yield from _listings(network)


def _first_generation(network: Network) -> Iterator[Operation]:
    dialect, has_felts = network_variant(network.name), network.kind is Kind.STARKNET
    order, execute_fault = _order_v1(network), _FAULTS[dialect.execute_fault]
    yield Operation(
        "get",
        "/route",
        "route",
        V1,
        "Find the best route",
        ("RouteV1", _NOT_FOUND),
        (*order, *_terms(network, V1_SLIPPAGE, is_required=False)),
        description="Where there is no route, `success` is false and `errorMessage` says why.",
    )
    yield Operation(
        "post",
        "/execute",
        "execute",
        V1,
        "Make a found route into a call of the router",
        (("StarknetExecute" if has_felts else "Execute") if dialect.execute_has_transaction else "Calldata",),
        body=("ExecuteRequest",),
        refusals=(execute_fault,),
        description=_REPLAYED + _CHECKED if dialect.execute_checks_balance else _REPLAYED,
    )
    calldata = ("StarknetCalldataV1", "Felts") if has_felts else ("CalldataV1", "Execute")
    yield Operation(
        "post",
        "/calldata",
        "calldata",
        V1,
        "Find a route and make it into a transaction",
        (*calldata, _NOT_FOUND),
        body=("CalldataRequest", "ExecuteRequest"),
        description="With a field `route`, the route that it holds is made into a call.",
    )
    yield from _own_calldata(network, dialect)
    if not has_felts:
        yield Operation(
            "get",
            "/routeAndCalldata",
            "routeAndCalldata",
            V1,
            "Find a route and its call",
            ("RouteAndCalldataV1", _NOT_FOUND),
            (*order, *_terms(network, V1_SLIPPAGE, is_required=True)),
            description="For clients that ask without a version.",
        )
    yield Operation("get", "/healthcheck", "health", V1, "Is quoting possible?", ("HealthV1",), may_be_unhealthy=True)


def _own_calldata(network: Network, dialect: NetworkVariant) -> Iterator[Operation]:
    """`GET /{network}/calldata`, which each network has in a form of its own or not at all."""
    own = dialect.network_calldata
    if own is NetworkCalldata.SIGNER:
        yield Operation(
            "get",
            "/calldata",
            "ownCalldata",
            V1,
            "Make a found route into encoded calldata",
            ("CitreaCalldata",),
            body=("SignerRequest",),
            refusals=(_DETAILED,),
            description="A GET that carries a JSON body. HTTP gives such a body no meaning of its own, and some "
            "proxies and clients drop it; `POST /{network}/execute` says the same without that risk.",
        )
    if own in (NetworkCalldata.ORDER, NetworkCalldata.FELTS):
        accepted = SIGNER_SLIPPAGE if own is NetworkCalldata.ORDER else V1_SLIPPAGE
        found = (
            ("HyperevmCalldata", "HyperevmNoRoute")
            if own is NetworkCalldata.ORDER
            else ("StarknetCalldata", _NOT_FOUND)
        )
        yield Operation(
            "get",
            "/calldata",
            "ownCalldata",
            V1,
            "Find a route and its call",
            found,
            (*_order_v1(network), *_terms(network, accepted, is_required=True)),
            refusals=(_DETAILED if own is NetworkCalldata.ORDER else _STATUS,),
        )


def _second_generation(network: Network) -> Iterator[Operation]:
    order = _order_v2(network)
    yield Operation(
        "get",
        "/v2/route",
        "routeV2",
        V2,
        "Find the best route",
        ("RouteV2", _NOT_FOUND_V2),
        order,
        description="`inputToken` and `outputToken` carry the wrapped native token in place of the native one; "
        "`routeSwapType` says what they stand for: 0 sells the native token, 1 buys it, 2 does neither.",
    )
    yield Operation(
        "post",
        "/v2/calldata",
        "calldataV2",
        V2,
        "Make a found route into a call of the router",
        ("CalldataV2",),
        body=("CalldataRequestV2",),
        refusals=("DetailedFaultV2",),
        description="The whole answer of V2 route goes in; it is good for a minute after its `meta.timestamp`.",
    )
    yield Operation(
        "get",
        "/v2/routeAndCalldata",
        "routeAndCalldataV2",
        V2,
        "Find a route and its call",
        ("RouteAndCalldataV2", _NOT_FOUND_V2),
        (*order, *_terms(network, V2_SLIPPAGE, is_required=True)),
    )
    health = "Is quoting possible?"
    yield Operation("get", "/v2/healthcheck", "healthV2", V2, health, ("HealthV2",), may_be_unhealthy=True)


def _batches(network: Network) -> Iterator[Operation]:
    amount, address = (schema["pattern"].strip("^$") for schema in (AMOUNT, ADDRESS[network.kind]))
    order = (
        _text("amounts", f"^{amount}(,{amount}){{1,2}}$", "Two or three amounts to sell, with commas between them."),
        _text("tokenInAddresses", f"^{address}(,{address}){{1,2}}$", "The token that each amount is of."),
        _text("tokenOutAddresses", f"^{address}$", "The token to buy."),
        _excluded(network),
        _direct(),
    )
    yield Operation(
        "get",
        "/routeBatch",
        "routeBatch",
        STARKNET,
        "Find routes for two or three orders",
        ("RouteV1[]", _NOT_FOUND),
        (*order, *_terms(network, V1_SLIPPAGE, is_required=False)),
    )
    yield Operation(
        "get",
        "/executeBatch",
        "executeBatch",
        STARKNET,
        "Find routes and the felts of their calls",
        ("Felts[]", _NOT_FOUND),
        (*order, *_terms(network, V1_SLIPPAGE, is_required=True)),
    )


def _listings(network: Network) -> Iterator[Operation]:
    token = Parameter("address", ADDRESS[network.kind], "A token of the network.", is_required=True, is_path=True)
    yield Operation("get", "/tokens", "tokens", DISCOVERY, "The tokens of a network", ("ListedToken[]",))
    yield Operation(
        "get", "/tokens/{address}", "token", DISCOVERY, "One token of a network", ("ListedToken",), (token,)
    )
    yield Operation("get", "/protocols", "protocols", DISCOVERY, "The protocols of a network", ("ListedProtocol[]",))


GLOBAL: Mapping[str, Operation] = MappingProxyType(
    {
        operation.path: operation
        for operation in (
            Operation(
                "get", "/supported-chains", "supportedChains", DISCOVERY, "The networks served", ("SupportedChain[]",)
            ),
        )
    }
)
"""What is asked of the service as a whole and answered in JSON."""


def _order_v1(network: Network) -> tuple[Parameter, ...]:
    reverse = Parameter("reverse", {**BOOLEAN, "default": False}, "Is `amount` the output that is wanted?")
    has_reverse = network_variant(network.name).reverse
    return (*_order(network), *((reverse,) if has_reverse else ()), _direct(), _excluded(network))


def _order_v2(network: Network) -> tuple[Parameter, ...]:
    return (
        *_order(network),
        Parameter("reverse", {"type": "boolean", "const": False, "default": False}, "Reserved."),
        _direct(),
        Parameter("excludeProtocols", {"type": "string", "default": ""}, "Ids of protocols, with commas between them."),
        Parameter("integratorAddress", ADDRESS[network.kind], "Who earns on the swap; needs a key."),
        _bps("integratorFeePercentageBps", MAX_FEE_BPS, "of the output"),
        _bps("integratorSurplusPercentageBps", MAX_SURPLUS_BPS, "of what exceeds the quote"),
    )


def _bps(name: str, most: int, of_what: str) -> Parameter:
    schema = {"type": "integer", "minimum": 0, "maximum": most, "default": 0}
    text = f"Basis points {of_what}; needs a key. Not together with the other share; 0 counts as not given."
    return Parameter(name, schema, text)


def _order(network: Network) -> tuple[Parameter, ...]:
    native = "; the zero address and the one of forty `e` are the native token" if network.kind is Kind.EVM else ""
    return (
        Parameter("amount", AMOUNT, "What is sold, in the smallest unit: 1 to 2^256 - 1.", is_required=True),
        Parameter("tokenInAddress", ADDRESS[network.kind], f"The token to sell{native}.", is_required=True),
        Parameter("tokenOutAddress", ADDRESS[network.kind], f"The token to buy{native}.", is_required=True),
    )


def _terms(network: Network, accepted: SlippageRange, *, is_required: bool) -> tuple[Parameter, ...]:
    default = {} if is_required else {"default": _DEFAULT_SLIPPAGE}
    return (
        Parameter(
            "slippage",
            {**slippage_schema(accepted), **default},
            "How far below the quote the output may fall, in percent with at most four decimals.",
            is_required=is_required,
        ),
        Parameter("destination", ADDRESS[network.kind], "Who receives the output.", is_required=is_required),
    )


def _direct() -> Parameter:
    return Parameter("direct", {**BOOLEAN, "default": False}, "No more than one pool in a row?")


def _excluded(network: Network) -> Parameter:
    by_name = network_variant(network.name).excludes_by_name
    return Parameter("excludeProtocols", STRINGS, f"{'Names' if by_name else 'Ids'} of protocols that no route uses.")


def _text(name: str, pattern: str, description: str) -> Parameter:
    return Parameter(name, {"type": "string", "pattern": pattern}, description, is_required=True)
