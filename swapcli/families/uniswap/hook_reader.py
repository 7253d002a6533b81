"""Read a Uniswap V4 hook's fees on a swap, according to its rule in the network's definition.

A rule describes code, so it must be confirmed that the hook has that code: by the hash of its code, or by the network's
quoter, which runs the hook. An unconfirmed rule is not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from swapcli.core.encoding.abi_arguments import encode_arguments
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.core.networks.hook_rules import DELI, FEES, FLAUNCH, Decay, Either, FeeTerm, FeeTerms, HookRule, Sum
from swapcli.core.records import NamedTuple
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.call_encoding import read_word
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.sampled.sampled_pools_reader import PoolValues, read_values, resolve_number
from swapcli.families.uniswap.clanker_reader import fee_calls, read_fees
from swapcli.families.uniswap.deli_reader import deli_calls, read_deli_fees
from swapcli.families.uniswap.flaunch_reader import flaunch_calls, read_flaunch_pool
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.v4_key import key_arguments

_QUOTE: Final = "quoteExactInputSingle(((address,address,uint24,int24,address),bool,uint128,bytes))"
_CODE_HASH: Final = b"\x73%s\x3f\x60\x00\x52\x60\x20\x60\x00\xf3"
"""EVM code that returns the hash of the code at an address: PUSH20, EXTCODEHASH, MSTORE at 0, RETURN 32 bytes."""
_TIME: Final = bytes.fromhex("4260005260206000f3")
"""The same with TIMESTAMP, which returns the block's time."""
_COMPARED_RATES: Final = (0.999, 0.9)
"""The rates at which the compared trades end, as parts of the first marginal rate: a small trade and a large one."""
_MAX_COMPARED: Final = 1 << 120  # far below the range of a signed amount of 128 bits


class HookReading(NamedTuple):
    """The result of reading a hook: `state` has the fields of the pool's state that describe what the hook takes.

    `is_proven` means that the code of the hook and of the contracts that it calls is known, so that no quoter needs to
    confirm it. If sources differ about a hook, `alternatives` are the other possible results: the quoter decides.
    """

    state: Mapping[str, object]
    is_proven: bool
    alternatives: tuple[Mapping[str, object], ...] = ()


def read_hook(ref: PoolRef, rule: HookRule, lp_fee_ppm: int) -> BatchRead[HookReading]:
    """Read the fees that the hook takes; `lp_fee_ppm` is the fee in the pool manager. Raises `InvalidPoolState`.

    It takes one round, or more if values of the rule depend on other values.
    """
    if rule.rule != FEES:
        return with_prefetch(_read_hook(ref, rule, lp_fee_ppm), _first_calls(ref, rule))
    return _read_hook(ref, rule, lp_fee_ppm)


def _first_calls(ref: PoolRef, rule: HookRule) -> list[ContractCall]:
    """Return the calls with which the reader of a rule begins."""
    if rule.rule == DELI:
        return deli_calls(ref)
    return flaunch_calls(ref) if rule.rule == FLAUNCH else fee_calls(ref, rule)


def _read_hook(ref: PoolRef, rule: HookRule, lp_fee_ppm: int) -> BatchRead[HookReading]:
    key = ref.constants_as(V4Constants)
    calls = [ContractCall("", _TIME)]
    if rule.code_hash:
        calls.append(ContractCall("", _CODE_HASH % bytes.fromhex(key.hooks[2:])))
    block_time, *hashes = yield calls
    time = read_word(block_time, "block time")
    if rule.code_hash and read_word(hashes[0], "code hash") != int(rule.code_hash, 16):
        raise InvalidPoolState("hooks", f"the rule for {key.hooks} does not cover its code")
    if rule.rule == FLAUNCH:
        launched = yield from read_flaunch_pool(ref, lp_fee_ppm, time)
        return HookReading(launched, bool(rule.code_hash))
    if rule.rule == DELI:
        state, other = yield from read_deli_fees(ref, lp_fee_ppm)
        return HookReading(state, bool(rule.code_hash), (other,))
    if rule.rule != FEES:
        clanker = yield from read_fees(ref, rule, time)
        return HookReading(clanker.state, bool(rule.code_hash) and clanker.is_proven)
    values = _values_of(ref, key, rule.contracts, time)
    values = yield from read_values(values, rule.values, f"the rule for {key.hooks}")
    for first, second in rule.requires:
        if resolve_number(first, values) != resolve_number(second, values):
            raise InvalidPoolState("hooks", f"the rule for {key.hooks} needs {first} to be {second}")
    opens_at = 0 if rule.opens_at is None else resolve_number(rule.opens_at, values)
    if time < opens_at:
        raise InvalidPoolState("hooks", f"{key.hooks} rejects swaps until {opens_at}")
    fees = _fees_of_terms(rule, values, lp_fee_ppm)
    return HookReading({"hook_fees": fees.state()}, bool(rule.code_hash))


def _values_of(ref: PoolRef, key: V4Constants, contracts: Mapping[str, str], time: int) -> PoolValues:
    """Return the values that a rule can name before it reads others."""
    texts = {
        "pool_manager": ref.address,
        "pool_id": key.pool_id,
        "token0": ref.tokens[0],
        "token1": ref.tokens[1],
        "currency0": ZERO_ADDRESS if key.is_native else ref.tokens[0],
        "hooks": key.hooks,
        **contracts,
    }
    return {
        **{name: int(text, 16) for name, text in texts.items()},
        "key_fee": DYNAMIC_FEE if key.has_dynamic_fee else ref.fee_ppm,
        "tick_spacing": key.tick_spacing,
        "time": time,
    }


def _fees_of_terms(rule: HookRule, values: PoolValues, lp_fee_ppm: int) -> HookFees:
    terms = rule.fees
    if rule.exchanged_unless and resolve_number(rule.exchanged_unless[0], values) != resolve_number(
        rule.exchanged_unless[1], values
    ):
        terms = terms[::-1]
    first, second = (_direction_fees(each, rule.fee_unit, values, lp_fee_ppm) for each in terms)
    return HookFees(first, second)


def _direction_fees(terms: FeeTerms, unit: int, values: PoolValues, lp_fee_ppm: int) -> DirectionFees:
    """Return the fees of one direction. Raises `InvalidPoolState` for a fraction that needs more than 18 decimals."""
    parts = [_resolve_fee(term, values) * WAD for term in (terms.input, terms.output)]
    if any(part % unit for part in parts):
        raise InvalidPoolState("hook_fees", f"a fee in {unit} has more than 18 decimals")
    lp_fee = lp_fee_ppm if terms.lp is None else _resolve_fee(terms.lp, values)
    cut = _resolve_fee(terms.cut, values)
    return DirectionFees(lp_fee, parts[0] // unit, parts[1] // unit, cut, bool(cut) and terms.cut_rounds_up)


def _resolve_fee(term: FeeTerm, values: PoolValues) -> int:
    """Return a fee at the block's time. A schedule without a length stays at its first fee."""
    if isinstance(term, Sum):
        return sum(resolve_number(part, values) for part in term.parts)
    if isinstance(term, Either):
        return _resolve_fee(term.first if resolve_number(term.value, values) else term.second, values)
    if not isinstance(term, Decay):
        return resolve_number(term, values)
    first, last, since, seconds = (resolve_number(each, values) for each in term)
    if first < last:
        raise InvalidPoolState("hook_fees", f"a fee that falls from {first} to {last}")
    elapsed = values["time"] - since
    if elapsed <= 0 or not seconds:
        return first
    return last if elapsed >= seconds else first - (first - last) * elapsed // seconds


def confirm_by_quoter(ref: PoolRef, key: V4Constants, pool: Pool) -> BatchRead[None]:
    """Compare swaps of both directions with the network's quoter, in one round.

    Raises `InvalidPoolState` unless the quoter returns the same amounts to the unit.
    """
    if not key.quoter:
        raise InvalidPoolState("hooks", f"neither its code's hash nor a quoter confirms the rule for {key.hooks}")
    expected = [
        (down, amount_in, amount_out)
        for down in (True, False)
        for amount_in, amount_out in _trades_to_compare(pool, *(pool.tokens if down else pool.tokens[::-1]))
    ]
    if not expected:
        raise InvalidPoolState(
            "hooks", f"the pool has no swap by which a quoter could confirm the rule for {key.hooks}"
        )
    answers = yield [_quote_call(ref, key, down, amount_in) for down, amount_in, _ in expected]
    for (_, amount_in, amount_out), answer in zip(expected, answers, strict=True):
        if answer is None or read_word(answer, _QUOTE) != amount_out:
            raise InvalidPoolState("hooks", f"the quoter contradicts the rule for {key.hooks} for {amount_in}")


def _trades_to_compare(pool: Pool, token_in: str, token_out: str) -> Iterator[tuple[int, int]]:
    """Yield the inputs and outputs of one direction; none that the pool rejects."""
    curve = pool.curve(token_in, token_out)
    for part in _COMPARED_RATES if curve.start_rate else ():
        amount_in = min(int(curve.trade_to_marginal_rate(curve.start_rate * part)[0]), _MAX_COMPARED)
        with suppress(PoolError):
            yield amount_in, pool.swap(token_in, token_out, amount_in)[0]


def _quote_call(ref: PoolRef, key: V4Constants, down: bool, amount_in: int) -> ContractCall:
    arguments = encode_arguments(_QUOTE, [[key_arguments(ref, key), int(down), amount_in, b""]])
    selector = keccak256(_QUOTE.encode())[:4]
    return ContractCall(key.quoter, selector + arguments, may_revert=True, group=key.pool_id)
