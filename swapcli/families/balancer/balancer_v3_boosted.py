"""Balancer V3's boosted pools: stable pools of ERC-4626 shares, traded in the tokens that the shares represent.

The Vault wraps the input, swaps shares, and unwraps the output. In each conversion, it counts one unit less of the
input and pays one unit less than the share's contract would, whether that contract or the Vault's own buffer of both
tokens serves it. So the output depends on the share price (total assets over total shares at the quoted block) and not
on the buffer.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import parse_hex
from swapcli.families.balancer.balancer_stable_math import stable_curve
from swapcli.families.balancer.balancer_v3_stable import BalancerV3Stable
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_multi_token
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

_MIN_WRAP_AMOUNT: Final = 10**4
"""`getMinimumWrapAmount` of the Vault's published deployments."""
_WRAP_GAS: Final = 72_000
"""A wrap or unwrap using only the Vault's buffer took 106,200 gas, 34,000 of it for the transaction and the caller."""
_MAX_WRAPS: Final = 2


class SharePrice(NamedTuple):
    """The price of a share: `shares` are worth `assets`. Conversions in both directions round down."""

    assets: int
    shares: int


@dataclass(frozen=True, slots=True)
class BalancerV3Boosted(Pool):
    """A boosted pool. `share_pool` trades the shares, in the order of `tokens`. A token that the pool holds directly
    has no price.

    The Vault does not convert less than `min_wrap_amount` base units.
    """

    share_pool: BalancerV3Stable
    share_prices: tuple[SharePrice | None, ...]
    min_wrap_amount: int

    family: ClassVar[str] = "balancer_v3_boosted"
    swap_gas: ClassVar[int] = BalancerV3Stable.swap_gas + _MAX_WRAPS * _WRAP_GAS
    holds_reserves_in_vault: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True
    """Shares earn interest in every block."""

    @property
    def reserves(self) -> tuple[int, ...]:
        """The pool's balances. The balance of a token that the pool holds as shares is in shares."""
        return self.share_pool.reserves

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`: wrap the input, swap shares, and unwrap the output. Raises the same errors as
        `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        shares_in = self._wrap(self.share_prices[i], amount_in)
        shares_out, after = self.share_pool.swap(self.share_pool.tokens[i], self.share_pool.tokens[j], shares_in)
        amount_out = self._unwrap(self.share_prices[j], shares_out)
        pool_after: Self = _replace_pool(self, after)
        return amount_out, pool_after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        units = zip((i, j), self.share_pool.base_units_per_scaled(i, j), strict=True)
        unit_in, unit_out = (unit * _assets_per_share(self.share_prices[k]) for k, unit in units)
        return stable_curve(self.share_pool.scaled_balances(), (i, j), self.share_pool.amp, (unit_in, unit_out))

    def state(self) -> dict[str, object]:
        """Return the share pool's fields and the shares' fields."""
        prices = [price and [str(number) for number in price] for price in self.share_prices]
        state = self.share_pool.state() | {"pool_tokens": list(self.share_pool.tokens), "share_prices": prices}
        if self.share_pool.decimals != self.decimals:
            state["pool_decimals"] = list(self.share_pool.decimals)
        if self.min_wrap_amount != _MIN_WRAP_AMOUNT:
            state["min_wrap_amount"] = self.min_wrap_amount
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of a stable pool, `pool_tokens`, `share_prices`, and optionally `pool_decimals`."""
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        prices = tuple(
            None if entry is None else _read_price(StateFields({path: entry}), path)
            for path, entry in fields.items("share_prices", count, count)
        )
        pool_tokens = tuple(
            fields.parse(path, entry, parse_hex, 20) for path, entry in fields.items("pool_tokens", count, count)
        )
        decimals = identity.decimals
        if fields.has("pool_decimals"):
            decimals = fields.integers("pool_decimals", count, 0, 255)
        for k, (token, pool_token, price) in enumerate(zip(identity.tokens, pool_tokens, prices, strict=True)):
            if price is None and (token, identity.decimals[k]) != (pool_token, decimals[k]):
                raise InvalidPoolState(f"share_prices[{k}]", f"{pool_token} is not {token} and has no price")
        pool = BalancerV3Stable.from_state(identity._replace(tokens=pool_tokens, decimals=decimals), state)
        minimum = fields.optional_uint("min_wrap_amount")
        return cls(*identity, pool, prices, _MIN_WRAP_AMOUNT if minimum is None else minimum)

    def gas_units(self, after: Pool) -> int:
        """Return the gas of a swap, including one conversion for each token that the pool holds as shares."""
        del after
        wrapped = sum(price is not None for price in self.share_prices)
        return self.share_pool.gas_units(self.share_pool) + min(wrapped, _MAX_WRAPS) * _WRAP_GAS

    def _wrap(self, price: SharePrice | None, assets: int) -> int:
        if price is None:
            return assets
        shares = (assets - 1) * price.shares // price.assets - 1
        self._check_wrap(assets, shares)
        return shares

    def _unwrap(self, price: SharePrice | None, shares: int) -> int:
        if price is None:
            return shares
        assets = (shares - 1) * price.assets // price.shares - 1
        self._check_wrap(shares, assets)
        return assets

    def _check_wrap(self, amount_in: int, amount_out: int) -> None:
        if min(amount_in, amount_out) < self.min_wrap_amount:
            raise SwapReverts(
                f"pool {self.key}: the Vault does not convert amounts as small as {min(amount_in, amount_out)}"
            )


_replace_pool = fast_replace(BalancerV3Boosted, "share_pool")


def _assets_per_share(price: SharePrice | None) -> float:
    return price.assets / price.shares if price else 1.0


def _read_price(fields: StateFields, path: str) -> SharePrice:
    return SharePrice(*fields.integers(path, 2, 1))
