"""Hindsight over the recorded swaps, as an archive node has them: each is explained, or named with the reason."""

from __future__ import annotations

from collections import Counter

import pytest

from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.verification.hindsight import look_back, summarize
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.swap_verification import Outcome
from tests.chain.node.server import node_of, serving
from tests.recorded.archive_node import RecordedChain

MIN_EXPLAINED, MIN_EQUAL, MIN_NAMED = 30, 25, 200


@pytest.mark.slow
def test_each_recorded_swap_is_explained_or_named() -> None:
    chain = RecordedChain()
    known = InMemorySource(chain.market, SYSTEM_CLOCK)
    with serving(chain.answer) as server, node_of(server) as node:
        found = list(look_back(node, known, [each.hash for each in chain.transactions]))
    explained, named, equal = Counter[str](), Counter[str](), 0
    for mined, swap in zip(chain.transactions, found, strict=True):
        if not mined.is_served:
            assert not swap.is_explained
            assert "its pool is unknown" in swap.reason
            named[swap.reason] += 1
            continue
        if swap.is_explained:
            explained[mined.pool.family] += 1
            assert swap.amount_out == mined.amount_out
            assert swap.difference_bps is not None
            assert swap.verification is not None
            if swap.verification.count(Outcome.EQUAL):
                equal += 1
                assert swap.difference_bps >= -0.01, "the pool itself is among those of the best route"
        else:
            assert "no best route" in swap.reason
            named[swap.reason] += 1
    assert set(explained) == {"constant_product", "concentrated"}
    assert explained.total() >= MIN_EXPLAINED
    assert equal >= MIN_EQUAL
    assert named.total() >= MIN_NAMED
    summary = summarize(found)
    assert (summary.explained, summary.not_explained) == (explained.total(), named.total())
