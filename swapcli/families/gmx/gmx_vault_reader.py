"""Read vaults of GMX V1 and its forks, each in one round: amounts, debts, prices and fees from the vault's own views.

The vault gets the prices for each swap from its oracle: `getMinPrice` and `getMaxPrice` return the prices at the block.
They revert while the oracle's prices are too old, and the vault is then skipped. A fork with a different fee rule is
also skipped: the vault's `getFeeBasisPoints`, for a debt that rises and for one that falls, must match the maths. The
oracle can tell whether a call comes from a swap; GMX's oracle returns the same price to views, but a fork's oracle
might not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM_PER_BPS
from swapcli.families.gmx.gmx_vault import MAX_TOKENS, USDG_UNIT, fee_of_token
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef

_ENABLED: Final = "isSwapEnabled()"
_DYNAMIC: Final = "hasDynamicFees()"
_FEES: Final = ("swapFeeBasisPoints()", "taxBasisPoints()", "stableSwapFeeBasisPoints()", "stableTaxBasisPoints()")
_BY_TOKEN: Final = {
    "reserves": "poolAmounts(address)",
    "reserved": "reservedAmounts(address)",
    "buffers": "bufferAmounts(address)",
    "usdg": "usdgAmounts(address)",
    "max_usdg": "maxUsdgAmounts(address)",
    "targets": "getTargetUsdgAmount(address)",
    "min_prices": "getMinPrice(address)",
    "max_prices": "getMaxPrice(address)",
    "is_stable": "stableTokens(address)",
    "decimals": "tokenDecimals(address)",
    "is_listed": "whitelistedTokens(address)",
}
_FEE: Final = "getFeeBasisPoints(address,uint256,uint256,uint256,bool)"
_CHECKED: Final = ((10_000 * USDG_UNIT, 30, 50, 1), (10_000 * USDG_UNIT + 1, 300, 500, 0))
"""The change of a debt, the base fee, the tax, and whether the debt rises: 10,000 USD, with fees that reveal single
steps."""
_TOKEN_COUNT: Final = "allWhitelistedTokensLength()"
_TOKEN: Final = "allWhitelistedTokens(uint256)"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a vault in one round of calls."""
    whole = (_ENABLED, _DYNAMIC, *_FEES)
    answers = yield [
        *(ContractCall(ref.address, encode_call(name)) for name in whole),
        *(ContractCall(ref.address, encode_call(name, token)) for token in ref.tokens for name in _BY_TOKEN.values()),
        *(ContractCall(ref.address, encode_call(_FEE, token, *case)) for token in ref.tokens for case in _CHECKED),
    ]
    is_enabled, is_dynamic, fee_bps, *taxes = _words(answers, whole)
    if not is_enabled:
        raise invalid_response(_ENABLED, "the vault has switched swaps off")
    names, count = tuple(_BY_TOKEN.values()), len(ref.tokens)
    first, fees = len(whole), len(whole) + len(names) * count
    rows = [_words(answers[first + k * len(names) : fees], names) for k in range(count)]
    state = dict(zip(_BY_TOKEN, map(list, zip(*rows, strict=True)), strict=True))
    for token, is_listed in zip(ref.tokens, state.pop("is_listed"), strict=True):
        if not is_listed:
            raise invalid_response(ref.address, f"the vault no longer trades {token}")
    if tuple(state.pop("decimals")) != ref.decimals:
        raise invalid_response(ref.address, "the vault and the token have different decimals")
    if not is_dynamic:
        state["targets"] = [0] * count
    _check_fees(answers[fees:], state)
    state["min_reserves"] = list(map(max, state.pop("reserved"), state.pop("buffers")))
    names_of_taxes = ("tax_bps", "stable_fee_bps", "stable_tax_bps")
    return build_pool(ref, fee_bps * PPM_PER_BPS, {**state, **dict(zip(names_of_taxes, taxes, strict=True))})


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a vault in three rounds: their number, their addresses, and which of them it still trades."""
    (answer,) = yield [ContractCall(address, encode_call(_TOKEN_COUNT))]
    count = read_word(answer, _TOKEN_COUNT)
    if count > 4 * MAX_TOKENS:
        raise invalid_response(_TOKEN_COUNT, f"a vault of {count} tokens")
    answers = yield [ContractCall(address, encode_call(_TOKEN, number)) for number in range(count)]
    # A token that was delisted and listed again appears twice.
    tokens = tuple(dict.fromkeys(read_address(answer, _TOKEN) for answer in answers))
    name = _BY_TOKEN["is_listed"]
    listed = yield [ContractCall(address, encode_call(name, token)) for token in tokens]
    return factory.new_ref(
        address, tuple(token for token, answer in zip(tokens, listed, strict=True) if read_word(answer, name))
    )


def _words(answers: Sequence[ReturnData], names: Sequence[str]) -> list[int]:
    """Return the words of the first results, one for each name."""
    return [read_word(answer, name) for answer, name in zip(answers, names, strict=False)]


def _check_fees(answers: Sequence[ReturnData], state: Mapping[str, Sequence[int]]) -> None:
    """Raise `InvalidUpstreamResponse` unless the vault's fees match the maths."""
    expected = []
    for debt, target in zip(state["usdg"], state["targets"], strict=True):
        for change, base_bps, tax_bps, rises in _CHECKED:
            debt_after = debt + change if rises else max(0, debt - change)
            expected.append(fee_of_token(debt, debt_after, target, base_bps, tax_bps))
    if [read_word(answer, _FEE) for answer in answers] != expected:
        raise invalid_response(_FEE, "the vault has a different fee rule")
