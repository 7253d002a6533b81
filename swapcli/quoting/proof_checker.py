"""Find the proof checker, and recompute swaps and terms of families it does not know for its `--swapcli`.

The checker is one file that imports no module of this project otherwise: `scripts/check_proof.py` in a checkout, which
wheels contain beside the packages.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any, Final

from swapcli.core.errors import SwapcliError
from swapcli.core.model.pool import Pool, PoolIdentity, RoundingGain
from swapcli.families import family

CHECKER: Final = "check_proof.py"
_FLOATS: Final = 1.0 - 1e-12
REFUSED: Final = -1
"""The output that stands for a swap that reverts."""


def find_checker() -> Path | None:
    """Return the checker's path in the package or else in the checkout; None if neither has it."""
    package = Path(__file__).resolve().parents[1]
    places = (package / CHECKER, package.parent / "scripts" / CHECKER)
    return next((each for each in places if each.is_file()), None)


def swap(document: Any, pool: int, token_in: int, token_out: int, amount: int, state: Pool | None) -> tuple[int, Pool]:
    """Return the output of a swap in base units, and the pool after it. `state` is the pool after its last swap."""
    before = state or _read_pool(document, pool)
    sold, bought = (document["tokens"][each]["address"] for each in (token_in, token_out))
    try:
        return before.swap(sold, bought, amount)
    except SwapcliError:
        return REFUSED, before


def gain(document: Any, direction: Sequence[int], price_in: float, price_out: float, limit: float) -> float:
    """Return the largest gain of a trade in a direction, at prices per base unit, for inputs up to `limit`.

    It includes the gifts of the contract's rounding, and is lowered by the error of floats.
    """
    number, *pair = direction
    pool = _read_pool(document, number)
    sold, bought = (document["tokens"][each]["address"] for each in pair)
    curve = pool.curve(sold, bought)
    units_in, units_out, part = pool.rounding_gain(sold, bought) or RoundingGain()
    price_out *= 1.0 + part
    if price_out * (curve.start_rate * max(1.0, units_in) + units_out) <= price_in:
        return 0.0  # no whole unit brings its price
    end = min(limit, curve.capacity)
    amount_in, amount_out = end, curve.amount_out(end)
    if price_in > 0.0:
        amount_in, amount_out, _ = curve.trade_to_marginal_rate(price_in / price_out)
        if amount_in > end:
            amount_in, amount_out = end, curve.amount_out(end)
    value = max(0.0, price_out * amount_out - (price_in * amount_in if price_in else 0.0))
    value += units_in * max(price_in, price_out * curve.rate(amount_in)) + units_out * price_out
    return value * _FLOATS if value < inf else inf


def start_rate(document: Any, direction: Sequence[int]) -> float:
    """Return the spot rate of a direction: the output of the first unit, fee included."""
    number, *pair = direction
    return _read_pool(document, number).curve(*(document["tokens"][each]["address"] for each in pair)).start_rate


def _read_pool(document: Any, number: int) -> Pool:
    state = document["pools"][number]
    tokens = [document["tokens"][each] for each in state["tokens"]]
    identity = PoolIdentity(
        state["address"],
        state["protocol"],
        tuple(token["address"] for token in tokens),
        tuple(token["decimals"] for token in tokens),
        state["fee_ppm"],
    )
    return family(state["family"]).from_state(identity, state)
