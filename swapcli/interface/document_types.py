"""Types of all JSON documents that commands print; `swapcli schema` prints their JSON schemas.

The docstrings are the descriptions of the schemas, and the class names without `Json` are the schema names. A field
that is unknown or does not apply is null in `KEEPS_EMPTY_FIELDS`, and absent in all other documents: their types say `X
| None` where `own_document` drops it. Bodies of the API are in `json_types`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

from swapcli.interface.json_types import (
    AdvisedSlippageJson as AdvisedSlippageJson,
)
from swapcli.interface.json_types import (
    CalldataRouteJson,
    CallPartsJson,
    CertificateJson,
    MetaJson,
    QuoteFieldsJson,
    RouteV1Json,
    RouteV2Json,
    ShortRouteJson,
    StateJson,
    SwapParameterJson,
    TokenJson,
    VerdictJson,
    WarningJson,
)
from swapcli.interface.json_types import (
    SwapTokenJson as SwapTokenJson,
)
from swapcli.interface.plan_types import PlanJson, PlannedFieldsJson
from swapcli.interface.proof_types import ProofDocumentJson


class RouteDocumentV1Json(RouteV1Json, QuoteFieldsJson):
    """`swapcli route --json`, V1: the API's route with the figures of the quote."""


class RouteDocumentV2Json(RouteV2Json, QuoteFieldsJson):
    """`swapcli route --json`, V2: the API's route with the figures of the quote."""


RouteDocumentJson: TypeAlias = RouteDocumentV1Json | RouteDocumentV2Json


class ChangeJson(TypedDict):
    """The change since the first quote, which was made at `since` (Unix seconds). Amounts are in base units.

    `bps` is the change of the output, or of the input if the order fixes the output.
    """

    input: str
    output: str
    bps: float
    since: int


class WatchedRouteV1Json(RouteDocumentV1Json):
    """A line of `swapcli route --watch`, V1: a route with the change since the first route."""

    change: ChangeJson


class WatchedRouteV2Json(RouteDocumentV2Json):
    """A line of `swapcli route --watch`, V2: a route with the change since the first route."""

    change: ChangeJson


WatchedRouteJson: TypeAlias = WatchedRouteV1Json | WatchedRouteV2Json


class FailureJson(TypedDict):
    """The reason why figures are missing, and whether a retry may succeed."""

    code: str
    message: str
    retryable: bool


class FailedRefreshJson(TypedDict):
    """A line of `swapcli route --watch` after a failed refresh, with the age of the last good quote in seconds."""

    error: FailureJson
    lastQuoteAgeS: float


class FailedRouteJson(TypedDict):
    """The failure that replaces the route if an order in a batch failed. `errorCode` is the code of the error."""

    success: Literal[False]
    errorMessage: str
    errorCode: str


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
    "A transaction to sign, in the form that web3.py, viem and ethers accept; `what` is its purpose. Quantities "
    "that JavaScript cannot read as numbers are in hex. On Starknet, it is a call of `entrypoint` with "
    "`calldata`."
)


class ResourceBoundJson(TypedDict):
    """The maximum units of a resource that a transaction may use, and the maximum price in fri per unit; in hex."""

    max_amount: str
    max_price_per_unit: str


class ResourceBoundsJson(TypedDict):
    """The limits on the three resources of a Starknet transaction."""

    l1_gas: ResourceBoundJson
    l2_gas: ResourceBoundJson
    l1_data_gas: ResourceBoundJson


class InvokeTransactionJson(TypedDict):
    """An unsigned version 3 transaction, with which a Starknet account executes calls; numbers are in hex."""

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
    """The fee of a Starknet transaction: a node's estimate, and the maximum that its bounds allow; in fri and STRK."""

    estimated: str
    max: str
    estimatedStrk: str
    maxStrk: str


class InvokeDetailsJson(TypedDict):
    """The fields of a Starknet transaction besides its calls, with numbers in hex, and its fee."""

    sender_address: str
    nonce: str
    tip: str
    resource_bounds: ResourceBoundsJson
    fee: AccountFeeJson


class ReadingJson(TypedDict):
    """The possible interpretations of a call by a router with unpublished code, as far as a simulation can tell."""

    rate: list[str]
    extraData: list[str]


class SimulationJson(TypedDict):
    """A simulated swap; amounts are in base units. `overrides` lists what the sender lacked and the simulation
    granted."""

    block: int
    received: str
    expected: str
    gasUsed: int
    matches: bool
    sender: str
    overrides: list[str]
    reading: NotRequired[ReadingJson]


class AdviceFieldsJson(TypedDict):
    """The advised slippage of a quote on state read from the network."""

    advisedSlippage: NotRequired[AdvisedSlippageJson]


class DeadlineFieldsJson(TypedDict):
    """`deadlineEnforcer` rejects a late swap: a router (its dialect), permit (the token), or nobody if there is no
    deadline."""

    deadlineEnforcer: str


class PayloadDocumentJson(QuoteFieldsJson, DeadlineFieldsJson):
    """The transaction of a swap, with the figures of its quote.

    `transactions` lists all transactions to send, in order. On Starknet, an account executes them in one transaction.
    With a node and a sender, the fields from `sender_address` to `fee` describe that transaction. `witnesses` is the
    number of nodes that agree on the state, null if no state was read here. `dialectPackage` is the installed package,
    with its version, that encodes the call; absent for swapcli's dialects.
    """

    to: str
    entrypoint: NotRequired[str]
    calldata: str | list[str]
    value: str
    dialect: str
    dialectPackage: NotRequired[str]
    witnesses: int | None
    recipientName: NotRequired[str]
    senderName: NotRequired[str]
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
    """A short V1 route, with the amounts and parties of its call."""


class CalledRouteV2Json(RouteV2Json, CalldataRouteJson):
    """A V2 route, with the amounts and parties of its call."""


class CalldataDocumentV1Json(PayloadDocumentJson, AdviceFieldsJson):
    """`swapcli calldata --json`, V1."""

    success: bool
    route: CalledRouteV1Json
    swap_parameters: list[SwapParameterJson]
    deadline: NotRequired[int]


class CalldataDocumentV2Json(PayloadDocumentJson, AdviceFieldsJson):
    """`swapcli calldata --json`, V2."""

    route: CalledRouteV2Json
    swap_parameters: list[SwapParameterJson]
    deadline: NotRequired[int]
    integrator_data: NotRequired[str]
    router_address: str
    meta: MetaJson


class EncodedSwapJson(CalldataRouteJson):
    """The amounts and parties of a call that only its calldata describes; `deadline` is in Unix seconds, null if there
    is none."""

    deadline: int | None


class EncodedCalldataDocumentJson(PayloadDocumentJson, AdviceFieldsJson):
    """`swapcli calldata --json` for a router that the API does not describe: `quote` is the route."""

    quote: dict[str, Any]
    swap: EncodedSwapJson


CalldataDocumentJson: TypeAlias = CalldataDocumentV1Json | CalldataDocumentV2Json | EncodedCalldataDocumentJson


class PlannedCalldataV1Json(CalldataDocumentV1Json, PlannedFieldsJson):
    """`swapcli plan --next --json`, V1: the payload of the part that is due."""


class PlannedCalldataV2Json(CalldataDocumentV2Json, PlannedFieldsJson):
    """`swapcli plan --next --json`, V2: the payload of the part that is due."""


class PlannedEncodedCalldataJson(EncodedCalldataDocumentJson, PlannedFieldsJson):
    """`swapcli plan --next --json` for a router that the API does not describe."""


PlannedCalldataJson: TypeAlias = PlannedCalldataV1Json | PlannedCalldataV2Json | PlannedEncodedCalldataJson


class ExecuteDocumentV1Json(PayloadDocumentJson, CallPartsJson):
    """`swapcli execute --json`, V1."""

    deadline: NotRequired[int]


class ExecuteDocumentV2Json(ExecuteDocumentV1Json):
    """`swapcli execute --json`, V2."""

    integrator_data: NotRequired[str]
    router_address: str
    meta: MetaJson


class EncodedExecuteDocumentJson(PayloadDocumentJson):
    """`swapcli execute --json` for a router that the API does not describe."""

    swap: EncodedSwapJson


ExecuteDocumentJson: TypeAlias = ExecuteDocumentV1Json | ExecuteDocumentV2Json | EncodedExecuteDocumentJson


class SampleJson(TypedDict):
    """The order that a health check quoted; amounts are in base units."""

    tokenIn: str
    tokenOut: str
    inputAmount: str
    outputAmount: str


class NodeCheckJson(TypedDict):
    """A feature that quotes and syncs need from a node.

    `problem` is why the node lacks the feature, absent if the node has it.
    """

    name: str
    passed: bool
    problem: NotRequired[str]


class RouterDetailsJson(TypedDict):
    """The router of a dialect: its address, or the registry contract that names it.

    `package` is the installed package, with its version, that defines the dialect; absent for swapcli's dialects.
    `protocols` is the number of protocols that the router executes, absent if it executes all.
    """

    dialect: str
    package: NotRequired[str | None]
    address: NotRequired[str | None]
    registry: NotRequired[str | None]
    protocols: NotRequired[int | None]


class DescribedTokenJson(TypedDict):
    """A token in the definition of a network."""

    address: str
    symbol: str
    name: str
    decimals: int


class DescribedProtocolJson(TypedDict):
    """A protocol in the definition of a network; `family` is absent if its pools cannot be quoted."""

    protocolId: int
    protocol: str
    displayName: str
    family: NotRequired[str | None]


class VenueJson(TypedDict):
    """The contracts of protocols by role, with the source of these facts.

    `feeTiers` has the tick spacing for each fee in parts per million, 0 if there is none. `unconfirmed` names the
    fields that only one weak source confirms.
    """

    name: str
    protocols: NotRequired[list[str]]
    addresses: NotRequired[dict[str, str]]
    feeTiers: NotRequired[dict[str, int]]
    initCodeHash: NotRequired[str | None]
    source: NotRequired[str]
    unconfirmed: NotRequired[list[str]]


class NetworkDetailsJson(TypedDict):
    """Everything that is known about a network.

    `describedBy` lists the sources of the definition, each overriding the ones before it: program, a file, settings.
    `nodes` lists its node URLs, the user's first, without the parts that may contain a key. `factsDate` is the day on
    which the facts were last compared with their `sources`; `unconfirmed` names facts to check before use.
    """

    name: str
    kind: str
    chainId: str
    describedBy: NotRequired[list[str]]
    native: str
    wrappedNative: NotRequired[str | None]
    explorer: NotRequired[str | None]
    multicall: NotRequired[str | None]
    blockTimeS: NotRequired[float | None]
    nodes: NotRequired[list[str]]
    routers: NotRequired[list[RouterDetailsJson]]
    tokens: NotRequired[list[DescribedTokenJson]]
    protocols: NotRequired[list[DescribedProtocolJson]]
    venues: NotRequired[list[VenueJson]]
    sources: NotRequired[dict[str, str]]
    unconfirmed: NotRequired[list[str]]
    factsDate: NotRequired[str | None]


class CheckedFactJson(TypedDict):
    """A fact of a network's definition, compared with the chain. `found` describes the chain's value.

    `key` is its key in the definition. `place` is the file and the line that state it, absent for facts that come with
    the program. `outcome` is unknown if the chain can neither confirm nor contradict the fact.
    """

    key: str
    fact: str
    outcome: Literal["confirmed", "contradicted", "unknown"]
    found: str
    place: NotRequired[str | None]


class NetworkCheckJson(TypedDict):
    """The definition of a network compared with the chain at `block`, absent if the node is on another chain."""

    network: str
    node: str
    block: NotRequired[int | None]
    confirmed: int
    contradicted: int
    unknown: int
    facts: NotRequired[list[CheckedFactJson]]


class AddedNetworkJson(TypedDict):
    """A network file that was added, and where it is stored.

    `change` is the effect of the file: it lists a network that comes with the program among the user's networks,
    extends or replaces such a network's definition, or describes a new network. `entries` has the number of entries by
    key. `check` is the definition's comparison with the chain.
    """

    network: str
    chainId: str
    file: str
    change: Literal["listed", "extended", "replaced", "described"]
    entries: NotRequired[dict[str, int]]
    check: NotRequired[NetworkCheckJson | None]


class RemovedNetworkJson(TypedDict):
    """A network file that was removed; `packaged` is true if the network itself comes with the program."""

    network: str
    file: str
    packaged: bool


class NodeDocumentJson(TypedDict):
    """The features of a node; `healthy` is true if it can serve quotes.

    The maxima are the largest sizes that worked in the checks, which try up to 20 requests in a batch and 1,000 blocks
    in a request for events.
    """

    network: str
    node: str
    healthy: bool
    latencyS: NotRequired[float | None]
    block: NotRequired[int | None]
    blockAgeS: NotRequired[float | None]
    maxBatchRequests: NotRequired[int | None]
    maxLogBlocks: NotRequired[int | None]
    checks: NotRequired[list[NodeCheckJson]]
    missing: NotRequired[list[str]]


class HealthDocumentJson(TypedDict):
    """The health of a network. `status` 200 means healthy, and 0 means no response.

    `state` is the state of the sample order's quote, absent if there is none. `node` describes the node at --rpc-url.
    """

    network: str
    healthy: bool
    status: int
    message: str
    timeS: float
    state: NotRequired[StateJson | None]
    pools: NotRequired[int | None]
    tokens: NotRequired[int | None]
    sample: NotRequired[SampleJson | None]
    node: NotRequired[NodeDocumentJson]


class NetworkDocumentJson(TypedDict):
    """A network, with the numbers of its tokens and protocols in the catalogue.

    `router` is the router in the settings or, without one, the API's. `dialects` lists the dialects of the known
    routers, the most trusted first. `factsDate` is the day on which the facts were last compared with their sources,
    empty if unknown. `package` is the installed package, with its version, that defines the network, absent for all
    others. The package is imported when the network is used: until then, all fields except `name` and `package` are
    absent.
    """

    name: str
    package: NotRequired[str | None]
    kind: NotRequired[str | None]
    chainId: NotRequired[str | None]
    native: NotRequired[str | None]
    v2: NotRequired[bool | None]
    tokens: NotRequired[int | None]
    protocols: NotRequired[int | None]
    router: NotRequired[str | None]
    dialects: NotRequired[list[str] | None]
    factsDate: NotRequired[str | None]


class TransfersJson(TypedDict):
    """The tested behaviour of a token's transfers: their kind, and the fees in parts per million."""

    kind: str
    transferFeePpm: NotRequired[int | None]
    buyFeePpm: NotRequired[int | None]
    sellFeePpm: NotRequired[int | None]


class TokenDocumentJson(TypedDict):
    """A token with the number of its pools."""

    symbol: str
    name: str
    decimals: int
    pools: int
    address: str
    transfers: NotRequired[TransfersJson]


class AgreementJson(TypedDict):
    """The latest block with mined or simulated swaps that equal their quotes, the time of that block, and the number of
    such swaps."""

    block: int
    timestamp: int
    swaps: int


class ProtocolDocumentJson(TypedDict):
    """A protocol. `family` is the maths of its pools, absent if the protocol is not supported.

    `extended` is true if the API does not list the protocol. `pools` is the number of its pools in the store or in the
    embedded market, which `poolsSource` names; without either, both fields are absent.

    `quotes` shows whether its pools are quoted by their maths (exact) or by their contracts (sampled). `canSync` is
    true if `swapcli sync` finds them. `reason` is the missing fact, absent if quotes and sync are possible. `contract`
    shows whether the address of the contract that creates its pools is confirmed, absent if none is known. `dialects`
    lists the values of --router-dialect whose routers can execute its pools. `recordedSwaps` is the number of recorded
    swaps of its family that equal the quotes; `compared` is true if there are enough of them. Both fields are absent if
    swapcli computes no amounts for the protocol. `factsDate` is the day (YYYY-MM-DD) on which these facts were compared
    with their sources, absent for networks in the settings without a date.

    `package` is the installed package, with its version, that defines the family, absent for swapcli's families. If no
    protocol of the network uses a package's family, the family has a separate row without the other fields.
    """

    protocolId: NotRequired[int | None]
    protocol: NotRequired[str | None]
    displayName: NotRequired[str | None]
    family: NotRequired[str | None]
    package: NotRequired[str | None]
    extended: NotRequired[bool | None]
    confirmed: NotRequired[bool | None]
    pools: NotRequired[int | None]
    poolsSource: NotRequired[Literal["store", "embedded"] | None]
    quotes: NotRequired[Literal["exact", "sampled", "not supported"] | None]
    canSync: NotRequired[bool | None]
    reason: NotRequired[str | None]
    contract: NotRequired[Literal["confirmed", "unconfirmed"] | None]
    dialects: NotRequired[list[str] | None]
    recordedSwaps: NotRequired[int | None]
    compared: NotRequired[bool | None]
    factsDate: NotRequired[str | None]
    lastAgreed: NotRequired[AgreementJson | None]
    unexplained: NotRequired[list[str] | None]


class PublicVenueJson(TypedDict):
    """A venue in a public list.

    `coverage` shows how its pools are quoted: by their maths (exact), by their contracts (sampled), or not at all.
    `protocols` are the network's protocols that belong to the venue. `reason` is why some or all of it is not quoted
    exactly; absent if nothing is missing. `lists` are the public lists that name it.
    """

    name: str
    coverage: Literal["exact", "sampled", "absent"]
    protocols: NotRequired[list[str]]
    reason: NotRequired[str | None]
    lists: NotRequired[list[str]]


class PoolDocumentJson(TypedDict):
    """A pool. `price` is the price of one whole token of the first in `pair`, in whole tokens of the second.

    `liquidityUsd` is roughly the value that orders could trade in the pool, absent if unknown. `skippedReason` is why
    quotes do not use the pool, absent if they may use it.
    """

    pool: str
    protocolId: NotRequired[int | None]
    protocol: str
    feePpm: int
    tokens: NotRequired[list[str]]
    pair: NotRequired[list[str | None]]
    price: NotRequired[float | None]
    liquidityUsd: NotRequired[float | None]
    block: NotRequired[int | None]
    ageS: NotRequired[int | None]
    skippedReason: NotRequired[str | None]


class PoolsJson(TypedDict):
    """The deepest of the `count` pools of a network, or of its pools that trade the given tokens."""

    network: str
    state: StateJson
    warnings: NotRequired[list[WarningJson]]
    count: int
    pools: NotRequired[list[PoolDocumentJson]]


PriceDocumentJson = TypedDict(
    "PriceDocumentJson",
    {
        "symbol": str,
        "address": str,
        "priceUsd": NotRequired[float | None],
        "price": NotRequired[float | None],
        "in": str,
        "depthUsd": NotRequired[float | None],
        "path": NotRequired[list[str]],
        "pools": NotRequired[list[str]],
    },
)
PriceDocumentJson.__doc__ = (
    "The mid price of a whole token in USD and, as `price`, in the token `in`; absent if no pool gives a price. `path` "
    "lists the tokens from this one to the one that all prices are derived from, `pools` the pools between them; "
    "`depthUsd` is the depth of the thinnest of these pools."
)


class PricesJson(TypedDict):
    """Mid prices of tokens in one market state."""

    network: str
    state: StateJson
    warnings: NotRequired[list[WarningJson]]
    prices: NotRequired[list[PriceDocumentJson]]


class BalanceJson(TypedDict):
    """An account's balance of a token: `amount` in base units, `balance` in whole tokens; absent if unknown."""

    symbol: str
    address: str
    amount: NotRequired[str | None]
    balance: NotRequired[str | None]


class HoldingsJson(TypedDict):
    """The balances of an account at the end of a block."""

    network: str
    address: str
    block: int
    timestamp: int
    balances: NotRequired[list[BalanceJson]]


class AllowedTokenJson(TypedDict):
    """The token of an allowance."""

    symbol: str
    address: str


class AllowanceJson(TypedDict):
    """The amount of an owner's token that a spender may take at the end of a block, in base units."""

    network: str
    address: str
    token: AllowedTokenJson
    spender: str
    allowance: str
    block: int
    timestamp: int


class DecodedTokenJson(TypedDict):
    """A token in a call. The native token has the zero address. Unknown fields are null."""

    address: str
    symbol: NotRequired[str | None]
    decimals: NotRequired[int | None]


class DecodedOrderJson(TypedDict):
    """The order that a call carries out; amounts are in base units, `deadline` in Unix seconds.

    For an exact-output order, `inputAmount` is the maximum input, and `minReceived` the output. `deadlineEnforcer`
    rejects the call after the deadline: a router (its dialect), permit (the token of a permit), or nobody.
    """

    inputToken: DecodedTokenJson
    outputToken: DecodedTokenJson
    exactOutput: bool
    inputAmount: str
    outputAmount: NotRequired[str | None]
    minReceived: str
    recipient: str
    deadline: NotRequired[int | None]
    deadlineEnforcer: str


class DecodedSwapJson(TypedDict):
    """A swap in a call. It sells `sharePercent` of the total amount of its input token, or `inputAmount` base units."""

    inputToken: DecodedTokenJson
    outputToken: NotRequired[DecodedTokenJson | None]
    pool: NotRequired[str | None]
    protocol: NotRequired[str | None]
    feePpm: NotRequired[int | None]
    sharePercent: NotRequired[float | None]
    inputAmount: NotRequired[str | None]


class DecodedFeeJson(TypedDict):
    """The fee and the share of the surplus for an integrator, in basis points."""

    recipient: str
    feeBps: float
    surplusBps: int


class DecodedPaymentJson(TypedDict):
    """A payment by a swap to an address other than the recipient: an amount in base units, or percentages.

    `sharePercent` is a share of the router's balance of the token, `surplusSharePercent` a share of the amount above
    the quote.
    """

    token: DecodedTokenJson
    recipient: str
    sharePercent: NotRequired[float | None]
    surplusSharePercent: NotRequired[float | None]
    amount: NotRequired[str | None]


class DecodedApprovalJson(TypedDict):
    """A permission to take tokens, given by a transaction or by a permit; times are in Unix seconds.

    `deadlineEnforcer` rejects its use after the deadline: permit2, permit (the token), or nobody.
    """

    token: NotRequired[DecodedTokenJson | None]
    spender: NotRequired[str | None]
    amount: str
    expiration: NotRequired[int | None]
    deadline: NotRequired[int | None]
    deadlineEnforcer: str


class DecodedAmountJson(TypedDict):
    """An amount of a token in base units."""

    token: DecodedTokenJson
    amount: str


class DecodedMessageJson(TypedDict):
    """A message to sign. `title` is absent if the kind of message is unknown; `deadline` is in Unix seconds.

    `owner` is the account that holds the tokens, `account` the account that signs. A signed order `sells` tokens for
    the tokens that it `buys`, which its `recipients` receive.
    """

    title: NotRequired[str | None]
    type: str
    owner: NotRequired[str | None]
    account: NotRequired[str | None]
    approvals: NotRequired[list[DecodedApprovalJson]]
    sells: NotRequired[list[DecodedAmountJson]]
    buys: NotRequired[list[DecodedAmountJson]]
    recipients: NotRequired[list[str]]
    deadline: NotRequired[int | None]
    deadlineEnforcer: str


class DecodedTransactionJson(TypedDict):
    """One transaction of a decoded document, with the function that it calls. Unknown or missing fields are absent."""

    to: NotRequired[str | None]
    value: NotRequired[str | None]
    chainId: NotRequired[int | None]
    function: NotRequired[str | None]
    selector: NotRequired[str | None]
    approval: NotRequired[DecodedApprovalJson | None]


class DecodedVerdictJson(TypedDict):
    """The verdict on a payload: `message` is the first line of the text output. "unknown" lists the missing facts."""

    status: Literal["no_danger_found", "unknown", "danger"]
    message: str


class DecodedDocumentJson(TypedDict):
    """A payload, and a fresh quote for the same order. Unknown or missing fields are absent.

    `belowFreshPercent` is a percentage of the fresh quote. `dangers` are the codes of the warnings that make the
    payload dangerous to sign.
    """

    verdict: DecodedVerdictJson
    network: NotRequired[str | None]
    dialect: NotRequired[str | None]
    function: NotRequired[str | None]
    selector: NotRequired[str | None]
    to: NotRequired[str | None]
    value: NotRequired[str | None]
    order: NotRequired[DecodedOrderJson | None]
    swaps: NotRequired[list[DecodedSwapJson]]
    fee: NotRequired[DecodedFeeJson | None]
    payments: NotRequired[list[DecodedPaymentJson]]
    permit: NotRequired[DecodedApprovalJson | None]
    approval: NotRequired[DecodedApprovalJson | None]
    message: NotRequired[DecodedMessageJson | None]
    trailingBytes: int
    freshOutputAmount: NotRequired[str | None]
    belowFreshPercent: NotRequired[float | None]
    state: NotRequired[StateJson | None]
    transactions: NotRequired[list[DecodedTransactionJson]]
    warnings: NotRequired[list[WarningJson]]
    dangers: NotRequired[list[str]]


class KeyPlanJson(TypedDict):
    """The plan of an API key. For absent fields, the service's settings apply.

    `limit` is in requests per s, min or hour, `quota` in requests per day or month. The key expires at 00:00 UTC on the
    date.
    """

    limit: NotRequired[str | None]
    streams: NotRequired[int | None]
    networks: NotRequired[list[str] | None]
    quota: NotRequired[str | None]
    expires: NotRequired[str | None]


class KeyJson(KeyPlanJson):
    """An API key for the service, without the key itself; times are in UTC."""

    id: str
    name: str
    created: str
    revoked: NotRequired[str | None]


class ListedKeyJson(KeyJson):
    """An API key with the time of its last request, absent if none is recorded."""

    lastUsed: NotRequired[str | None]


class KeyUsageJson(TypedDict):
    """An API key's usage on a UTC day. `cpuS` is the CPU time of its searches in seconds; an old key has no name."""

    day: str
    id: str
    name: NotRequired[str | None]
    requests: int
    rejections: int
    cpuS: float


class CreatedKeyJson(KeyJson):
    """A new API key. The key is printed only this once."""

    key: str


class SettingJson(TypedDict):
    """A setting with its value (absent if it has none) and the source of the value. Secrets are masked."""

    key: str
    value: NotRequired[str | None]
    origin: str


class StoredProtocolJson(TypedDict):
    """The pools of a protocol in a store; `depthUsd` is roughly the value that orders could trade in them."""

    protocol: str
    family: str
    pools: int
    depthUsd: float


class StoreJson(TypedDict):
    """A store of pools. `transfers` counts its tokens by the tested behaviour of their transfers."""

    network: str
    chainId: str
    state: StateJson
    gasPriceWei: str
    pools: int
    tokens: int
    transfers: NotRequired[dict[str, int]]
    protocols: NotRequired[list[StoredProtocolJson]]
    undoableBlocks: int
    store: str
    bytes: int


class SkippedJson(TypedDict):
    """The reason why a sync skipped entries, the number of entries, and examples."""

    reason: str
    count: int
    examples: NotRequired[list[str]]


class SyncDocumentJson(StoreJson):
    """A store after a sync."""

    newPools: int
    foundBy: str
    skipped: NotRequired[list[SkippedJson]]
    unexplained: NotRequired[list[str]]
    timeS: float
    poolsPerSecond: float


class AdvanceJson(TypedDict):
    """A step of `swapcli sync --watch` to a new block, with the keys of the pools that it affects."""

    network: str
    block: int
    hash: str
    timestamp: int
    rewoundTo: NotRequired[int | None]
    touched: NotRequired[list[str]]
    added: NotRequired[list[str]]
    removed: NotRequired[list[str]]
    drifted: NotRequired[list[str]]
    unexplained: NotRequired[list[str]]


class ExportDocumentJson(TypedDict):
    """A market that was written to a file."""

    network: str
    state: StateJson
    pools: int
    tokens: int
    file: str
    bytes: int


class RemovedStoreJson(TypedDict):
    """A store that was removed; `pools` is absent if it was damaged."""

    network: str
    pools: NotRequired[int | None]
    store: str


class DeploymentJson(TypedDict):
    """The transaction that deploys a router. It has no `to`, since it creates a contract."""

    network: str
    chainId: int
    value: str
    calldata: str


class ListeningJson(TypedDict):
    """The line that `swapcli mcp --http` prints when it accepts connections."""

    url: str
    pid: int


class ReadyJson(ListeningJson):
    """The line that `swapcli serve` prints when it accepts connections."""

    networks: NotRequired[list[str]]


class ErrorJson(TypedDict):
    """An error on stderr. `code` is stable; the fields of `details` depend on it.

    `retryable` is true if the same command may succeed later.
    """

    code: str
    message: str
    details: NotRequired[dict[str, Any]]
    hint: NotRequired[str | None]
    retryable: bool
    exitCode: int


class NextStepJson(TypedDict):
    """The step after an error: the call to make or, if `tool` is absent, the reason why there is none."""

    tool: NotRequired[str | None]
    arguments: NotRequired[dict[str, Any]]
    reason: str


class ToolErrorJson(ErrorJson):
    """An error that a tool of `swapcli mcp` returns."""

    next: NextStepJson


class CheckedQuoteJson(TypedDict):
    """The figures of a swap that was checked. Amounts are in base units."""

    inputToken: TokenJson
    inputAmount: str
    outputToken: TokenJson
    outputAmount: str
    minReceived: str
    priceImpact: NotRequired[float | None]
    slippage: float
    gasUnits: NotRequired[str | None]


class SwapCheckJson(TypedDict):
    """The verdict on a swap, without the payload of the swap. `verdict` is absent if there is nothing to simulate.

    `quote` and `state` are absent if the verdict blocks the swap.
    """

    network: str
    verdict: NotRequired[VerdictJson | None]
    quote: NotRequired[CheckedQuoteJson | None]
    state: NotRequired[StateJson | None]


class WholeAmountJson(TypedDict):
    """An amount of the document, in whole tokens: the path of its `field`, as for --get, and the symbol of its
    token."""

    field: str
    whole: str
    symbol: str
    baseUnits: str


class AlternativeSimulationJson(TypedDict):
    """The simulation of an alternative. `outcome` is paid, replayed, failed or notSimulated.

    A payload that paid or failed was simulated at the end of `block` for the comparison's `sender`. A replayed
    alternative is a different route of this process, scaled by the simulated output of the split route. `reason`
    explains why a payload failed or was not simulated.
    """

    outcome: str
    reason: NotRequired[str | None]
    block: NotRequired[int | None]
    outputAmount: NotRequired[str | None]
    gasUnits: NotRequired[str | None]
    gasUsd: NotRequired[float | None]
    outputAfterGas: NotRequired[str | None]


class AlternativeJson(TypedDict):
    """One way to fill the order. Amounts are in base units of the output token.

    `outputAmount` and `outputAfterGas` of a service or an aggregator are simulated, absent if its payload failed or was
    not simulated. `promisedAmount`, `gasUnits` and `gasUsd` are from its response. Without aggregators, nothing is
    simulated, and all figures of a service except `outputAfterGas` are from its response.

    `kind` is split, singlePath, direct, protocol (only the protocol `name`), service (at the URL `name`) or aggregator
    (`name`). `package` is the installed package, with its version, that adds this aggregator, absent for all others.
    `versusSplitBps` is how much more the alternative pays than the split route, and `versusBestBps` how much more it
    pays than the best alternative after gas; both use simulated amounts if there are any. `simulation` is absent unless
    aggregators were queried.
    """

    kind: str
    name: NotRequired[str | None]
    package: NotRequired[str | None]
    outputAmount: NotRequired[str | None]
    promisedAmount: NotRequired[str | None]
    versusSplitBps: NotRequired[float | None]
    gasUnits: NotRequired[str | None]
    gasUsd: NotRequired[float | None]
    outputAfterGas: NotRequired[str | None]
    versusBestBps: NotRequired[float | None]
    timeS: NotRequired[float | None]
    block: NotRequired[int | None]
    state: NotRequired[StateJson | None]
    simulation: NotRequired[AlternativeSimulationJson | None]
    error: NotRequired[FailureJson | None]


class ComparisonJson(TypedDict):
    """`swapcli compare --json`: the alternatives for an order, the best first.

    `state`, `unreadGainBps`, `certificate` and `proofFile` belong to the split route. Every `outputAfterGas` uses the
    gas value of the split route's quote, whose source is `gasValueSource`; without that quote, each service uses its
    own gas value.

    Simulated alternatives come before alternatives with only a promised amount. `hostsContacted` lists the hosts of the
    aggregators that received the order, and `sender` is the sender they were given; absent if none was queried.
    """

    network: str
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    inputAmount: str
    state: NotRequired[StateJson | None]
    unreadGainBps: NotRequired[float | None]
    warnings: NotRequired[list[WarningJson]]
    gasValueSource: NotRequired[str | None]
    hostsContacted: NotRequired[list[str]]
    sender: NotRequired[str | None]
    alternatives: NotRequired[list[AlternativeJson]]
    certificate: NotRequired[CertificateJson]
    proofFile: NotRequired[str]


class DepthPointJson(TypedDict):
    """A quote for one amount. Amounts are in base units; `priceImpact` is in percent.

    `impactBasis` is the reference of the price impact: usd (pool fees included) or pools (pool fees excluded).
    """

    inputAmount: str
    inputUsd: NotRequired[float | None]
    outputAmount: str
    priceImpact: NotRequired[float | None]
    impactBasis: NotRequired[str | None]


class DepthLevelJson(TypedDict):
    """The point at which the price impact reaches `impactPercent`: a quote within it, and a quote for the next amount.

    `within` is absent if the smallest amount already exceeds the level, `beyond` if the liquidity runs out first.
    """

    impactPercent: float
    within: NotRequired[DepthPointJson | None]
    beyond: NotRequired[DepthPointJson | None]


class DepthJson(TypedDict):
    """`swapcli depth --json`: quotes over a ladder of amounts, smallest first, and the levels of price impact.

    `liquidityEnds` is true if the next amount of the ladder has no route.
    """

    network: str
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    state: StateJson
    warnings: NotRequired[list[WarningJson]]
    points: NotRequired[list[DepthPointJson]]
    liquidityEnds: bool
    levels: NotRequired[list[DepthLevelJson]]


class VerifiedSwapJson(TypedDict):
    """A mined swap: the amounts of its event, and the quote on the state just before it, in base units.

    `outcome` is equal, different or notExplained. If it is notExplained, `reason` is present and `quotedAmount` may be
    absent.
    """

    logIndex: int
    pool: str
    protocol: NotRequired[str | None]
    family: NotRequired[str | None]
    inputToken: NotRequired[SwapTokenJson | None]
    outputToken: NotRequired[SwapTokenJson | None]
    inputAmount: str
    outputAmount: str
    quotedAmount: NotRequired[str | None]
    outcome: str
    reason: NotRequired[str | None]


class NetSwapJson(TypedDict):
    """The total amounts that the swaps of a transaction sold and bought, in base units."""

    inputToken: NotRequired[SwapTokenJson | None]
    outputToken: NotRequired[SwapTokenJson | None]
    inputAmount: str
    outputAmount: str


class BestRouteJson(TypedDict):
    """The output of the best route for the net swap at the parent block; `problem` is the reason if it is unknown.

    `differenceBps` is how much more this output is than the transaction's, in basis points.
    """

    outputAmount: NotRequired[str | None]
    differenceBps: NotRequired[float | None]
    problem: NotRequired[str | None]


class VerificationJson(TypedDict):
    """`swapcli verify --json`: the swaps of a mined transaction with their quotes; `stateBlock` is the parent block.

    `netSwap` and `bestRoute` are absent if the swaps do not add up to one swap, or if a token is unknown.
    """

    network: str
    transaction: str
    block: int
    stateBlock: int
    equal: int
    different: int
    notExplained: int
    swaps: NotRequired[list[VerifiedSwapJson]]
    netSwap: NotRequired[NetSwapJson | None]
    bestRoute: NotRequired[BestRouteJson | None]


class RecentSwapJson(VerifiedSwapJson):
    """A recent swap. `transaction` is absent if the node omits it, `timestamp` if its block was not read."""

    transaction: NotRequired[str | None]
    block: int
    stateBlock: int
    timestamp: NotRequired[int | None]


class RecentVenueJson(TypedDict):
    """The verified swaps of a protocol, newest first.

    `found` swaps were found in `searchedBlocks` blocks from `searchedFrom` on. `status` sums up its swaps: different if
    any differs, otherwise equal if any is equal. notVerified means that the run ended before a swap was verified.
    `reason` explains why there are fewer swaps than requested, or why nothing was searched; if nothing was searched,
    `searchedFrom` is absent.
    """

    protocol: str
    displayName: str
    family: NotRequired[str | None]
    status: Literal["equal", "different", "notExplained", "noneFound", "notVerified", "notSearched"]
    equal: int
    different: int
    notExplained: int
    found: int
    searchedFrom: NotRequired[int | None]
    searchedBlocks: int
    reason: NotRequired[str | None]
    swaps: NotRequired[list[RecentSwapJson]]


class RecentVerificationJson(TypedDict):
    """`swapcli verify --recent --json`: the latest swaps of each protocol, up to `block`, with their quotes.

    `swapsPerProtocol` swaps were requested per protocol. `requests` is the number of HTTP requests sent. `problem` is
    the error that ended the run early.
    """

    network: str
    block: int
    timestamp: int
    swapsPerProtocol: int
    requests: int
    problem: NotRequired[str | None]
    equal: int
    different: int
    notExplained: int
    protocols: NotRequired[list[RecentVenueJson]]


class RecordedSwapJson(TypedDict):
    """A mined swap with the amounts of its event, in base units. `error` is null: a mined swap did not revert."""

    token_in: str
    token_out: str
    amount_in: str
    amount_out: str
    error: str | None


class RecordedPoolJson(TypedDict):
    """`swapcli record --json`: a pool at the parent block, and its next swaps.

    `state` is as in market files. If `sequential` is true, each swap starts from the state after the previous swap.
    `source` names the chain, blocks and transactions.
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
    """An additional figure of a check, as text."""

    name: str
    text: str


class ProofItemJson(TypedDict):
    """One check in a run of `swapcli prove`.

    Amounts are in base units of `token`, absent if the check compares no amounts. `reason` is absent for most matches.
    """

    stage: str
    id: str
    title: str
    outcome: str
    reason: NotRequired[str | None]
    block: NotRequired[int | None]
    expected: NotRequired[str | None]
    found: NotRequired[str | None]
    token: NotRequired[str | None]
    decimals: int
    facts: NotRequired[list[ProofFactJson]]
    checkedAt: int


class ProofStageJson(TypedDict):
    """The results of a stage; `timeS` is absent if the run ended before the stage."""

    stage: str
    matches: int
    differences: int
    notChecked: int
    timeS: NotRequired[float | None]
    requests: int


class ProveJson(TypedDict):
    """`swapcli prove --json`: the checks made on this machine. Times are Unix seconds.

    The outcome of an item is match, difference or notChecked. `resumedItems` is the number of items from earlier runs.
    `hostsContacted` are public nodes and aggregators; the user's own nodes are not named. `requests` counts requests to
    nodes. `page` is the file name of the HTML report in the same folder.
    """

    network: str
    chainId: str
    swapcli: str
    python: str
    startedAt: int
    finishedAt: int
    interrupted: bool
    resumedItems: int
    firstBlock: NotRequired[int | None]
    lastBlock: NotRequired[int | None]
    matches: int
    differences: int
    notChecked: int
    hostsContacted: NotRequired[list[str]]
    requests: int
    maxRequests: int
    timeS: float
    timeBudgetS: float
    stages: NotRequired[list[ProofStageJson]]
    items: NotRequired[list[ProofItemJson]]
    unchecked: NotRequired[list[str]]
    page: str


class DistributionJson(TypedDict):
    """Quantiles of values: their number (`size`), and the values below which 5%, 25%, half, 75% and 95% of them lie."""

    size: int
    p05: float
    p25: float
    median: float
    p75: float
    p95: float


class HindsightVenueJson(TypedDict):
    """The number of transactions that `used` a protocol, the number of best routes that `wouldUse` it, and their
    differences."""

    protocol: str
    used: int
    wouldUse: int
    bps: NotRequired[DistributionJson | None]


class HindsightSwapJson(TypedDict):
    """A mined transaction, and the best route for its net swap at the parent block, `stateBlock`.

    Amounts are in base units. `outputAfterGas` and `bestAfterGas` are the outputs minus gas, in the output token,
    absent if gas has no price. Both use the same gas value, whose source is `gasValueSource`, and the same gas if
    the best route has the transaction's pools. `differenceBps` and `afterGasDifferenceBps` are how much more the
    best route would have paid, in basis points. `protocols` and `bestProtocols` are the protocols that the
    transaction and the best route use. `poolsEqual`, `poolsDifferent` and `poolsNotExplained` count the swaps in
    pools as `swapcli verify` does. `reason` is why there is no comparison, absent if there is one. `retryable` is
    true if a comparison may be possible later, as for a transaction that is not mined yet.
    """

    transaction: str
    block: NotRequired[int | None]
    stateBlock: NotRequired[int | None]
    timestamp: NotRequired[int | None]
    inputToken: NotRequired[SwapTokenJson | None]
    outputToken: NotRequired[SwapTokenJson | None]
    inputAmount: NotRequired[str | None]
    outputAmount: NotRequired[str | None]
    outputAfterGas: NotRequired[str | None]
    gasValueSource: NotRequired[str | None]
    gasUsed: NotRequired[int | None]
    gasPriceWei: NotRequired[str | None]
    protocols: NotRequired[list[str]]
    bestOutputAmount: NotRequired[str | None]
    bestAfterGas: NotRequired[str | None]
    bestGasUnits: NotRequired[str | None]
    bestProtocols: NotRequired[list[str]]
    differenceBps: NotRequired[float | None]
    afterGasDifferenceBps: NotRequired[float | None]
    poolsEqual: NotRequired[int | None]
    poolsDifferent: NotRequired[int | None]
    poolsNotExplained: NotRequired[int | None]
    reason: NotRequired[str | None]
    retryable: bool


class HindsightJson(TypedDict):
    """`swapcli hindsight --json`: mined transactions compared with the best routes at their blocks.

    `better`, `equal` and `worse` count the best routes that would have paid more, the same or less after gas. `bps` is
    the distribution of the differences.
    """

    network: str
    explained: int
    notExplained: int
    better: int
    equal: int
    worse: int
    bps: NotRequired[DistributionJson | None]
    protocols: NotRequired[list[HindsightVenueJson]]
    swaps: NotRequired[list[HindsightSwapJson]]


class BacktestOrderJson(TypedDict):
    """Statistics of one order's quotes over the blocks. `rate` is in whole output tokens per input token.

    `gainBps` is how much more the split route pays than the best single path, in basis points, after gas if gas has a
    price. `winShare` is the fraction of the quotes in which the split route pays more.
    """

    id: str
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    inputAmount: str
    quoted: int
    failed: int
    rate: NotRequired[DistributionJson | None]
    gainBps: NotRequired[DistributionJson | None]
    winShare: NotRequired[float | None]


class BacktestQuoteJson(TypedDict):
    """The output of one order at a block: a line of `--results`, and with the columns of its order a row of the CSV.

    Amounts are in base units. `singlePathOutputAmount` is the output of the best single path, absent if none can fill
    the order. Amounts after gas are absent if gas has no price; they use the same gas value, whose source is
    `gasValueSource`. `pools` is the number of pools in the route; `error` is why there is no quote.
    """

    block: int
    timestamp: int
    id: str
    inputToken: str
    outputToken: str
    inputAmount: str
    outputAmount: NotRequired[str | None]
    outputAfterGas: NotRequired[str | None]
    gasValueSource: NotRequired[str | None]
    gasUnits: NotRequired[str | None]
    singlePathOutputAmount: NotRequired[str | None]
    singlePathAfterGas: NotRequired[str | None]
    gainBps: NotRequired[float | None]
    pools: NotRequired[int | None]
    error: NotRequired[str | None]


class BacktestJson(TypedDict):
    """`swapcli backtest --json`: the output of orders at past blocks.

    `gainBps` and `winShare` are for all quotes, as in each order. `quotes` is absent with `--results`.
    """

    network: str
    firstBlock: int
    lastBlock: int
    blocks: int
    quoted: int
    failed: int
    gainBps: NotRequired[DistributionJson | None]
    winShare: NotRequired[float | None]
    orders: NotRequired[list[BacktestOrderJson]]
    quotes: NotRequired[list[BacktestQuoteJson]]


class DocumentJson(TypedDict):
    """A document that `swapcli schema DOCUMENT` describes, and the command or tool that prints it."""

    document: str
    printedBy: str


DOCUMENTS: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType(
    {
        "route": (RouteDocumentV1Json, RouteDocumentV2Json),
        "route-batch": (BatchLineJson,),
        "route-watch": (WatchedRouteV1Json, WatchedRouteV2Json, FailedRefreshJson),
        "proof": (ProofDocumentJson,),
        "compare": (ComparisonJson,),
        "depth": (DepthJson,),
        "plan": (PlanJson,),
        "plan-next": (PlannedCalldataV1Json, PlannedCalldataV2Json, PlannedEncodedCalldataJson),
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
        "keys-change": (KeyJson,),
        "keys-list": (list[ListedKeyJson],),
        "keys-revoke": (KeyJson,),
        "keys-usage": (list[KeyUsageJson],),
        "config-show": (list[SettingJson],),
        "config-get": (SettingJson,),
        "router-deploy-payload": (DeploymentJson,),
        "serve": (ReadyJson,),
        "schema": (list[DocumentJson],),
        "error": (ErrorJson,),
    }
)
"""The types of each document by its name: that of its command, with dashes. Any one of the types occurs."""

KEEPS_EMPTY_FIELDS: Final = frozenset(
    {"route", "route-batch", "route-watch", "calldata", "plan-next", "execute", "proof", "record"}
)
"""Documents with null or empty fields: those that can be posted back to the published interface, and files with
a format of their own. All others leave empty fields out, by `own_document`."""

TOOL_DOCUMENTS: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType(
    {
        "check": (SwapCheckJson,),
        "quote_batch": (list[BatchLineJson],),
        "networks": (list[NetworkDocumentJson],),
        "error": (ToolErrorJson,),
    }
)
"""The types of documents of tools of `swapcli mcp` where they are not those of a command, by the names of the tools."""
