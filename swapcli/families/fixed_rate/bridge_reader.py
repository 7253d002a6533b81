"""Bridges of a stablecoin. A trial call shows whether the contract still mints and burns.

The trial mints or burns zero tokens at the block. It covers the bridge's expiry, an emergency stop, and whether the
stablecoin still lets it mint. The trial uses its own sender: calls come from the zero address by default, and tokens
refuse transfers from it.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import ANY_ADDRESS, encode_call, invalid_response, read_address, read_word
from swapcli.families.reading.calls import CallContext, ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef

_TOKENS: Final = ("JUSD()", "usd()")
_MINTED: Final = "minted()"
_LIMIT: Final = "limit()"
_BALANCE: Final = "balanceOf(address)"
_MINT: Final = "mintTo(address,uint256)"
_BURN: Final = "burnAndSend(address,uint256)"
_TRIAL: Final = CallContext(ANY_ADDRESS, 0)


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a bridge in one round."""
    minted, limit, balance, mint, burn = yield [
        ContractCall(ref.address, encode_call(_MINTED)),
        ContractCall(ref.address, encode_call(_LIMIT)),
        ContractCall(ref.tokens[1], encode_call(_BALANCE, ref.address)),
        *(
            ContractCall(ref.address, encode_call(name, ANY_ADDRESS, 0), may_revert=True, context=_TRIAL)
            for name in (_MINT, _BURN)
        ),
    ]
    can_mint, can_burn = mint is not None, burn is not None
    if not (can_mint or can_burn):
        raise invalid_response(ref.address, "the bridge neither mints nor burns now")
    state = {
        "minted": read_word(minted, _MINTED),
        "limit": read_word(limit, _LIMIT) if can_mint else 0,
        "reserve": read_word(balance, _BALANCE) if can_burn else 0,
    }
    return build_pool(ref, 0, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a bridge in one round."""
    answers = yield [ContractCall(address, encode_call(name)) for name in _TOKENS]
    return factory.new_ref(
        address, tuple(read_address(answer, name) for answer, name in zip(answers, _TOKENS, strict=True))
    )
