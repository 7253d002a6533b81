"""Read Mento's pairs in one round: amounts, fees and limits, and the rate that the pair itself gets from its oracle.

`getRebalancingState` returns the rate of a swap, inverted if the pair inverts it. It reverts while the oracle has no
rate: the market for the currency is closed, a circuit breaker has tripped, or the last report is too old. The pair is
then skipped. It is also skipped if its own output for a sale does not match the maths.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM_PER_BPS
from swapcli.families.oracle_priced.mento_fpmm import MentoFpmm
from swapcli.families.reading.block_time import time_view
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_words
from swapcli.families.reading.calls import ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import (
    View,
    optional_view,
    read_address_list,
    read_addresses,
    read_views,
    view,
    words,
)

_RATE: Final = "getRebalancingState()"
_LIMITS: Final = "getTradingLimits(address)"
_LIMIT_WORDS: Final = 7
"""Both limits and the token's decimals, then the times and the net flows of both."""
_OUTPUT: Final = "getAmountOut(uint256,address)"
_DECIMALS: Final = ("decimals0()", "decimals1()")


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pair in one round of calls."""
    sales = [10**decimals * 1_000 + 7 for decimals in ref.decimals]
    values = yield from read_views(
        optional_view("rate", ref.address, _RATE, decode=words(2)),
        view("reserves", ref.address, "getReserves()", decode=words(2)),
        view("lp_fee_bps", ref.address, "lpFee()"),
        view("protocol_fee_bps", ref.address, "protocolFee()"),
        *(view(name, ref.address, name) for name in _DECIMALS),
        *(_limits_view(ref.address, token) for token in ref.tokens),
        *(optional_view(f"output of {i}", ref.address, _OUTPUT, sales[i], token) for i, token in enumerate(ref.tokens)),
        time_view("from which the limits' windows run"),
    )
    if values["rate"] is None:
        raise invalid_response(_RATE, "the oracle has no valid rate now, or the pair is empty")
    if [values[name] for name in _DECIMALS] != [10**decimals for decimals in ref.decimals]:
        raise invalid_response(_DECIMALS[0], "the pair and the token have different decimals")
    lp_fee_bps = values["lp_fee_bps"]
    state = {
        "reserves": list(values["reserves"]),
        "rate": list(values["rate"]),
        "lp_fee_bps": lp_fee_bps,
        "limits": [values[token] for token in ref.tokens],
        "timestamp": values["timestamp"],
    }
    pool = build_pool(ref, (lp_fee_bps + values["protocol_fee_bps"]) * PPM_PER_BPS, state)
    assert isinstance(pool, MentoFpmm)
    for i, sold in enumerate(sales):
        if values[f"output of {i}"] != _output(pool, i, sold):
            raise invalid_response(_OUTPUT, "the output of the pair does not follow the known rule")
    return pool


def _output(pool: MentoFpmm, i: int, amount_in: int) -> int | None:
    try:
        return pool.amount_out(i, amount_in)
    except PoolError:
        return None


def _limits_view(pair: str, token: str) -> View:
    return view(token, pair, _LIMITS, token, decode=_decode_limits)


def _decode_limits(answer: ReturnData, function: str) -> dict[str, object]:
    """Return the limits of a token in the form of the state."""
    short, long, _, first, second, flow, more = read_words(answer, _LIMIT_WORDS, function)
    return {"limits": [short, long], "netflows": [to_signed(flow), to_signed(more)], "updated": [first, second]}


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the factory's list of pairs in one round of calls."""
    return (yield from read_address_list(factory.address, "deployedFPMMAddresses()"))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address)))
