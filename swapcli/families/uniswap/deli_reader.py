"""The fee of Deli's hook: the LP fee that the pool manager has for the pool, always taken in the hook's own token.

Source: `DeliHook.sol` of morphex-labs/deli-swap-contracts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.families.reading.call_encoding import encode_call, read_address
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.fee_in_token import FeeInToken
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.rows import V4Constants

_TOKEN: Final = "WBLT()"


def deli_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the call that `read_deli_fee` makes."""
    return [ContractCall(ref.constants_as(V4Constants).hooks, encode_call(_TOKEN))]


def read_deli_fee(ref: PoolRef, lp_fee_ppm: int) -> BatchRead[Mapping[str, object]]:
    """Read the fields of the pool's state in one round. Raises `InvalidPoolState` for a pool without the token."""
    (answer,) = yield deli_calls(ref)
    token = read_address(answer, _TOKEN)
    if token not in ref.tokens:
        raise InvalidPoolState("hooks", f"the hook's token {token} is none of the pool's")
    free = DirectionFees(0)
    fee = FeeInToken(token == ref.tokens[0], lp_fee_ppm)
    return {"hook_fees": HookFees(free, free).state(), "fee_in_token": fee.state()}
