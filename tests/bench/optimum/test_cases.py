"""Cases are files in a work folder, quoted by the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.optimum.cases import OTHER_PROTOCOLS, Case, generated_case, real_case
from bench.optimum.judged import Exactness
from bench.optimum.measure import exactness_of, results_of
from bench.optimum.quoting import amount_out, proven_bound, quote_batch
from bench.optimum.score import Score, ScoredOrder
from bench.running import BenchmarkFailed
from bench.speed.core_time import time_in_core
from tests.support.testnet import LONELY, USDC, WETH, build_market_document

ORDERS = (
    {"id": 0, "size": "small", "token_in": WETH, "token_out": USDC, "amount_in": str(10**18)},
    {"id": 1, "size": "large", "token_in": USDC, "token_out": WETH, "amount_in": str(10**11)},
    {"id": 2, "size": "small", "token_in": WETH, "token_out": LONELY, "amount_in": "1"},
)


@pytest.fixture
def small_case(tmp_path: Path) -> Case:
    """Copy the small market as a real one, with three orders; the last has no route."""
    source, work = tmp_path / "source", tmp_path / "work"
    source.mkdir()
    work.mkdir()
    (source / "market_small.json").write_text(json.dumps(build_market_document()))
    (source / "orders_small.ndjson").write_text("".join(json.dumps(order) + "\n" for order in ORDERS) + "\n")
    return real_case(source / "market_small.json", work, 100)


def test_a_real_market_is_copied_with_the_required_keys(small_case: Case) -> None:
    assert (small_case.network, small_case.excluded) == ("testnet", ())
    assert json.loads(small_case.market.read_text()) == build_market_document()
    lines = [json.loads(line) for line in small_case.orders.read_text().splitlines()]
    assert lines == [{"kind": "real", **order} for order in ORDERS]
    assert [(order.id, order.size, order.amount_in) for order in small_case.read_orders()] == [
        (0, "small", 10**18),
        (1, "large", 10**11),
        (2, "small", 1),
    ]


def test_a_generated_market_has_the_file_names_of_its_generator(tmp_path: Path) -> None:
    case = generated_case(20, 7, tmp_path)
    assert (case.market.name, case.orders.name) == ("market_20_s7.json", "orders_20_s7.ndjson")
    assert case.excluded == OTHER_PROTOCOLS


def test_certificates_do_not_change_routes(small_case: Case) -> None:
    plain = results_of(quote_batch(small_case, "routes"))
    proofs = results_of(quote_batch(small_case, "certified", certify=True))
    assert [amount_out(plain[order]) for order in range(3)] == [amount_out(proofs[order]) for order in range(3)]
    assert amount_out(plain[2]) is proven_bound(proofs[2]) is None
    for order in (0, 1):
        claim, bound = amount_out(plain[order]), proven_bound(proofs[order])
        assert claim is not None
        assert bound is not None
        assert 0 < claim <= bound < 1.01 * claim


def test_time_in_the_core_is_taken_of_every_order_in_every_pass(small_case: Case) -> None:
    times = time_in_core(small_case, 2)
    assert [len(row) for row in times] == [3, 3]
    assert all(milliseconds > 0 for row in times for milliseconds in row)


EXACT = (*[True] * 8, *[None] * 9, *[False] * 2)


def test_exactness_is_a_share_of_what_could_be_replayed() -> None:
    rows = tuple(ScoredOrder(k, "small", 1, is_exact, None, 1.0, 1, 1) for k, is_exact in enumerate(EXACT))
    found = exactness_of(Score(20, rows, ((3, "no route"),)))
    assert found.share == 80.0
    assert found.errors == ("order 3: no route",)
    assert Exactness(2, 2, 0, 2, ()).share == 100.0


def test_few_orders_of_a_real_market_are_evenly_chosen(small_case: Case, tmp_path: Path) -> None:
    few = tmp_path / "few"
    few.mkdir()
    case = real_case(tmp_path / "source" / "market_small.json", few, 2)
    assert [order.id for order in case.read_orders()] == [0, 2]
    assert len(small_case.read_orders()) == 3


def test_a_real_market_without_orders_is_refused(tmp_path: Path) -> None:
    (tmp_path / "market_none.json").write_text(json.dumps(build_market_document()))
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(BenchmarkFailed, match=r"orders_none\.ndjson"):
        real_case(tmp_path / "market_none.json", work, 100)
    (tmp_path / "orders_none.ndjson").touch()
    with pytest.raises(BenchmarkFailed, match="there are no orders"):
        real_case(tmp_path / "market_none.json", work, 100)
