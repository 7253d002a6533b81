"""Read stablecoin bridges. A trial call shows whether the contract still mints and burns.

The trial mints or burns zero tokens at the block. It covers the bridge's expiry, an emergency stop, and whether the
stablecoin still lets it mint. The trial sets a sender: calls come from the zero address by default, and tokens reject
transfers from it.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import ANY_ADDRESS, encode_call, invalid_response
from swapcli.families.reading.calls import CallContext, ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import View, read_addresses, read_views, view

_TOKENS: Final = ("JUSD()", "usd()")
_MINT: Final = "mintTo(address,uint256)"
_BURN: Final = "burnAndSend(address,uint256)"
_TRIAL: Final = CallContext(ANY_ADDRESS, 0)


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a bridge in one round of calls."""
    values = yield from read_views(
        view("minted", ref.address, "minted()"),
        view("limit", ref.address, "limit()"),
        view("reserve", ref.tokens[1], "balanceOf(address)", ref.address),
        *(View(name, _trial_call(ref.address, name), _succeeds, name) for name in (_MINT, _BURN)),
    )
    can_mint, can_burn = values[_MINT], values[_BURN]
    if not (can_mint or can_burn):
        raise invalid_response(ref.address, "the bridge neither mints nor burns now")
    return build_pool(ref, 0, values | ({} if can_mint else {"limit": 0}) | ({} if can_burn else {"reserve": 0}))


def _trial_call(bridge: str, function: str) -> ContractCall:
    return ContractCall(bridge, encode_call(function, ANY_ADDRESS, 0), may_revert=True, context=_TRIAL)


def _succeeds(answer: ReturnData, _function: str) -> bool:
    return answer is not None


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a bridge in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address, _TOKENS)))
