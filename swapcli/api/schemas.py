"""Every body of the interface as a type: what the render functions return, and what documents are generated from.

Nothing here runs: modules that render import these names for the type checker only. Fields that only some networks or
endpoints write are `NotRequired`.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class TokenJson(TypedDict):
    """A token. `price` is in USD, a number on EVM networks and a decimal string on starknet; 0 where it is unknown."""

    name: str
    address: str
    decimals: int
    price: float | str
    symbol: NotRequired[str]


class SwapJson(TypedDict):
    """One pool of a hop. `percent` is its share of the hop ("61.20%"); `extraData` tells it from its siblings."""

    protocol: int
    poolName: str
    poolAddress: str
    fromTokenAddress: str
    toTokenAddress: str
    percent: str
    extraData: NotRequired[dict[str, int | str] | None]


class RouteSegmentJson(TypedDict):
    """A path with its share of the input ("35%"): hops in order, each a list of pools used in parallel."""

    percent: str
    swaps: list[list[SwapJson]]


class MetaJson(TypedDict):
    """Of every V2 answer: the version "2.0", and the time in UTC with milliseconds."""

    apiVersion: str
    timestamp: str


class AfterFeeJson(TypedDict, total=False):
    """What is left of the output after an integrator's fee."""

    outputAmountAfterFee: str


class IntegratorFieldsJson(TypedDict, total=False):
    """Who earns on a route, and how much in basis points: of the output, or of what exceeds the quote."""

    integratorAddress: str
    integratorFeePercentageBps: int
    integratorSurplusPercentageBps: int
    integratorName: str


class RouteV1Json(TypedDict):
    """A found route, first generation. Amounts in base units, gas in units."""

    success: bool
    routeSwapType: int
    inputToken: TokenJson
    inputAmount: str
    outputToken: TokenJson
    outputAmount: str
    time: float
    estimatedGasUsed: str
    estimatedGasUsedInUsd: float
    route: list[RouteSegmentJson]
    bestQuotesByProtocols: NotRequired[list[str]]
    initial: NotRequired[bool]


class RouteV2Json(TypedDict):
    """A found route, second generation. Amounts in base units, gas in wei."""

    success: bool
    routeSwapType: int
    inputToken: TokenJson
    inputAmount: str
    outputToken: TokenJson
    outputAmount: str
    outputAmountAfterFee: NotRequired[str]
    time: float
    estimatedGasUsed: str
    estimatedGasUsedInUsd: float
    route: list[RouteSegmentJson]
    bestQuotesByProtocols: NotRequired[list[str]]
    initial: NotRequired[bool]
    meta: MetaJson
    integratorAddress: NotRequired[str]
    integratorFeePercentageBps: NotRequired[int]
    integratorSurplusPercentageBps: NotRequired[int]
    integratorName: NotRequired[str]


class PostedTokenJson(TypedDict):
    """A token as a request gives it back. Null stands for what is not known."""

    name: str
    address: str
    decimals: int
    price: NotRequired[float | str | None]
    symbol: NotRequired[str | None]


class PostedMetaJson(TypedDict):
    """What a request says of a route's time."""

    timestamp: str
    apiVersion: NotRequired[Any]


class PostedRouteJson(TypedDict):
    """A found route of either api_version, as a request gives it back: complete, and V2 where it has its `meta`.

    What an answer says beyond how the input is split is checked for its form, but nothing is taken from it.
    """

    success: NotRequired[bool]
    routeSwapType: int
    inputToken: PostedTokenJson
    inputAmount: str
    outputToken: PostedTokenJson
    outputAmount: str
    outputAmountAfterFee: NotRequired[str | None]
    time: float | str
    estimatedGasUsed: str
    estimatedGasUsedInUsd: float | str
    route: list[RouteSegmentJson]
    bestQuotesByProtocols: NotRequired[Any]
    initial: NotRequired[bool]
    meta: NotRequired[PostedMetaJson | None]
    integratorAddress: NotRequired[str | None]
    integratorFeePercentageBps: NotRequired[int | None]
    integratorSurplusPercentageBps: NotRequired[int | None]
    integratorName: NotRequired[str | None]


class RouteNotFoundJson(TypedDict):
    """What stands in place of a route where none was found."""

    success: bool
    errorMessage: str


class RouteNotFoundV2Json(RouteNotFoundJson):
    """The same in V2."""

    meta: MetaJson


class CalldataRouteJson(TypedDict):
    """What a call promises. V1 on base leaves out the two tokens."""

    token_in: NotRequired[str]
    token_out: NotRequired[str]
    amount_in: str
    amount_out: str
    min_received: str
    destination: str
    swap_type: int


class SwapParameterJson(TypedDict):
    """One pool used. `rate` is the part of the router's balance that it spends, 1000000 being all of it.

    V1 calldata leaves out `swap_type` and `extra_data`.
    """

    token_in: str
    token_out: str
    rate: str
    protocol_id: str
    pool_address: str
    swap_type: NotRequired[int]
    extra_data: NotRequired[str]


class CalldataJson(TypedDict):
    """A call of the router before it is encoded; with an integrator, what the router is told of the fee."""

    route: CalldataRouteJson
    swap_parameters: list[SwapParameterJson]
    integrator_data: NotRequired[str]


class ExecuteJson(TypedDict):
    """V1 execute: a call and its transaction."""

    route: CalldataRouteJson
    swap_parameters: list[SwapParameterJson]
    calldata: str
    to: str
    value: str


class StarknetExecuteJson(TypedDict):
    """V1 execute on starknet: `calldata` are the felts of the call, in decimal."""

    route: CalldataRouteJson
    swap_parameters: list[SwapParameterJson]
    calldata: list[str]
    to: str
    value: str


class ShortRouteJson(TypedDict):
    """What V1 calldata tells of its route."""

    inputToken: TokenJson
    outputToken: TokenJson
    inputAmount: str
    outputAmount: str
    time: float
    route: list[RouteSegmentJson]


class CalldataV1Json(TypedDict):
    """V1 calldata: a route found and encoded in one call."""

    success: bool
    route: ShortRouteJson
    swap_parameters: list[SwapParameterJson]
    calldata: str
    to: str
    value: str


class StarknetCalldataV1Json(TypedDict):
    """V1 calldata on starknet: `calldata` are the felts of the call, in decimal."""

    success: bool
    route: ShortRouteJson
    swap_parameters: list[SwapParameterJson]
    calldata: list[str]
    to: str
    value: str


class HyperevmCalldataJson(TypedDict):
    """GET /hyperevm/calldata: a route and its call."""

    route: RouteV1Json
    calldata: CalldataJson


class HyperevmNoRouteJson(TypedDict):
    """GET /hyperevm/calldata where no route was found."""

    route: RouteNotFoundJson


class CitreaCalldataJson(TypedDict):
    """GET /citrea/calldata: the encoded call in hex."""

    success: bool
    calldata: str


class StarknetCalldataJson(TypedDict):
    """GET /starknet/calldata: a route and the felts of its call, in decimal."""

    route: RouteV1Json
    calldata: list[str]


class CalldataV2Json(TypedDict):
    """V2 calldata: the call of a posted route."""

    route: CalldataRouteJson
    swap_parameters: list[SwapParameterJson]
    integrator_data: NotRequired[str]
    router_address: str
    meta: MetaJson


class RouteAndCalldataV1Json(TypedDict):
    """GET /{network}/routeAndCalldata without a version."""

    route: RouteV1Json
    calldata: CalldataJson
    router_address: str


class RouteAndCalldataV2Json(TypedDict):
    """V2 routeAndCalldata: a route and its call."""

    route: RouteV2Json
    calldata: CalldataJson
    router_address: str
    meta: MetaJson


class ExecuteRequestJson(TypedDict):
    """V1 execute, and V1 calldata with a route. `deadline` in Unix seconds, read by execute only."""

    route: PostedRouteJson
    slippage: float | str
    destination: str
    deadline: NotRequired[int]


class CalldataRequestJson(TypedDict):
    """V1 calldata with an amount in base units."""

    amount: str
    tokenInAddress: str
    tokenOutAddress: str
    slippage: float | str
    destination: str
    excludeProtocols: NotRequired[list[str | int]]
    direct: NotRequired[bool]


class CalldataRequestV2Json(TypedDict):
    """V2 calldata of a found route."""

    route: PostedRouteJson
    slippage: float | str
    destination: str


class SignerRequestJson(TypedDict):
    """GET /citrea/calldata."""

    route_response: PostedRouteJson
    slippage: float | str
    signer: str


class HealthV1Json(TypedDict):
    """V1 health; the first field is spelled this way. 200 is healthy."""

    staus: int
    message: str


class HealthV2Json(TypedDict):
    """V2 health; 200 is healthy."""

    status: int
    message: str
    meta: MetaJson


class SupportedChainJson(TypedDict):
    """A network that is served."""

    chain_id: int
    chain_name: str
    router_address: str | None


class ListedTokenJson(TypedDict):
    """A token of a network; decimals and the price in USD as strings."""

    address: str
    name: str
    symbol: str
    decimals: str
    price: str | None
    verified: bool


class ListedProtocolJson(TypedDict):
    """A protocol of a network by name and identifier."""

    amm_name: str
    protocol: int


class DetailedErrorJson(TypedDict):
    """An error of hyperevm execute, and of hyperevm and citrea calldata."""

    success: bool
    error: str
    details: str


class DetailedErrorV2Json(DetailedErrorJson):
    """An error of V2 calldata, which carries its time as all of V2 does."""

    meta: MetaJson


class BriefErrorJson(TypedDict):
    """An error of V1 execute."""

    error: str
    message: str


class StatusErrorJson(TypedDict):
    """An error of everything else; `requestId` finds a defect in the log."""

    statusCode: int
    message: str | list[str]
    error: str
    requestId: NotRequired[str]
