"""The peer really runs: Tines from npm, on a market whose optimum is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.optimum import peer
from bench.optimum.bound import Market
from bench.optimum.gen_market import write_market
from bench.optimum.peer import PeerRoute, evaluate, install, read_routes, run_peer
from bench.optimum.real_market import read_document, read_orders
from bench.running import BenchmarkFailed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert install() == "@sushiswap/tines@1.0.11"
    return write_market(30, 1, tmp_path_factory.mktemp("peer"))


def test_the_peer_routes_all_orders_within_the_bound(market: Path, tmp_path: Path) -> None:
    curves, orders = Market(read_document(market)), read_orders(market)
    routes = run_peer(market, tmp_path / "tines.json", passes=2)
    assert [route.id for route in routes] == [order["id"] for order in orders]
    assert all(route.median_ms > 0.0 for route in routes)
    paid = [amount for _, amount in evaluate(curves, orders, routes)]
    bounds = [curves.bound(order["token_in"], order["token_out"], int(order["amount_in"])).bound for order in orders]
    ratios = [amount / bound for amount, bound in zip(paid, bounds, strict=True) if amount]
    assert len(ratios) > 10
    assert max(ratios) <= 1.0 + 1e-9
    assert sorted(ratios)[len(ratios) // 2] > 0.999
    # What Tines expects of its routes is what the judge's curves pay: two implementations agree on the pools.
    assert [route.claimed_out for route, amount in zip(routes, paid, strict=True) if amount] == pytest.approx(
        [amount for amount in paid if amount], rel=1e-5, abs=1.0
    )


def test_one_flow_is_one_path(market: Path, tmp_path: Path) -> None:
    one = run_peer(market, tmp_path / "one.json", flows=1)
    many = run_peer(market, tmp_path / "many.json")
    assert all(leg[3] == 1.0 for route in one for leg in route.legs)
    assert any(leg[3] < 1.0 for route in many for leg in route.legs)
    assert all(a.claimed_out <= b.claimed_out * (1 + 1e-9) for a, b in zip(one, many, strict=True))


def test_other_orders_may_be_named(market: Path, tmp_path: Path) -> None:
    orders = tmp_path / "some.ndjson"
    orders.write_text("".join(json.dumps(order) + "\n" for order in read_orders(market)[:2]))
    assert [route.id for route in run_peer(market, tmp_path / "out.json", orders=orders)] == [0, 1]


def test_a_partial_route_and_one_that_repeats_a_pool(market: Path) -> None:
    document = read_document(market)
    pool = next(pool for pool in document["pools"] if pool["family"] == "constant_product")
    sold, bought = pool["tokens"]
    order = {"id": 3, "token_in": sold, "token_out": bought, "amount_in": "1000000"}
    leg = (pool["address"], sold, bought, 1.0)
    partial = PeerRoute(3, "Partial", 10, 5.0, (leg,), 1.0)
    twice = PeerRoute(3, "Success", 1_000_000, 5.0, (leg, leg), 1.0)
    found = dict(evaluate(Market(document), [order], [partial, twice]))
    assert found == {partial: None, twice: 5.0}


def test_a_missing_market_or_result_is_told(tmp_path: Path) -> None:
    (tmp_path / "orders_x.ndjson").write_text("")
    with pytest.raises(BenchmarkFailed, match="exited with status 1"):
        run_peer(tmp_path / "market_x.json", tmp_path / "out.json")
    with pytest.raises(BenchmarkFailed, match=r"none\.json has no routes of the peer"):
        read_routes(tmp_path / "none.json")


def test_an_installation_is_made_once(market: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    del market  # installed
    monkeypatch.setenv("PATH", "")
    assert install().startswith("@sushiswap/tines@")
    (tmp_path / "package-lock.json").write_text("{}")
    monkeypatch.setattr(peer, "_FOLDER", tmp_path)
    with pytest.raises(BenchmarkFailed, match="cannot run npm"):
        install()
