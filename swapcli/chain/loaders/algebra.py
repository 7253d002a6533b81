"""Algebra Integral: the initialised ticks form a tree of three layers, so a few rounds find all of them.

Its leaves are words of 256 ticks, for every tick spacing; a bit of the second layer represents a leaf that is not
empty, a bit of the root a word of the second layer. The fee is that of `fee()` at the block; a plugin may change it
before the next swap.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.chain.call_encoding import encode_call, invalid_response, read_word, read_words, to_address
from swapcli.chain.factory import Factory
from swapcli.chain.loaders.build_pool import build_pool
from swapcli.chain.loaders.tick_bitmap import PriceState, initialized_ticks, state_fields
from swapcli.chain.loaders.uniswap_v2 import read_tokens, token_calls
from swapcli.chain.loaders.uniswap_v3 import complete_ref, read_nets, read_spacing, tick_calls
from swapcli.chain.lockstep_reads import BatchRead, with_prefetch
from swapcli.chain.pool_ref import PoolRef
from swapcli.encoding.abi import to_signed
from swapcli.model.pool import Pool
from swapcli.pools.concentrated_state import ALGEBRA_INTEGRAL
from swapcli.state.rpc.node import ContractCall, Log

_NAMES = ("globalState()", "liquidity()", "fee()", "tickSpacing()", "tickTreeRoot()")
_CREATED = "Pool(address,address,address)"
_SECOND_LAYER = "tickTreeSecondLayer(int16)"
_LEAF = "tickTable(int16)"
_FIRST_LEAF = -3466
"""The leaf that the second layer's first bit represents."""
_ROOT_BITS = 32
_MAX_TICKS = 20_000
"""A contract that sets all bits of its tree would cause millions of calls."""

__all__ = ["complete_ref", "load", "read_constants", "read_created"]


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in four rounds; one if it is empty, or if the reference knows its ticks."""
    return (yield from with_prefetch(_load(ref), _guesses(ref)))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round."""
    answers = yield token_calls(address)
    return factory.new_ref(address, read_tokens(answers))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode the event of a pool's creation, without a call."""
    yield from ()
    del wrapped_native
    if len(log.topics) < 3:
        raise invalid_response(factory.address, "an event of another kind")
    first, second = (to_address(int(topic, 16), _CREATED) for topic in log.topics[1:3])
    return factory.new_ref(to_address(read_word(log.data, _CREATED), _CREATED), (first, second))


def _guesses(ref: PoolRef) -> Sequence[ContractCall]:
    """Return the calls for the tree that the known ticks imply."""
    ticks = ref.last_ticks.initialized if ref.last_ticks else ()
    leaves = sorted({tick // 256 for tick in ticks})
    branches = sorted({(leaf - _FIRST_LEAF) // 256 for leaf in leaves})
    words = [*_word_calls(ref.address, _SECOND_LAYER, branches), *_word_calls(ref.address, _LEAF, leaves)]
    return [*words, *tick_calls(ref.address, ticks)]


def _load(ref: PoolRef) -> BatchRead[Pool]:
    answers = yield [ContractCall(ref.address, encode_call(name)) for name in _NAMES]
    price, tick = read_words(answers[0], 2, _NAMES[0])
    liquidity, fee, root = (read_word(answers[k], _NAMES[k]) for k in (1, 2, 4))
    position = PriceState(price, to_signed(tick), liquidity, fee)
    ladder = yield from _ladder(ref.address, root)
    state = {**state_fields(position, read_spacing(answers[3]), ladder), "variant": ALGEBRA_INTEGRAL}
    return build_pool(ref, fee, state)


def _ladder(pool: str, root: int) -> BatchRead[dict[int, int]]:
    """Return every initialised tick with its net liquidity."""
    branches = yield from _words(pool, _SECOND_LAYER, initialized_ticks({0: root % (1 << _ROOT_BITS)}, 1))
    leaves = yield from _words(pool, _LEAF, [bit + _FIRST_LEAF for bit in initialized_ticks(branches, 1)])
    ticks = initialized_ticks(leaves, 1)
    if len(ticks) > _MAX_TICKS:
        raise invalid_response(_LEAF, f"{len(ticks)} ticks where {_MAX_TICKS} are the most that are read")
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
