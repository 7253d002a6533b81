"""Curve's StableSwap-NG metapools. They trade a coin against the liquidity token of a base pool, and thus against the
coins of that pool.

The first token is the metapool's own coin, the second the liquidity token, and the others are the base pool's coins. A
swap of the own coin for a base coin also withdraws that coin from the base pool; the other direction deposits it. The
liquidity token counts at the base pool's virtual price at the start of the swap. Base coins are not swapped for each
other here: the base pool does that for less gas.

The state includes the base pool's state, which is shared: swaps in the base pool and in its other metapools change it.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.frozen_dataclass import dataclass, replace
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve, SharedState
from swapcli.core.model.units import PPM, WAD
from swapcli.core.validation.values import parse_hex
from swapcli.families.curve.stableswap import NG, StableSwap
from swapcli.families.curve.stableswap_liquidity import LiquidPool
from swapcli.families.curve.stableswap_math import PACKED_BITS, scale_to_18_decimals
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_multi_token
from swapcli.families.reserves import MAX_DECIMALS
from swapcli.families.sampled.sampled_curve import QuotedSale, SampledCurve
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

_OWN: Final = 0
_LP: Final = 1
_COINS: Final = 2
"""Positions in `tokens`: the own coin, the liquidity token, and the first coin of the base pool."""
_SAMPLE_COUNT: Final = 18  # amounts per direction of a deposit or withdrawal
_SAMPLE_RANGE: Final = (1e-3, 2.0)
"""The inputs at which the curve of a deposit or withdrawal is computed: from a part of the smallest relevant balance to
a multiple of the largest. Between them, the curve is within 0.02% of the swap in a balanced pool."""
_FIRST_SAMPLE: Final = 1e-6
"""The curve's first amount, as a fraction of the smallest balance."""


@dataclass(frozen=True, slots=True)
class CurveMeta(Pool):
    """A StableSwap-NG metapool.

    `own` is the pool of the own coin and the liquidity token, without the liquidity token's rate; `base` is the base
    pool.
    """

    own: StableSwap
    base: LiquidPool

    family: ClassVar[str] = "curve_meta"
    swap_gas: ClassVar[int] = 240_000
    """Medians of recorded swaps (269,000 and 294,000 with a coin of the base pool, 180,000 with its liquidity token),
    each less about 40,000 for the transaction."""

    @property
    def changes_without_events(self) -> bool:
        """Whether A or a rate may change, in the metapool or in the base pool."""
        return self.own.changes_without_events or self.base.pool.changes_without_events

    @property
    def shared_states(self) -> tuple[SharedState]:
        """The base pool's state."""
        return (SharedState(self.base.pool.address, self.base.pool.reserves, self.base.lp_supply),)

    def with_shared_state(self, shared: SharedState) -> Self:
        """Return the metapool with the base pool's state replaced by `shared`."""
        supply = self.base.lp_supply if shared.lp_supply is None else shared.lp_supply
        after: Self = _replace_pools(
            self, self.own, LiquidPool(replace(self.base.pool, reserves=shared.reserves), supply)
        )
        return after

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` like the contract's `exchange` or `exchange_underlying`.

        Raises the same errors as `Pool.swap`.
        """
        i, j = self._direction(token_in, token_out)
        own = replace(self.own, rates=(self.own.rates[_OWN], self.base.virtual_price))
        lp = own.tokens[_LP]
        if i >= _COINS:
            minted, base = self.base.deposit(i - _COINS, amount_in)
            if not minted:
                raise self.rounds_to_zero(amount_in)
            amount_out, own = own.swap(lp, token_out, minted)
        else:
            amount_out, own = own.swap(token_in, token_out if j < _COINS else lp, amount_in)
            base = self.base
            if j >= _COINS:
                amount_out, base = base.withdraw(j - _COINS, amount_out)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_pools(self, replace(own, rates=self.own.rates), base)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in`: the concave hull of sample swaps if the base pool is
        involved."""
        i, j = token_indices(self, token_in, token_out)
        if not self._is_offered(i, j):
            return ZeroCurve()
        if max(i, j) < _COINS:
            try:
                price = self.base.virtual_price
            except PoolError:
                return ZeroCurve()
            return replace(self.own, rates=(self.own.rates[_OWN], price)).curve(token_in, token_out)
        try:
            inputs = self._sampled_inputs(i, j)
        except PoolError:  # balances beyond what the contract can count
            return ZeroCurve()
        samples = []
        for amount_in in inputs:
            try:
                samples.append(QuotedSale(amount_in, self.swap(token_in, token_out, amount_in)[0]))
            except PoolError:
                continue
        return SampledCurve(samples) if samples else ZeroCurve()

    def state(self) -> dict[str, object]:
        """Return the own pool's fields, `base_pool`, `base` with its fields and `fee_ppm`, and `lp_supply`."""
        base = self.base.pool
        own = self.own.state()
        own["rates"] = [str(self.own.rates[_OWN])]
        return {
            **own,
            "base_pool": base.address,
            "lp_supply": str(self.base.lp_supply),
            "base": {"fee_ppm": base.fee_ppm, **base.state()},
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`. Raises `InvalidPoolState`."""
        check_multi_token(identity)
        if len(identity.tokens) < _COINS + 2:
            raise InvalidPoolState(
                "tokens", "expected the pool's own coin, the liquidity token and at least two more coins"
            )
        if identity.decimals[_LP] != MAX_DECIMALS:
            raise InvalidPoolState("decimals", f"expected 18 for the liquidity token, not {identity.decimals[_LP]}")
        fields = StateFields(state)
        rates = fields.uints("rates", 1, PACKED_BITS)
        own_identity = identity._replace(tokens=identity.tokens[:_COINS], decimals=identity.decimals[:_COINS])
        own = StableSwap.from_state(own_identity, {**state, "rates": [*rates, WAD]})
        if own.variant != NG:
            raise InvalidPoolState("variant", f'a metapool is "{NG}", not "{own.variant}"')
        base = fields.nested("base")
        base_identity = PoolIdentity(
            fields.read("base_pool", parse_hex, 20),
            identity.protocol,
            identity.tokens[_COINS:],
            identity.decimals[_COINS:],
            base.integer("fee_ppm", 0, PPM - 1),
        )
        try:
            pool = StableSwap.from_state(base_identity, base.values)
        except InvalidPoolState as error:
            raise InvalidPoolState(f"base.{error.field}", error.problem) from None
        if pool.variant != NG:
            raise InvalidPoolState("base.variant", f'the base pool of a metapool is "{NG}", not "{pool.variant}"')
        return cls(*identity, own, LiquidPool(pool, fields.uint("lp_supply", PACKED_BITS)))

    def _sampled_inputs(self, i: int, j: int) -> list[int]:
        """Return increasing amounts of the i-th token for the curve."""
        own, base, k = self.own, self.base.pool, max(i, j) - _COINS
        balances = [
            *scale_to_18_decimals(own.reserves, own.contract_rates()),
            scale_to_18_decimals(base.reserves, base.contract_rates())[k],
        ]
        rate = own.contract_rates()[_OWN] if i == _OWN else base.contract_rates()[k]
        low = min(balances) * WAD / rate * _SAMPLE_RANGE[0]
        high = max(balances) * WAD / rate * _SAMPLE_RANGE[1]
        step = (high / low) ** (1 / (_SAMPLE_COUNT - 1)) if low else 1.0
        amounts = [low / _SAMPLE_RANGE[0] * _FIRST_SAMPLE, *(low * step**n for n in range(_SAMPLE_COUNT))]
        return sorted({int(amount) for amount in amounts if amount >= 1.0})

    def _direction(self, token_in: str, token_out: str) -> tuple[int, int]:
        i, j = token_indices(self, token_in, token_out)
        if not self._is_offered(i, j):
            raise PoolError(f"pool {self.key} does not trade {token_in} for {token_out}")
        return i, j

    @staticmethod
    def _is_offered(i: int, j: int) -> bool:
        return _OWN in (i, j)


_replace_pools = fast_replace(CurveMeta, "own", "base")
