"""A plausible state for a pool of each family, at a given price and depth.

Prices are ratios of base units: `price` is the amount of token 1 that one of token 0 buys. `unit_values`
holds the value in USD of one base unit of each token. price = unit_values[0] / unit_values[1], up to a small offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import prod

from swapcli.families.curve.cryptoswap_math import MATHS
from tests.generate.modelling.exact import SeededRandom

WAD = 10**18
_BISECTION_STEPS = 220
_MAX_IMBALANCE = Decimal("0.3")
_CRYPTOSWAP_VERSIONS = {2: "v2.0.0", 3: "v2.0.0"}


def constant_product_state(price: Decimal, unit_values: Sequence[Decimal], depth_usd: int) -> dict[str, object]:
    """Half of the depth on each side, shifted until reserves[1] / reserves[0] is the price."""
    fair = unit_values[0] / unit_values[1]
    shift = (price / fair).sqrt()
    half = Decimal(depth_usd) / 2
    return {"reserves": _to_strings([half / unit_values[0] / shift, half / unit_values[1] * shift])}


def solidly_stable_state(
    price: Decimal, unit_values: Sequence[Decimal], depth_usd: int, decimals: Sequence[int]
) -> dict[str, object]:
    """x^3 y + x y^3 is flat around x = y. The balance r = y / x puts the price (3 r + r^3) / (1 + 3 r^2) where it must
    be, with both reserves scaled to 18 decimals."""
    whole_price = price.scaleb(decimals[0] - decimals[1])
    ratio = _solidly_reserve_ratio(whole_price)
    unit0, unit1 = (unit_values[0].scaleb(decimals[0]), unit_values[1].scaleb(decimals[1]))
    x = Decimal(depth_usd) / (unit0 + ratio * unit1)
    return {"reserves": _to_strings([x.scaleb(decimals[0]), (x * ratio).scaleb(decimals[1])])}


def stableswap_state(
    unit_values: Sequence[Decimal],
    depth_usd: int,
    decimals: Sequence[int],
    amp: int,
    fee_ppm: int,
    random: SeededRandom,
) -> dict[str, object]:
    """Balances that are somewhat uneven, as far as every rate stays within 0.9 fees of the fair one."""
    units = [w.scaleb(d) for w, d in zip(unit_values, decimals, strict=True)]
    wobble = [_MAX_IMBALANCE * random.symmetric_uniform() for _ in unit_values]
    bound = Decimal("0.9") * fee_ppm / 10**6
    while True:
        balances = [1 + part for part in wobble]
        if _max_rate_offset(balances, units, amp) < bound:
            break
        if max(map(abs, wobble)) < Decimal("1e-6"):
            raise ValueError("even balances are further from the fair rates than the fee allows: model another fee")
        wobble = [part / 2 for part in wobble]
    total = sum((balance * unit for balance, unit in zip(balances, units, strict=True)), Decimal(0))
    reserves = [(balance * depth_usd / total).scaleb(d) for balance, d in zip(balances, decimals, strict=True)]
    return {"reserves": _to_strings(reserves), "amp": amp, "rates": [str(WAD)] * len(unit_values)}


def cryptoswap_state(
    unit_values: Sequence[Decimal], depth_usd: int, decimals: Sequence[int], fee_ppm: int
) -> dict[str, object]:
    """A balanced pool whose price scale and oracle are the fair prices, with usual parameters and no profit yet.

    A and gamma are those that Curve's interface proposes for volatile coins, and the highest fee is twice the lowest.
    """
    count, version = len(unit_values), _CRYPTOSWAP_VERSIONS[len(unit_values)]
    units = [value.scaleb(places) for value, places in zip(unit_values, decimals, strict=True)]
    wholes = [Decimal(depth_usd) / count / unit for unit in units]
    prices = [int((unit / units[0]).scaleb(18)) for unit in units[1:]]
    reserves = [int(whole.scaleb(places)) for whole, places in zip(wholes, decimals, strict=True)]
    scaled = [
        reserve * 10 ** (18 - places) * price // WAD
        for reserve, places, price in zip(reserves, decimals, (WAD, *prices), strict=True)
    ]
    amp, gamma = (400_000, 145 * 10**12) if count == 2 else (1_707_629, 11_809_167_828_997)
    maths = MATHS[count, version]
    invariant = maths.find_invariant(amp, gamma, scaled, 0)
    supply = maths.mean([invariant // count, *(invariant * WAD // (count * price) for price in prices)])
    return {
        "version": version,
        "reserves": [str(reserve) for reserve in reserves],
        "invariant": str(invariant),
        "amp": str(amp),
        "gamma": str(gamma),
        **{name: [str(price) for price in prices] for name in ("price_scale", "price_oracle", "last_prices")},
        "mid_fee": str(fee_ppm * 10**4),
        "out_fee": str(2 * fee_ppm * 10**4),
        "fee_gamma": str(230 * 10**12),
        "allowed_extra_profit": str(2 * 10**12),
        "adjustment_step": str(146 * 10**12),
        "xcp_profit": str(WAD),
        "virtual_price": str(WAD),
        "lp_supply": str(supply),
    }


def balancer_v3_weighted_state(
    unit_values: Sequence[Decimal], depth_usd: int, offset: Decimal, weights: Sequence[int]
) -> dict[str, object]:
    """Balances in proportion to the weights, the first shifted by `offset`; weights are in percent."""
    reserves = [Decimal(depth_usd) * weight / 100 / value for weight, value in zip(weights, unit_values, strict=True)]
    reserves[0] *= 1 + offset
    return {
        "reserves": _to_strings(reserves),
        "rates": [str(WAD)] * len(reserves),
        "weights": [str(weight * WAD // 100) for weight in weights],
    }


def _solidly_reserve_ratio(price: Decimal) -> Decimal:
    low, high = Decimal(0), Decimal(1000)
    for _ in range(_BISECTION_STEPS):
        middle = (low + high) / 2
        square = middle * middle
        too_low = middle * (3 + square) / (1 + 3 * square) < price
        low, high = (middle, high) if too_low else (low, middle)
    return low


def _max_rate_offset(balances: Sequence[Decimal], units: Sequence[Decimal], amp: int) -> Decimal:
    """Return the largest relative distance between a rate of the pool and the fair one."""
    values = _marginal_values(balances, amp)
    relative = [value / unit for value, unit in zip(values, units, strict=True)]
    return max(relative) / min(relative) - 1


def _marginal_values(balances: Sequence[Decimal], amp: int) -> list[Decimal]:
    """Return, up to a factor, the derivatives of the invariant A n S + D = A n D + D^(n+1) / (n^n prod x)."""
    count = len(balances)
    strength = Decimal(amp * count)
    invariant = _invariant(balances, strength)
    product_term = _product_term(invariant, balances)
    return [strength + product_term / balance for balance in balances]


def _invariant(balances: Sequence[Decimal], strength: Decimal) -> Decimal:
    """Return D of the StableSwap white paper by Newton's method; `strength` is A n."""
    count, total = len(balances), sum(balances, Decimal(0))
    invariant = total
    for _ in range(64):
        product_term = _product_term(invariant, balances)
        above = (strength * total + count * product_term) * invariant
        invariant = above / ((strength - 1) * invariant + (count + 1) * product_term)
    return invariant


def _product_term(invariant: Decimal, balances: Sequence[Decimal]) -> Decimal:
    """Return D^(n+1) / (n^n prod x)."""
    return invariant * prod(invariant / (len(balances) * balance) for balance in balances)


def _to_strings(amounts: Sequence[Decimal]) -> list[str]:
    return [str(int(amount)) for amount in amounts]
