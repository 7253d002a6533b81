"""Read Curve's cryptoswap pools, twocrypto-ng and tricrypto-ng.

The pool and its maths contract return their versions, which determine the maths and its limits; pools of unknown
versions are skipped. The price oracle, A, gamma and the released part of donated liquidity are values at the block's
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.families.curve.cryptoswap import FEE_PER_PPM, VERSIONS, CryptoSwap
from swapcli.families.curve.fxswap import FX_MATHS_VERSION, FX_VERSION
from swapcli.families.curve.rows import CryptoSwapConstants
from swapcli.families.reading.block_time import read_block_time, undecoded_time_view
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_text
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_views, view

_COIN: Final = "coins(uint256)"
_VERSION: Final = "version()"
_MATHS: Final = "MATH()"
_NUMBERS: Final = {
    "invariant": "D()",
    "amp": "A()",
    "gamma": "gamma()",
    "mid_fee": "mid_fee()",
    "out_fee": "out_fee()",
    "fee_gamma": "fee_gamma()",
    "allowed_extra_profit": "allowed_extra_profit()",
    "adjustment_step": "adjustment_step()",
    "xcp_profit": "xcp_profit()",
    "virtual_price": "virtual_price()",
    "lp_supply": "totalSupply()",
}
"""Fields of the state, and the functions that return them."""
_PRICES: Final = ("price_scale", "price_oracle", "last_prices")
"""Fields of the state, named after the functions, which take the coin's number in pools with more than two coins."""
_LAST_SWAP: Final = "last_timestamp()"
_DONATED: Final = "donation_shares()"
_RELEASED_SINCE: Final = "last_donation_release_ts()"
_RELEASE_SECONDS: Final = "donation_duration()"
_PROTECTED_UNTIL: Final = "donation_protection_expiry_ts()"
_PROTECTION_SECONDS: Final = "donation_protection_period()"
_FX_NUMBERS: Final = (
    *(_LAST_SWAP, _DONATED, _RELEASED_SINCE, _RELEASE_SECONDS, _PROTECTED_UNTIL, _PROTECTION_SECONDS),
)
"""Additional functions of pools with the StableSwap maths."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round; in three if its version is unknown."""
    version = ref.constants_as(CryptoSwapConstants).version or (yield from _read_version(ref.address))
    count = len(ref.tokens)
    arguments = [(k,) for k in range(count - 1)] if count > 2 else [()]
    suffix = "(uint256)" if count > 2 else "()"
    is_fx = version == FX_VERSION
    values = yield from read_views(
        view("ramp_end", ref.address, "future_A_gamma_time()"),
        undecoded_time_view(),
        *(view(field, ref.address, name) for field, name in _NUMBERS.items()),
        *(view(f"reserves {k}", ref.address, "balances(uint256)", k) for k in range(count)),
        *(
            view(f"{name} {k}", ref.address, name + suffix, *argument)
            for name in _PRICES
            for k, argument in enumerate(arguments)
        ),
        *(view(name, ref.address, name) for name in _FX_NUMBERS if is_fx),
    )
    state: dict[str, object] = {"version": version, **{name: values[name] for name in _NUMBERS}}
    state["reserves"] = [values[f"reserves {k}"] for k in range(count)]
    for name in _PRICES:
        state[name] = [values[f"{name} {k}"] for k in range(count - 1)]
    if is_fx:
        state |= _fx_fields(values)
    else:
        left = _ramp_seconds_left(values["ramp_end"], values["time"])
        if left >= 0:
            state["ramp_seconds_left"] = left
    return build_pool(ref, values["mid_fee"] // FEE_PER_PPM, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the coins and version of a factory's pool in two rounds of calls."""
    first, second, third, version, maths = yield [
        *(ContractCall(address, encode_call(_COIN, k), may_revert=k == 2) for k in range(3)),
        *(ContractCall(address, encode_call(name)) for name in (_VERSION, _MATHS)),
    ]
    coins = (first, second, third) if third else (first, second)
    ref = factory.new_ref(address, tuple(read_address(coin, _COIN) for coin in coins))
    return ref._replace(constants=CryptoSwapConstants((yield from _check_version(version, maths, len(coins)))))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the pool's version, which never changes."""
    return ref._replace(constants=CryptoSwapConstants(pool.parameters.version)) if isinstance(pool, CryptoSwap) else ref


def _read_version(address: str) -> BatchRead[str]:
    version, maths = yield [ContractCall(address, encode_call(name)) for name in (_VERSION, _MATHS)]
    return (yield from _check_version(version, maths))


def _check_version(version: ReturnData, maths: ReturnData, coin_count: int | None = None) -> BatchRead[str]:
    """Return the version of the pool, which also determines its maths contract's. Raises `InvalidUpstreamResponse`."""
    known, name = read_text(version, _VERSION), read_address(maths, _MATHS)
    (answer,) = yield [ContractCall(name, encode_call(_VERSION))]
    of_maths = read_text(answer, _VERSION)
    if not any(known == each and coin_count in (None, count) for count, each in VERSIONS):
        raise invalid_response(_VERSION, f"version {known} is not supported")
    if of_maths != (FX_MATHS_VERSION if known == FX_VERSION else known):
        raise invalid_response(_VERSION, f"the pool has version {known}, its maths contract has {of_maths}")
    return known


def _fx_fields(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the additional fields of pools with the StableSwap maths: the burnable shares, whether the scale may move,
    and the ramp.

    A ramp counts until the first swap after its end, which stores the invariant.
    """
    time = read_block_time(values["time"], "on which donated liquidity depends")
    last, end = values[_LAST_SWAP], values["ramp_end"]
    fields: dict[str, object] = {"scale_is_fixed": True}
    if last < time:
        fields = {"burnable_shares": _burnable_shares(values, time)}
    if end > last:
        fields["ramp_seconds_left"] = max(end - time, 0)
    return fields


def _burnable_shares(values: Mapping[str, Any], time: int) -> int:
    """Return the shares that the contract lets a move of the scale burn: the released part, less while deposits are
    recent."""
    donated, period, duration = values[_DONATED], values[_PROTECTION_SECONDS], values[_RELEASE_SECONDS]
    if not donated:
        return 0
    if not (duration and period) or time < values[_RELEASED_SINCE]:
        raise invalid_response(_RELEASED_SINCE, "the release of donated liquidity has no duration, or begins later")
    released = min(donated, donated * (time - values[_RELEASED_SINCE]) // duration)
    protection = min(max(values[_PROTECTED_UNTIL] - time, 0) * WAD // period, WAD)
    return int(released * (WAD - protection) // WAD)


def _ramp_seconds_left(ramp_end: int, time: ReturnData) -> int:
    """Return the time until A and gamma stop changing; negative if they have stopped."""
    if not ramp_end:
        return -1
    return ramp_end - read_block_time(time, "on which A and gamma depend")
