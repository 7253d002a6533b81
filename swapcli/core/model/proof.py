"""The witness of a certificate: the prices that prove its bounds, and the largest gain of each pool at those prices.

`docs/proof.md` has the theorem and the meaning of each figure; the fields here have the names in that format. Amounts
are base units; values and bounds are in base units of the order's output token. Each float stands for the exact value
of its shortest decimal text. Every bound holds at these exact values.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from swapcli.core.annotations import TYPE_CHECKING, Any
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

    from swapcli.core.model.pool import Pool


class BoundKind(StrEnum):
    """The set of routings that a bound covers."""

    OUTPUT = "output"
    """All routings, including those with cycles."""
    ACYCLIC = "acyclic"
    """The routings without certain pool directions that could add arbitrage to the route."""
    NET_OF_GAS = "afterGas"
    """Acyclic routes within the hop limit; the bound applies to the output less the value of the gas."""


class LimitReason(StrEnum):
    """How the limit of a token's amount is proven."""

    PATH = "path"
    """The order's amount times the largest product of spot rates along a path to the token."""
    VALUE = "value"
    """The value of the order and of all gains at some prices, divided by the token's price."""
    POOLS = "pools"
    """The largest output of the pools that pay out the token."""


class Direction(NamedTuple):
    """One direction of the pool with key `pool`: selling one of its tokens for another."""

    pool: str
    token_in: str
    token_out: str


class ProofTerm(NamedTuple):
    """The largest gain of a direction at a leaf's prices: a trade that is approximately the best, and an upper bound on
    the gain, `value`.

    `marginal_rate` is the output per unit of input of the next unit after the trade.
    """

    direction: Direction
    amount_in: float
    amount_out: float
    marginal_rate: float
    value: float


class HopRate(NamedTuple):
    """The rate that a proof assigns to the hop from one token to another."""

    token_in: str
    token_out: str
    rate: float


class ProofLeaf(NamedTuple):
    """A bound on all routes that use every direction in `used` and none in `unused`.

    The bound holds at `prices` by token or, net of gas, at `rates` of hops; no simple path has a product of rates above
    `product`. A token without a price has the price 0, a hop without a rate has the rate of its first unit. A direction
    without a term gains nothing, or no more than its gas. In each pair of tokens in `before`, the first comes before
    the second in a route.
    """

    used: tuple[Direction, ...]
    unused: tuple[Direction, ...]
    prices: Mapping[str, float]
    terms: tuple[ProofTerm, ...]
    bound: Decimal
    before: tuple[tuple[str, str], ...] = ()
    rates: tuple[HopRate, ...] = ()
    product: float | None = None


class ProvenLimit(NamedTuple):
    """The largest amount of a token that an order can reach (in base units), proven by `reason` and the previous
    limits."""

    token: str
    amount: float
    reason: LimitReason


class ProvenLimits(NamedTuple):
    """The limits of tokens, in the order of their proofs. Value limits hold at `prices`, proven by `terms`."""

    prices: Mapping[str, float]
    terms: tuple[ProofTerm, ...]
    tokens: tuple[ProvenLimit, ...]


class ProvenBound(NamedTuple):
    """A bound with its leaves. The conditions of the leaves together cover all routes, so the bound is the largest
    bound of a leaf.

    `excluded` are the directions that an acyclic bound does not count; `limits` belong to a bound net of gas.
    """

    kind: BoundKind
    bound: Decimal
    leaves: tuple[ProofLeaf, ...]
    excluded: tuple[Direction, ...] = ()
    limits: ProvenLimits | None = None


class ProofGas(NamedTuple):
    """The gas of routes as the bounds count it, in EVM gas units.

    `unit_value` is the cost of one unit, in base units of the output token. `base` is the gas of a transaction,
    `token_between` the gas of each intermediate token, and `route` the gas of the route. `least_by_pool` maps a pool's
    key to the least gas that one of its directions adds.
    """

    unit_value: float
    base: int
    token_between: int
    least_by_pool: Mapping[str, int]
    route: int


class ProofParts(dict[str, Any]):
    """Data shared by all proofs on one pool state. It is not pickled: a copy computes it again."""

    def __reduce__(self) -> tuple[type[ProofParts], tuple[()]]:
        """Pickle without the contents."""
        return ProofParts, ()


class ProofWitness(NamedTuple):
    """Everything that a proof needs besides a quote and the state of its pools.

    `tokens` are the market's tokens, `dust` the directions that the bound net of gas does not count, and `spot_rates`
    the rates of the first unit by direction. `pools` are the pools that the bounds cover, by key. `shared` is a cache
    for all proofs on the same state and gas; it keeps the rendered pools.
    """

    bounds: tuple[ProvenBound, ...]
    gas: ProofGas
    tokens: tuple[str, ...]
    dust: tuple[Direction, ...]
    spot_rates: Mapping[Direction, float]
    max_hops: int
    pools: Mapping[str, Pool]
    shared: ProofParts
