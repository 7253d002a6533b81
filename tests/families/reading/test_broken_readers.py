"""Chaos: the reader of each kind of contract fails in turn, and costs this pool only."""

from __future__ import annotations

from typing import Final

import pytest

from swapcli.core.errors import Cancelled, Unreachable
from swapcli.core.model.contract_kind import ContractKind
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.lockstep_reads import FaultyItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.constant_product import ConstantProduct
from tests.chain.node.evm_node import view_of
from tests.families.real_pools import ContractFixture, RealPair
from tests.support.faults import DEFECT, ERRORS, READER_STAGES, break_reader

BROKEN = "0x" + "bb" * 20


@pytest.fixture(scope="module")
def pair() -> RealPair:
    pair = RealPair(ContractFixture())
    pair.fill(10**20, 10**20)
    return pair


def ref_of(pair: RealPair) -> PoolRef:
    identity = pair.world.identity(pair.contract.address, 3_000)
    return PoolRef(
        identity.address, "test", "constant_product", ContractKind.UNISWAP_V2, identity.tokens, identity.decimals, 3_000
    )


def broken_ref(kind: str, pair: RealPair) -> PoolRef:
    """Return the reference of a pool of a kind; its reader fails before it matters that there is no contract."""
    return ref_of(pair)._replace(address=BROKEN, kind=kind, family=KINDS[kind].families[0])


READABLE: Final[list[str]] = [kind for kind in KINDS if kind != ContractKind.SAMPLED]
"""Sampled pools are read by what the network's definition says of their protocol."""


@pytest.mark.parametrize("kind", READABLE)
def test_a_reader_that_fails_skips_its_pool(kind: str, pair: RealPair, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = ref_of(pair), broken_ref(kind, pair)
    for number, stage in enumerate(READER_STAGES[:2]):
        error = ERRORS[(READABLE.index(kind) + number) % len(ERRORS)]
        with monkeypatch.context() as patched:
            break_reader(patched, kind, bad.key, stage, error)
            before, broken, after = load_pools(view_of(pair.world.chain), [good, bad, good])
        assert isinstance(before, ConstantProduct)
        assert before == after
        assert isinstance(broken, FaultyItem)
        assert broken.key == bad.key
        assert broken.reason.startswith(f"{error.__name__}: ")
        assert DEFECT in broken.reason


def test_a_reader_that_fails_after_a_round_skips_its_pool(pair: RealPair, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = ref_of(pair), broken_ref(ContractKind.UNISWAP_V2, pair)
    break_reader(monkeypatch, ContractKind.UNISWAP_V2, bad.key, READER_STAGES[-1])
    sound, broken = load_pools(view_of(pair.world.chain), [good, bad])
    assert isinstance(sound, ConstantProduct)
    assert broken == FaultyItem(bad.key, f"ValueError: {DEFECT}")


@pytest.mark.parametrize("error", [MemoryError, Cancelled, Unreachable])
def test_errors_of_the_whole_request_end_it(
    error: type[Exception], pair: RealPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reader(monkeypatch, ContractKind.UNISWAP_V2, BROKEN, "first step", error)
    with pytest.raises(error):
        list(load_pools(view_of(pair.world.chain), [broken_ref(ContractKind.UNISWAP_V2, pair)]))
