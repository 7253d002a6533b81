"""Read the fees of Clanker's hooks and their forks.

The hook sets the LP fee of each swap: one for each direction, or one that depends on the ticks that swaps cross. A
fifth of that fee goes to the protocol, always in the paired token: from the input when the launched token is bought,
and from the output when it is sold. Before every swap the hook has the pool's locker collect the fees of its positions;
a locker may swap them in the pool, if a recipient prefers the other token. In the first two minutes, an anti-sniper
module may set a different fee. Neither is computed here: such a pool is rejected.

Source: `ClankerHook.sol`, `ClankerHookV2.sol`, `ClankerHookStaticFee.sol`, `ClankerHookDynamicFee.sol`,
`ClankerLpLockerFeeConversion.sol` of clanker-devco/v4-contracts. The hook's `protocolFee()` is the value left by the
last swap in any of its pools; only trials with dynamic fees use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.hook_rules import CLANKER_DYNAMIC, HookRule
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, read_word, read_words, to_address
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.clanker_volatility import ClankerVolatility, fees_of_buying, fees_of_selling
from swapcli.families.uniswap.hook_fees import HookFees
from swapcli.families.uniswap.rows import V4Constants

_MODULE_SECONDS: Final = 120
"""The number of seconds after which the hook no longer calls a module."""
_MAX_RECIPIENTS: Final = 7  # the locker's limit of a token's reward recipients
_FACTORY: Final = "factory"
_KNOWN_LOCKERS: Final = ("locker", "converting_locker")
"""The contracts of a rule whose code is known: one that only collects, and one that swaps for recipients who prefer the
other token."""
_FEES_OF_TOKEN: Final = ("clankerFee(bytes32)", "liquidFee(bytes32)")
"""The fee for selling the launched token, as named by Clanker and its fork Liquid."""
_CONFIG: Final = "poolConfigVars(bytes32)"
_VARIABLES: Final = "poolFeeVars(bytes32)"
_PROTOCOL_FEE: Final = "protocolFee()"
_FEE_CALLS: Final = 3
_PAIRED_FEE: Final = "pairedFee(bytes32)"
_MODULE_ENABLED: Final = "mevModuleEnabled(bytes32)"
_CREATED_AT: Final = "poolCreationTimestamp(bytes32)"
_TOKEN_IS_FIRST: Final = "clankerIsToken0(bytes32)"
_LOCKER: Final = "locker(bytes32)"
_DEPLOYMENT: Final = "tokenDeploymentInfo(address)"
_REWARDS: Final = "tokenRewards(address)"
_PREFERENCE: Final = "feePreferences(address,uint256)"


class ClankerFees(NamedTuple):
    """The fees of a Clanker pool. `state` has them as a field of the pool's state.

    `is_proven` means that the code of everything that the hook calls is known.
    """

    state: Mapping[str, object]
    is_proven: bool


class _LaunchedToken(NamedTuple):
    """The token that was launched with a pool, and the contract that holds its positions; the zero address if none
    does."""

    token: str
    locker: str


def fee_calls(ref: PoolRef, rule: HookRule) -> list[ContractCall]:
    """Return the calls with which `read_fees` begins."""
    key = ref.constants_as(V4Constants)
    if rule.rule == CLANKER_DYNAMIC:
        calls = [_call(key, _CONFIG), _call(key, _VARIABLES), ContractCall(key.hooks, encode_call(_PROTOCOL_FEE))]
    else:
        calls = [*(_call(key, each)._replace(may_revert=True) for each in _FEES_OF_TOKEN), _call(key, _PAIRED_FEE)]
    return [*calls, *_launch_calls(ref, key, rule)]


def read_fees(ref: PoolRef, rule: HookRule, time: int) -> BatchRead[ClankerFees]:
    """Read the fees of a pool in two rounds, or three with the hook's first version.

    `time` is the block's time. Raises `InvalidPoolState` if the pool cannot be computed.
    """
    answers = yield fee_calls(ref, rule)
    of_fees, launch = answers[:_FEE_CALLS], answers[_FEE_CALLS:]
    launched = yield from _read_launch(ref, launch, time)
    is_first = launched.token == ref.tokens[0]
    state = _volatility(of_fees, is_first, time) if rule.rule == CLANKER_DYNAMIC else _static_fees(of_fees, is_first)
    known = {rule.contracts[name] for name in _KNOWN_LOCKERS if name in rule.contracts}
    return ClankerFees(state, launched.locker in {ZERO_ADDRESS, *known})


def _static_fees(answers: Sequence[ReturnData], token_is_first: bool) -> Mapping[str, object]:
    of_token, of_fork, of_paired = answers
    selling = fees_of_selling(read_word(of_token or of_fork, _FEES_OF_TOKEN[0]))
    buying = fees_of_buying(read_word(of_paired, _PAIRED_FEE))
    fees = HookFees(selling, buying) if token_is_first else HookFees(buying, selling)
    return {"hook_fees": fees.state()}


def _volatility(answers: Sequence[ReturnData], token_is_first: bool, time: int) -> Mapping[str, object]:
    """Return the hook's two records of a pool, in the order of their fields; ticks are signed."""
    base_fee, max_fee, filter_s, reset_s, tick_filter, control, decay = read_words(answers[0], 7, _CONFIG)
    reference, reset_tick, reset_at, last_at, applied, accumulator = read_words(answers[1], 6, _VARIABLES)
    volatility = ClankerVolatility(
        token_is_first=token_is_first,
        base_fee_ppm=base_fee,
        max_fee_ppm=max_fee,
        filter_period_s=filter_s,
        reset_period_s=reset_s,
        reset_tick_filter=to_signed(tick_filter),
        fee_control=control,
        decay_bps=decay,
        reference_tick=to_signed(reference),
        reset_tick=to_signed(reset_tick),
        reset_at=reset_at,
        last_swap_at=last_at,
        applied=applied,
        accumulator=accumulator,
        protocol_fee_ppm=read_word(answers[2], _PROTOCOL_FEE),
        timestamp=time,
    )
    return {"clanker_volatility": volatility.state()}


def _launch_calls(ref: PoolRef, key: V4Constants, rule: HookRule) -> list[ContractCall]:
    factory = rule.contracts.get(_FACTORY)
    return [
        _call(key, _MODULE_ENABLED),
        _call(key, _CREATED_AT),
        # The first version of the hook does not expose these two, so they come from the factory.
        _call(key, _TOKEN_IS_FIRST)._replace(may_revert=True),
        _call(key, _LOCKER)._replace(may_revert=True),
        *([ContractCall(factory, encode_call(_DEPLOYMENT, token)) for token in ref.tokens] if factory else ()),
    ]


def _read_launch(ref: PoolRef, answers: Sequence[ReturnData], time: int) -> BatchRead[_LaunchedToken]:
    """Read which token was launched, and check that no contract swaps before the swap or sets a different fee."""
    enabled, created, first, locker, *deployments = answers
    open_at = read_word(created, _CREATED_AT) + _MODULE_SECONDS
    if read_word(enabled, _MODULE_ENABLED) and time < open_at:
        raise InvalidPoolState("hooks", f"until {open_at} its anti-sniper module may set a different fee")
    if first and locker:
        token = ref.tokens[0 if read_word(first, _TOKEN_IS_FIRST) else 1]
        launched = _LaunchedToken(token, to_address(read_word(locker, _LOCKER), _LOCKER))
    else:
        launched = yield from _find_launched(ref, deployments)
    if launched.locker != ZERO_ADDRESS:
        yield from _check_preferences(launched)
    return launched


def _find_launched(ref: PoolRef, deployments: Sequence[ReturnData]) -> BatchRead[_LaunchedToken]:
    """Return the token whose rewards come from this very pool, according to the factory and the token's locker."""
    key = ref.constants_as(V4Constants)
    candidates: list[_LaunchedToken] = []
    for token, answer in zip(ref.tokens, deployments, strict=False):
        _, of_token, hooks, locker = read_words(answer, 4, _DEPLOYMENT)
        if to_address(of_token, _DEPLOYMENT) == token and to_address(hooks, _DEPLOYMENT) == key.hooks:
            candidates.append(_LaunchedToken(token, to_address(locker, _DEPLOYMENT)))
    answers = yield [ContractCall(each.locker, encode_call(_REWARDS, each.token)) for each in candidates]
    for candidate, answer in zip(candidates, answers, strict=True):
        currency0, currency1, fee, spacing, hooks = read_words(answer, 7, _REWARDS)[2:]
        first, second, hook = (to_address(each, _REWARDS) for each in (currency0, currency1, hooks))
        if v4_pool_id(first, second, fee, spacing, hook) == key.pool_id:
            return candidate
    raise InvalidPoolState("hooks", "neither of its tokens was launched with this pool, so its fees have no direction")


def _check_preferences(launched: _LaunchedToken) -> BatchRead[None]:
    """Raise `InvalidPoolState` if the locker swaps a recipient's fees in the pool before each swap."""
    preferences = yield [
        ContractCall(launched.locker, encode_call(_PREFERENCE, launched.token, number), may_revert=True)
        for number in range(_MAX_RECIPIENTS)
    ]
    if any(answer and read_word(answer, _PREFERENCE) for answer in preferences):
        raise InvalidPoolState("hooks", f"before each swap {launched.locker} swaps collected fees in the pool")


def _call(key: V4Constants, name: str) -> ContractCall:
    return ContractCall(key.hooks, encode_call(name, key.pool_id))
