"""The witness of a certificate: the prices that prove its bounds, and the largest gain of each pool at these prices.

`docs/proof.md` has the theorem and the meaning of each figure; the fields here are those of its format. Amounts are
base units; values and bounds are in base units of the order's output token. The shortest decimal text of each float is
taken as its exact value, at which every bound holds.
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
    """Which routings a bound covers."""

    OUTPUT = "output"
    """All, also those with cycles."""
    ACYCLIC = "acyclic"
    """Those without some directions of pools, by which arbitrage could be added to the route."""
    NET_OF_GAS = "afterGas"
    """Acyclic routes within the limit on hops; the bound is on the output less the value of the gas."""


class LimitReason(StrEnum):
    """How the limit of a token's amount is proved."""

    PATH = "path"
    """The order's amount times the best product of spot rates on a path to it."""
    VALUE = "value"
    """The value of the order and of all gains at some prices, divided by the token's price."""
    POOLS = "pools"
    """The largest output of the pools that pay it out."""


class Direction(NamedTuple):
    """The pool with this key, sold one of its tokens for another."""

    pool: str
    token_in: str
    token_out: str


class ProofTerm(NamedTuple):
    """A direction's largest gain at the prices of a leaf: its best trade, approximately, and an upper bound `value`.

    `marginal_rate` is the output per unit of input of the next unit after the trade.
    """

    direction: Direction
    amount_in: float
    amount_out: float
    marginal_rate: float
    value: float


class HopRate(NamedTuple):
    """The rate that a proof gives to the hop from one token to another."""

    token_in: str
    token_out: str
    rate: float


class ProofLeaf(NamedTuple):
    """The bound of all routes that use the directions `used` and none of `unused`.

    It holds at `prices` by token, or net of gas at `rates` of hops; no simple path has a larger product than `product`.
    A token without a price has the price 0, a hop without a rate has that of the first unit. A direction
    without a term gains nothing, or no more than its gas. `before` has pairs of tokens of which the first comes before
    the second.
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
    """The largest amount of a token that an order can reach (base units), by `reason` and the limits before it."""

    token: str
    amount: float
    reason: LimitReason


class ProvenLimits(NamedTuple):
    """The limits of tokens in the order of their proofs. Value limits hold by the `terms` at `prices`."""

    prices: Mapping[str, float]
    terms: tuple[ProofTerm, ...]
    tokens: tuple[ProvenLimit, ...]


class ProvenBound(NamedTuple):
    """A bound with its leaves: their conditions cover all routes, and the bound is the largest of theirs.

    `excluded` are the directions that an acyclic bound does not count; `limits` belong to one net of gas.
    """

    kind: BoundKind
    bound: Decimal
    leaves: tuple[ProofLeaf, ...]
    excluded: tuple[Direction, ...] = ()
    limits: ProvenLimits | None = None


class ProofGas(NamedTuple):
    """The gas of routes as the bounds count it, in EVM gas units.

    `unit_value` is what a unit costs, in base units of the output token. `base` is that of a transaction,
    `token_between` that of each token between the two of the order, `least_by_pool` the least that one direction of a
    pool adds, by key, and `route` the gas of the route.
    """

    unit_value: float
    base: int
    token_between: int
    least_by_pool: Mapping[str, int]
    route: int


class ProofParts(dict[str, Any]):
    """The shared parts of proofs on one pool state. Pickles are empty: it is made again."""

    def __reduce__(self) -> tuple[type[ProofParts], tuple[()]]:
        """Leave the contents out."""
        return ProofParts, ()


class ProofWitness(NamedTuple):
    """All that a proof adds to a quote and the state of its pools.

    `tokens` are those of the market, `dust` the directions that the bound net of gas does not count, and `spot_rates`
    the rates of the first unit by direction. `pools` are those of the bounds, by key. `shared` is a cache for all
    proofs on the same state and gas, in which the writer of documents keeps the rendered pools.
    """

    bounds: tuple[ProvenBound, ...]
    gas: ProofGas
    tokens: tuple[str, ...]
    dust: tuple[Direction, ...]
    spot_rates: Mapping[Direction, float]
    max_hops: int
    pools: Mapping[str, Pool]
    shared: ProofParts
