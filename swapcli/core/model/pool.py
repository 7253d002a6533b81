"""The interface of a liquidity pool, the same for all families."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import wraps

from swapcli.core.annotations import Any, ClassVar, Final, Protocol, Self
from swapcli.core.errors import InvalidPoolState, PoolError, SwapReverts, UncomputableSwap
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.records import NamedTuple

MAX_FEE_PPM = 999_999
"""The largest fee of a pool: if the fee takes the whole input, there is no price."""
_MAX_AMOUNT: Final = (1 << 256) - 1
"""The largest amount that a token's contract can transfer, on EVM networks and on Starknet."""
_ABSURD_AMOUNT: Final = 1 << 128
"""An amount above every real one. From here on, a swap must prove that the resulting state can be stored."""
_SWAP: Final = "swap"

_Swap = Callable[[Any, str, str, int], tuple[int, Any]]


class RateCurve(Protocol):
    """One direction of a pool as the solver sees it: a function in floats from input to output, fee included.

    Amounts are base units; a rate is output units per input unit. `amount_out` is concave and increasing, so the
    marginal rate falls from `start_rate` as more is sold.
    """

    @property
    def start_rate(self) -> float:
        """Return the marginal rate of the first unit; 0.0 if nothing can be sold."""

    @property
    def capacity(self) -> float:
        """Return the largest input that the pool accepts; `inf` if there is no limit."""

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return the trade that lowers the marginal rate to `rate` (> 0).

        The result is (amount_in, amount_out, slope) with slope = -d amount_in / d ln rate >= 0. All three are zero if
        `rate >= start_rate`; at capacity the slope is 0.
        """

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`; input beyond `capacity` adds nothing."""

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold; 0.0 at and beyond `capacity`."""


class RoundingGain(NamedTuple):
    """The most by which a swap may pay more than its curve, because the contract's rounding favours the trader.

    Let F be the curve and u be `input_units`. A swap of x base units pays at most (1 + `part`) F(y) + `output_units`,
    with y = min(x + u, u x) if u is at least 1, and y = x if u is 0. No other u is valid.
    """

    input_units: float = 0.0
    output_units: float = 0.0
    part: float = 0.0


class SharedState(NamedTuple):
    """The state of a contract through which several pools swap, as seen by a swap in one of the pools.

    `address` is the contract's; `lp_supply` is the number of its liquidity tokens, None if the pool does not know it.
    """

    address: str
    reserves: tuple[int, ...]
    lp_supply: int | None = None


@dataclass(frozen=True, slots=True)
class Pool(ABC):
    """A pool's identity and state at one block; families add their own state.

    `tokens` are lower-case addresses in the contract's order, and `decimals` are in the same order. `protocol` is the
    `amm_name` of the protocol on the network.
    """

    address: str
    protocol: str
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int

    family: ClassVar[str]
    swap_gas: ClassVar[int]
    """Gas units of one swap through a router, excluding the part that depends on its size."""
    requires_exact_payment: ClassVar[bool] = False
    """Whether a swap reverts if the pool receives one unit less than `amount_in`."""
    leaves_input: ClassVar[bool] = False
    """Whether a swap may spend only part of its input and leave the rest with the caller: see `unspent`."""
    is_sampled: ClassVar[bool] = False
    """Whether its amounts are quotes from its protocol rather than computed from its state."""
    is_wrapper: ClassVar[bool] = False
    """Whether it is the contract that wraps the native token; no market contains that contract."""

    @property
    def identity(self) -> PoolIdentity:
        """Return the fields that all families share. `from_state` builds a pool from these fields and a state."""
        return PoolIdentity(self.address, self.protocol, self.tokens, self.decimals, self.fee_ppm)

    @property
    def key(self) -> str:
        """Return the address, or the pool id if one contract has many pools. The key is unique within a market."""
        return self.address

    @property
    def called_address(self) -> str:
        """Return the address of the contract that a router calls to swap: usually `address`."""
        return self.address

    @property
    def pool_id(self) -> str:
        """Return the pool's ID (32 bytes in hex) in a contract that has many pools; empty if the pool has its own
        contract.

        The ID is also the `key`, except for pools of Balancer V2 and EulerSwap, which also have contracts of their own.
        """
        return "" if self.key == self.address else self.key

    def without_lenders(self) -> Self:
        """Return the pool without its lenders' limits, for replaying a mined swap, which has met them. A pool without
        lenders is returned unchanged."""
        return self

    @property
    def computes_output(self) -> bool:
        """Whether the pool's contract computes outputs with Solidly's `getAmountOut`, so that routers need not know the
        fee."""
        return False

    @property
    def holds_reserves_in_vault(self) -> bool:
        """Whether the protocol's vault, rather than the contract at `address`, holds the tokens."""
        return False

    @property
    def is_single_use(self) -> bool:
        """Whether only the first swap of a transaction is predictable, so that a route swaps in the pool at most
        once."""
        return False

    @property
    def has_samples(self) -> bool:
        """Whether quotes from the pool's protocol are known. Only sampled pools use such quotes."""
        return False

    @property
    def is_estimated(self) -> bool:
        """Whether the state results from a swap with an estimated output, because the protocol has not quoted that
        amount."""
        return False

    @property
    def shared_states(self) -> tuple[SharedState, ...]:
        """Return the parts of the state that swaps in other pools also change, one for each shared contract."""
        return ()

    def with_shared_state(self, shared: SharedState) -> Self:
        """Return the pool with a new state for a contract that it shares with other pools."""
        del shared
        return self

    def __init_subclass__(cls) -> None:
        """Wrap the `swap` that a family defines in the guard of `guard_swap`."""
        own: _Swap | None = vars(cls).get(_SWAP)
        if own is not None:
            setattr(cls, _SWAP, guard_swap(own))

    @abstractmethod
    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` base units exactly as the contract does, and return the output (> 0) and the changed pool.

        Raises only `PoolError`s, for any tokens and any integer: `InsufficientLiquidity` if the pool would not take the
        whole input, `SwapReverts` if the contract would revert, the output rounds to zero, or the input is not
        positive, and `UncomputableSwap` if the family's code fails. The guard around every family's `swap` checks this,
        see `guard_swap`.
        """

    def unspent(self, token_in: str, token_out: str, amount_in: int) -> int:
        """Return how many of the `amount_in` base units of an accepted swap stay unspent."""
        del token_in, token_out, amount_in
        return 0

    @abstractmethod
    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return a float model of one direction of the pool, for the solver. Each call builds a new curve."""

    def rounding_gain(self, token_in: str, token_out: str) -> RoundingGain | None:
        """Return how much more than `curve` a swap may pay; None if all rounding favours the pool."""
        del token_in, token_out
        return None

    @abstractmethod
    def state(self) -> dict[str, object]:
        """Return the family's fields in the file format `swap-market/1`, as JSON values that the family's `from_state`
        parses."""

    @classmethod
    @abstractmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Parse the family's fields in the file format `swap-market/1`. Raises `InvalidPoolState`, which names the
        field."""

    def gas_units(self, after: Pool) -> int:
        """Return the estimated gas units of a swap that changes this state to `after`.

        If `after` is this state, the estimate is for the smallest swap.
        """
        del after
        return self.swap_gas

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return a rough estimate of the gas units of a swap that moves the marginal rate to `rate`."""
        del token_in, token_out, rate
        return self.gas_units(self)

    @property
    def changes_without_events(self) -> bool:
        """Return whether the state can change without an event: with time, through a rate or by a hook.

        The state is that of the quoted block; a swap in a later block may find a different one.
        """
        return False

    def rounds_to_zero(self, amount_in: int) -> SwapReverts:
        """Return the error for an input whose output is less than one base unit."""
        return SwapReverts(f"pool {self.key}: the output for {amount_in} rounds to zero")

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the fields of the Fibrous API's `extraData` that identify this pool; `{}` if its address is enough.

        A concentrated pool has `fee` and `tickSpacing`; a Uniswap V4 pool also has `poolId`, `token0`, `token1` and
        `hooks`.
        """
        return {}


def guard_swap(swap: _Swap) -> _Swap:
    """Return a family's `swap` with the guarantees of `Pool.swap` for any state, tokens and amount.

    The returned function rejects inputs of 0 or less, inputs too large for any token to transfer, and outputs of 0 or
    less. An exception other than `PoolError` becomes `UncomputableSwap`, unless it concerns the whole request, see
    `pass_request_errors`. After a swap of an absurd amount, the state must be one that `from_state` reads. A function
    that is already guarded is returned unchanged.
    """
    if getattr(swap, "is_guarded", False):
        return swap  # dataclasses with slots create their class twice

    @wraps(swap)
    def guarded(self: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Any]:
        if not 0 < amount_in < _ABSURD_AMOUNT:
            _check_amount(self, amount_in)
        try:
            swapped = swap(self, token_in, token_out, amount_in)
            if amount_in >= _ABSURD_AMOUNT:
                _check_state(self, swapped[1], amount_in)
        except PoolError:
            raise
        except Exception as error:
            raise _uncomputable(self, error) from error
        if swapped[0] <= 0:
            raise self.rounds_to_zero(amount_in)
        return swapped

    vars(guarded)["is_guarded"] = True
    return guarded


def _check_amount(pool: Pool, amount_in: int) -> None:
    if amount_in <= 0:
        raise SwapReverts(f"pool {pool.key}: an input of {amount_in} cannot be sold")
    if amount_in > _MAX_AMOUNT:
        raise SwapReverts(f"pool {pool.key}: {amount_in} exceeds 256 bits")


def _check_state(pool: Pool, after: Pool, amount_in: int) -> None:
    """Raise `SwapReverts` unless the state of `after` can be read again: otherwise the contract could not store it
    either."""
    try:
        type(after).from_state(after.identity, after.state())
    except InvalidPoolState as error:
        problem = f"pool {pool.key} cannot store its state after an input of {amount_in}: {error.message}"
        raise SwapReverts(problem) from error


def _uncomputable(pool: Pool, error: Exception) -> UncomputableSwap:
    from swapcli.core.model.skipped_pool import fault_reason

    reason = fault_reason(error)
    return UncomputableSwap(f"pool {pool.key}: {reason}", details={"pool": pool.key, "reason": reason})


class PoolIdentity(NamedTuple):
    """The fields that pools of all families share, already validated."""

    address: str
    protocol: str
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int
