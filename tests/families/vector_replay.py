"""Replays every recorded swap of `vectors`, and compares the pool's answer with the contract's.

The tests of each family check more, such as the state afterwards; here each file gives the same: the pool, the tokens,
the input and what the contract paid. From these `docs/exactness.md` counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from swapcli.testing.strategies import TOKENS
from tests.families.balancer import (
    test_balancer_v2_eclp,
    test_balancer_v2_stable,
    test_balancer_v3_boosted,
    test_balancer_v3_gyro,
    test_balancer_v3_stable,
    test_balancer_v3_weighted,
)
from tests.families.balancer.balancer_v3_steps import Build, replay_pools
from tests.families.bins import test_infinity_bin_vectors, test_liquidity_book
from tests.families.curve import test_cryptoswap, test_curve_meta, test_stableswap
from tests.families.dodo import test_dodo_v2
from tests.families.fluid import test_fluid_t1
from tests.families.recorded import VECTORS, names_of_recorded_swaps, read_vectors, vectors_file
from tests.families.solidly import test_solidly_v1
from tests.families.uniswap import test_clanker_volatility, test_infinity_vectors, test_uniswap_v4_hooked


class RecordedAnswer(NamedTuple):
    """A recorded swap of `pool`, of this family: both outputs are None where contract and pool refuse."""

    pool: Pool
    family: str
    expected: int | None
    amount_out: int | None


Replay = Callable[[str], Iterator[RecordedAnswer]]


def _answer(pool: Pool, tokens: tuple[str, str], amount_in: object, expected: object) -> RecordedAnswer:
    """Have a pool swap. A contract that takes an input and pays nothing counts as refusing."""
    try:
        amount_out = pool.swap(*tokens, int(str(amount_in)))[0]
    except PoolError:
        amount_out = None
    return RecordedAnswer(pool, pool.family, int(str(expected or 0)) or None, amount_out)


def _by_numbers(pool: Pool, step: Mapping[str, Any]) -> RecordedAnswer:
    tokens = pool.tokens[step["i"]], pool.tokens[step["j"]]
    return _answer(pool, tokens, step["amount_in"], step.get("amount_out"))


def _of_vault_v3(build: Build) -> Replay:
    def replay(name: str) -> Iterator[RecordedAnswer]:
        for step, amount_out, pool in replay_pools(name, build):
            yield RecordedAnswer(pool, pool.family, int(step.get("amount_out") or 0) or None, amount_out)

    return replay


def _stable_v2(name: str) -> Iterator[RecordedAnswer]:
    tests = test_balancer_v2_stable
    build: Callable[[Any], Pool] = tests.build_composable if name == "balancer_v2_composable" else tests.build
    return (_by_numbers(build(now), step) for now, step in tests.recorded_steps(name))


def _eclp_v2(name: str) -> Iterator[RecordedAnswer]:
    for call in read_vectors(name)["calls"]:
        pool = test_balancer_v2_eclp.build(call["pool"], tuple(map(int, call["balances"])))
        yield _answer(pool, (TOKENS[call["i"]], TOKENS[1 - call["i"]]), call["amount_in"], call["amount_out"])


def _curve_meta(name: str) -> Iterator[RecordedAnswer]:
    """Have the base pool swap its own coins, as the contract does."""
    del name
    for pool, step in test_curve_meta.recorded_steps():
        swapped = pool.base.pool if step["i"] and step["j"] else pool
        yield _answer(swapped, test_curve_meta.tokens_of(step), step["dx"], step["dy"])


def _cryptoswap(name: str) -> Iterator[RecordedAnswer]:
    for pool, step in test_cryptoswap.recorded_steps(name):
        yield _answer(pool, (TOKENS[step["i"]], TOKENS[step["j"]]), step["dx"], step["dy"])


def _fluid(name: str) -> Iterator[RecordedAnswer]:
    del name
    for pool, step in test_fluid_t1.recorded_steps():
        yield _answer(pool, test_fluid_t1.direction(step), step["amount"], step["amount_out"])


def _dodo(name: str) -> Iterator[RecordedAnswer]:
    del name
    for pool, step in test_dodo_v2.recorded_steps():
        yield _answer(pool, test_dodo_v2.direction(step), step[4], step[5])


def _bins(name: str) -> Iterator[RecordedAnswer]:
    del name
    for step, pool in test_infinity_bin_vectors.bin_steps("in"):
        tokens = test_infinity_vectors.direction(step["swap_for_y"])
        yield _answer(pool, tokens, step["amount"], step.get("amount_out"))


def _concentrated(name: str) -> Iterator[RecordedAnswer]:
    """Leave out swaps with a price limit, and take a partial fill for a refusal, as a router has to."""
    del name
    for step, pool in test_infinity_vectors.concentrated_steps("in"):
        outcome = test_infinity_vectors.concentrated_outcome(step)
        if outcome != "limited":
            expected = step["amount_out"] if outcome == "swap" else None
            yield _answer(pool, test_infinity_vectors.direction(step["zero_for_one"]), step["amount"], expected)


def _launched(name: str) -> Iterator[RecordedAnswer]:
    recorded = test_clanker_volatility if name == "clanker_dynamic" else test_uniswap_v4_hooked
    for pool, tokens, amount_in, amount_out in recorded.recorded_swaps(name):
        yield _answer(pool, tokens, amount_in, amount_out)


def _liquidity_book(name: str) -> Iterator[RecordedAnswer]:
    del name
    for step, pool in test_liquidity_book.recorded_steps():
        tokens = pool.tokens if step["swap_for_y"] else pool.tokens[::-1]
        yield _answer(pool, (tokens[0], tokens[1]), step["amount"], step.get("amount_out"))


def _solidly_v1(name: str) -> Iterator[RecordedAnswer]:
    for recorded in read_vectors(name)["pools"]:
        for reserves, sold, amount_in, amount_out in recorded["steps"]:
            pool = test_solidly_v1.as_recorded(recorded, reserves)
            yield _answer(pool, (TOKENS[sold], TOKENS[1 - sold]), amount_in, amount_out)


def _plain_stableswap(name: str) -> Iterator[RecordedAnswer]:
    for recorded in read_vectors(name)["pools"]:
        pool = test_stableswap.plain_pool(recorded)
        for step in recorded["steps"]:
            yield _by_numbers(pool, step)
            pool = test_stableswap.with_reserves(pool, step["reserves"])


def _stableswap(name: str) -> Iterator[RecordedAnswer]:
    del name
    for recorded in test_stableswap.recorded_exchanges():
        pool = test_stableswap.as_recorded(recorded)
        for i, j, dx, dy, balances_after in recorded["steps"]:
            yield _answer(pool, (pool.tokens[i], pool.tokens[j]), dx, dy)
            pool = test_stableswap.with_reserves(pool, balances_after)


def _recorded_swaps(name: str) -> Iterator[RecordedAnswer]:
    for swap in replay_recorded_swaps(vectors_file(name)):
        yield RecordedAnswer(swap.pool, swap.pool.family, swap.expected, swap.amount_out)


REPLAYS: Final[Mapping[str, Replay]] = MappingProxyType(
    {
        **dict.fromkeys(names_of_recorded_swaps(), _recorded_swaps),
        "balancer_v2_composable": _stable_v2,
        "balancer_v2_stable": _stable_v2,
        "balancer_v3_gyro_2clp": _of_vault_v3(test_balancer_v3_gyro.build_2clp),
        "balancer_v3_gyro_eclp": _of_vault_v3(test_balancer_v3_gyro.build_eclp),
        "balancer_v3_reclamm": _of_vault_v3(test_balancer_v3_gyro.build_reclamm),
        "balancer_v3_stable": _of_vault_v3(test_balancer_v3_stable.build_stable),
        "balancer_v3_stable_boosted": _of_vault_v3(test_balancer_v3_boosted.build_boosted),
        "balancer_v3_stable_surge": _of_vault_v3(test_balancer_v3_stable.build_surge),
        "balancer_v3_weighted": _of_vault_v3(test_balancer_v3_weighted.build),
        "clanker_dynamic": _launched,
        "clanker_static": _launched,
        "curve_meta": _curve_meta,
        "dodo_v2": _dodo,
        "fluid_dex_t1": _fluid,
        "gyro_v2_eclp": _eclp_v2,
        "infinity_bin": _bins,
        "infinity_cl": _concentrated,
        "liquidity_book": _liquidity_book,
        "solidly_v1": _solidly_v1,
        "stableswap": _stableswap,
        "stableswap_plain": _plain_stableswap,
        "tricrypto": _cryptoswap,
        "twocrypto": _cryptoswap,
    }
)
"""How the swaps of each file are replayed, by its name: those in the common form without a row."""


def replay_vectors(name: str) -> Iterator[RecordedAnswer]:
    """Yield every swap of a file of `vectors`."""
    return REPLAYS[name](name)


def source_of(name: str) -> str:
    """Return the contract, and where its answers are from."""
    return str(_document(name)["source"])


def count_states(name: str, family: str) -> int:
    """Return how many pools of a family a file has."""
    document = _document(name)
    pools = document.get("pools") or {call["pool"]: call for call in document["calls"]}.values()
    # Only the pairs of Solidly are of two families; a metapool and its base pool are recorded together.
    return sum(pool.get("stable") in (None, family == "solidly_stable") for pool in pools)


def _document(name: str) -> Mapping[str, Any]:
    file = VECTORS / f"{name}.json"
    document: Mapping[str, Any] = json.loads(file.read_text()) if file.exists() else read_vectors(name)
    return document
