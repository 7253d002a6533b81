"""Read Algebra Integral pools: the initialised ticks form a tree of three layers, so a few rounds find all of them.

Its leaves are words of 256 ticks, for every tick spacing; a bit of the second layer represents a leaf that is not
empty, a bit of the root a word of the second layer.

The fee is the result of `fee()` at the block. A plugin that is called before swaps may set a different fee for each
swap, and `fee()` may then be wrong or revert, as the contract itself documents. For such a pool, swaps of one token
each way are therefore compared with its deployment's quoter, if the network names one, at the same block; a pool that
the quoter contradicts is rejected. `globalState().pluginConfig` shows whether plugins may do this.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word, read_words, to_address
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import topic_of
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import PriceState, initialized_ticks, state_fields
from swapcli.families.reading.views import read_addresses
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.concentrated_state import ALGEBRA_INTEGRAL, ZERO_ADDRESS
from swapcli.families.uniswap.rows import AlgebraConstants
from swapcli.families.uniswap.uniswap_v3_reader import last_ticks_of, read_nets, read_spacing, tick_calls

_NAMES = ("globalState()", "liquidity()", "fee()", "tickSpacing()", "tickTreeRoot()")
_CREATED = "Pool(address,address,address)"
_CREATED_CUSTOM = "CustomPool(address,address,address,address)"
_BEFORE_SWAP, _DYNAMIC_FEE = 1, 1 << 7
"""The flags in `Plugins.sol`: the plugin is called before swaps, and it sets the fee."""
_QUOTES = (
    "quoteExactInputSingle((address,address,address,uint256,uint160))",
    "quoteExactInputSingle((address,address,uint256,uint160))",
)
"""The functions of the quoters: of factories with custom pools, whose third argument is the deployer, and of earlier
ones."""
_MIN_QUOTED = 10**6
"""The minimum of base units to compare, so that a part per million of the fee shows."""
_FEE = "fee()"
_SECOND_LAYER = "tickTreeSecondLayer(int16)"
_LEAF = "tickTable(int16)"
_FIRST_LEAF = -3466
"""The leaf for the second layer's first bit."""
_ROOT_BITS = 32  # bits of the tree's root
_MAX_TICKS = 20_000
"""The maximum number of ticks: a contract that sets all bits of its tree would cause millions of calls."""

__all__ = ["complete_ref", "load", "read_constants", "read_created"]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in four rounds of calls, or in one if it is empty, or if the reference has its ticks."""
    return (yield from with_prefetch(_load(ref), _guesses(ref)))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
    ref = factory.new_ref(address, (yield from read_addresses(address)))
    return ref._replace(constants=AlgebraConstants(factory.swap_quoter))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with a known pool's ticks, its deployer, and whether its fee is dynamic."""
    assert isinstance(pool, Concentrated)
    ticks = pool.tick_list
    constants = ref.constants_as(AlgebraConstants)._replace(
        deployer=ticks.deployer, has_dynamic_fee=ticks.has_dynamic_fee
    )
    return ref._replace(constants=constants, last_read=last_ticks_of(pool))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event, which takes no call."""
    yield from ()
    del wrapped_native
    is_custom = log.topics[0] == topic_of(_CREATED_CUSTOM)
    if len(log.topics) < 3 + is_custom:
        raise invalid_response(factory.address, "an event of a different kind")
    *deployer, first, second = (to_address(int(topic, 16), _CREATED) for topic in log.topics[1 : 3 + is_custom])
    ref = factory.new_ref(to_address(read_word(log.data, _CREATED), _CREATED), (first, second))
    return ref._replace(constants=AlgebraConstants(factory.swap_quoter, deployer[0] if deployer else ""))


def _guesses(ref: PoolRef) -> Sequence[ContractCall]:
    """Return the calls for the tree that the known ticks imply."""
    ticks = ref.last_ticks.initialized if ref.last_ticks else ()
    leaves = sorted({tick // 256 for tick in ticks})
    branches = sorted({(leaf - _FIRST_LEAF) // 256 for leaf in leaves})
    words = [*_word_calls(ref.address, _SECOND_LAYER, branches), *_word_calls(ref.address, _LEAF, leaves)]
    constants = ref.constants_as(AlgebraConstants)
    quotes = _quote_calls(ref) if constants.quoter and constants.has_dynamic_fee else []
    return [*words, *tick_calls(ref.address, ticks), *quotes]


def _load(ref: PoolRef) -> BatchRead[Pool]:
    answers = yield [ContractCall(ref.address, encode_call(name), may_revert=name == _FEE) for name in _NAMES]
    price, tick, last_fee, config = _read_global_state(answers[0])
    liquidity, root = (read_word(answers[k], _NAMES[k]) for k in (1, 4))
    fees = [*([read_word(answers[2], _FEE)] if answers[2] else []), last_fee]
    is_dynamic = bool(config & (_BEFORE_SWAP | _DYNAMIC_FEE))
    if not (answers[2] or is_dynamic):
        raise invalid_response(_FEE, "the contract reverts")
    position = PriceState(price, tick, liquidity, fees[0], has_dynamic_fee=is_dynamic)
    ladder = yield from _ladder(ref.address, root)
    state = {**state_fields(position, read_spacing(answers[3]), ladder), "variant": ALGEBRA_INTEGRAL}
    constants = ref.constants_as(AlgebraConstants)
    if constants.deployer:
        state["deployer"] = constants.deployer
    pools = [build_pool(ref, fee, state) for fee in dict.fromkeys(fees)]
    if not (is_dynamic and liquidity):
        return pools[0]
    if not constants.quoter:
        if not answers[2]:
            raise invalid_response(
                _FEE, "the contract reverts, and the network's definition has no quoter to compare with"
            )
        return pools[0]
    quotes = yield _quote_calls(ref)
    return _as_quoted(ref, pools, quotes)


def _read_global_state(answer: ReturnData) -> tuple[int, int, int, int]:
    """Return the price, the tick, the fee of the last swap and the plugin's configuration."""
    price, tick, last_fee, config = read_words(answer, 4, _NAMES[0])
    return price, to_signed(tick), last_fee, config


def _quote_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the calls for the quoter's output of one swap each way, in both forms of its function."""
    constants = ref.constants_as(AlgebraConstants)
    calls = []
    for token_in, token_out, amount in _compared_swaps(ref):
        with_deployer = (token_in, token_out, constants.deployer or ZERO_ADDRESS, amount, 0)
        for name, arguments in zip(_QUOTES, (with_deployer, (token_in, token_out, amount, 0)), strict=True):
            calls.append(ContractCall(constants.quoter, encode_call(name, *arguments), may_revert=True))
    return calls


def _compared_swaps(ref: PoolRef) -> list[tuple[str, str, int]]:
    """Return a swap each way of a hundredth of a token, or more if that is too little to reveal a fee."""
    directions = zip(ref.tokens, reversed(ref.tokens), ref.decimals, strict=True)
    return [(sold, bought, max(10**places // 100, _MIN_QUOTED)) for sold, bought, places in directions]


def _as_quoted(ref: PoolRef, pools: Sequence[Pool], quotes: Sequence[ReturnData]) -> Pool:
    """Return the pool whose swaps match the quoter. Raises `InvalidUpstreamResponse` if none does."""
    outputs = [
        next((read_word(answer, _QUOTES[0]) for answer in pair if answer), None)
        for pair in (quotes[: len(_QUOTES)], quotes[len(_QUOTES) :])
    ]
    for pool in pools:
        if [_amount_out(pool, *swap) for swap in _compared_swaps(ref)] == outputs:
            return pool
    raise invalid_response(_QUOTES[0], "the quoter shows that the plugin's fee differs from the pool's")


def _amount_out(pool: Pool, token_in: str, token_out: str, amount_in: int) -> int | None:
    """Return the output of a swap, or None if it would revert, as in the quoter."""
    try:
        return pool.swap(token_in, token_out, amount_in)[0]
    except PoolError:
        return None


def _ladder(pool: str, root: int) -> BatchRead[dict[int, int]]:
    """Return every initialised tick with its net liquidity."""
    branches = yield from _words(pool, _SECOND_LAYER, initialized_ticks({0: root % (1 << _ROOT_BITS)}, 1))
    leaves = yield from _words(pool, _LEAF, [bit + _FIRST_LEAF for bit in initialized_ticks(branches, 1)])
    ticks = initialized_ticks(leaves, 1)
    if len(ticks) > _MAX_TICKS:
        raise invalid_response(_LEAF, f"{len(ticks)} ticks, but at most {_MAX_TICKS} are read")
    if not ticks:
        return {}
    answers = yield tick_calls(pool, ticks)
    return dict(zip(ticks, read_nets(ticks, answers), strict=True))


def _words(pool: str, name: str, numbers: list[int]) -> BatchRead[dict[int, int]]:
    if not numbers:
        return {}
    answers = yield _word_calls(pool, name, numbers)
    return {number: read_word(answer, name) for number, answer in zip(numbers, answers, strict=True)}


def _word_calls(pool: str, name: str, numbers: Sequence[int]) -> list[ContractCall]:
    return [ContractCall(pool, encode_call(name, number)) for number in numbers]
