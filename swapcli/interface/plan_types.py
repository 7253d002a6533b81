"""Types of the documents of `swapcli plan`: a plan, which is also its file, and the payload of a part."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from swapcli.interface.json_types import StateJson, SwapTokenJson, WarningJson


class ForecastJson(TypedDict):
    """An order's expected output and cost, in base units of the output token.

    `cost` is `impact`, pool fees included, plus `gas`, relative to the fair price at the time of each part. `low` and
    `high` bound its 90% interval. `risk` is the standard deviation of the output that price movements cause, absent if
    unknown.
    """

    parts: int
    outputAmount: str
    impact: str
    gas: str
    cost: str
    low: str
    high: str
    risk: NotRequired[str | None]


class ExtremesJson(TypedDict):
    """The forecasts if the pools never refill, and if they refill fully before each part."""

    noRefill: ForecastJson
    fullRefill: ForecastJson


class RefillPointJson(TypedDict):
    """The mean share of a displacement that had recovered `afterS` seconds after a swap, with its 90% interval."""

    afterS: float
    shareGone: float
    range: NotRequired[list[float]]


class RefillJson(TypedDict):
    """How the pools refill after a swap, measured on `swaps` swaps.

    The share of a displacement that is left after t seconds is r + (1 - r) * 2^(-t / `halfLifeS`), where r is
    `residualShare`; without `halfLifeS`, the price does not recover. Ranges are 90% intervals. `medianDisplacement` is
    the logarithm of a price ratio, and `fitError` the root mean square distance of `points` from the formula.
    """

    swaps: int
    medianDisplacement: float
    halfLifeS: NotRequired[float | None]
    halfLifeRangeS: NotRequired[list[float | None]]
    residualShare: float
    residualShareRange: NotRequired[list[float]]
    fitError: float
    points: NotRequired[list[RefillPointJson]]


class VolatilityJson(TypedDict):
    """The standard deviation of the price's logarithm per square root of a second, with its 90% interval.

    It was measured on `intervals` of `intervalS` seconds.
    """

    perSqrtS: float
    range: NotRequired[list[float]]
    intervals: int
    intervalS: float


class MeasuredMarketJson(TypedDict):
    """The pools of an order's route, as measured on recent blocks.

    `origin` is the source of their prices: nodeEvents, storedBlocks or none. `refillUnknown` and `volatilityUnknown`
    explain why `refill` and `volatility` are absent. `moves` counts price changes between `firstTime` and `lastTime`
    (Unix), and `measuredShare` is the fraction of the order that trades in known pools. `requests` counts requests to
    the node. `problem` is the reason why the search ended early.
    """

    origin: str
    source: NotRequired[str | None]
    firstBlock: NotRequired[int | None]
    lastBlock: NotRequired[int | None]
    firstTime: NotRequired[int | None]
    lastTime: NotRequired[int | None]
    moves: int
    problem: NotRequired[str | None]
    measuredShare: float
    requests: int
    baseFeeWei: NotRequired[str | None]
    refill: NotRequired[RefillJson | None]
    refillUnknown: NotRequired[str | None]
    volatility: NotRequired[VolatilityJson | None]
    volatilityUnknown: NotRequired[str | None]


class PriceBandJson(TypedDict):
    """The prices within which parts are built, in whole output tokens per whole input token.

    If the refill is unknown, the band assumes full refill, while `parts` are shown without refill. Without refill,
    parts below the band are rejected, and the rest of the order needs a new plan.
    """

    low: str
    high: str


class RouteLimitsJson(TypedDict):
    """The limits on the routes of a plan's forecast. Every part is built within them.

    Routes use only `onlyProtocols`, if there are any, and never `excludedProtocols`; `extendedProtocols` allows those
    outside the Fibrous API. `direct` allows one hop per path, `simple` one path with one pool per hop.
    """

    maxHops: int
    direct: NotRequired[bool]
    maxPools: NotRequired[int]
    simple: NotRequired[bool]
    onlyProtocols: NotRequired[list[str]]
    excludedProtocols: NotRequired[list[str]]
    extendedProtocols: NotRequired[bool]
    shares: NotRequired[str]


class PartPayloadJson(TypedDict):
    """The payload built for a part: its recipient, the JSON of `calldata`, and the same transactions as a Safe batch.

    `routeLimits` are the limits it was built with. `warningLevels` has the level of each warning in `document`: info,
    warn or block.
    """

    recipient: str
    routeLimits: NotRequired[RouteLimitsJson]
    warningLevels: NotRequired[list[str]]
    document: NotRequired[dict[str, Any]]
    safeBatch: NotRequired[dict[str, Any]]


class PlanPartJson(TypedDict):
    """A part of a plan. It may be built from `time` (Unix seconds) onwards. Amounts are in base units, impacts in
    percent.

    `outputAmount` is the exact output on the planned state. `builtAt`, `payloadEndsAt` and `payload` exist once the
    part is built; `plan --done` marks it as done, at `doneAt`.
    """

    part: int
    time: int
    inputAmount: str
    outputAmount: str
    priceImpact: float
    status: Literal["planned", "built", "done"]
    builtAt: NotRequired[int]
    payloadEndsAt: NotRequired[int]
    payload: NotRequired[PartPayloadJson]
    doneAt: NotRequired[int]


class FrontierPointJson(TypedDict):
    """The cheapest plan for one weight of risk: its expected cost and the standard deviation of its output, in base
    units."""

    risk: float
    parts: int
    durationS: float
    cost: str
    deviation: str


class CowTwapJson(TypedDict):
    """The parameters of the same order as a CoW Protocol TWAP order, to enter in CoW's app.

    They are the fields of the struct TWAPOrder.Data of the contract `handler`, with the wrapped native token.
    `minPartLimit` is the least output of each part, `t0` the start in Unix seconds, `t` the seconds between parts; a
    `span` of 0 lets a part wait until the next one. `unsold` is the rest of the order that equal parts leave, in base
    units.
    """

    handler: str
    sellToken: str
    buyToken: str
    receiver: str
    partSellAmount: str
    minPartLimit: str
    t0: int
    n: int
    t: int
    span: int
    appData: str
    unsold: str


class PlanJson(TypedDict):
    """`swapcli plan --json`, and the file that `--save` writes: a large order in parts over time.

    `startsAt`, `endsAt` and the times of parts are in Unix seconds; no part is built after `expiresAt`. Files of
    older versions have no `routeLimits`. `fairPrice` is the mid price in whole tokens. `extremes` are absent if the
    refill was measured. `frontier` is empty if the refill or the volatility is unknown. `cowTwap` is absent on
    networks without that contract. `digest` is the SHA-256 hash of the rest of the document, which reveals a
    changed file.
    """

    planVersion: int
    network: str
    chainId: int
    inputToken: SwapTokenJson
    outputToken: SwapTokenJson
    inputAmount: str
    createdAt: int
    startsAt: int
    endsAt: int
    expiresAt: int
    risk: str
    maxImpactPercent: NotRequired[float | None]
    routeLimits: NotRequired[RouteLimitsJson]
    state: StateJson
    warnings: NotRequired[list[WarningJson]]
    fairPrice: float
    measured: MeasuredMarketJson
    forecast: ForecastJson
    oneShot: ForecastJson
    extremes: NotRequired[ExtremesJson | None]
    waitingGains: bool
    priceBand: PriceBandJson
    parts: NotRequired[list[PlanPartJson]]
    frontier: NotRequired[list[FrontierPointJson]]
    cowTwap: NotRequired[CowTwapJson | None]
    digest: str


class BuiltPartJson(TypedDict):
    """The part that a payload is for. `repeated` is true if the payload was built before; `nextAt` is when the next
    part may be built, absent for the last part."""

    part: int
    parts: int
    time: int
    builtAt: int
    repeated: bool
    nextAt: int | None


class PlannedFieldsJson(TypedDict):
    """The field that `swapcli plan --next` has in addition to the fields of `swapcli calldata`."""

    planPart: BuiltPartJson
