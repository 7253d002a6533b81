"""A route (how an order is split across paths of hops) and the quote from its replay."""

from __future__ import annotations

from enum import StrEnum
from math import ceil

from swapcli.core.annotations import TYPE_CHECKING
from swapcli.core.model.order import Order
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.proof import ProofWitness
    from swapcli.core.model.skipped_pool import SkippedPool

SHARES_PER_HOP = 10_000  # hundredths of a percent: the shares of a hop add up to it
SHARES_PER_ROUTE = 10_000  # the shares of segments add up to it
MAX_SEGMENTS = 100
"""The maximum number of segments that clients of the interface can read."""
WHOLE_PERCENTS, HUNDREDTHS = 100, 1
"""The steps of a segment's share."""
RATE_SCALE = 1_000_000  # the rates of steps are millionths


class Swap(NamedTuple):
    """One pool in a hop, with its share of the hop in hundredths of a percent. The shares in a hop add up to 10,000."""

    pool: str
    token_in: str
    token_out: str
    share: int


class Segment(NamedTuple):
    """A path with its share in hundredths of a percent. `hops` are in order; the swaps of one hop run in parallel."""

    share: int
    hops: tuple[tuple[Swap, ...], ...]


class Route(NamedTuple):
    """The segments of a route. Their shares add up to 10,000."""

    segments: tuple[Segment, ...]


def has_whole_percents(route: Route) -> bool:
    """Return whether the share of every segment in `route` is a whole percentage."""
    return all(segment.share % WHOLE_PERCENTS == 0 for segment in route.segments)


class Step(NamedTuple):
    """One entry of a router's flat list of steps: it spends `floor(balance * rate / 1_000_000)` of `token_in`."""

    pool: str
    token_in: str
    token_out: str
    rate: int
    amount_in: int
    amount_out: int


class GasValueSource(StrEnum):
    """The source of the gas value in the output token."""

    NATIVE = "native"
    """The output is the native token, which pays for gas one for one."""
    MID_PRICES = "midPrices"
    """The mid prices of the native token and of the output token, in USD."""
    BEST_PATH = "bestPath"
    """The best path from the native token to the output token, if one of them has no price in USD."""
    SERVICE = "service"
    """The gas cost and the price, both in USD, from a remote service."""


class WeiValue(NamedTuple):
    """The value of one wei of gas in base units of the output token, and its source."""

    amount: float
    source: GasValueSource

    def cost(self, gas_wei: int) -> int:
        """Return a gas cost in base units of the output token, rounded up."""
        return gas_wei if self.source is GasValueSource.NATIVE else ceil(gas_wei * self.amount)


NO_PROOF_BPS = 1e6
"""The bound above which nothing is proven: a bound of a hundred times the output says nothing about a route."""


class NetBound(NamedTuple):
    """A proven upper bound on the output after gas of any acyclic route for one order, in base units of the output
    token.

    It covers routes of at most `max_hops` hops over `pools` pools; pools that are dust to the order are omitted. The
    gap is relative to the quote's output after gas. `is_complete` means that the branch and bound finished: the
    remaining gap is due to shares, rounding or the relaxation. Otherwise it stopped at its work limit.
    """

    bound: float
    gap_bps: float
    pools: int
    max_hops: int
    is_complete: bool


class Certificate(NamedTuple):
    """A bound on how much better than the quote any route over the market's pools could be.

    `bound` is a proven upper bound on the output of every routing in the scope of `docs/proof.md`, in base units of the
    output token. If the market contains arbitrage, `acyclic_bound` is the bound over only the directions that the route
    may use. Gaps are relative to the quote's output in basis points. `after_gas` also counts gas; None if the quote is
    worth no more than its gas.
    """

    bound: float
    gap_bps: float
    acyclic_bound: float
    acyclic_gap_bps: float
    pools_checked: int
    after_gas: NetBound | None = None

    @property
    def is_proof(self) -> bool:
        """Whether the bound is useful; only markets with absurd prices have no useful bound."""
        return self.acyclic_gap_bps < NO_PROOF_BPS


class Quote(NamedTuple):
    """A route with exact amounts: `amount_out` is the router's exact output on the same state, in base units.

    `gas_units` is an estimate of the gas used, after refunds; a gas limit must be a quarter higher. `l1_fee_wei` is a
    rollup's extra charge for the data of the transaction. On rollups that add gas instead, `l1_gas_units` is the part
    of `gas_units` that pays for the data. `l1_fee_wei` and `l1_gas_units` are 0 if there is no charge or it is unknown.
    `wei_usd` is the value of one wei of the native token. `price_impact` is the lost fraction of the value at mid
    prices, pool fees included. `best_single_path_out` is the exact output of the route with one pool per hop that is
    best after gas, and `best_single_path_gas_units` its gas. `time_s` is the computing time of the core.
    `is_search_complete` is False if the search ran out of time: the route is the best one found by then. Prices,
    `wei_usd` and `price_impact` are None if unknown. `sampled_pools` are the keys of the route's pools whose outputs
    are quotes of their protocols; `estimated_pools` are the keys of the sampled pools whose protocol has not quoted the
    exact amount. `broken_pools` are the market's pools that were skipped because a computation fails on their state.
    `unlimited_amount` is the output of the best route without the order's limit on pools, or its input for an
    exact-output order; None without a limit. `witness` proves the certificate; None unless the proof was requested.
    `wei_value` is the gas value that the search, the proof and every amount after gas use; None if unknown.
    """

    order: Order
    route: Route
    steps: tuple[Step, ...]
    amount_in: int
    amount_out: int
    gas_units: int
    gas_price_wei: int
    wei_usd: float | None
    price_in_usd: float | None
    price_out_usd: float | None
    price_impact: float | None
    best_single_path_out: int | None
    time_s: float
    certificate: Certificate | None = None
    l1_fee_wei: int = 0
    is_search_complete: bool = True
    best_single_path_gas_units: int | None = None
    sampled_pools: tuple[str, ...] = ()
    estimated_pools: tuple[str, ...] = ()
    broken_pools: tuple[SkippedPool, ...] = ()
    unlimited_amount: int | None = None
    witness: ProofWitness | None = None
    wei_value: WeiValue | None = None
    l1_gas_units: int = 0

    @property
    def gas_wei(self) -> int:
        """The cost of the transaction besides the swapped amount, in wei."""
        return self.gas_units * self.gas_price_wei + self.l1_fee_wei

    @property
    def gas_usd(self) -> float | None:
        """`gas_wei` in USD; None if that is unknown."""
        return None if self.wei_usd is None else self.gas_wei * self.wei_usd

    def cost_in_output(self, gas_wei: int) -> int | None:
        """Return a gas cost in base units of the output token, rounded up; None if its value is unknown."""
        if not gas_wei:
            return 0
        return None if self.wei_value is None else self.wei_value.cost(gas_wei)
