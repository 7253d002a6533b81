"""The benchmark of the proof net of gas."""

from __future__ import annotations

from bench.optimum.net_proof import prove, table
from swapcli.core.routing.router import Router
from tests.support.pools import build_order, build_random_market


def test_proofs_of_a_random_market_have_their_figures() -> None:
    market = build_random_market(3)
    orders = [build_order(market, 0, 1, 10**power) for power in (16, 18, 20)]
    proofs = list(prove(Router(market), orders, 10**9))
    assert proofs
    assert all(each.gap_bps >= 0.0 and each.proof_s > 0.0 for each in proofs)
    assert f"of {len(proofs)} complete" in table(proofs)[-1]
