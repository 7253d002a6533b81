"""A route: how an order is split across paths of hops, and the quote that its replay gives."""

from __future__ import annotations

from enum import StrEnum
from math import ceil

from swapcli.core.annotations import TYPE_CHECKING
from swapcli.core.model.order import Order
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.proof import ProofWitness
    from swapcli.core.model.skipped_pool import SkippedPool

SHARES_PER_HOP = 10_000  # hundredths of a percent: the shares of a hop sum to it
SHARES_PER_ROUTE = 10_000  # the shares of segments sum to it
MAX_SEGMENTS = 100
"""What clients of the interface can read."""
WHOLE_PERCENTS, HUNDREDTHS = 100, 1
"""Steps of a segment's share."""
RATE_SCALE = 1_000_000  # the rates of steps are millionths


class Swap(NamedTuple):
    """One pool of a hop with its share in hundredths of a percent (a hop's shares sum to 10,000)."""

    pool: str
    token_in: str
    token_out: str
    share: int


class Segment(NamedTuple):
    """A path with its share in hundredths of a percent. `hops` in order; the swaps of one hop run in parallel."""

    share: int
    hops: tuple[tuple[Swap, ...], ...]


class Route(NamedTuple):
    """Segments whose shares sum to 10,000."""

    segments: tuple[Segment, ...]


def has_whole_percents(route: Route) -> bool:
    """Return whether every segment of `route` has a whole percentage."""
    return all(segment.share % WHOLE_PERCENTS == 0 for segment in route.segments)


class Step(NamedTuple):
    """One entry of the flat list that a router executes: spends `floor(balance * rate / 1_000_000)` of `token_in`."""

    pool: str
    token_in: str
    token_out: str
    rate: int
    amount_in: int
    amount_out: int


class GasValueSource(StrEnum):
    """The source of the value of gas in the output token."""

    NATIVE = "native"
    """The output is the native token, which pays for its gas one for one."""
    MID_PRICES = "midPrices"
    """The mid prices in USD of the native token and of the output token."""
    BEST_PATH = "bestPath"
    """The best path from the native token to the output token, where one of them has no price in USD."""
    SERVICE = "service"
    """The gas cost and the price, both in USD, that a remote service states."""


class WeiValue(NamedTuple):
    """The value of one wei of gas in base units of the output token, and its source."""

    amount: float
    source: GasValueSource

    def cost(self, gas_wei: int) -> int:
        """Return a gas cost in base units of the output token, rounded up."""
        return gas_wei if self.source is GasValueSource.NATIVE else ceil(gas_wei * self.amount)


NO_PROOF_BPS = 1e6
"""A bound of a hundred times the output says nothing about a route."""


class NetBound(NamedTuple):
    """A proven upper bound on what any acyclic route of one order pays after gas, in base units of the output token.

    It covers routes of at most `max_hops` hops over `pools` pools; pools that are dust to the order are omitted. The
    gap is relative to what the quote pays after gas. `is_complete` says that the branching ended: what is left of the
    gap is due to shares, rounding or the relaxation. Otherwise it has reached its limit of work.
    """

    bound: float
    gap_bps: float
    pools: int
    max_hops: int
    is_complete: bool


class Certificate(NamedTuple):
    """How much better any route over the market's pools could be.

    `bound` is a proven upper bound on the output of every routing in the scope of `docs/proof.md`, in base units of the
    output token. If the market holds arbitrage, `acyclic_bound` is the same over the directions that the route may use.
    Gaps are relative to the quote's output in basis points. `net_of_gas` also counts gas; None if the quote is worth no
    more than its gas.
    """

    bound: float
    gap_bps: float
    acyclic_bound: float
    acyclic_gap_bps: float
    pools_checked: int
    net_of_gas: NetBound | None = None

    @property
    def is_proof(self) -> bool:
        """Whether the bound is useful: only markets with absurd prices have none."""
        return self.acyclic_gap_bps < NO_PROOF_BPS


class Quote(NamedTuple):
    """A route with exact amounts: `amount_out` is what the router pays out on the same state, to the unit.

    `gas_units` is an estimate of what is used, after refunds; a limit must be a quarter more. `l1_fee_wei` is what a
    rollup charges on top for the data of the transaction, `l1_gas_units` the part of `gas_units` that pays for it on
    those that add gas instead: 0 if it charges nothing or the fee is unknown. `wei_usd` is the worth of a wei of the
    native token.
    `price_impact` is the part of the worth at mid prices that is lost, a fraction, pool fees included.
    `best_single_path_out` is the exact output of the route with one pool per hop that is best after gas, and
    `best_single_path_gas_units` its gas. `time_s` is the core's time. `is_search_complete` is False if the search
    ran out of time: the route is the best found until then. Prices, `wei_usd` and `price_impact` are None if
    unknown. `sampled_pools` are the keys of the route's pools whose outputs are quotes of their protocols;
    `estimated_pools` are those of them whose protocol has not quoted the very amount. `broken_pools` are
    the market's pools that were skipped because a computation fails on their state. `unlimited_amount` is what the
    best route without the order's limit on pools pays, or takes for an order of an output; None without a limit.
    `witness` proves the certificate; None unless the proof was requested. `wei_value` is the one value of gas that the
    search, the proof and every amount after gas use; None if unknown.
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
        """The transaction's cost besides the swapped amount."""
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
