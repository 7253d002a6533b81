"""Pools whose maths is closed-source or too complex to reimplement: only some of the protocol's own quotes are known.

The samples of each direction come from the protocol's quote function at one block. An amount equal to a sample swaps
for exactly the quoted output. Any other amount is interpolated linearly between its neighbouring samples, which never
overstates a concave quote; the pool afterwards `is_estimated`, so that the amount is never shown as exact.

The state after a swap is unknown, since the protocol only quotes its current state: a second swap reverts. Samples are
valid only for their block, so they are not stored; without samples the pool trades nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass, replace
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.validation.values import MAX_UINT256, InvalidValue, parse_integer, parse_list, parse_number_text
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.sampled.sampled_curve import QuotedSale, SampledCurve
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

MAX_SAMPLES: Final = 64
"""The maximum number of samples per direction: more than any reader requests."""
_MAX_CONSTANTS: Final = 16  # far above the fields of any key
_ID_BYTES: Final = 32  # bytes of a pool's id
_KEY_ADDRESSES: Final = {"token0": "currency0", "token1": "currency1", "hooks": "hooks"}
"""The addresses in the Fibrous API's extra data, and the constants that contain them."""
_KEY_NUMBERS: Final = ("fee", "tickSpacing")


@dataclass(frozen=True, slots=True)
class Sampled(Pool):
    """A sampled pool. `forward_samples` sell the first token, `backward_samples` the second; both are sorted by input.

    `constants` are the data about the pool that the quote function needs besides its address and tokens, by name, as
    texts of numbers. `pool_id` is 32 bytes in hex if one contract has many pools, otherwise empty. `balances` are the
    most that the pool can pay of each token, None if unknown.
    """

    constants: tuple[tuple[str, str], ...] = ()
    pool_id: str = ""
    balances: tuple[int, int] | None = None
    forward_samples: tuple[QuotedSale, ...] = ()
    backward_samples: tuple[QuotedSale, ...] = ()
    is_estimated: bool = False
    is_spent: bool = False

    family: ClassVar[str] = "sampled"
    swap_gas: ClassVar[int] = 150_000
    """An assumption: no transaction was measured. Quotes by V4Quoter with a hook report 100,000 to 200,000."""
    holds_reserves_in_vault: ClassVar[bool] = True
    is_single_use: ClassVar[bool] = True
    is_sampled: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The pool ID if one contract has many pools, otherwise the address."""
        return self.pool_id or self.address

    @property
    def changes_without_events(self) -> bool:
        """Whether the pool has samples, which are valid only at their block."""
        return self.has_samples

    @property
    def has_samples(self) -> bool:
        """Whether the pool can be quoted. A pool from a file or a store has no samples."""
        return bool(self.forward_samples or self.backward_samples)

    def samples(self, token_in: str, token_out: str) -> tuple[QuotedSale, ...]:
        """Return the samples for selling `token_in` for `token_out`."""
        return self.forward_samples if is_forward(self, token_in, token_out) else self.backward_samples

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Return the quoted output if `amount_in` is a sample, otherwise a low estimate between samples. Raises the
        same errors as `Pool.swap`."""
        samples = self.samples(token_in, token_out)
        if self.is_spent:
            raise SwapReverts(f"pool {self.key}: its protocol quotes no second swap")
        if not samples or amount_in > samples[-1].amount_in:
            raise InsufficientLiquidity(f"pool {self.key}: its protocol does not quote amounts as large as {amount_in}")
        position = bisect_left(samples, (amount_in,))
        after = samples[position]
        is_estimated = after.amount_in != amount_in
        amount_out = after.amount_out
        if is_estimated:
            before = samples[position - 1] if position else QuotedSale(0, 0)
            gain, width = after.amount_out - before.amount_out, after.amount_in - before.amount_in
            amount_out = before.amount_out + gain * (amount_in - before.amount_in) // width
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        pool: Self = _after_swap(self, is_estimated, True)
        return amount_out, pool

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the concave hull of the samples as a floating-point curve."""
        samples = self.samples(token_in, token_out)
        return SampledCurve(samples) if samples and not self.is_spent else ZeroCurve()

    def with_sample(self, token_in: str, token_out: str, sample: QuotedSale) -> Self:
        """Return the pool with one more sample, or a different output for the same input.

        Older samples that contradict the new one are dropped: samples with less input and more output, and samples with
        more input and less output.
        """
        others = [
            each
            for each in self.samples(token_in, token_out)
            if (each.amount_in < sample.amount_in and each.amount_out <= sample.amount_out)
            or (each.amount_in > sample.amount_in and each.amount_out >= sample.amount_out)
        ]
        samples = tuple(sorted([*others, sample]))
        if is_forward(self, token_in, token_out):
            return replace(self, forward_samples=samples)
        return replace(self, backward_samples=samples)

    def without_samples(self) -> Self:
        """Return the pool without samples, which is the form in which a store keeps it."""
        return replace(self, balances=None, forward_samples=(), backward_samples=(), is_estimated=False, is_spent=False)

    def state(self) -> dict[str, object]:
        """Return `constants` and `pool_id`, if there are any; samples are never written."""
        state: dict[str, object] = {}
        if self.constants:
            state["constants"] = dict(self.constants)
        if self.pool_id:
            state["pool_id"] = self.pool_id
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the optional `constants` and `pool_id`, and the `balances` and `samples` from a reader.

        `samples` are two lists of [amount_in, amount_out]. Inputs rise; outputs never fall, nor exceed `balances`.
        """
        check_pair(identity)
        fields = StateFields(state)
        balances = fields.uints("balances", 2) if fields.has("balances") else None
        sold, bought = _read_samples(fields) if fields.has("samples") else ((), ())
        for name, samples, position in (("samples[0]", sold, 1), ("samples[1]", bought, 0)):
            _check_samples(name, samples, balances[position] if balances else None)
        return cls(
            *identity,
            constants=_read_constants(fields),
            pool_id=fields.optional_hex("pool_id", _ID_BYTES) or "",
            balances=(balances[0], balances[1]) if balances else None,
            forward_samples=sold,
            backward_samples=bought,
        )

    def api_extra_data(self) -> dict[str, int | str]:
        """Return `poolId` if one contract has many pools, and the key of a Uniswap V4 pool."""
        extra_data: dict[str, int | str] = {"poolId": self.pool_id} if self.pool_id else {}
        constants = dict(self.constants)
        for name, constant in _KEY_ADDRESSES.items():
            if constant in constants:
                extra_data[name] = constants[constant]
        for name in _KEY_NUMBERS:
            if name in constants:
                extra_data[name] = parse_number_text(constants[name])
        return extra_data


_after_swap = fast_replace(Sampled, "is_estimated", "is_spent")


def _read_constants(fields: StateFields) -> tuple[tuple[str, str], ...]:
    if not fields.has("constants"):
        return ()
    constants = fields.nested("constants")
    if len(constants.values) > _MAX_CONSTANTS:
        raise InvalidPoolState("constants", f"at most {_MAX_CONSTANTS} are supported, got {len(constants.values)}")
    for name in constants.values:
        constants.read(name, parse_number_text)
    return tuple((name, constants.text(name)) for name in sorted(constants.values))


def _read_samples(fields: StateFields) -> tuple[tuple[QuotedSale, ...], tuple[QuotedSale, ...]]:
    sold, bought = fields.read("samples", parse_list, 2, 2)
    return fields.parse("samples[0]", sold, _parse_samples), fields.parse("samples[1]", bought, _parse_samples)


def _parse_samples(value: object) -> tuple[QuotedSale, ...]:
    return tuple(QuotedSale(*_parse_sample(each)) for each in parse_list(value, 0, MAX_SAMPLES))


def _parse_sample(value: object) -> Sequence[int]:
    entries = parse_list(value)
    if len(entries) != len(QuotedSale._fields):
        raise InvalidValue("an input and an output", entries)
    return [parse_integer(each, 0, MAX_UINT256) for each in entries]


def _check_samples(name: str, samples: Sequence[QuotedSale], balance: int | None) -> None:
    """Raise `InvalidPoolState` unless the samples can be quotes from one honest pool."""
    if samples and not (samples[0].amount_in and samples[-1].amount_out):
        raise InvalidPoolState(name, "an input or all outputs are zero")
    for before, after in pairwise(samples):
        if after.amount_in <= before.amount_in:
            raise InvalidPoolState(
                name, f"the input {after.amount_in} must be greater than the previous input, {before.amount_in}"
            )
        if after.amount_out < before.amount_out:
            raise InvalidPoolState(
                name, f"{after.amount_in} pay less than {before.amount_in}: {after.amount_out} < {before.amount_out}"
            )
    if balance is not None and samples and samples[-1].amount_out > balance:
        raise InvalidPoolState(name, f"the output {samples[-1].amount_out} is above the balance {balance}")


def sampled_pools(pools: Iterable[Pool]) -> list[Sampled]:
    """Return the pools whose amounts are quotes from their protocols."""
    return [pool for pool in pools if isinstance(pool, Sampled)]
