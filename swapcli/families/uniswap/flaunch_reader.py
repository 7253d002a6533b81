"""Read the fees of Flaunch's hooks, and the collected tokens that they sell before a swap.

The hook keeps a part of each output, determined by its fee calculator. Fees in the launched token are collected, and
sold to later buyers (`internal_swap`). For a while after the start, the launched token has one price for buyers and
cannot be sold, and the first swap after that moves liquidity. So does the first swap after a week in which the bid wall
had fees and was not touched. None of these is computed here: such a pool is rejected. Some addresses are exempt from
fees, but no known router is.

Source: `PositionManager.sol`, `AnyPositionManager.sol`, `FeeDistributor.sol`, `FairLaunch.sol`, `BidWall.sol` of
flayerlabs/flaunchgg-contracts. The first version's bid wall has no clock; pools for other tokens have no launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi_arguments import AbiValue, encode_arguments
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.units import BPS, WAD
from swapcli.families.reading.call_encoding import encode_call, read_word, read_words, to_address
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.tick_math import MAX_SQRT_RATIO, MIN_SQRT_RATIO
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.internal_swap import InternalSwap
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.v4_key import key_arguments

_NATIVE: Final = "nativeToken()"
_FEES: Final = "getPoolFeeDistribution(bytes32)"
_CALCULATOR: Final = "feeCalculator()"
_COLLECTED: Final = "poolFees((address,address,uint24,int24,address))"
_STARTS_AT: Final = "flaunchesAt(bytes32)"
_LAUNCH: Final = "fairLaunch()"
_WALL: Final = "bidWall()"
_LAUNCH_INFO: Final = "fairLaunchInfo(bytes32)"
_WALL_INFO: Final = "poolInfo(bytes32)"
_WALL_USED_AT: Final = "lastPoolTransaction(bytes32)"
_STALE_AFTER: Final = "staleTimeWindow()"
_STALE_SECONDS: Final = 7 * 86_400
"""A constant of the second version, which has no function to read it."""
_CALCULATED: Final = "determineSwapFee((address,address,uint24,int24,address),(bool,int256,uint160),uint24)"
_LAUNCH_WORDS, _CLOSED_WORD = 6, 5
_WALL_WORDS, _PENDING_WORD = 6, 4


def flaunch_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the calls with which `read_flaunch_pool` begins."""
    key = ref.constants_as(V4Constants)
    return [
        ContractCall(key.hooks, encode_call(_NATIVE)),
        _call(key.hooks, _FEES, key),
        ContractCall(key.hooks, encode_call(_CALCULATOR)),
        _typed_call(key.hooks, _COLLECTED, [key_arguments(ref, key)]),
        ContractCall(key.hooks, encode_call(_WALL)),
        _call(key.hooks, _STARTS_AT, key)._replace(may_revert=True),
        ContractCall(key.hooks, encode_call(_LAUNCH), may_revert=True),
    ]


def read_flaunch_pool(ref: PoolRef, lp_fee_ppm: int, time: int) -> BatchRead[Mapping[str, object]]:
    """Read the fields of the pool's state in two rounds; `time` is the block's time.

    Raises `InvalidPoolState` if the pool cannot be computed.
    """
    key = ref.constants_as(V4Constants)
    answers = yield flaunch_calls(ref)
    native, fees, calculator, collected, wall, starts, launch = answers
    starts_at = read_word(starts, _STARTS_AT) if starts else 0
    if starts_at > time:
        raise InvalidPoolState("hooks", f"{key.hooks} rejects swaps until {starts_at}")
    paired = to_address(read_word(native, _NATIVE), _NATIVE)
    if paired not in ref.tokens:
        raise InvalidPoolState("hooks", f"the hook's native token {paired} is not one of the pool's tokens")
    fee_bps = read_words(fees, 4, _FEES)[0]
    calculator_address = to_address(read_word(calculator, _CALCULATOR), _CALCULATOR)
    launch_address = to_address(read_word(launch, _LAUNCH), _LAUNCH) if launch else None
    state_answers = yield [
        *_wall_calls(to_address(read_word(wall, _WALL), _WALL), key),
        *([_call(launch_address, _LAUNCH_INFO, key)] if launch_address else ()),
        *(_fee_calls(ref, key, calculator_address, fee_bps) if calculator_address != ZERO_ADDRESS else ()),
    ]
    _check_wall(state_answers[:3], time)
    rest = state_answers[3:]
    if launch_address:
        _check_launch(rest[0])
        rest = rest[1:]
    of_directions = [read_word(answer, _CALCULATED) for answer in rest] or [fee_bps, fee_bps]
    first, second = (_direction_fees(each, lp_fee_ppm) for each in of_directions)
    internal = InternalSwap(paired != ref.tokens[0], read_words(collected, 2, _COLLECTED)[1])
    return {"hook_fees": HookFees(first, second).state(), "internal_swap": internal.state()}


def _direction_fees(fee_bps: int, lp_fee_ppm: int) -> DirectionFees:
    return DirectionFees(lp_fee_ppm, output_fee=fee_bps * (WAD // BPS))


def _wall_calls(wall: str, key: V4Constants) -> list[ContractCall]:
    return [
        _call(wall, _WALL_INFO, key),
        _call(wall, _WALL_USED_AT, key)._replace(may_revert=True),
        ContractCall(wall, encode_call(_STALE_AFTER), may_revert=True),
    ]


def _check_wall(answers: Sequence[ReturnData], time: int) -> None:
    """Raise `InvalidPoolState` if the next swap first moves the liquidity of the bid wall."""
    info, used, window = answers
    if not used or not read_words(info, _WALL_WORDS, _WALL_INFO)[_PENDING_WORD]:
        return
    stale_after = read_word(window, _STALE_AFTER) if window else _STALE_SECONDS
    if read_word(used, _WALL_USED_AT) + stale_after <= time:
        raise InvalidPoolState("hooks", "the bid wall has been idle, so the next swap moves its liquidity")


def _check_launch(answer: ReturnData) -> None:
    if not read_words(answer, _LAUNCH_WORDS, _LAUNCH_INFO)[_CLOSED_WORD]:
        raise InvalidPoolState("hooks", "its fair launch is not closed")


def _fee_calls(ref: PoolRef, key: V4Constants, calculator: str, fee_bps: int) -> list[ContractCall]:
    limits = (1, MIN_SQRT_RATIO + 1), (0, MAX_SQRT_RATIO - 1)
    return [
        _typed_call(calculator, _CALCULATED, [key_arguments(ref, key), [down, -1, limit], fee_bps])
        for down, limit in limits
    ]


def _call(contract: str, name: str, key: V4Constants) -> ContractCall:
    return ContractCall(contract, encode_call(name, key.pool_id))


def _typed_call(contract: str, signature: str, arguments: Sequence[AbiValue]) -> ContractCall:
    return ContractCall(contract, keccak256(signature.encode())[:4] + encode_arguments(signature, arguments))
