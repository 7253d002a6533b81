"""The terms of a swap that travel beside the route: generation, slippage, integrator. All arithmetic is exact.

A slippage is kept in parts per million of the output: four decimals of a percent, to the last digit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from swapcli.errors import IntegratorError, InvalidOption

PPM = 1_000_000
PPM_PER_PERCENT = PPM // 100
BPS = 10_000
MAX_FEE_BPS = 500
MAX_SURPLUS_BPS = 5_000
DEFAULT_SLIPPAGE_PPM = PPM_PER_PERCENT // 2
DEFAULT_ROUTE_TTL_S = 60

BOTH_FEE_AND_SURPLUS = "Integrator fee and integrator surplus percentage cannot be provided together"

_PERCENT = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,4})0*)?|\.([0-9]{1,4})0*")


class Generation(StrEnum):
    """A version of the interface."""

    V1 = "v1"
    V2 = "v2"


SLIPPAGE_RANGE_PPM: dict[Generation, tuple[int, int]] = {
    Generation.V1: (PPM_PER_PERCENT // 10, 100 * PPM_PER_PERCENT),
    Generation.V2: (0, 49 * PPM_PER_PERCENT),
}
"""The least and the most slippage that each generation accepts."""


@dataclass(frozen=True, slots=True)
class Integrator:
    """Who earns on a swap: a fee on the output, or a share of the surplus, never both. Both zero means nothing."""

    address: str
    fee_bps: int = 0
    surplus_bps: int = 0
    name: str | None = None

    def __post_init__(self) -> None:
        check_shares(self.fee_bps, self.surplus_bps)


def check_shares(fee_bps: int, surplus_bps: int) -> None:
    """Refuses both at once with `IntegratorError`, and one that is out of range with `InvalidOption`."""
    if fee_bps and surplus_bps:
        raise IntegratorError(BOTH_FEE_AND_SURPLUS, hint="give one of them; 0 counts as not given")
    _check_bps("integrator fee", fee_bps, MAX_FEE_BPS)
    _check_bps("integrator surplus", surplus_bps, MAX_SURPLUS_BPS)


def _check_bps(what: str, bps: int, most: int) -> None:
    if not 0 <= bps <= most:
        raise InvalidOption(f"{what} must be between 0 and {most} basis points, not {bps}")


def parse_slippage_ppm(text: str) -> int:
    """A percentage with at most four decimals ("0.5") in parts per million of the output (5,000), exactly.

    Raises `InvalidOption` for anything else; the range is for `check_slippage`.
    """
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise InvalidOption(
            f'slippage "{text}" is not a percentage with at most four decimals',
            hint="write half a percent as 0.5",
        )
    whole, decimals = match[1] or "0", match[2] or match[3] or ""
    return int(whole) * PPM_PER_PERCENT + int(decimals.ljust(4, "0"))


def check_slippage(slippage_ppm: int, generation: Generation) -> int:
    """`slippage_ppm` if the generation accepts it. Raises `InvalidOption` with the range."""
    low, high = SLIPPAGE_RANGE_PPM[generation]
    if not low <= slippage_ppm <= high:
        raise InvalidOption(
            f"slippage must be between {percent(low)} and {percent(high)} percent, not {percent(slippage_ppm)}",
            details={"least": percent(low), "most": percent(high)},
        )
    return slippage_ppm


def percent(ppm: int) -> str:
    """Parts per million as a plain percentage: 5,000 -> "0.5"."""
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".")


def min_received(amount_out: int, slippage_ppm: int) -> int:
    """`out - floor(out * slippage)`: the least that a swap may pay out. `amount_out` is after an integrator's fee."""
    return amount_out - amount_out * slippage_ppm // PPM


def after_fee(amount_out: int, fee_bps: int) -> int:
    """`out - floor(out * bps / 10_000)`: what an integrator's fee leaves."""
    return amount_out - amount_out * fee_bps // BPS
