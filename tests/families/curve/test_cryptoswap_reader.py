"""Cryptoswap pools are read in one round, as they were recorded; unknown versions are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.families.curve import cryptoswap_reader as cryptoswap
from swapcli.families.reading.calls import MULTICALL3
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.chain.node.recorded_curve import MATHS, RecordedCurvePool
from tests.families.curve.test_cryptoswap import as_recorded
from tests.families.recorded import read_vectors

PROTOCOL = ProtocolInfo(1, "test", "Test", "cryptoswap")
FACTORY = Factory("0x" + "fa" * 20, "cryptoswap", (PROTOCOL,))


def recorded() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield a pool and a step of every pool, half of them in a ramp."""
    for name in ("twocrypto", "tricrypto"):
        for pool in read_vectors(name)["pools"]:
            steps = [step for step in pool["steps"] if step["dy"]]
            yield pool, max(steps, key=lambda step: step["before"]["future_A_gamma_time"] - step["timestamp"])


def found(contract: RecordedCurvePool) -> PoolRef | SkippedItem:
    (ref,) = run_batched([(ADDRESS, cryptoswap.read_constants(FACTORY, ADDRESS))], contract.send)
    return ref


def read(contract: RecordedCurvePool, ref: PoolRef) -> Pool | SkippedItem:
    (pool,) = run_batched([(ADDRESS, cryptoswap.load(ref))], contract.send)
    return pool


def test_pools_are_found_and_read_as_recorded() -> None:
    in_ramp = 0
    for pool, step in recorded():
        contract = RecordedCurvePool(pool, step)
        ref = found(contract)
        assert isinstance(ref, PoolRef)
        assert ref.tokens == TOKENS[: pool["n_coins"]]
        contract.rounds = 0
        state = read(contract, ref._replace(decimals=tuple(pool["decimals"])))
        assert state == as_recorded(pool, step)
        assert contract.rounds == 1
        in_ramp += as_recorded(pool, step).parameters.ramp_seconds_left is not None
    assert in_ramp > 10


def test_a_known_pool_is_read_again_in_one_round() -> None:
    pool, step = next(recorded())
    contract, known = RecordedCurvePool(pool, step), as_recorded(pool, step)
    bare = PoolRef(ADDRESS, "test", "cryptoswap", "cryptoswap", known.tokens, known.decimals, known.fee_ppm)
    assert read(contract, cryptoswap.complete_ref(bare, known)) == known
    assert contract.rounds == 1
    assert read(contract, bare) == known
    assert contract.rounds == 4


@pytest.mark.parametrize(
    ("of_pool", "of_maths", "reason"),
    [
        ("v2.1.0d", "v2.1.0d", "the pool has version v2.1.0d, its maths contract has v2.1.0d"),
        ("v3.0.0", "v0.1.1", "version v3.0.0 is not supported"),
        ("v2.1.0", "v2.0.0", "the pool has version v2.1.0, its maths contract has v2.0.0"),
        ("v2.1.0", "v0.1.0", "the pool has version v2.1.0, its maths contract has v0.1.0"),
    ],
)
def test_other_versions_are_left_out_with_the_reason(of_pool: str, of_maths: str, reason: str) -> None:
    contract = RecordedCurvePool(*next(recorded()))
    contract.put_version(ADDRESS, of_pool)
    contract.put_version(MATHS, of_maths)
    skipped = found(contract)
    assert isinstance(skipped, SkippedItem)
    assert reason in skipped.reason


def test_a_ramp_is_not_read_without_the_time() -> None:
    pool, step = next(each for each in recorded() if each[1]["before"]["future_A_gamma_time"])
    contract = RecordedCurvePool(pool, step)
    contract.answers = {key: answer for key, answer in contract.answers.items() if key[0] != MULTICALL3}
    ref = found(contract)
    assert isinstance(ref, PoolRef)
    skipped = read(contract, ref._replace(decimals=tuple(pool["decimals"])))
    assert isinstance(skipped, SkippedItem)
    assert "the block's time, on which" in skipped.reason
