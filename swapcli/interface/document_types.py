"""Types of all JSON documents that commands print; `swapcli schema` prints their JSON schemas.

The docstrings are the descriptions of the schemas, and the names without `Json` their names. `NotRequired` fields are
left out where they do not apply; null is an unknown value. Bodies of the interface are in `json_types`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

from swapcli.interface.json_types import (
    CalldataRouteJson,
    CallPartsJson,
    CertificateJson,
    MetaJson,
    QuoteFieldsJson,
    RouteNotFoundJson,
    RouteV1Json,
    RouteV2Json,
    ShortRouteJson,
    StateJson,
    SwapParameterJson,
    TokenJson,
    VerdictJson,
    WarningJson,
)
from swapcli.interface.proof_types import ProofDocumentJson


class RouteDocumentV1Json(RouteV1Json, QuoteFieldsJson):
    """`swapcli route --json`, first generation: the route of the interface with the figures of the quote."""


class RouteDocumentV2Json(RouteV2Json, QuoteFieldsJson):
    """`swapcli route --json`, second generation: the route of the interface with the figures of the quote."""


RouteDocumentJson: TypeAlias = RouteDocumentV1Json | RouteDocumentV2Json


class ChangeJson(TypedDict):
    """The change since the first quote, made at `since` (Unix seconds), in base units.

    `bps` is that of the output, or of the input if the order names the output.
    """

    input: str
    output: str
    bps: float
    since: int


class WatchedRouteV1Json(RouteDocumentV1Json):
    """A line of `swapcli route --watch`, first generation: a route with the change since the first one."""

    change: ChangeJson


class WatchedRouteV2Json(RouteDocumentV2Json):
    """A line of `swapcli route --watch`, second generation: a route with the change since the first one."""

    change: ChangeJson


WatchedRouteJson: TypeAlias = WatchedRouteV1Json | WatchedRouteV2Json


class FailureJson(TypedDict):
    """Why there are no figures, and whether that may pass by itself."""

    code: str
    message: str
    retryable: bool


class FailedRefreshJson(TypedDict):
    """A line of `swapcli route --watch` after a failed refresh, with the age of the last good quote in seconds."""

    error: FailureJson
    lastQuoteAgeS: float


class FailedRouteJson(RouteNotFoundJson):
    """Takes the place of the route of an order of a batch that failed."""


class BatchLineJson(TypedDict):
    """A line of `swapcli route --batch`: the id of the order, and its route or its failure."""

    id: int | str
    result: dict[str, Any]


TransactionRequestJson = TypedDict(
    "TransactionRequestJson",
    {
        "from": NotRequired[str],
        "to": str,
        "data": NotRequired[str],
        "value": int | str,
        "chainId": NotRequired[int],
        "nonce": NotRequired[int | str],
        "gas": NotRequired[int | str],
        "maxFeePerGas": NotRequired[int | str],
        "maxPriorityFeePerGas": NotRequired[int | str],
        "accessList": NotRequired[list[dict[str, Any]]],
        "entrypoint": NotRequired[str],
        "calldata": NotRequired[list[str]],
        "what": str,
    },
)
TransactionRequestJson.__doc__ = (
    "A transaction to sign, as web3.py, viem and ethers take it, and in `what` its purpose. Quantities are hex where"
    " JavaScript cannot read them as numbers. On starknet it is a call of `entrypoint` with `calldata`."
)


class ResourceBoundJson(TypedDict):
    """The most units of a resource that a transaction may use, and the highest price of one in fri; hex."""

    max_amount: str
    max_price_per_unit: str


class ResourceBoundsJson(TypedDict):
    """The bounds of the three resources of a transaction on Starknet."""

    l1_gas: ResourceBoundJson
    l2_gas: ResourceBoundJson
    l1_data_gas: ResourceBoundJson


class InvokeTransactionJson(TypedDict):
    """An unsigned transaction of version 3, by which an account on Starknet executes calls; numbers are hex."""

    type: str
    version: str
    sender_address: str
    calldata: list[str]
    nonce: str
    resource_bounds: ResourceBoundsJson
    tip: str
    paymaster_data: list[str]
    account_deployment_data: list[str]
    nonce_data_availability_mode: str
    fee_data_availability_mode: str


class AccountFeeJson(TypedDict):
    """The fee of a transaction on Starknet: a node's estimate, and the most that its bounds allow; in fri and STRK."""

    estimated: str
    max: str
    estimatedStrk: str
    maxStrk: str


class InvokeDetailsJson(TypedDict):
    """What a transaction on Starknet has beside its calls, and its fee; numbers of the transaction are hex."""

    sender_address: str
    nonce: str
    tip: str
    resource_bounds: ResourceBoundsJson
    fee: AccountFeeJson


class ReadingJson(TypedDict):
    """The possible readings of a router whose code is not published, after a simulation."""

    rate: list[str]
    extra_data: list[str]


class SimulationJson(TypedDict):
    """A simulated swap; amounts in base units. `overrides` lists what the sender lacks and was granted."""

    block: int
    amount_received: str
    expected: str
    gas_used: int
    matches: bool
    sender: str
    overrides: list[str]
    reading: NotRequired[ReadingJson]


class MovementJson(TypedDict):
    """How many percent the output of the route fell at most within `windowS` seconds, at this number of `blocks` of the
    last `historyS` seconds."""

    fall: str
    windowS: int
    historyS: int
    blocks: int


class SandwichBoundJson(TypedDict):
    """Below the slippage `limit` no sandwich of the route has a profit; null if none has at any slippage.

    `gas` is that of its two transactions in percent of the order's worth, null if unknown, and `gain` how many percent
    of what the order loses it gains at most. All are percentages.
    """

    limit: str | None
    gas: str | None
    gain: str


class SlippagePartsJson(TypedDict):
    """What the advised slippage rests on; null is unknown."""

    movement: MovementJson | None
    sandwich: SandwichBoundJson


class AdvisedSlippageJson(TypedDict):
    """The advised slippage in percent, with its reasons in words. Nothing applies it."""

    value: str
    reasons: list[str]
    parts: SlippagePartsJson


class AdviceFieldsJson(TypedDict):
    """The advice on a quote whose state was read from the network."""

    advisedSlippage: NotRequired[AdvisedSlippageJson]


class DeadlineFieldsJson(TypedDict):
    """Who rejects a late swap: a router (its dialect), permit (the token), or nobody if there is no deadline."""

    deadlineEnforcer: str


class PayloadDocumentJson(QuoteFieldsJson, DeadlineFieldsJson):
    """The transaction of a swap, with the figures of its quote. `transactions` are all to send, in order.

    On Starknet an account executes them in one transaction, which `sender_address` to `fee` describe with a node and a
    sender. `witnesses` is how many nodes agree on the state, null if none was read here.
    """

    to: str
    entrypoint: NotRequired[str]
    calldata: str | list[str]
    value: str
    dialect: str
    witnesses: int | None
    recipient_name: NotRequired[str]
    sender_name: NotRequired[str]
    transactions: list[TransactionRequestJson]
    missing: NotRequired[list[str]]
    sender_address: NotRequired[str]
    nonce: NotRequired[str]
    tip: NotRequired[str]
    resource_bounds: NotRequired[ResourceBoundsJson]
    fee: NotRequired[AccountFeeJson]
    simulation: NotRequired[SimulationJson]
    verdict: NotRequired[VerdictJson]


class CalledRouteV1Json(ShortRouteJson, CalldataRouteJson):
    """A short route of the first generation, with the amounts and parties of its call."""


class CalledRouteV2Json(RouteV2Json, CalldataRouteJson):
    """A route of the second generation, with the amounts and parties of its call."""


class CalldataDocumentV1Json(PayloadDocumentJson, AdviceFieldsJson):
    """`swapcli calldata --json`, first generation."""

    success: bool
    route: CalledRouteV1Json
    swap_parameters: list[SwapParameterJson]
    deadline: NotRequired[int]


class CalldataDocumentV2Json(PayloadDocumentJson, AdviceFieldsJson):
    """`swapcli calldata --json`, second generation."""

    route: CalledRouteV2Json
    swap_parameters: list[SwapParameterJson]
    deadline: NotRequired[int]
    integrator_data: NotRequired[str]
    router_address: str
    meta: MetaJson


class EncodedSwapJson(CalldataRouteJson):
    """The amounts and parties of a call that only its calldata describes; `deadline` in Unix seconds, null without."""

    deadline: int | None


class EncodedCalldataDocumentJson(PayloadDocumentJson, AdviceFieldsJson):
    """`swapcli calldata --json` for a router that the interface does not describe: `quote` is its route."""

    quote: dict[str, Any]
    swap: EncodedSwapJson


CalldataDocumentJson: TypeAlias = CalldataDocumentV1Json | CalldataDocumentV2Json | EncodedCalldataDocumentJson


class ExecuteDocumentV1Json(PayloadDocumentJson, CallPartsJson):
    """`swapcli execute --json`, first generation."""

    deadline: NotRequired[int]


class ExecuteDocumentV2Json(ExecuteDocumentV1Json):
    """`swapcli execute --json`, second generation."""

    integrator_data: NotRequired[str]
    router_address: str
    meta: MetaJson


class EncodedExecuteDocumentJson(PayloadDocumentJson):
    """`swapcli execute --json` for a router that the interface does not describe."""

    swap: EncodedSwapJson


ExecuteDocumentJson: TypeAlias = ExecuteDocumentV1Json | ExecuteDocumentV2Json | EncodedExecuteDocumentJson


class SampleJson(TypedDict):
    """The order that a health check quoted; amounts in base units."""

    tokenIn: str
    tokenOut: str
    amountIn: str
    amountOut: str


class NodeCheckJson(TypedDict):
    """Something that quotes and syncs need of a node, and why the node does not serve it; empty if it does."""

    name: str
    passed: bool
    problem: str


class RouterDetailsJson(TypedDict):
    """The router of a dialect: its address, or the registry contract that names it.

    `protocols` is the number of protocols that it executes, null if it executes all.
    """

    dialect: str
    address: str | None
    registry: str | None
    protocols: int | None


class DescribedTokenJson(TypedDict):
    """A token as the definition of a network describes it."""

    address: str
    symbol: str
    name: str
    decimals: int


class DescribedProtocolJson(TypedDict):
    """A protocol as the definition of a network describes it; `family` is null if its pools cannot be quoted."""

    protocol: int
    amm_name: str
    display_name: str
    family: str | None


class VenueJson(TypedDict):
    """The contracts of protocols by role, with the source of these facts.

    `feeTiers` are tick spacings by fee in parts per million, 0 without any; `unconfirmed` names fields that one weak
    source has.
    """

    name: str
    protocols: list[str]
    addresses: dict[str, str]
    feeTiers: dict[str, int]
    initCodeHash: str | None
    source: str
    unconfirmed: list[str]


class NetworkDetailsJson(TypedDict):
    """A network in full.

    `describedBy` are what describes it, from the bottom up: program, a file, settings. `nodes` are the addresses of its
    nodes without what may hold a key, the user's first. `blockTime` is in seconds. `factsDate` is the day on which the
    facts were last compared with their `sources`; `unconfirmed` names facts to check before use.
    """

    name: str
    kind: str
    chainId: str
    describedBy: list[str]
    native: str
    wrappedNative: str | None
    explorer: str | None
    multicall: str | None
    blockTime: float | None
    nodes: list[str]
    routers: list[RouterDetailsJson]
    tokens: list[DescribedTokenJson]
    protocols: list[DescribedProtocolJson]
    venues: list[VenueJson]
    sources: dict[str, str]
    unconfirmed: list[str]
    factsDate: str | None


class CheckedFactJson(TypedDict):
    """A fact of a network's definition, as a node sees it. `found` is what the chain has, in words.

    `key` is its place in the definition, `place` the file and the line that state it, null for what comes with the
    program. `outcome` says whether the chain confirms the fact, contradicts it, or cannot tell.
    """

    key: str
    fact: str
    outcome: Literal["confirmed", "contradicted", "unknown"]
    found: str
    place: str | None


class NetworkCheckJson(TypedDict):
    """The definition of a network compared with the chain at `block`, which is null for a node of another chain."""

    network: str
    node: str
    block: int | None
    confirmed: int
    contradicted: int
    unknown: int
    facts: list[CheckedFactJson]


class AddedNetworkJson(TypedDict):
    """A network file that was added, and where it is stored.

    `change` is what it does: list a network of the program among the user's, extend or replace its definition, or
    describe a new network. `entries` are the numbers of its entries by key. `check` is what a node confirmed.
    """

    network: str
    chainId: str
    file: str
    change: Literal["listed", "extended", "replaced", "described"]
    entries: dict[str, int]
    check: NetworkCheckJson | None


class RemovedNetworkJson(TypedDict):
    """A network file that was removed; `packaged` says whether the network itself comes with the program."""

    network: str
    file: str
    packaged: bool


class NodeDocumentJson(TypedDict):
    """What a node serves; `healthy` is whether quotes work on it.

    `latency` and `blockAge` are in seconds; null means that it was not found out.

    The maxima are the largest sizes that the checks have seen: at most 20 requests in a batch, and 1,000 blocks in a
    request for events.
    """

    network: str
    node: str
    healthy: bool
    latency: float | None
    block: int | None
    blockAge: float | None
    maxBatchRequests: int | None
    maxLogBlocks: int | None
    checks: list[NodeCheckJson]
    missing: list[str]


class HealthDocumentJson(TypedDict):
    """The health of a network; 200 is healthy, 0 means no response. `time` is in seconds.

    `prices` are those of the sample: live, stored, recorded, modelled or synthetic; null if there are none.
    `node` is what the node of --rpc-url serves.
    """

    network: str
    healthy: bool
    status: int
    message: str
    time: float
    prices: str | None
    state: StateJson | None
    pools: int | None
    tokens: int | None
    sample: SampleJson | None
    node: NotRequired[NodeDocumentJson]


class NetworkDocumentJson(TypedDict):
    """A network, with the numbers of its tokens and protocols in the catalogue.

    `router` is the interface's, or that of the settings. `dialects` are those of the routers that are known, the most
    trusted first, and `factsDate` is the day on which the facts were compared with their sources, empty if not known.
    """

    name: str
    kind: str
    chainId: str
    native: str
    v2: bool
    tokens: int
    protocols: int
    router: str | None
    dialects: list[str]
    factsDate: str


class TransfersJson(TypedDict):
    """How a token transfers, as tested: its kind, and the fees that it charges in parts per million."""

    kind: str
    transfer_fee_ppm: NotRequired[int]
    buy_fee_ppm: NotRequired[int]
    sell_fee_ppm: NotRequired[int]


class TokenDocumentJson(TypedDict):
    """A token with the number of its pools."""

    symbol: str
    name: str
    decimals: int
    pools: int
    address: str
    transfers: NotRequired[TransfersJson]


class AgreementJson(TypedDict):
    """The newest block with swaps, mined or simulated, that were equal to their quotes; its time; their number."""

    block: int
    timestamp: int
    swaps: int


class ProtocolDocumentJson(TypedDict):
    """A protocol; `family` is its pool math, null if it is not supported. `extended` says that the interface does not
    list it. `pools` is the number of its pools in the store or in the embedded market, as `pools_source` says; both are
    null without either.

    `quotes` says how its pools are quoted: by their maths, or by asking their contracts. `can_sync` says whether
    `swapcli sync` finds them. `reason` is the fact that is missing, null if both are possible. `contract` says whether
    the address of the contract that its pools come from is sure, null if none is known. `dialects` are those of the
    routers that execute its pools, as --router-dialect takes them. `recorded_swaps` are the recorded swaps of its
    family that equal its quotes; `compared` says whether they are enough. Both are null where nothing is computed.
    `facts_date` is the day on which all of this was compared with its sources, YYYY-MM-DD, null for networks of the
    settings that name none.
    """

    protocol: int
    amm_name: str
    display_name: str
    family: str | None
    extended: bool
    confirmed: bool
    pools: int | None
    pools_source: Literal["store", "embedded"] | None
    quotes: Literal["exact", "sampled", "not supported"]
    can_sync: bool
    reason: str | None
    contract: Literal["confirmed", "unconfirmed"] | None
    dialects: list[str]
    recorded_swaps: int | None
    compared: bool | None
    facts_date: str | None
    last_agreed: AgreementJson | None
    unexplained: list[str]


class PublicVenueJson(TypedDict):
    """A venue of a public list. `coverage` says how its pools are quoted: by their maths, by asking their contracts, or
    not at all. `protocols` are those that it is in the list of the network, empty for a venue that none is. `reason` is
    why it is not quoted exactly, or what a part of it lacks; null if nothing is missing. `lists` name the venue.
    """

    venue: str
    coverage: Literal["exact", "sampled", "absent"]
    protocols: list[str]
    reason: str | None
    lists: list[str]


class PoolDocumentJson(TypedDict):
    """A pool. `price` is how many whole tokens of the second of `pair` one of the first costs.

    `liquidityUsd` is about the value that orders could trade in it, null if unknown. `leftOut` is why quotes do not use
    the pool, null if they may.
    """

    pool: str
    protocol: int | None
    amm_name: str
    fee_ppm: int
    tokens: list[str]
    pair: list[str | None]
    price: float | None
    liquidityUsd: float | None
    block: int | None
    ageS: int | None
    leftOut: str | None


class PoolsJson(TypedDict):
    """The deepest of the `count` pools of a network, or of those that trade some tokens."""

    network: str
    state: StateJson
    warnings: list[WarningJson]
    count: int
    pools: list[PoolDocumentJson]


PriceDocumentJson = TypedDict(
    "PriceDocumentJson",
    {
        "symbol": str,
        "address": str,
        "priceUsd": float | None,
        "price": float | None,
        "in": str,
        "depthUsd": float | None,
        "path": list[str],
        "pools": list[str],
    },
)
PriceDocumentJson.__doc__ = (
    "The mid price of a whole token in USD and, as `price`, in the token `in`; null if no pool gives one. `path` are"
    " the tokens to the one that prices start from, `pools` those between them, `depthUsd` the depth of the thinnest."
)


class PricesJson(TypedDict):
    """Mid prices of tokens on one state."""

    network: str
    state: StateJson
    warnings: list[WarningJson]
    prices: list[PriceDocumentJson]


class BalanceJson(TypedDict):
    """What an account holds of a token: `amount` in smallest units, `balance` in whole tokens; null if unknown."""

    symbol: str
    address: str
    amount: str | None
    balance: str | None


class HoldingsJson(TypedDict):
    """The balances of an account after a block."""

    network: str
    address: str
    block: int
    timestamp: int
    balances: list[BalanceJson]


class AllowedTokenJson(TypedDict):
    """The token of an allowance."""

    symbol: str
    address: str


class AllowanceJson(TypedDict):
    """What a spender may take of a token of its owner after a block, in smallest units."""

    network: str
    address: str
    token: AllowedTokenJson
    spender: str
    allowance: str
    block: int
    timestamp: int


class DecodedTokenJson(TypedDict):
    """A token of a call; the native one has the zero address. Null where it is unknown."""

    address: str
    symbol: str | None
    decimals: int | None


class DecodedOrderJson(TypedDict):
    """The order that a call carries out; amounts in base units, `deadline` in Unix seconds.

    Of an exact output, `amountIn` is the maximum, and `minReceived` the output. `deadlineEnforcer` rejects the call
    after the deadline: a router (its dialect), permit (the token of a permit), or nobody.
    """

    tokenIn: DecodedTokenJson
    tokenOut: DecodedTokenJson
    exactOutput: bool
    amountIn: str
    amountOut: str | None
    minReceived: str
    recipient: str
    deadline: int | None
    deadlineEnforcer: str


class DecodedSwapJson(TypedDict):
    """A swap of a call: `share` is its percentage of all that is sold of the token, or `amountIn` its amount."""

    tokenIn: DecodedTokenJson
    tokenOut: DecodedTokenJson | None
    pool: str | None
    amm_name: str | None
    fee_ppm: int | None
    share: float | None
    amountIn: str | None


class DecodedFeeJson(TypedDict):
    """What an integrator receives, in basis points."""

    recipient: str
    feeBps: float
    surplusBps: int


class DecodedPaymentJson(TypedDict):
    """What leaves a swap for others than its recipient: an amount in base units, or percentages.

    `share` is of what the router has of the token, `surplusShare` of what is paid above the quote.
    """

    token: DecodedTokenJson
    recipient: str
    share: float | None
    surplusShare: float | None
    amount: str | None


class DecodedApprovalJson(TypedDict):
    """A permission to take tokens, by a transaction or by a permit; times in Unix seconds.

    `deadlineEnforcer` rejects it later: permit2, permit (the token), or nobody.
    """

    token: DecodedTokenJson | None
    spender: str | None
    amount: str
    expiration: int | None
    deadline: int | None
    deadlineEnforcer: str


class DecodedAmountJson(TypedDict):
    """An amount of a token in base units."""

    token: DecodedTokenJson
    amount: str


class DecodedMessageJson(TypedDict):
    """A message to sign, `title` null if its kind is unknown; `deadline` in Unix seconds.

    `owner` is the account whose tokens it is about, `account` the one that is to sign. An order by signature `sells`
    tokens for those that it `buys`, which its `recipients` get.
    """

    title: str | None
    type: str
    owner: str | None
    account: str | None
    approvals: list[DecodedApprovalJson]
    sells: list[DecodedAmountJson]
    buys: list[DecodedAmountJson]
    recipients: list[str]
    deadline: int | None
    deadlineEnforcer: str


class DecodedTransactionJson(TypedDict):
    """One transaction of a decoded document, with the function that it calls; null where unknown or absent."""

    to: str | None
    value: str | None
    chainId: int | None
    function: str | None
    selector: str | None
    approval: DecodedApprovalJson | None


class DecodedVerdictJson(TypedDict):
    """The verdict on a payload: `message` is the first line of the text output. "unknown" lists the missing facts."""

    status: Literal["no_danger_found", "unknown", "danger"]
    message: str


class DecodedDocumentJson(TypedDict):
    """A payload, and a fresh quote of the same order; null where unknown or absent.

    `minimumBelowFresh` is in percent of the fresh quote. `dangers` are the codes of the warnings that make the payload
    dangerous to sign.
    """

    verdict: DecodedVerdictJson
    network: str | None
    dialect: str | None
    function: str | None
    selector: str | None
    to: str | None
    value: str | None
    order: DecodedOrderJson | None
    swaps: list[DecodedSwapJson]
    fee: DecodedFeeJson | None
    payments: list[DecodedPaymentJson]
    permit: DecodedApprovalJson | None
    approval: DecodedApprovalJson | None
    message: DecodedMessageJson | None
    trailingBytes: int
    freshAmountOut: str | None
    minimumBelowFresh: float | None
    state: StateJson | None
    transactions: list[DecodedTransactionJson]
    warnings: list[WarningJson]
    dangers: list[str]


class KeyJson(TypedDict):
    """An API key of the service, without the key itself; times in UTC."""

    id: str
    name: str
    created: str
    revoked: str | None


class CreatedKeyJson(KeyJson):
    """A new API key. The key is printed only this once."""

    key: str


class SettingJson(TypedDict):
    """A setting with its value, null if it has none, and where it comes from. Secrets are masked."""

    key: str
    value: str | None
    origin: str


class StoredProtocolJson(TypedDict):
    """The pools of a protocol in a store; `depthUsd` is about the value that orders could trade in them."""

    amm_name: str
    family: str
    pools: int
    depthUsd: float


class StoreJson(TypedDict):
    """A store of pools. `gasPrice` is in wei; `transfers` counts its tokens by how they transfer."""

    network: str
    chainId: str
    state: StateJson
    gasPrice: str
    pools: int
    tokens: int
    transfers: dict[str, int]
    protocols: list[StoredProtocolJson]
    undoableBlocks: int
    store: str
    bytes: int


class SkippedJson(TypedDict):
    """Why entries were left out of a sync."""

    reason: str
    count: int
    examples: list[str]


class SyncDocumentJson(StoreJson):
    """A store after a sync."""

    newPools: int
    foundBy: str
    leftOut: list[SkippedJson]
    unexplained: list[str]
    seconds: float
    poolsPerSecond: float


class AdvanceJson(TypedDict):
    """A step of `swapcli sync --watch` to a new block, with the keys of pools."""

    network: str
    block: int
    hash: str
    timestamp: int
    rewoundTo: int | None
    touched: list[str]
    added: list[str]
    removed: list[str]
    drifted: list[str]
    unexplained: list[str]


class ExportDocumentJson(TypedDict):
    """A market that was written to a file."""

    network: str
    state: StateJson
    pools: int
    tokens: int
    file: str
    bytes: int


class RemovedStoreJson(TypedDict):
    """A store that was removed; `pools` is null if it was damaged."""

    network: str
    pools: int | None
    store: str


class DeploymentJson(TypedDict):
    """The transaction that deploys a router; `to` is null, since it creates a contract."""

    network: str
    chainId: int
    to: None
    value: str
    calldata: str


class ListeningJson(TypedDict):
    """The line that `swapcli mcp --http` prints when it accepts connections."""

    url: str
    pid: int


class ReadyJson(ListeningJson):
    """The line that `swapcli serve` prints when it accepts connections."""

    networks: list[str]


class ErrorJson(TypedDict):
    """An error, on stderr. `code` is stable; `details` depend on it.

    `retryable` is whether the same command may succeed in a while without a change.
    """

    code: str
    message: str
    details: dict[str, Any]
    hint: str | None
    retryable: bool
    exit_code: int


class NextStepJson(TypedDict):
    """The step after an error: the call to make, or with a null `tool` the reason why there is none."""

    tool: str | None
    arguments: dict[str, Any]
    reason: str


class ToolErrorJson(ErrorJson):
    """The error of a tool of `swapcli mcp`."""

    next: NextStepJson


class CheckedQuoteJson(TypedDict):
    """The figures of a swap that was checked. Amounts are in base units."""

    inputToken: TokenJson
    inputAmount: str
    outputToken: TokenJson
    outputAmount: str
    minReceived: str
    priceImpact: float | None
    slippage: float
    gasUnits: str | None


class SwapCheckJson(TypedDict):
    """The verdict on a swap, null where there is nothing to rehearse, without its payload.

    `quote` and `state` are null where the verdict blocks the swap.
    """

    network: str
    verdict: VerdictJson | None
    quote: CheckedQuoteJson | None
    state: StateJson | None


class WholeAmountJson(TypedDict):
    """An amount of the same document in whole tokens: where it stands, as --get names it, and of which token."""

    field: str
    whole: str
    symbol: str
    raw: str


class SwapTokenJson(TypedDict):
    """A token that is sold or bought."""

    symbol: str
    address: str
    decimals: int


class AlternativeSimulationJson(TypedDict):
    """What a simulation says of an alternative. `outcome` is paid, replayed, failed or notSimulated.

    A payload that paid, or failed, was simulated for `sender` of the comparison after `block`. `replayed` is another
    way of this process: its pools were replayed, in proportion to what the payload of the split route paid. `reason`
    says why a payload failed or was not simulated.
    """

    outcome: str
    reason: str | None
    block: int | None
    outputAmount: str | None
    gasUnits: str | None
    gasUsd: float | None
    outputNetOfGas: str | None


class AlternativeJson(TypedDict):
    """One way to fill the order. Amounts are in base units of the output token.

    `outputAmount` and `outputNetOfGas` of a service or an aggregator are simulated, null if its payload failed or was
    not simulated. `promisedAmount`, `gasUnits` and `gasUsd` are from its response. Without aggregators, nothing is
    simulated, and all figures of a service but `outputNetOfGas` are from its response.

    `kind` is split, singlePath, direct, protocol (`name` alone), service (at the URL `name`) or aggregator (`name`).
    `versusSplitBps` is how much more it pays than the split route, `versusBestBps` the same of the best alternative,
    net of gas: as simulated, where it was. `simulation` is null unless aggregators were asked.
    """

    kind: str
    name: str | None
    outputAmount: str | None
    promisedAmount: str | None
    versusSplitBps: float | None
    gasUnits: str | None
    gasUsd: float | None
    outputNetOfGas: str | None
    versusBestBps: float | None
    timeS: float | None
    block: int | None
    state: StateJson | None
    simulation: AlternativeSimulationJson | None
    error: FailureJson | None


class ComparisonJson(TypedDict):
    """`swapcli compare --json`: the alternatives for an order, the best first.

    `state`, `unreadGainBps`, `certificate` and `proofFile` are those of the split route. Every `outputNetOfGas` is at
    the value of gas in the split route's quote, whose source is `gasValueSource`; without that quote, each service has
    its own.

    Those that are proven by a simulation come before those that only say what they pay. `hostsAsked` are the hosts of
    the aggregators that got the order, and `sender` is for whom; null if none was asked.
    """

    network: str
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    inputAmount: str
    state: StateJson | None
    unreadGainBps: float | None
    warnings: list[WarningJson]
    gasValueSource: str | None
    hostsAsked: list[str]
    sender: str | None
    alternatives: list[AlternativeJson]
    certificate: NotRequired[CertificateJson]
    proofFile: NotRequired[str]


class DepthPointJson(TypedDict):
    """A quote for one amount. Amounts are in base units; `priceImpact` is in percent.

    `impactBasis` is what it is measured against: usd (with pool fees) or pools (without them).
    """

    inputAmount: str
    inputUsd: float | None
    outputAmount: str
    priceImpact: float | None
    impactBasis: str | None


class DepthLevelJson(TypedDict):
    """Where the price impact reaches `level` percent: a quote within it, and one for the next larger amount.

    `within` is null if the smallest amount exceeds the level, `beyond` if the liquidity ends before.
    """

    level: float
    within: DepthPointJson | None
    beyond: DepthPointJson | None


class DepthJson(TypedDict):
    """`swapcli depth --json`: quotes over a ladder of amounts, smallest first, and the levels of price impact.

    `liquidityEnds` says whether the next amount of the ladder has no route.
    """

    network: str
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    state: StateJson
    warnings: list[WarningJson]
    points: list[DepthPointJson]
    liquidityEnds: bool
    levels: list[DepthLevelJson]


class VerifiedSwapJson(TypedDict):
    """A mined swap. Amounts are in base units, of the event and of the quote on the state just before it.

    `outcome` is equal, different or notExplained; then `reason` says why, and `quotedAmount` may be null.
    """

    logIndex: int
    pool: str
    protocol: str | None
    family: str | None
    inputToken: SwapTokenJson | None
    outputToken: SwapTokenJson | None
    inputAmount: str
    outputAmount: str
    quotedAmount: str | None
    outcome: str
    reason: str | None


class NetSwapJson(TypedDict):
    """What the swaps of a transaction sold and bought in total, in base units."""

    inputToken: SwapTokenJson | None
    outputToken: SwapTokenJson | None
    inputAmount: str
    outputAmount: str


class BestRouteJson(TypedDict):
    """What the best route would have paid for the net swap at the parent block; `problem` says why that is unknown.

    `differenceBps` is how much more that is than the transaction's, in hundredths of a percent.
    """

    outputAmount: str | None
    differenceBps: float | None
    problem: str | None


class VerificationJson(TypedDict):
    """`swapcli verify --json`: the swaps of a mined transaction with their quotes; `stateBlock` is the parent block.

    `netSwap` is null if the swaps are more than one swap in total, or a token is unknown; so is `bestRoute` then.
    """

    network: str
    transaction: str
    block: int
    stateBlock: int
    equal: int
    different: int
    notExplained: int
    swaps: list[VerifiedSwapJson]
    netSwap: NetSwapJson | None
    bestRoute: BestRouteJson | None


class RecentSwapJson(VerifiedSwapJson):
    """A recent swap. `transaction` is null if the node omits it, `timestamp` if its block was not read."""

    transaction: str | None
    block: int
    stateBlock: int
    timestamp: int | None


class RecentVenueJson(TypedDict):
    """The verified swaps of a protocol, newest first, of `found` in `searchedBlocks` blocks from `searchedFrom` on.

    `status` sums up its swaps: different if any differs, equal if any is equal. notVerified means that the run ended
    before a swap was verified. `reason` explains why there are fewer swaps than requested, or why nothing was searched;
    in the latter case `searchedFrom` is null.
    """

    protocol: str
    displayName: str
    family: str | None
    status: Literal["equal", "different", "notExplained", "noneFound", "notVerified", "notSearched"]
    equal: int
    different: int
    notExplained: int
    found: int
    searchedFrom: int | None
    searchedBlocks: int
    reason: str | None
    swaps: list[RecentSwapJson]


class RecentVerificationJson(TypedDict):
    """`swapcli verify --recent --json`: the newest swaps of each protocol, up to `block`, with their quotes.

    `swapsPerVenue` swaps were requested per protocol. `requests` is the number of HTTP requests sent. `problem` is the
    error that ended the run early, or null.
    """

    network: str
    block: int
    timestamp: int
    swapsPerVenue: int
    requests: int
    problem: str | None
    equal: int
    different: int
    notExplained: int
    venues: list[RecentVenueJson]


class RecordedSwapJson(TypedDict):
    """A mined swap with the amounts of its event, in base units. `error` is null: a mined swap did not revert."""

    token_in: str
    token_out: str
    amount_in: str
    amount_out: str
    error: str | None


class RecordedPoolJson(TypedDict):
    """`swapcli record --json`: a pool at the parent block, and the swaps that followed on it.

    `state` is as in market files. With `sequential` each swap acts on the state that the one before it left. `source`
    names the chain, blocks and transactions.
    """

    family: str
    source: str
    tokens: list[str]
    decimals: list[int]
    fee_ppm: int
    state: dict[str, Any]
    swaps: list[RecordedSwapJson]
    sequential: bool
    note: str


class ProofFactJson(TypedDict):
    """A further figure of a check, in words."""

    name: str
    text: str


class ProofItemJson(TypedDict):
    """A check of a run. Amounts are base units of `token`; null if it compares no amounts. `reason` is null for most
    matches."""

    stage: str
    id: str
    title: str
    outcome: str
    reason: str | None
    block: int | None
    expected: str | None
    found: str | None
    token: str | None
    decimals: int
    facts: list[ProofFactJson]
    checkedAt: int


class ProofStageJson(TypedDict):
    """The results of a stage; `timeS` is null if the run ended before it."""

    stage: str
    matches: int
    differences: int
    notChecked: int
    timeS: float | None
    requests: int


class ProveJson(TypedDict):
    """`swapcli prove --json`: the checks made on this machine. Times are Unix seconds.

    The outcome of an item is match, difference or notChecked. `resumedItems` is the number of items from earlier runs.
    `hostsContacted` are public nodes and aggregators; the user's own nodes are not named. `requests` counts requests to
    nodes. `page` is the file name of the page, in the same folder.
    """

    network: str
    chainId: str
    swapcli: str
    python: str
    startedAt: int
    finishedAt: int
    interrupted: bool
    resumedItems: int
    firstBlock: int | None
    lastBlock: int | None
    matches: int
    differences: int
    notChecked: int
    hostsContacted: list[str]
    requests: int
    maxRequests: int
    timeS: float
    timeBudgetS: float
    stages: list[ProofStageJson]
    items: list[ProofItemJson]
    unchecked: list[str]
    page: str


class DistributionJson(TypedDict):
    """How values spread: their number (`size`), and the values below which 5%, 25%, half, 75% and 95% of them lie."""

    size: int
    p05: float
    p25: float
    median: float
    p75: float
    p95: float


class HindsightVenueJson(TypedDict):
    """How the transactions that `used` a protocol compare with the best routes, of which `wouldUse` use it."""

    venue: str
    used: int
    wouldUse: int
    bps: DistributionJson | None


class HindsightSwapJson(TypedDict):
    """A mined transaction beside the best route for its net swap at the parent block, `stateBlock`.

    Amounts are in base units; `outputNetOfGas` and `bestNetOfGas` are less the gas of each in the output token, null
    where gas has no price, at one value of gas, whose source is `gasValueSource`. `differenceBps` and
    `netDifferenceBps` are how much more the best route would have paid, in basis points. `venues` and `bestVenues` are
    the protocols that the two use. `poolsEqual`, `poolsDifferent` and `poolsNotExplained` count the swaps in pools as
    `swapcli verify` does. `reason` says why there is no comparison, and is null if there is one. `retryable` is true if
    there may be one later, as for a transaction that is not mined yet.
    """

    transaction: str
    block: int | None
    stateBlock: int | None
    timestamp: int | None
    inputToken: SwapTokenJson | None
    outputToken: SwapTokenJson | None
    inputAmount: str | None
    outputAmount: str | None
    outputNetOfGas: str | None
    gasValueSource: str | None
    gasUsed: int | None
    gasPriceWei: str | None
    venues: list[str]
    bestAmount: str | None
    bestNetOfGas: str | None
    bestGasUnits: int | None
    bestVenues: list[str]
    differenceBps: float | None
    netDifferenceBps: float | None
    poolsEqual: int | None
    poolsDifferent: int | None
    poolsNotExplained: int | None
    reason: str | None
    retryable: bool


class HindsightJson(TypedDict):
    """`swapcli hindsight --json`: mined transactions beside the best routes of their time.

    `better`, `equal` and `worse` count the best routes that would have paid more, as much or less net of gas, and `bps`
    is the distribution of the differences.
    """

    network: str
    explained: int
    notExplained: int
    better: int
    equal: int
    worse: int
    bps: DistributionJson | None
    venues: list[HindsightVenueJson]
    swaps: list[HindsightSwapJson]


class BacktestOrderJson(TypedDict):
    """How the quotes of one order spread over the blocks: `rate` is whole output tokens for one input token.

    `gainBps` is how much more the split route pays than the best single path, in basis points, net of gas where gas has
    a price; `winShare` is the part of the quotes in which it pays more.
    """

    id: str
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    inputAmount: str
    quoted: int
    failed: int
    rate: DistributionJson | None
    gainBps: DistributionJson | None
    winShare: float | None


class BacktestQuoteJson(TypedDict):
    """What one order would have paid at a block: a row of the CSV, and a line of `--results`.

    Amounts are in base units; `singlePathAmount` is what the best single path pays, null if none takes the order. Those
    net of gas are null where gas has no price, at one value of gas, whose source is `gasValueSource`. `pools` counts
    those of the route; `error` says why there is no quote.
    """

    block: int
    timestamp: int
    id: str
    inputToken: str
    outputToken: str
    inputAmount: str
    outputAmount: str | None
    outputNetOfGas: str | None
    gasValueSource: str | None
    gasUnits: int | None
    singlePathAmount: str | None
    singlePathNetOfGas: str | None
    gainBps: float | None
    pools: int | None
    error: str | None


class BacktestJson(TypedDict):
    """`swapcli backtest --json`: what orders would have paid at past blocks.

    `gainBps` and `winShare` are those of all quotes, as in each order. `quotes` are left out with `--results`.
    """

    network: str
    firstBlock: int
    lastBlock: int
    blocks: int
    quoted: int
    failed: int
    gainBps: DistributionJson | None
    winShare: float | None
    orders: list[BacktestOrderJson]
    quotes: NotRequired[list[BacktestQuoteJson]]


class DocumentJson(TypedDict):
    """A document that `swapcli schema DOCUMENT` describes, and what prints it."""

    document: str
    printed_by: str


DOCUMENTS: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType(
    {
        "route": (RouteDocumentV1Json, RouteDocumentV2Json),
        "route-batch": (BatchLineJson,),
        "route-watch": (WatchedRouteV1Json, WatchedRouteV2Json, FailedRefreshJson),
        "proof": (ProofDocumentJson,),
        "compare": (ComparisonJson,),
        "depth": (DepthJson,),
        "calldata": (CalldataDocumentV1Json, CalldataDocumentV2Json, EncodedCalldataDocumentJson),
        "decode": (DecodedDocumentJson,),
        "execute": (ExecuteDocumentV1Json, ExecuteDocumentV2Json, EncodedExecuteDocumentJson),
        "health": (list[HealthDocumentJson],),
        "networks": (list[NetworkDocumentJson], list[NodeDocumentJson], NetworkDetailsJson),
        "networks-show": (list[NetworkDocumentJson], list[NodeDocumentJson], NetworkDetailsJson),
        "networks-add": (AddedNetworkJson,),
        "networks-check": (NetworkCheckJson,),
        "networks-remove": (RemovedNetworkJson,),
        "tokens": (list[TokenDocumentJson],),
        "protocols": (list[ProtocolDocumentJson], list[PublicVenueJson]),
        "pools": (PoolsJson,),
        "price": (PricesJson,),
        "verify": (VerificationJson, RecentVerificationJson),
        "record": (list[RecordedPoolJson],),
        "prove": (ProveJson,),
        "hindsight": (HindsightJson,),
        "backtest": (BacktestJson,),
        "backtest-results": (BacktestQuoteJson,),
        "balance": (HoldingsJson,),
        "allowance": (AllowanceJson,),
        "market-info": (StoreJson, list[StoreJson]),
        "market-import": (StoreJson,),
        "market-export": (ExportDocumentJson,),
        "market-remove": (RemovedStoreJson,),
        "sync": (SyncDocumentJson,),
        "sync-watch": (SyncDocumentJson, AdvanceJson),
        "keys-create": (CreatedKeyJson,),
        "keys-list": (list[KeyJson],),
        "keys-revoke": (KeyJson,),
        "config-show": (list[SettingJson],),
        "config-get": (SettingJson,),
        "router-deploy-payload": (DeploymentJson,),
        "serve": (ReadyJson,),
        "schema": (list[DocumentJson],),
        "error": (ErrorJson,),
    }
)
"""The types of each document by its name: that of its command, with dashes. Any one of the types occurs."""

TOOL_DOCUMENTS: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType(
    {
        "check": (SwapCheckJson,),
        "quote_batch": (list[BatchLineJson],),
        "networks": (list[NetworkDocumentJson],),
        "error": (ToolErrorJson,),
    }
)
"""The types of documents of tools of `swapcli mcp` where they are not those of a command, by the names of the tools."""
