"""Books of Clober V2: bids for one token in another, so that a book trades in one direction.

`Controller.spend` sells the base token `tokens[0]` through the ticks, the highest price first, by `BookManager.take`.
The output of a take is a whole number of units, each `unit_size` of the quote token; the base tokens for them round up.
The taker's fee or rebate applies to one of the two tokens. The part of the input that buys no further unit stays with
the account for which the call spends. A market has two books, one for each direction; they are separate pools.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import parse_hex
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.order_books.clober_tick_math import MAX_TICK, PRICE_BITS, price_of_tick
from swapcli.families.order_books.price_levels import (
    LevelRule,
    PriceLevel,
    count_levels,
    currencies_of,
    fill_levels,
    level_curve,
    levels_state,
    native_state,
    read_levels,
    read_native,
)
from swapcli.families.rounding import WORD_BITS
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

LEVEL_GAS: Final = 46_000
"""Gas units for each tick after the first, measured on the contracts' bytecode: a swap took 321,000 gas in six
ticks."""
_UNIT_BITS: Final = 64  # unit sizes and a tick's units are uint64
_TICKS: Final = range(-MAX_TICK, MAX_TICK + 1)
_FEE_RATE_OFFSET: Final = 500_000  # a packed rate minus this is the fee in ppm
_USES_QUOTE: Final = 1 << 23  # the bit above the packed rate
_HOOKS_AT_TAKES: Final = 0b11 << 154
"""The bits of a hook's address for being called before or after a take, when the hook can trade itself."""


class FeePolicy(NamedTuple):
    """A fee of `rate_ppm` (a rebate if negative), charged on the quote token or, otherwise, on the base token."""

    rate_ppm: int
    uses_quote: bool

    @classmethod
    def decode(cls, packed: int) -> Self:
        """Decode a fee policy from the contract's 24-bit form."""
        return cls((packed & (_USES_QUOTE - 1)) - _FEE_RATE_OFFSET, packed & _USES_QUOTE != 0)

    @property
    def is_valid(self) -> bool:
        """Whether the contract opens books with this policy."""
        return -_FEE_RATE_OFFSET <= self.rate_ppm <= _FEE_RATE_OFFSET


@dataclass(frozen=True, slots=True)
class CloberV2(Pool):
    """A Clober V2 order book. `address` is the book manager's address; `book_id` is 32 bytes in hex. `levels` are
    [tick, units], descending.

    The policies are packed as in the book's key. `hooks` is the zero address without a hook. `native` shows which of
    `tokens` is the native token, listed in its wrapped form: "base", "quote", or empty.
    """

    book_id: str
    unit_size: int
    maker_policy: int
    taker_policy: int
    hooks: str
    native: str
    levels: tuple[PriceLevel, ...]

    family: ClassVar[str] = "clober_v2"
    leaves_input: ClassVar[bool] = True
    swap_gas: ClassVar[int] = 95_000
    """From the same measurement: 94,000 gas in one tick, less the 21,000 of any transaction, plus a transfer."""

    @property
    def key(self) -> str:
        """The id of the book."""
        return self.book_id

    @property
    def holds_reserves_in_vault(self) -> bool:
        """Always true, because the book manager holds the tokens of all books."""
        return True

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell the base token as `Controller.spend` does.

        Raises the same errors as `Pool.swap`. Selling the quote token always raises one.
        """
        if not is_forward(self, token_in, token_out):
            raise InsufficientLiquidity(f"pool {self.key} only buys {token_out}: it has no offers to sell it")
        rule = self._rule()
        if self.levels and rule.without_fee(amount_in) * price_of_tick(self.levels[0].price) >> WORD_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} overflows its prices")
        filled = fill_levels(self.levels, amount_in, rule)
        if filled.is_exhausted or not self.levels:
            raise InsufficientLiquidity(f"pool {self.key} does not have enough bids for the whole input")
        if not filled.amount_out:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_levels(self, filled.levels)
        return filled.amount_out, after

    def unspent(self, token_in: str, token_out: str, amount_in: int) -> int:
        """Return the part of the input that the swap leaves unspent; see `Pool.unspent`."""
        del token_in, token_out
        return fill_levels(self.levels, amount_in, self._rule()).amount_left

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate per tick. The curve for
        selling the quote token is zero."""
        return level_curve(self.levels, self._rule()) if is_forward(self, token_in, token_out) else ZeroCurve()

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        state: dict[str, object] = {
            "book_id": self.book_id,
            "unit_size": str(self.unit_size),
            "maker_policy": self.maker_policy,
            "taker_policy": self.taker_policy,
            "hooks": self.hooks,
            "levels": levels_state(self.levels),
        }
        return {**state, **native_state(self.native)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `book_id`, `unit_size`, policies, `hooks`, the optional `native`, and `levels: [[tick, units], ...]`.

        `fee_ppm` is the taker's fee, 0 for a rebate.
        """
        check_pair(identity)
        fields = StateFields(state)
        policies = {name: fields.uint(name, 24) for name in ("maker_policy", "taker_policy")}
        for name, packed in policies.items():
            if not FeePolicy.decode(packed).is_valid:
                raise InvalidPoolState(name, f"{packed} is not a fee policy")
        fee_ppm = max(FeePolicy.decode(policies["taker_policy"]).rate_ppm, 0)
        if identity.fee_ppm != fee_ppm:
            raise InvalidPoolState("fee_ppm", f"expected the taker's fee of {fee_ppm} ppm, not {identity.fee_ppm}")
        hooks = fields.read("hooks", parse_hex, 20)
        if int(hooks, 16) & _HOOKS_AT_TAKES:
            raise InvalidPoolState("hooks", f"{hooks} is called on every take and can trade itself")
        return cls(
            *identity,
            fields.read("book_id", parse_hex, 32),
            fields.integer("unit_size", 1, (1 << _UNIT_BITS) - 1),
            policies["maker_policy"],
            policies["taker_policy"],
            hooks,
            read_native(fields),
            read_levels(fields, "levels", _TICKS, _UNIT_BITS, ascending=False),
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the ticks that the swap empties before its last one."""
        assert isinstance(after, CloberV2)
        return self.swap_gas + LEVEL_GAS * (len(self.levels) - len(after.levels))

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        del token_in, token_out
        return self.swap_gas + LEVEL_GAS * (count_levels(self.levels, self._rule(), rate) - 1)

    def currencies(self) -> tuple[str, str]:
        """Return the base and quote currencies of the book's key; the native token is the zero address."""
        return currencies_of(self.tokens, self.native)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the ID by which the book manager identifies the book."""
        return {"poolId": self.book_id}

    def _rule(self) -> LevelRule:
        """Return the rule of `Controller._spend` and `BookManager.take`."""
        fee_ppm, uses_quote = FeePolicy.decode(self.taker_policy)
        return LevelRule(
            scale=self.unit_size << PRICE_BITS,
            buys_size=True,
            unit=self.unit_size,
            fee_in_ppm=0 if uses_quote else fee_ppm,
            fee_out_ppm=fee_ppm if uses_quote else 0,
            price_of_tick=price_of_tick,
        )


_replace_levels = fast_replace(CloberV2, "levels")
