"""Types of the JSON document of a proof."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class ProofStateJson(TypedDict):
    """The block of the pools' state, and the source of the state."""

    source: str
    block: str | None
    blockHash: str | None
    timestamp: int | None


class ProofOrderJson(TypedDict):
    """An order; its tokens are given by their positions in `tokens`."""

    tokenIn: int
    tokenOut: int
    exact: Literal["input", "output"]
    amount: str


class ProofStepJson(TypedDict):
    """One swap of the route."""

    pool: int
    tokenIn: int
    tokenOut: int
    amountIn: str
    amountOut: str


class ProofRouteJson(TypedDict):
    """The route, in execution order; `gasUnits` is EVM gas."""

    amountIn: str
    amountOut: str
    gasUnits: int
    steps: list[ProofStepJson]


class ProofGasJson(TypedDict):
    """The cost of gas. `unitValue` is the cost of a gas unit, in base units of the output token; `valueSource` is the
    source of that value, as in a quote's `gasValueSource`.
    """

    priceWei: str
    unitValue: str
    valueSource: str | None
    base: int
    tokenBetween: int


class ProofSkippedPoolJson(TypedDict):
    """A pool that was not used, and why."""

    pool: str
    reason: str


class ProofScopeFieldsJson(TypedDict):
    """The scope of a proof's bounds. `stateHash` is the SHA-256 hash of the pools; `dust` are the directions (pool,
    token in, token out) excluded from the bound net of gas."""

    pools: int
    stateHash: str
    maxHops: int
    maxPools: int | None
    excludedProtocols: list[str]
    skippedPools: list[ProofSkippedPoolJson]
    dust: list[list[int]]


class ProofTokenJson(TypedDict):
    """A token that the pools trade."""

    address: str
    symbol: str
    decimals: int


class ProofLeafJson(TypedDict):
    """The bound for routes that use the directions `used`, do not use the directions `unused`, and pass the first token
    of each pair in `before` earlier than the second. The bound holds at `prices` by token, or net of gas at `rates`:
    token in, token out, rate; no path has a larger product than `product`. A term is pool, token in, token out,
    approximate amounts of the best trade, marginal rate and value."""

    used: list[list[int]]
    unused: list[list[int]]
    before: list[list[int]]
    prices: list[str | None]
    rates: list[list[int | str]]
    product: str | None
    terms: list[list[int | str]]
    bound: str


class ProofLimitsJson(TypedDict):
    """The limit on each token's amount: token, amount and reason, in the order of their proofs."""

    prices: list[str | None]
    terms: list[list[int | str]]
    spotRates: list[list[int | str]]
    tokens: list[list[int | str]]


class ProofBoundJson(TypedDict):
    """A bound on the output of routings; the bound of kind `afterGas` is net of gas."""

    kind: Literal["output", "acyclic", "afterGas"]
    bound: str
    gapBps: str
    excluded: NotRequired[list[list[int]]]
    limits: NotRequired[ProofLimitsJson]
    leaves: list[ProofLeafJson]


class ProofDocumentJson(TypedDict):
    """The proof of a certificate: `--proof` writes it to a file, and a service returns it with `proof=true`.

    docs/proof.md explains the format.

    Pools and tokens are given by their positions in `pools` and `tokens`. Amounts, prices and bounds are decimal text
    with exact values.
    """

    format: Literal["swapcli-proof"]
    version: int
    network: str
    chainId: str
    state: ProofStateJson
    order: ProofOrderJson
    route: ProofRouteJson
    gas: ProofGasJson
    scope: ProofScopeFieldsJson
    tokens: list[ProofTokenJson]
    pools: list[dict[str, Any]]
    bounds: list[ProofBoundJson]
