"""Read the fee of Deli's hook according to each of the hook's two known descriptions. The network's quoter decides
between them.

In the published source, the hook takes the LP fee that the pool manager has for the pool, always in the hook's own
token, and the pool itself takes none. In a public simulator, the pool also takes that fee, and the hook takes a part of
the amounts in its token, from the input or the output. The simulator's recorded quotes are closer to the simulator's
description, but match neither description to the unit.

Sources: `DeliHook.sol` of morphex-labs/deli-swap-contracts @c45121f3; kyberswap-dex-lib @ae6a99aa hooks/deli, with
quotes in its test at block 37306810 of Base.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import PPM, WAD
from swapcli.families.reading.call_encoding import encode_call, read_address
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.fee_in_token import FeeInToken
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.rows import V4Constants

_TOKEN: Final = "WBLT()"


def deli_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the call that `read_deli_fees` makes."""
    return [ContractCall(ref.constants_as(V4Constants).hooks, encode_call(_TOKEN))]


def read_deli_fees(ref: PoolRef, lp_fee_ppm: int) -> BatchRead[tuple[Mapping[str, object], Mapping[str, object]]]:
    """Read the fields of the pool's state according to both descriptions, in one round of calls.

    Raises `InvalidPoolState` for a pool without the hook's token.
    """
    (answer,) = yield deli_calls(ref)
    token = read_address(answer, _TOKEN)
    if token not in ref.tokens:
        raise InvalidPoolState("hooks", f"the hook's token {token} is not one of the pool's tokens")
    is_first = token == ref.tokens[0]
    free = DirectionFees(0)
    by_source = {"hook_fees": HookFees(free, free).state(), "fee_in_token": FeeInToken(is_first, lp_fee_ppm).state()}
    part = lp_fee_ppm * WAD // PPM
    sold, bought = DirectionFees(lp_fee_ppm, part), DirectionFees(lp_fee_ppm, 0, part)
    fees = HookFees(sold, bought) if is_first else HookFees(bought, sold)
    return by_source, {"hook_fees": fees.state()}
