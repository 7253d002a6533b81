"""Read Lunarbase's pools in two rounds: the state, then quotes from the pool, which reveal its rule.

Behind its proxy, a pool may have either slippage rule, or a later one. So the reader gets quotes for some sales of
either token, sized by its reserves. All of them must match one known rule, at the fee of callers with or without a
privilege. The state then has the fee of callers without. A pool that quotes nothing has a stale price, since prices are
valid for only a few blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from swapcli.core.errors import PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.oracle_priced.lunarbase import LINEAR, QUADRATIC, Lunarbase, lowest_fee_ppm
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import optional_view, read_addresses, read_views, view, words

_TOKENS: Final = ("X()", "Y()")
_STATE: Final = "state()"
_STATE_WORDS: Final = 4  # the square root of the price, both fees, and the block of the last update
_PAUSED: Final = "paused()"
_QUOTES: Final = ("quoteXToY(uint256)", "quoteYToX(uint256)")
_PARTS: Final = (10_000, 100, 7)
"""The sales to compare: these parts of a reserve."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in two rounds of calls."""
    values = yield from read_views(
        view("published", ref.address, _STATE, decode=words(_STATE_WORDS)),
        view("reserve_x", ref.address, "getXReserve()"),
        view("reserve_y", ref.address, "getYReserve()"),
        view("concentration", ref.address, "concentrationK()"),
        view("paused", ref.address, _PAUSED),
        optional_view("multiplier", ref.address, "blacklistFeeMultiplier()"),
    )
    if values["paused"]:
        raise invalid_response(_PAUSED, "swaps are paused")
    anchor, fee_ask, fee_bid, _ = values["published"]
    reserves = values["reserve_x"], values["reserve_y"]
    multiplier = values["multiplier"] or 1
    state: dict[str, object] = {
        "reserves": list(reserves),
        "anchor": anchor,
        "fee_ask": fee_ask,
        "fee_bid": fee_bid,
        "concentration": values["concentration"],
    }
    sales = {
        f"{name} {size}": (name, i, reserves[i] // size)
        for i, name in enumerate(_QUOTES)
        for size in _PARTS
        if reserves[i] // size
    }
    quotes = yield from read_views(
        *(optional_view(key, ref.address, name, amount) for key, (name, _, amount) in sales.items())
    )
    if not any(quotes.values()):
        raise invalid_response(_QUOTES[0], "the pool quotes nothing: its price is stale, or it has no reserves")
    expected = {key: (ref.tokens[i], ref.tokens[1 - i], amount) for key, (_, i, amount) in sales.items()}
    for slippage in (LINEAR, QUADRATIC):
        for asked in dict.fromkeys((multiplier, 1)):
            if _quotes_of(_build(ref, state, slippage, asked), expected) == _without_reverts(quotes):
                return _build(ref, state, slippage, multiplier)
    raise invalid_response(_QUOTES[0], "the pool's quotes follow no known rule")


def _build(ref: PoolRef, state: Mapping[str, object], slippage: str, multiplier: int) -> Lunarbase:
    fees = {"slippage": slippage, "fee_multiplier": multiplier}
    fee_ppm = lowest_fee_ppm(int(str(state["fee_ask"])), int(str(state["fee_bid"])), multiplier)
    pool = build_pool(ref, fee_ppm, {**state, **fees})
    assert isinstance(pool, Lunarbase)
    return pool


def _quotes_of(pool: Lunarbase, sales: Mapping[str, tuple[str, str, int]]) -> dict[str, int]:
    """Return the pool's output for each sale, 0 for one that it rejects."""
    return {key: _paid(pool, *sale) for key, sale in sales.items()}


def _paid(pool: Lunarbase, token_in: str, token_out: str, amount_in: int) -> int:
    try:
        return pool.swap(token_in, token_out, amount_in)[0]
    except PoolError:
        return 0


def _without_reverts(quotes: Mapping[str, Any]) -> dict[str, int]:
    return {key: paid or 0 for key, paid in quotes.items()}


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls. The first may be the native token, which counts as wrapped."""
    tokens = yield from read_addresses(address, _TOKENS)
    if ZERO_ADDRESS in tokens:
        if not factory.wrapped_native:
            raise invalid_response(_TOKENS[0], "the network has no wrapped native token")
        tokens = tuple(factory.wrapped_native if token == ZERO_ADDRESS else token for token in tokens)
    return factory.new_ref(address, tokens)
