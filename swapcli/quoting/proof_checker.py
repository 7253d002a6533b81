"""Find and run the proof checker. For its option `--swapcli`, recompute the claims about pool families that the checker
does not know.

The checker is a single file, `scripts/check_proof.py` in a checkout, and wheels contain it next to the packages.
Without that option, it imports no module of this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BufferedReader, BytesIO
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from swapcli.core.errors import InputOutputError, SwapcliError
from swapcli.core.model.pool import Pool, PoolIdentity, RoundingGain
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.families import family

CHECKER: Final = "check_proof.py"
_FLOATS: Final = 1.0 - 1e-12
_DIGITS: Final = 60
"""The decimal precision at which the checker computes."""
REFUSED: Final = -1
"""The output that represents a reverting swap."""


def find_checker() -> Path | None:
    """Return the checker's path in the installed package, or else in the checkout; None if neither contains it."""
    package = Path(__file__).resolve().parents[1]
    places = (package / CHECKER, package.parent / "scripts" / CHECKER)
    return next((each for each in places if each.is_file()), None)


class CheckedBound(NamedTuple):
    """A bound that the checker has proven, in base units of the output token, rounded up.

    `kind` is "output", "acyclic" or "afterGas". `left_out` is the number of directions that a bound after gas skips as
    dust.
    """

    kind: str
    bound: int
    gap_bps: float
    left_out: int


class ProofCheck(NamedTuple):
    """The checker's result for a proof. `reasons` has a sentence for each reason for rejection, and is empty if the
    proof is accepted.

    `lines` are the checker's output. `on_faith` has (claim, family, count, part of the output) for each kind of claim
    that the checker accepts without proof because it does not know the family.
    """

    is_accepted: bool
    reasons: tuple[str, ...]
    lines: tuple[str, ...]
    bounds: tuple[CheckedBound, ...]
    on_faith: tuple[tuple[str, str, int, float], ...]


@checks_arguments
def check_proof(proof: str | bytes, *, recompute: bool = False) -> ProofCheck:
    """Check a proof, as JSON or gzip, with the program `scripts/check_proof.py`. An unreadable proof is rejected.

    With `recompute`, swapcli recomputes the claims that the checker would otherwise accept without proof. Checking a
    proof with 200 pools takes a few seconds. Raises `InputOutputError` if this installation lacks the program.
    """
    from decimal import Context, localcontext

    raw = proof.encode(errors="replace") if isinstance(proof, str) else proof
    with localcontext(Context(prec=_DIGITS)):
        _, found, lines = load_checker().judge([BufferedReader(BytesIO(raw))], recompute)
    bounds = tuple(CheckedBound(*each.values())._replace(bound=int(each["bound"])) for each in found["bounds"])
    on_faith = tuple(tuple(each) for each in found["onFaith"])
    return ProofCheck(found["accepted"], tuple(found["reasons"]), tuple(lines), bounds, on_faith)


@cache
def load_checker() -> ModuleType:
    """Load the checker as a module, without adding it to `sys.modules`. Raises `InputOutputError`."""
    from decimal import localcontext
    from importlib.util import module_from_spec, spec_from_file_location

    path = find_checker()
    spec = spec_from_file_location("swapcli_check_proof", path) if path else None
    if spec is None or spec.loader is None:
        raise InputOutputError("this installation does not include the checker (scripts/check_proof.py)")
    module = module_from_spec(spec)
    with localcontext():  # it sets the precision of the program's decimals
        spec.loader.exec_module(module)
    return module


def swap(document: Any, pool: int, token_in: int, token_out: int, amount: int, state: Pool | None) -> tuple[int, Pool]:
    """Return the output of a swap in base units, and the pool after it. `state` is the pool after its previous swap,
    None before the first."""
    before = state or _read_pool(document, pool)
    sold, bought = (document["tokens"][each]["address"] for each in (token_in, token_out))
    try:
        return before.swap(sold, bought, amount)
    except SwapcliError:
        return REFUSED, before


def gain(document: Any, direction: Sequence[int], price_in: float, price_out: float, limit: float) -> float:
    """Return the largest gain from a trade in `direction`, at prices per base unit, for inputs up to `limit`.

    The result includes gains from the contract's rounding, and is reduced by the floating-point error.
    """
    number, *pair = direction
    pool = _read_pool(document, number)
    sold, bought = (document["tokens"][each]["address"] for each in pair)
    curve = pool.curve(sold, bought)
    units_in, units_out, part = pool.rounding_gain(sold, bought) or RoundingGain()
    price_out *= 1.0 + part
    if price_out * (curve.start_rate * max(1.0, units_in) + units_out) <= price_in:
        return 0.0  # no whole unit is worth its price
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
    """Return the spot rate in a direction: the output per unit of a very small input, after the fee."""
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
