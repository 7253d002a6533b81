"""The curve of a Clanker pool whose fee rises with the swap: a concave upper bound, for the solver.

The fee belongs to the tick that the hook's trial reaches. Here, the protocol's fifth is taken from the input in both
directions; if the hook takes it from the output, this makes the bound slightly higher.
"""

from __future__ import annotations

from math import log

from swapcli.core.annotations import Final
from swapcli.core.model.pool import RateCurve
from swapcli.core.model.units import PPM
from swapcli.families.surge_curve import SurgeCurve
from swapcli.families.tick_math import MAX_TICK, MIN_TICK
from swapcli.families.uniswap.clanker_volatility import ClankerVolatility
from swapcli.families.uniswap.concentrated import Concentrated, with_lp_fee

_LOG_TICK: Final = log(1.0001)
_PROTOCOL_PART: Final = 0.2  # of the LP fee


def volatile_curve(plain: Concentrated, volatility: ClankerVolatility, *, down: bool) -> RateCurve:
    """Return the floating-point curve for selling token0 (`down`) or token1."""
    tokens = (plain.tokens[0], plain.tokens[1]) if down else (plain.tokens[1], plain.tokens[0])
    inner = with_lp_fee(plain, 0).curve(*tokens)
    if not inner.start_rate:
        return inner
    start = volatility.fee_ppm_at(plain, plain.tick) / PPM
    buys = down != volatility.token_is_first

    def fee(amount_in: float) -> float:
        """Return the fraction of an input that fees take."""
        rate = inner.rate(amount_in * (1.0 - start))
        distance = log(rate) / _LOG_TICK if rate > 0.0 else -MAX_TICK
        tick = min(max(int(distance if down else -distance), MIN_TICK), MAX_TICK)
        lp_fee = volatility.fee_ppm_at(plain, tick) / PPM
        protocol_fee = _PROTOCOL_PART * lp_fee
        return 1.0 - (1.0 - lp_fee) * (1.0 / (1.0 + protocol_fee) if buys else 1.0 - protocol_fee)

    size = inner.trade_to_marginal_rate(0.5 * inner.start_rate)[0]
    return SurgeCurve(inner, fee, size, is_concave=False) if size else inner
