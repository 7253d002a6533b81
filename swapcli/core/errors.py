"""All errors that swapcli raises on purpose, as one tree.

SwapcliError
├── InvalidInput            invalid input from the caller
│   ├── InvalidAmount       not an amount, out of range, or too many decimals
│   ├── InvalidAddress      not an address of the network
│   │   └── UnsafeRecipient     a contract that loses what it is sent
│   ├── UnknownNetwork
│   ├── UnknownToken
│   ├── AmbiguousToken      several tokens share the symbol
│   ├── UnknownProtocol
│   ├── UnknownFamily       no pool family has that name
│   ├── SameToken           the order sells and buys the same token
│   ├── InvalidOption       a value out of range, or options that cannot be combined
│   │   ├── InvalidSlippage
│   │   └── InvalidDeadline     not a time in the future
│   ├── NoProof             a quote that was requested without a proof
│   ├── InvalidRoute        a route that cannot be executed on the market
│   ├── ConfigError         a setting is unknown or has the wrong type
│   ├── InvalidPlan         a plan file is damaged, changed, or not a plan of this order
│   └── MarketError         a market file violates its format
│       └── InvalidPoolState  a pool in the file violates the format
├── NoRoute                 no path of pools joins the two tokens
│   ├── FeeOnTransfer       a token of the order takes a fee on transfers, so no amount can be guaranteed
│   └── TokenBlocked        the settings block a token of the order or the route
├── PoolError               a pool cannot execute a swap
│   ├── InsufficientLiquidity   the pool runs out before the input is spent
│   ├── SwapReverts         the contract would revert
│   └── UncomputableSwap    the code of the pool's family fails
├── IntegratorError         a key or integrator rule
│   └── Unauthorized        a missing, unknown, revoked or expired key
│       └── Forbidden           a key that is not valid for the network
├── UpstreamError           a node or a remote service failed
│   ├── Unreachable         no connection, or none that can be trusted
│   ├── LiveUnavailable     no public node has responded with a proven block
│   ├── UpstreamTimeout
│   ├── UpstreamRejected    it responded with an error
│   │   └── RequestBudgetSpent  the requests that a quote may send to public nodes are spent
│   ├── InvalidUpstreamResponse     its response is malformed
│   ├── ChainReorganized    a block that was read is no longer part of the chain
│   ├── NotMined            a transaction is not in a block of the chain yet
│   ├── BlockMismatch       a node answered for a different block than requested
│   ├── StaleNode           its state is older than the state already read
│   └── ModelledState       no real prices are known, but a transaction needs them
├── StaleError              a route or the state is too old
│   ├── RouteExpired
│   ├── SlippageExceeded    the market has moved against a route
│   ├── PartNotDue          the next part of a plan is not yet due
│   ├── PlanEnded           the plan is over, or all its parts are done
│   └── MarketUnavailable   the state is not loaded, or too old to quote on, or closed
├── SimulationError         a simulation or balance check failed
│   ├── InsufficientBalance     the sender holds less than the swap takes
│   └── SwapDiffers         a mined swap paid a different amount than its quote
├── UnsafeSwap              the swap would lose more than is allowed
│   ├── PriceImpactTooHigh
│   ├── UnreadGainTooHigh
│   ├── SlippageTooHigh
│   ├── OutsidePriceBand    the price of a part is outside the band of its plan
│   ├── UnusualFees         a node's gas, fees or nonce are far from what they should be
│   ├── NodesDisagree       nodes report different states of the block that a payload was built on
│   └── VerdictBlocks       a rehearsal of the swap has shown that it must not be signed
├── UnhealthyError
├── InputOutputError        a file cannot be written: the disk is full or fails
├── RateLimited             too many requests
│   └── Overloaded          too many concurrent requests from all clients
└── Cancelled               the client no longer waits for the response
    └── Interrupted         stopped by a signal; what was completed stays valid

`code` is stable and meant for programs. The message is a sentence; `hint` shows what to do next; `details` holds values
that a caller can act on, ready for JSON. `is_retryable` shows whether the same request may succeed later, see
`PASSING_ERRORS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from swapcli.core.annotations import ClassVar, Self


class SwapcliError(Exception):
    """Base of all errors raised on purpose.

    `place` shows where the error is, for example the name of a file or the path of a field; the message begins with it.
    A caller that has a better place may replace it.
    """

    code: ClassVar[str] = "ERROR"
    place: str | None = None

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self._sentence = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})

    @property
    def message(self) -> str:
        """The problem, as a sentence without a full stop."""
        return f"{self.place}: {self._sentence}" if self.place else self._sentence

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later without any change."""
        return isinstance(self, PASSING_ERRORS)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[type[Self], str], dict[str, object]]:
        # Workers pickle errors to send them back, and the constructors of subclasses take other arguments.
        return type(self).__new__, (type(self), self._sentence), self.__dict__


class InvalidInput(SwapcliError):
    """The caller's input is invalid."""

    code = "INVALID_INPUT"


class InvalidAmount(InvalidInput):
    """The value is not an amount, is out of range, or has more decimals than the token."""

    code = "INVALID_AMOUNT"


class InvalidAddress(InvalidInput):
    """The value is not an address on the network."""

    code = "INVALID_ADDRESS"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, object] | None = None,
        has_wrong_checksum: bool = False,
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.has_wrong_checksum = has_wrong_checksum


class UnsafeRecipient(InvalidAddress):
    """Tokens sent to the recipient would be lost, for example because it is a token, a pool or a router."""

    code = "UNSAFE_RECIPIENT"


class UnknownNetwork(InvalidInput):
    """No network has that name."""

    code = "UNKNOWN_NETWORK"


class UnknownToken(InvalidInput):
    """No token in the market has that symbol or address."""

    code = "UNKNOWN_TOKEN"


class AmbiguousToken(InvalidInput):
    """Several tokens share the symbol."""

    code = "AMBIGUOUS_TOKEN"

    def __init__(self, symbol: str, network: str, addresses: Sequence[str]) -> None:
        super().__init__(
            f'"{symbol}" names {len(addresses)} tokens on {network}: {", ".join(addresses)}',
            hint="give the address instead of the symbol",
            details={"symbol": symbol, "candidates": list(addresses)},
        )


class UnknownProtocol(InvalidInput):
    """The network does not have some of the named protocols. `closest` maps each of them to the network's most similar
    names."""

    code = "UNKNOWN_PROTOCOL"
    closest: Mapping[str, Sequence[str]] = MappingProxyType({})


class UnknownFamily(InvalidInput, KeyError):
    """No pool family has that name, neither built in nor from an installed package."""

    code = "UNKNOWN_FAMILY"


class SameToken(InvalidInput):
    """The order sells and buys the same token."""

    code = "SAME_TOKEN"

    def __init__(self) -> None:
        super().__init__("Token in and token out cannot be the same", hint="name two different tokens")


class InvalidOption(InvalidInput):
    """An option's value is out of range, or options cannot be combined."""

    code = "INVALID_OPTION"


class InvalidSlippage(InvalidOption):
    """The slippage is not a percentage or is out of range."""

    code = "INVALID_SLIPPAGE"


class InvalidDeadline(InvalidOption):
    """The deadline is not a time in the future."""

    code = "INVALID_DEADLINE"


class NoProof(InvalidInput):
    """A proof is needed, but the quote was made without one."""

    code = "NO_PROOF"


class InvalidRoute(InvalidInput):
    """The route's shares have the wrong sum, its hops form a cycle, or its pools do not trade its tokens."""

    code = "INVALID_ROUTE"


class ConfigError(InvalidInput):
    """A setting is unknown or has the wrong type."""

    code = "CONFIG_ERROR"


class InvalidPlan(InvalidInput):
    """A plan file is damaged, has been changed, or belongs to another network or version."""

    code = "INVALID_PLAN"


class MarketError(InvalidInput):
    """A market file violates its format."""

    code = "MARKET_ERROR"


class InvalidPoolState(MarketError):
    """A pool in a market file is invalid. The message names the pool and the field."""

    code = "POOL_STATE_ERROR"

    def __init__(self, field: str, problem: str, *, pool: str | None = None, hint: str | None = None) -> None:
        self.field, self.problem, self.pool = field, problem, pool
        where = f"pool {pool}: " if pool else ""
        super().__init__(f"{where}{field}: {problem}", hint=hint, details={"pool": pool, "field": field})


class NoRoute(SwapcliError):
    """No path of pools joins the two tokens."""

    code = "NO_ROUTE"


class FeeOnTransfer(NoRoute):
    """A token in the order takes a fee on transfers, or transfers a different amount than requested."""

    code = "FEE_ON_TRANSFER"


class TokenBlocked(NoRoute):
    """The settings block a token in the order or the route."""

    code = "TOKEN_BLOCKED"


class PoolError(SwapcliError):
    """A pool cannot execute a swap."""

    code = "POOL_ERROR"


class InsufficientLiquidity(PoolError):
    """The pool runs out of liquidity before the input is spent."""

    code = "INSUFFICIENT_LIQUIDITY"


class SwapReverts(PoolError):
    """The pool's contract would revert."""

    code = "SWAP_REVERTS"


class UncomputableSwap(PoolError):
    """A pool family's code raised an exception, which is the cause of this error. `details` has the reason."""

    code = "UNCOMPUTABLE_SWAP"


class IntegratorError(SwapcliError):
    """An API key is missing or unknown, or an integrator option is invalid."""

    code = "INTEGRATOR_ERROR"


class Unauthorized(IntegratorError):
    """The API key is missing, unknown, revoked or expired."""

    code = "UNAUTHORIZED"


class Forbidden(Unauthorized):
    """The API key is not valid for the network."""

    code = "FORBIDDEN"


class UpstreamError(SwapcliError):
    """A node or a remote service failed.

    `refusal` is the class of a node's error, from `state.rpc.refusals.Refusal`; empty if the error's meaning is
    unknown.
    """

    code = "UPSTREAM_ERROR"
    refusal: str = ""

    def add_problems(self, others: Sequence[str]) -> None:
        """Add the problems of other nodes that were tried, without duplicates."""
        self._sentence = "; ".join(dict.fromkeys((self._sentence, *others)))


class Unreachable(UpstreamError):
    """There is no connection, or none that can be trusted."""

    code = "UNREACHABLE"


class LiveUnavailable(UpstreamError):
    """No public node returned a proven block.

    `failures` maps each node's host to the reason; `is_network_unreachable` means that this machine could not reach any
    of them. `details` holds both, as `nodes` (a list of objects with `host` and `reason`) and `networkUnreachable`.
    """

    code = "LIVE_UNAVAILABLE"

    def __init__(
        self,
        message: str,
        failures: Sequence[tuple[str, str]],
        *,
        is_network_unreachable: bool = False,
        hint: str | None = None,
    ) -> None:
        nodes = [{"host": host, "reason": reason} for host, reason in failures]
        super().__init__(message, hint=hint, details={"nodes": nodes, "networkUnreachable": is_network_unreachable})
        self.failures = tuple(failures)
        self.is_network_unreachable = is_network_unreachable


class UpstreamTimeout(UpstreamError):
    """A node or service did not respond in time."""

    code = "UPSTREAM_TIMEOUT"


class UpstreamRejected(UpstreamError):
    """A node or service responded with an error."""

    code = "UPSTREAM_REFUSED"

    @property
    def is_retryable(self) -> bool:
        """Whether a retry may succeed, judging by the node's error or the service's HTTP status."""
        return (
            self.refusal in _PASSING_REFUSALS or self.details.get("status") in _PASSING_STATUSES or super().is_retryable
        )


class RequestBudgetSpent(UpstreamRejected):
    """The quote has used all its requests to public nodes, so it reads no more data."""

    code = "REQUEST_BUDGET_SPENT"


class InvalidUpstreamResponse(UpstreamError):
    """The response of a node or service is malformed."""

    code = "UPSTREAM_NONSENSE"


class ChainReorganized(UpstreamError):
    """A block that was read is no longer part of the chain."""

    code = "REORGANISED"


class NotMined(UpstreamError):
    """A transaction is not in a block of the chain yet: it is pending, or only preconfirmed."""

    code = "NOT_MINED"


class BlockMismatch(UpstreamError):
    """A node returned a different block than requested."""

    code = "BLOCK_MISMATCH"


class StaleNode(UpstreamError):
    """The node's state is older than the state already read, or the node is on a different chain."""

    code = "STALE_NODE"


class ModelledState(UpstreamError):
    """A transaction needs real prices, but no node or service returned any.

    If nodes were read, `details["liveFailure"]` is the reason why they returned no prices, and a retry may succeed.
    """

    code = "MODELLED_STATE"

    @property
    def is_retryable(self) -> bool:
        """Whether nodes were read and failed. Otherwise no node is configured, or the user chose prices that are not
        real."""
        return "liveFailure" in self.details


class StaleError(SwapcliError):
    """A route or the pool state is too old."""

    code = "STALE"


class RouteExpired(StaleError):
    """A route is older than its time to live."""

    code = "ROUTE_EXPIRED"


class SlippageExceeded(StaleError):
    """A route now pays less than its slippage allows."""

    code = "SLIPPAGE_EXCEEDED"


class PartNotDue(StaleError):
    """The next part of a plan is not yet due; `time` in `details` is when it is due, in Unix seconds."""

    code = "PART_NOT_DUE"


class PlanEnded(StaleError):
    """The plan is over, or all its parts are done."""

    code = "PLAN_ENDED"


class MarketUnavailable(StaleError):
    """The pool state is not loaded or too old, or the market is closed."""

    code = "MARKET_UNAVAILABLE"


class SimulationError(SwapcliError):
    """A simulation or a balance check failed."""

    code = "SIMULATION_FAILED"


class InsufficientBalance(SimulationError):
    """The sender holds less than the swap takes."""

    code = "INSUFFICIENT_BALANCE"


class SwapDiffers(SimulationError):
    """A mined swap paid a different amount than its quote on the state just before the swap."""

    code = "SWAP_DIFFERS"


class UnsafeSwap(SwapcliError):
    """The swap would lose more than is allowed."""

    code = "UNSAFE_SWAP"


class PriceImpactTooHigh(UnsafeSwap):
    """The price impact is above the allowed maximum."""

    code = "PRICE_IMPACT_TOO_HIGH"


class UnreadGainTooHigh(UnsafeSwap):
    """Unread pools could add more to the output than the allowed maximum."""

    code = "UNREAD_GAIN_TOO_HIGH"


class SlippageTooHigh(UnsafeSwap):
    """The slippage is above the allowed maximum."""

    code = "SLIPPAGE_TOO_HIGH"


class OutsidePriceBand(UnsafeSwap):
    """The price of a part is outside the band of its plan."""

    code = "OUTSIDE_PRICE_BAND"


class UnusualFees(UnsafeSwap):
    """A node's gas, fees or nonce are far from the expected values."""

    code = "FEES_UNUSUAL"


class NodesDisagree(UnsafeSwap):
    """Nodes report different states of a payload's block, or different simulation results.

    `is_outvoted` means that two other nodes contradict the state that the payload was built on, or lack its block. A
    new quote on one of those nodes may then be confirmed.
    """

    code = "NODES_DISAGREE"

    def __init__(
        self, message: str, *, hint: str | None = None, details: dict[str, object] | None = None, is_outvoted: bool
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.is_outvoted = is_outvoted


class VerdictBlocks(UnsafeSwap):
    """A simulation shows that the swap must not be signed."""

    code = "VERDICT_BLOCKS"


class UnhealthyError(SwapcliError):
    """A health check failed."""

    code = "UNHEALTHY"


class InputOutputError(SwapcliError):
    """A file cannot be written because the disk is full or fails. The disk is the cause, not the path that the user
    gave."""

    code = "IO_ERROR"


class RateLimited(SwapcliError):
    """Too many requests; retry after `retry_after_s` seconds."""

    code = "RATE_LIMITED"

    def __init__(self, message: str, *, retry_after_s: int = 1, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, details={"retry_after_s": retry_after_s})
        self.retry_after_s = retry_after_s


class Overloaded(RateLimited):
    """Too many concurrent requests from all clients."""

    code = "OVERLOADED"


class Cancelled(SwapcliError):
    """The client no longer waits for the response."""

    code = "CANCELLED"


class Interrupted(Cancelled):
    """A signal stopped the work. Everything completed before it stays valid."""

    code = "INTERRUPTED"


PASSING_ERRORS = (
    Unreachable, LiveUnavailable, UpstreamTimeout, RequestBudgetSpent, ChainReorganized, NotMined, BlockMismatch,
    StaleNode, PartNotDue, OutsidePriceBand, MarketUnavailable, RateLimited, Cancelled,
)  # fmt: skip
"""The errors for which a retry makes sense. The others need another request, other settings, or a decision."""
_PASSING_REFUSALS = frozenset({"transient", "rate", "timeout", "edge"})
"""The node refusals for which a retry makes sense."""
_PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
"""The HTTP statuses of a service for which a retry makes sense."""
