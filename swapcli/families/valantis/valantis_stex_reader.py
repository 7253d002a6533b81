"""Pools of Valantis STEX, in three rounds: the pool, then its two modules and their parameters, then the amounts and
the rate of the withdrawal module.

Other kinds of Valantis pools are left out, as are pools that are paused or ask a verifier, and those whose fee or rate
does not follow the maths. In the catalogue an AMM stands as the factory of its one pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import (
    ANY_ADDRESS,
    encode_call,
    invalid_response,
    read_address,
    read_word,
    read_words,
)
from swapcli.families.reading.call_encoding import read_list as read_word_list
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.uniswap_v2_reader import read_tokens, token_calls
from swapcli.families.valantis.valantis_stex import PPM_PER_BP, ValantisStex

_POOL: Final = "pool()"
_RESERVES: Final = "getReserves()"
_AMM: Final = "alm()"
_FEE_MODULE: Final = "swapFeeModule()"
_MANAGER_FEE: Final = "poolManagerFeeBips()"
_VERIFIER: Final = "verifierModule()"
_PAUSED: Final = "paused()"
_WITHDRAWALS: Final = "withdrawalModule()"
_RATIO_PARAMETERS: Final = "feeParams()"
_STEPS: Final = "getToken0FeeInBips()"
_THRESHOLDS: Final = ("minThresholdToken1()", "maxThresholdToken1()")
_FEE: Final = "getSwapFeeInBips(address,address,uint256,address,bytes)"
_TO_WRAPPED: Final = "convertToToken1(uint256)"
_TO_STAKED: Final = "convertToToken0(uint256)"
_COUNTED: Final = ("amountToken1LendingPool()", "amountToken0PendingUnstaking()", "amountToken1PendingLPWithdrawal()")
_CHECKED_SALES: Final = (0, 10**20, 10**23, 10**25)
"""Sales up to ten million tokens, whose fees are compared."""
_CHECKED_AMOUNT: Final = 10**24 + 123_456_789_012_345_678
"""A million tokens, with digits down to the last so that every rounding shows."""


class _FeeParameters(NamedTuple):
    """The parameters of a fee module, as fields of the state."""

    fee_by: str
    thresholds: tuple[int, int]
    fees_bps: tuple[int, ...]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds."""
    names = (_AMM, _FEE_MODULE, _VERIFIER, _MANAGER_FEE, _RESERVES)
    *addresses, manager_fee, reserves = yield [ContractCall(ref.address, encode_call(name)) for name in names]
    amm, module, verifier = (read_address(answer, name) for answer, name in zip(addresses, names, strict=False))
    if verifier != ZERO_ADDRESS:
        raise invalid_response(_VERIFIER, "the pool asks who swaps")
    fees = [_fee_call(module, ref.tokens, amount) for amount in _CHECKED_SALES]
    paused, withdrawals, *rest = yield [
        ContractCall(amm, encode_call(_PAUSED)),
        ContractCall(amm, encode_call(_WITHDRAWALS)),
        *(
            ContractCall(module, encode_call(name), may_revert=True)
            for name in (_RATIO_PARAMETERS, _STEPS, *_THRESHOLDS)
        ),
        *fees,
        _fee_call(module, ref.tokens[::-1], _CHECKED_AMOUNT),
    ]
    if read_word(paused, _PAUSED):
        raise invalid_response(_PAUSED, "swaps are paused")
    module_parameters = _read_fee_module(rest[:4])
    fees_bps = [None if answer is None else read_words(answer, 2, _FEE)[1] for answer in rest[4:]]
    withdrawal_module = read_address(withdrawals, _WITHDRAWALS)
    rate, *conversions, lent, unstaking, owed = yield [
        ContractCall(withdrawal_module, encode_call(_TO_WRAPPED, WAD)),
        ContractCall(withdrawal_module, encode_call(_TO_WRAPPED, _CHECKED_AMOUNT)),
        ContractCall(withdrawal_module, encode_call(_TO_STAKED, _CHECKED_AMOUNT)),
        *(ContractCall(withdrawal_module, encode_call(name)) for name in _COUNTED),
    ]
    rate_wad = read_word(rate, _TO_WRAPPED)
    _check_rate(rate_wad, conversions)
    state = {
        **module_parameters._asdict(),
        "reserves": read_words(reserves, 2, _RESERVES),
        "rate": rate_wad,
        "lent": read_word(lent, _COUNTED[0]),
        "unstaking": read_word(unstaking, _COUNTED[1]),
        "owed": read_word(owed, _COUNTED[2]) * WAD // rate_wad,
        "manager_fee_bps": read_word(manager_fee, _MANAGER_FEE),
    }
    pool = build_pool(ref, module_parameters.fees_bps[0] * PPM_PER_BP, state)
    assert isinstance(pool, ValantisStex)
    if fees_bps != [*(_expected_fee(pool, amount) for amount in _CHECKED_SALES), 0]:
        raise invalid_response(_FEE, "the fees of the pool do not follow the known rules")
    return pool


def _fee_call(module: str, tokens: Sequence[str], amount: int) -> ContractCall:
    """Return the call for the fee of a sale of the first token, without any context."""
    context_offset, context_length = 5 * WORD, 0
    calldata = encode_call(_FEE, *tokens, amount, ANY_ADDRESS, context_offset, context_length)
    return ContractCall(module, calldata, may_revert=True)


def _expected_fee(pool: ValantisStex, amount: int) -> int | None:
    try:
        return pool.fee_on_net_bps(amount)
    except PoolError:
        return None


def _read_fee_module(answers: Sequence[ReturnData]) -> _FeeParameters:
    """Return the parameters of whichever module has answered."""
    ratio, steps, low, high = answers
    if steps is not None:
        thresholds = [read_word(answer, name) for answer, name in zip((low, high), _THRESHOLDS, strict=True)]
        return _FeeParameters("stepwise", (thresholds[0], thresholds[1]), read_word_list(steps, _STEPS))
    if ratio is None:
        raise invalid_response(_FEE_MODULE, "the fee module is not a known one")
    words = read_words(ratio, 4, _RATIO_PARAMETERS)
    return _FeeParameters("ratio", (words[0], words[1]), words[2:])


def _check_rate(rate_wad: int, conversions: Sequence[ReturnData]) -> None:
    """Raise `InvalidUpstreamResponse` unless the module converts at one rate, rounding down."""
    if not rate_wad:
        raise invalid_response(_TO_WRAPPED, "a rate of zero")
    expected = [_CHECKED_AMOUNT * rate_wad // WAD, _CHECKED_AMOUNT * WAD // rate_wad]
    found = [read_word(answer, name) for answer, name in zip(conversions, (_TO_WRAPPED, _TO_STAKED), strict=True)]
    if found != expected:
        raise invalid_response(_TO_WRAPPED, "the module does not convert at one rate")


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the pool of an AMM in one round."""
    (answer,) = yield [ContractCall(factory.address, encode_call(_POOL))]
    return (read_address(answer, _POOL),)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round."""
    answers = yield token_calls(address)
    return factory.new_ref(address, read_tokens(answers))
