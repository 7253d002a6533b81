"""Types of all JSON bodies in the API.

Render functions return these types, and the OpenAPI document is generated from them: the docstrings are the
descriptions of its schemas, and the class names without `Json` the schema names. `NotRequired` fields occur on some
networks or endpoints only.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from swapcli.interface.proof_types import ProofDocumentJson


class TokenJson(TypedDict):
    """A token. `price` is in USD, a number on EVM networks and a decimal string on starknet; 0 if it is unknown."""

    name: str
    address: str
    decimals: int
    price: float | str
    symbol: NotRequired[str]


class SwapTokenJson(TypedDict):
    """A sold or bought token."""

    symbol: str
    address: str
    decimals: int


class SwapJson(TypedDict):
    """One pool in a hop. `percent` is the pool's share of the hop ("61.20%"); `extraData` identifies the pool in
    addition to its address."""

    protocol: int
    poolName: str
    poolAddress: str
    fromTokenAddress: str
    toTokenAddress: str
    percent: str
    extraData: NotRequired[dict[str, int | str] | None]


class RouteSegmentJson(TypedDict):
    """A path with its share of the input ("35%", or "12.34%"): hops in order, each a list of pools used in parallel."""

    percent: str
    swaps: list[list[SwapJson]]


class MetaJson(TypedDict):
    """Part of every V2 response: the version "2.0", and the UTC time with milliseconds."""

    apiVersion: str
    timestamp: str


class MetaFieldJson(TypedDict):
    """The field that every V2 response has in addition to its content."""

    meta: MetaJson


class AfterFeeJson(TypedDict):
    """The output less the integrator's fee."""

    outputAmountAfterFee: NotRequired[str]


class IntegratorFieldsJson(TypedDict):
    """The integrator of a route, with a fee on the output or a share of the surplus in basis points."""

    integratorAddress: NotRequired[str]
    integratorFeePercentageBps: NotRequired[int]
    integratorSurplusPercentageBps: NotRequired[int]
    integratorName: NotRequired[str]


class WarningJson(TypedDict):
    """A warning to read before signing: a stable code, and a sentence without its full stop."""

    code: str
    message: str


class StateJson(TypedDict):
    """The pool state behind a quote. Unknown values are null.

    `kind` is live, past (a block chosen by number or hash), synced, recorded, modelled or synthetic; modelled and
    synthetic prices are not real. `timestamp` is the Unix time of `block`, `ageS` its age in seconds. `pinned` is true
    if all of the node's responses are proven to belong to the block, `proposed` if the network had not yet agreed on
    the block. `tag` is the node's tag for the block, null also for a past block. `source` describes where the state
    comes from; `service` is the service that quoted. `placeholderPools` are the route's pools whose addresses are
    placeholders, and `changingPools` its pools that can change without an event (with time, through a rate, by a hook),
    by address or pool id: the quote is for the time of `block`. `skippedSampledPools` counts the pools that only their
    protocol can quote and that were skipped because there was no node.
    """

    kind: str | None
    block: int | None
    timestamp: int | None
    ageS: int | None
    pinned: bool | None
    proposed: bool
    tag: str | None
    source: str
    service: str | None
    placeholderPools: NotRequired[list[str]]
    changingPools: NotRequired[list[str]]
    skippedSampledPools: NotRequired[int]


class SinglePathJson(TypedDict):
    """The best route with one pool per hop: its output, and how much more the quote pays in basis points.

    Both are null if no single path can fill the order.
    """

    outputAmount: str | None
    gainBps: float | None


class PoolLimitJson(TypedDict):
    """The cost of a limit on a route's pools.

    `amountWithout` is the output of the best route without the limit, or its input if the order fixes the output.
    `costBps` is how many basis points better that amount is; it is negative if the limited route saves more than that
    in gas.
    """

    maxPools: int | None
    simple: bool
    amountWithout: str
    costBps: float


class ProofScopeJson(TypedDict):
    """The routes that a proof net of gas covers. They pass each token at most once, have at most `maxHops` hops, and
    use only pools that are not dust to the order; there are `pools` of them."""

    pools: int
    maxHops: int


class CertificateJson(TypedDict):
    """Proven upper bounds on any router's output, and the gaps to the quote in basis points; null without a bound.

    `acyclicBound` excludes arbitrage. `afterGasBound` bounds the output net of gas of any route in `scope`; it is also
    null for a quote that is worth no more than its gas. `proofComplete` is true if the proof finished within its limit
    of work.
    """

    bound: str | None
    gapBps: float | None
    acyclicBound: str | None
    acyclicGapBps: float | None
    poolsChecked: int
    searchComplete: bool
    afterGasBound: str | None
    afterGasGapBps: float | None
    scope: ProofScopeJson | None
    proofComplete: bool


class PassedRouterJson(TypedDict):
    """A more trusted dialect whose router was not available, and the reason as a clause."""

    dialect: str
    reason: str


class RouterChoiceJson(TypedDict):
    """The dialect of the chosen router, and the reason as a clause.

    `over` is the most trusted dialect that could execute the order. `gainBps` is how much more the chosen router pays
    than the best route through `over`, net of gas, in basis points of the output. Both are null if `over` is the chosen
    dialect. `passed` are more trusted dialects whose routers were not available.
    """

    dialect: str
    reason: str
    gainBps: float | None
    over: str | None
    passed: list[PassedRouterJson]


class BookPricesJson(TypedDict):
    """The best prices of an order book: whole `quote` tokens for one whole `base` token. `base` and `quote` are
    addresses. `bid` or `ask` is null if nobody offers one.

    They are the prices at the quote's block, for orders of unknown size and before the book's fees. The transaction
    does not trade on the order book.
    """

    name: str
    base: str
    quote: str
    bid: str | None
    ask: str | None


class QuoteFieldsJson(TypedDict):
    """A quote's figures. Amounts are in base units; unknown values are null.

    `priceImpact` and `slippage` are percentages; a negative impact is a gain. `minReceived` is the output after the
    integrator's fee and the slippage. `outputAfterGas` is the output after the fee, less the gas cost in the output
    token, at the gas value that was used to choose the route. `gasValueSource` is the source of that value: `native`
    (the output is the native token, which pays for gas one for one), `midPrices` (the mid prices in USD of the native
    token and of the output), `bestPath` (the best path from the native token to the output, if a price is missing), or
    `service` (the prices of a remote service); null if unknown. `gasPriceWei` is the price of a unit of gas; `l1FeeWei`
    is the network's additional fee for L1 data, in wei. `unreadGainBps` is the most that unread pools might add to the
    output, in basis points, by their last known state; null if reading did not end at a limit. `exact` is true if every
    amount was computed as the contracts do, or quoted by the pool's own protocol for exactly that amount and block;
    `sampledPools` are the pools quoted by their protocols. `routerChoice` is absent if the settings name the router, or
    if no node was read. `bookPrices` only exists for a live quote on a network with an order book that no route can
    use, such as HyperCore's. `expiresAt` (Unix seconds) is when the quote is too old to use: the lifetime of a route
    (60 s by default) after the time of its state, or after the quote if the state has no time or is not live, but no
    later than the deadline. `proofFile` is the file to which the proof of the certificate was written.
    """

    network: str
    priceImpact: float | None
    slippage: float
    minReceived: str
    gasUnits: str | None
    gasPriceWei: str | None
    gasUsd: float | None
    outputAfterGas: str | None
    gasValueSource: str | None
    singlePath: SinglePathJson | None
    unreadGainBps: float | None
    exact: bool | None
    sampledPools: list[str]
    expiresAt: int
    state: StateJson
    warnings: list[WarningJson]
    l1FeeWei: NotRequired[str]
    poolLimit: NotRequired[PoolLimitJson]
    certificate: NotRequired[CertificateJson]
    proofFile: NotRequired[str]
    routerChoice: NotRequired[RouterChoiceJson]
    bookPrices: NotRequired[BookPricesJson]


class RouteEndsJson(TypedDict):
    """The tokens that a route sells and buys."""

    success: bool
    routeSwapType: int
    inputToken: TokenJson
    inputAmount: str
    outputToken: TokenJson
    outputAmount: str


class RoutePathsJson(TypedDict):
    """A route's paths, search time and gas."""

    time: float
    estimatedGasUsed: str
    estimatedGasUsedInUsd: float
    route: list[RouteSegmentJson]
    bestQuotesByProtocols: NotRequired[list[str]]
    initial: NotRequired[bool]


class RouteV1Json(RouteEndsJson, RoutePathsJson):
    """A route in V1. Amounts are in base units, gas in units."""


class RouteV2Json(RouteEndsJson, AfterFeeJson, RoutePathsJson, MetaFieldJson, IntegratorFieldsJson):
    """A route in V2. Amounts are in base units, gas in wei."""


class DetailedRouteV1Json(RouteV1Json, QuoteFieldsJson):
    """A route in V1. Amounts are in base units, gas in units.

    With `details=true` it has all figures of the quote, from `network` to `warnings`. If it comes with a transaction,
    it also has the verdict on the transaction, provided that one of the network's nodes responds in time. With
    `proof=true` it has the figures and the proof of its certificate.
    """

    verdict: NotRequired[VerdictJson]
    advisedSlippage: NotRequired[AdvisedSlippageJson]
    proof: NotRequired[ProofDocumentJson]


class DetailedRouteV2Json(RouteV2Json, QuoteFieldsJson):
    """A route in V2. Amounts are in base units, gas in wei.

    With `details=true` it has all figures of the quote, from `network` to `warnings`. If it comes with a transaction,
    it also has the verdict on the transaction, provided that one of the network's nodes responds in time. With
    `proof=true` it has the figures and the proof of its certificate.
    """

    verdict: NotRequired[VerdictJson]
    advisedSlippage: NotRequired[AdvisedSlippageJson]
    proof: NotRequired[ProofDocumentJson]


class PostedTokenJson(TypedDict):
    """A token in a posted route. Null means unknown."""

    name: str
    address: str
    decimals: int
    price: NotRequired[float | str | None]
    symbol: NotRequired[str | None]


class PostedMetaJson(TypedDict):
    """The `meta` of a posted route."""

    timestamp: str
    apiVersion: NotRequired[str | None]


class PostedRouteJson(TypedDict):
    """A complete route response in either version, sent back to the service. It is V2 if it has `meta`.

    All fields are checked. Output amounts, gas and prices are recomputed, not taken from the route, so time and gas may
    be missing. A null field counts as missing.
    """

    success: NotRequired[bool | None]
    routeSwapType: int
    inputToken: PostedTokenJson
    inputAmount: str
    outputToken: PostedTokenJson
    outputAmount: str
    outputAmountAfterFee: NotRequired[str | None]
    time: NotRequired[float | str | None]
    estimatedGasUsed: NotRequired[str | None]
    estimatedGasUsedInUsd: NotRequired[float | str | None]
    route: list[RouteSegmentJson]
    bestQuotesByProtocols: NotRequired[Any]
    initial: NotRequired[bool | None]
    meta: NotRequired[PostedMetaJson | None]
    integratorAddress: NotRequired[str | None]
    integratorFeePercentageBps: NotRequired[int | None]
    integratorSurplusPercentageBps: NotRequired[int | None]
    integratorName: NotRequired[str | None]


class RouteNotFoundJson(TypedDict):
    """The response instead of a route if none was found."""

    success: bool
    errorMessage: str


class RouteNotFoundV2Json(RouteNotFoundJson, MetaFieldJson):
    """The response instead of a V2 route if none was found."""


class CalldataRouteJson(TypedDict):
    """The route of a call. V1 on base omits the two tokens."""

    token_in: NotRequired[str]
    token_out: NotRequired[str]
    amount_in: str
    amount_out: str
    min_received: str
    destination: str
    swap_type: int


class SwapParameterJson(TypedDict):
    """A swap in one pool. `rate` is the part of the router's balance of `token_in` to spend, in millionths: 1000000 is
    all of it.

    V1 calldata omits `swap_type` and `extra_data`.
    """

    token_in: str
    token_out: str
    rate: str
    protocol_id: str
    pool_address: str
    swap_type: NotRequired[int]
    extra_data: NotRequired[str]


class CallPartsJson(TypedDict):
    """The parts from which a router call is built."""

    route: CalldataRouteJson
    swap_parameters: list[SwapParameterJson]


class CalldataJson(CallPartsJson):
    """A router call before encoding; `integrator_data` encodes the integrator's fee or surplus share."""

    integrator_data: NotRequired[str]


class JudgedCallJson(CalldataJson):
    """V1 execute on hyperevm: a call and, if requested, the verdict on the call."""

    verdict: NotRequired[VerdictJson]


class EncodedCallJson(TypedDict):
    """An encoded call: its bytes in hex, the router, and the native currency it pays, in wei."""

    calldata: str
    to: str
    value: str


class StarknetCallJson(TypedDict):
    """An encoded call on starknet: its felts in decimal, the router and the value."""

    calldata: list[str]
    to: str
    value: str


class ExecuteJson(CallPartsJson, EncodedCallJson):
    """V1 execute: a call, its transaction and, if requested, the verdict on the transaction."""

    verdict: NotRequired[VerdictJson]


class StarknetExecuteJson(CallPartsJson, StarknetCallJson):
    """V1 execute on starknet: `calldata` contains the felts of the call, in decimal."""


class ShortRouteJson(TypedDict):
    """The route in a V1 calldata response."""

    inputToken: TokenJson
    outputToken: TokenJson
    inputAmount: str
    outputAmount: str
    time: float
    route: list[RouteSegmentJson]


class FoundCallJson(TypedDict):
    """A short route, and the pools in its call. `proof` is present with `proof=true`."""

    success: bool
    route: ShortRouteJson
    swap_parameters: list[SwapParameterJson]
    proof: NotRequired[ProofDocumentJson]


class CalldataV1Json(FoundCallJson, EncodedCallJson):
    """V1 calldata for an order: a route and its transaction."""

    verdict: NotRequired[VerdictJson]


class StarknetCalldataV1Json(FoundCallJson, StarknetCallJson):
    """V1 calldata on starknet: `calldata` contains the felts of the call, in decimal."""


class HyperevmCalldataJson(TypedDict):
    """GET /hyperevm/calldata: a route and its call."""

    route: RouteV1Json
    calldata: CalldataJson


class HyperevmNoRouteJson(TypedDict):
    """GET /hyperevm/calldata if no route was found."""

    route: RouteNotFoundJson


class CitreaCalldataJson(TypedDict):
    """GET /citrea/calldata: the encoded call in hex."""

    success: bool
    calldata: str


class StarknetCalldataJson(TypedDict):
    """GET /starknet/calldata: a route and the felts of its call, in decimal."""

    route: RouteV1Json
    calldata: list[str]


class CalldataV2Json(CalldataJson):
    """V2 calldata: the call for a posted route."""

    router_address: str
    meta: MetaJson
    verdict: NotRequired[VerdictJson]


class TransactionJson(TypedDict):
    """A transaction to sign: `what` is its purpose (revoke, approve, approve-permit2 or swap); `value` is in wei."""

    what: str
    to: str
    calldata: str
    value: str


class DialectCalldataJson(TypedDict):
    """A call, without swap parameters, to a router with a separate dialect, as transactions in the order in which to
    send them.

    `to`, `calldata` and `value` belong to the last transaction, the swap. The swap fails after `deadline` (Unix
    seconds). `deadlineEnforcer` enforces the deadline: a router's dialect, or "nobody" without a deadline.
    `dialectPackage` is the installed package, with its version, that encodes the call; absent for swapcli's own
    dialects.
    """

    dialect: str
    dialectPackage: NotRequired[str]
    route: CalldataRouteJson
    deadline: NotRequired[int]
    deadlineEnforcer: str
    to: str
    calldata: str
    value: str
    transactions: list[TransactionJson]


class DialectCalldataV2Json(DialectCalldataJson):
    """V2 calldata on a network whose router has a separate dialect, if the request names that dialect."""

    router_address: str
    meta: MetaJson
    verdict: NotRequired[VerdictJson]


class DialectRouteAndCalldataV2Json(TypedDict):
    """V2 routeAndCalldata on a network whose router has a separate dialect, if the request names that dialect."""

    route: RouteV2Json
    calldata: DialectCalldataJson
    router_address: str
    meta: MetaJson


class RouteAndCalldataV1Json(TypedDict):
    """GET /{network}/routeAndCalldata without a version: a route and its call."""

    route: RouteV1Json
    calldata: CalldataJson
    router_address: str


class RouteAndCalldataV2Json(TypedDict):
    """V2 routeAndCalldata: a route and its call."""

    route: RouteV2Json
    calldata: CalldataJson
    router_address: str
    meta: MetaJson


class PostedRouteRequestJson(TypedDict):
    """A route sent back to the service, and the terms of its call."""

    route: PostedRouteJson
    slippage: float | str
    destination: str


class ExecuteRequestJson(PostedRouteRequestJson):
    """The body of V1 execute, and of V1 calldata with a route. `deadline` is in Unix seconds; only execute uses it."""

    deadline: NotRequired[int]
    details: NotRequired[bool]


class CalldataRequestJson(TypedDict):
    """The body of V1 calldata for an order, with its amount in base units."""

    amount: str
    tokenInAddress: str
    tokenOutAddress: str
    slippage: float | str
    destination: str
    excludeProtocols: NotRequired[list[str | int]]
    onlyProtocols: NotRequired[list[str | int]]
    direct: NotRequired[bool]
    shares: NotRequired[str]
    details: NotRequired[bool]
    protocols: NotRequired[str]


class CalldataRequestV2Json(PostedRouteRequestJson):
    """The body of V2 calldata for a route."""

    dialect: NotRequired[str]
    details: NotRequired[bool]


_SenderJson = TypedDict("_SenderJson", {"from": NotRequired[str]})  # a keyword, so not a field of a class


class DecodeRequestJson(_SenderJson):
    """A transaction to decode. `value` is in wei; `destination` is the intended recipient, by default the sender.
    `from` is the same as `sender`."""

    to: str
    calldata: str
    value: NotRequired[str]
    sender: NotRequired[str]
    destination: NotRequired[str]


class StarknetDecodeRequestJson(_SenderJson):
    """A router call on Starknet to decode: its felts in decimal. `from` is the same as `sender`."""

    to: NotRequired[str]
    calldata: list[str]
    sender: NotRequired[str]
    destination: NotRequired[str]


class SignerRequestJson(TypedDict):
    """The body of GET /citrea/calldata: a route, the slippage, and the signer."""

    route_response: PostedRouteJson
    slippage: float | str
    signer: str


class HealthV1Json(TypedDict):
    """V1 health. The spelling of the first field is part of the published API. 200 means healthy."""

    staus: int
    message: str


class HealthV2Json(TypedDict):
    """V2 health. 200 means healthy."""

    status: int
    message: str
    meta: MetaJson


class SupportedChainJson(TypedDict):
    """A network that the service supports."""

    chain_id: int
    chain_name: str
    router_address: str | None


class ListedTokenJson(TypedDict):
    """A token of a network; the decimals and the USD price are strings."""

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
    """An error of hyperevm execute, and of hyperevm and citrea calldata. `hint` says what to change in the request."""

    success: bool
    error: str
    details: str
    hint: NotRequired[str]


class DetailedErrorV2Json(DetailedErrorJson, MetaFieldJson):
    """An error of V2 calldata, with `meta` as in all V2 responses."""


class BriefErrorJson(TypedDict):
    """An error of V1 execute. `hint` says what to change in the request."""

    error: str
    message: str
    hint: NotRequired[str]


class StatusErrorJson(TypedDict):
    """An error of any other endpoint. `hint` says what to change in the request; `code` is MARKET_UNAVAILABLE if the
    pool state is missing or too old; `requestId` identifies a defect in the log."""

    statusCode: int
    message: str | list[str]
    error: str
    hint: NotRequired[str]
    code: NotRequired[str]
    requestId: NotRequired[str]


class StatusErrorV2Json(StatusErrorJson, MetaFieldJson):
    """An error of any other V2 endpoint, with `meta` as in all V2 responses."""


class VerdictReasonJson(TypedDict):
    """Why a verdict is not ok, and what to do about it."""

    code: str
    status: str
    message: str
    hint: str


class TriedSaleJson(TypedDict):
    """A sale of half of a pool's output. Amounts are in base units; `received` is null if the sale failed, and
    `expected` is null if the pool's state in the simulation was not known."""

    pool: str
    inputAmount: str
    tokenOut: str
    received: str | None
    expected: str | None


class TokenPowerJson(TypedDict):
    """A power of a token's owner, with the storage slot or function that is evidence of it."""

    power: str
    evidence: str


class TokenPowersJson(TypedDict):
    """What a token's owner can do: "upgrade", "mint", "pause", "blocklist". Without an owner, `owner` is null."""

    token: str
    owner: str | None
    powers: list[TokenPowerJson]


class PriceReferenceJson(TypedDict):
    """A price outside the route: an "average", "oracle" or "feed". `outputAmount` is the value of the input at that
    price, in base units of the output. `lossPercent` is how far the quote is below that value; negative if it is above.
    """

    kind: str
    source: str
    outputAmount: str
    lossPercent: float


class VerdictFactsJson(TypedDict):
    """The facts behind a verdict: the block and the sender of the simulation, the output of the swap, and the sales
    after the swap."""

    block: int | None
    sender: str | None
    received: str | None
    sales: list[TriedSaleJson]
    powers: list[TokenPowersJson]
    priceReferences: list[PriceReferenceJson]


class VerdictJson(TypedDict):
    """The verdict on a swap before it is signed: "ok", "warn" or "block", its reasons, and the facts behind them."""

    status: str
    reasons: list[VerdictReasonJson]
    facts: VerdictFactsJson


class MovementJson(TypedDict):
    """The largest fall of the route's output, in percent, within `windowS` seconds. It was measured at `blocks` blocks
    in the last `historyS` seconds."""

    fallPercent: float
    windowS: int
    historyS: int
    blocks: int


class SandwichBoundJson(TypedDict):
    """Below the slippage `limitPercent`, no sandwich on the route is profitable; null if no sandwich is profitable at
    any slippage.

    `gasPercent` is the gas of the two sandwich transactions in percent of the order's value, null if unknown;
    `gainPercent` is the largest gain of a sandwich, in percent of the order's loss.
    """

    limitPercent: float | None
    gasPercent: float | None
    gainPercent: float


class SlippagePartsJson(TypedDict):
    """What the advised slippage is based on. `movement` is null if unknown."""

    movement: MovementJson | None
    sandwich: SandwichBoundJson


class AdvisedSlippageJson(TypedDict):
    """The advised slippage in percent, with its reasons in words. It is never applied automatically."""

    slippagePercent: float
    reasons: list[str]
    parts: SlippagePartsJson
