"""Read Valantis STEX pools in three rounds: the pool, then its two modules and their parameters, then the amounts and
the rate of the withdrawal module.

Other kinds of Valantis pools are skipped, as are pools that are paused or use a verifier, and pools whose fee or rate
does not match the maths. In the catalogue, an AMM is listed as the factory of its only pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM_PER_BPS, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.reading.build_pool import CHECKED_AMOUNT, build_pool
from swapcli.families.reading.call_encoding import (
    ANY_ADDRESS,
    invalid_response,
    read_address,
    read_words,
)
from swapcli.families.reading.call_encoding import read_list as read_word_list
from swapcli.families.reading.calls import ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import View, optional_view, read_addresses, read_views, view, words
from swapcli.families.valantis.valantis_stex import ValantisStex

_POOL: Final = "pool()"
_FEE_MODULE: Final = "swapFeeModule()"
_VERIFIER: Final = "verifierModule()"
_PAUSED: Final = "paused()"
_THRESHOLDS: Final = ("minThresholdToken1()", "maxThresholdToken1()")
_FEE: Final = "getSwapFeeInBips(address,address,uint256,address,bytes)"
_TO_WRAPPED: Final = "convertToToken1(uint256)"
_CHECKED_SALES: Final = (0, 10**20, 10**23, 10**25)
"""The sales, up to ten million tokens, whose fees are compared."""


class _FeeParameters(NamedTuple):
    """The parameters of a fee module, as fields of the state."""

    fee_by: str
    thresholds: tuple[int, int]
    fees_bps: tuple[int, ...]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds of calls."""
    pool = yield from read_views(
        view("amm", ref.address, "alm()", decode=read_address),
        view("fee_module", ref.address, _FEE_MODULE, decode=read_address),
        view("verifier", ref.address, _VERIFIER, decode=read_address),
        view("manager_fee_bps", ref.address, "poolManagerFeeBips()"),
        view("reserves", ref.address, "getReserves()", decode=words(2)),
    )
    if pool["verifier"] != ZERO_ADDRESS:
        raise invalid_response(_VERIFIER, "the pool restricts who can swap")
    amm, module = pool["amm"], pool["fee_module"]
    values = yield from read_views(
        view("is_paused", amm, _PAUSED),
        view("withdrawals", amm, "withdrawalModule()", decode=read_address),
        optional_view("ratio", module, "feeParams()", decode=words(4)),
        optional_view("steps", module, "getToken0FeeInBips()", decode=read_word_list),
        *(optional_view(name, module, name) for name in _THRESHOLDS),
        *(_fee_view(module, ref.tokens, amount) for amount in _CHECKED_SALES),
        _fee_view(module, ref.tokens[::-1], CHECKED_AMOUNT),
    )
    if values["is_paused"]:
        raise invalid_response(_PAUSED, "swaps are paused")
    parameters = _fee_parameters(values)
    withdrawals = values["withdrawals"]
    amounts = yield from read_views(
        view("rate", withdrawals, _TO_WRAPPED, WAD),
        view("wrapped", withdrawals, _TO_WRAPPED, CHECKED_AMOUNT),
        view("staked", withdrawals, "convertToToken0(uint256)", CHECKED_AMOUNT),
        view("lent", withdrawals, "amountToken1LendingPool()"),
        view("unstaking", withdrawals, "amountToken0PendingUnstaking()"),
        view("owed", withdrawals, "amountToken1PendingLPWithdrawal()"),
    )
    rate = amounts["rate"]
    if not rate:
        raise invalid_response(_TO_WRAPPED, "a rate of zero")
    if (amounts["wrapped"], amounts["staked"]) != (CHECKED_AMOUNT * rate // WAD, CHECKED_AMOUNT * WAD // rate):
        raise invalid_response(_TO_WRAPPED, "the module does not convert at one rate")
    state = pool | amounts | parameters._asdict() | {"owed": amounts["owed"] * WAD // rate}
    built = build_pool(ref, parameters.fees_bps[0] * PPM_PER_BPS, state)
    assert isinstance(built, ValantisStex)
    expected = [*(_expected_fee(built, amount) for amount in _CHECKED_SALES), 0]
    if [values[f"fee of {amount}"] for amount in (*_CHECKED_SALES, CHECKED_AMOUNT)] != expected:
        raise invalid_response(_FEE, "the fees of the pool do not follow the known rules")
    return built


def _fee_view(module: str, tokens: Sequence[str], amount: int) -> View:
    """Return the view of the fee for selling the first token, without any context."""
    context_offset, context_length = 5 * WORD, 0
    arguments: tuple[int | str, ...] = (*tokens, amount, ANY_ADDRESS, context_offset, context_length)
    return optional_view(f"fee of {amount}", module, _FEE, *arguments, decode=_decode_fee)


def _decode_fee(answer: ReturnData, function: str) -> int:
    return read_words(answer, 2, function)[1]


def _expected_fee(pool: ValantisStex, amount: int) -> int | None:
    try:
        return pool.fee_on_net_bps(amount)
    except PoolError:
        return None


def _fee_parameters(values: Mapping[str, Any]) -> _FeeParameters:
    """Return the parameters of whichever module has responded."""
    if values["steps"] is not None:
        for name in _THRESHOLDS:
            if values[name] is None:
                raise invalid_response(name, "the contract reverts")
        low, high = (values[name] for name in _THRESHOLDS)
        return _FeeParameters("stepwise", (low, high), values["steps"])
    if values["ratio"] is None:
        raise invalid_response(_FEE_MODULE, "the fee module is unknown")
    low, high, *fees_bps = values["ratio"]
    return _FeeParameters("ratio", (low, high), tuple(fees_bps))


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the pool of an AMM in one round of calls."""
    return (yield from read_addresses(factory.address, [_POOL]))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address)))
