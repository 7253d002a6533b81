"""Read Spark's peg stability module PSM3. Its rate comes from its own previews at the block, which must match its
maths.

The USDC may be in another contract, the pocket, which must then have approved the module; reading it takes one more
round.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.errors import SwapReverts
from swapcli.core.model.pool import Pool
from swapcli.families.fixed_rate.psm import RAY
from swapcli.families.reading.build_pool import CHECKED_AMOUNT, build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import read_addresses

_TOKENS: Final = ("usdc()", "usds()", "susds()")
_POCKET: Final = "pocket()"
_BALANCE: Final = "balanceOf(address)"
_ALLOWANCE: Final = "allowance(address,address)"
_PREVIEW: Final = "previewSwapExactIn(address,address,uint256)"
_CHECKED_TOKENS: Final = ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1))
_UNLIMITED: Final = 10**60
"""A balance that no checked amount exhausts."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a module in one round of calls, or in two if another contract holds the USDC."""
    usdc, usds, susds = ref.tokens
    if ref.decimals[1] != ref.decimals[2]:
        raise invalid_response(ref.address, "USDS and sUSDS have different decimals")
    pocket, rate, *answers = yield [
        ContractCall(ref.address, encode_call(_POCKET)),
        ContractCall(ref.address, encode_call(_PREVIEW, susds, usds, RAY)),
        *(
            ContractCall(ref.address, encode_call(_PREVIEW, ref.tokens[i], ref.tokens[j], CHECKED_AMOUNT))
            for i, j in _CHECKED_TOKENS
        ),
        *(ContractCall(token, encode_call(_BALANCE, ref.address)) for token in ref.tokens),
    ]
    reserves = [read_word(answer, _BALANCE) for answer in answers[len(_CHECKED_TOKENS) :]]
    holder = read_address(pocket, _POCKET)
    if holder != ref.address:
        balance, allowance = yield [
            ContractCall(usdc, encode_call(_BALANCE, holder)),
            ContractCall(usdc, encode_call(_ALLOWANCE, holder, ref.address)),
        ]
        reserves[0] = min(read_word(balance, _BALANCE), read_word(allowance, _ALLOWANCE))
    state = {"rate": read_word(rate, _PREVIEW)}
    previews = [read_word(answer, _PREVIEW) for answer in answers[: len(_CHECKED_TOKENS)]]
    if previews != _expected_previews(build_pool(ref, 0, state | {"reserves": [_UNLIMITED] * 3})):
        raise invalid_response(_PREVIEW, "the module does not convert at one rate")
    return build_pool(ref, 0, state | {"reserves": reserves})


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a module in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address, _TOKENS)))


def _expected_previews(pool: Pool) -> list[int]:
    try:
        return [pool.swap(pool.tokens[i], pool.tokens[j], CHECKED_AMOUNT)[0] for i, j in _CHECKED_TOKENS]
    except SwapReverts:
        return []
