"""Benchmarks of stores time the real command, and measure the loss of quoting on candidate pools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.optimum.cases import SIZES, generated_case
from bench.running import BenchmarkFailed
from bench.speed.store import Part, StoreResult, _command, _file, measure_store
from bench.speed.whole_process import Runs
from swapcli.core.networks.catalogue import find_network
from swapcli.state.store import open_store
from tests.examples import examples
from tests.support.testnet import LONELY, USDC, WETH, build_market_document


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a work folder in which a small market stands for the generated ones of five and six pools."""
    document = build_market_document()
    document["network"]["name"] = "synthetic"
    for pools in (5, 6):
        (tmp_path / f"market_{pools}_s1.json").write_text(json.dumps(document))
    write_orders(tmp_path, [(WETH, USDC, 10**18), (USDC, WETH, 10**9), (WETH, USDC, 10**19), (USDC, WETH, 10**11)])
    return tmp_path


def write_orders(folder: Path, orders: list[tuple[str, str, int]]) -> None:
    lines = [
        {"id": number, "size": size, "token_in": sold, "token_out": bought, "amount_in": str(amount)}
        for number, (size, (sold, bought, amount)) in enumerate(zip(SIZES, orders, strict=False))
    ]
    for pools in (5, 6):
        (folder / f"orders_{pools}_s1.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.slow
def test_every_order_is_quoted_on_every_store_by_the_command(work: Path) -> None:
    runs_a_size = examples(1, full=2)
    found = measure_store(work, 1, runs_a_size, (5, 6))
    assert [result.pools for result in found] == [5, 6]
    for result in found:
        assert [size for size, _ in result.runs] == list(SIZES)
        assert all(len(runs.times_s) == runs_a_size for _, runs in result.runs)
        assert 10e6 < result.peak_bytes < 120e6
        assert result.file_bytes > 0
        assert result.import_s > 0
        assert [part.size for part in result.parts] == list(SIZES)
        assert all(part.gap_bps == 0 and part.read_ms > 0 for part in result.parts)
    case = generated_case(5, 1, work)
    with open_store(str(_file(case)), find_network, case.network) as store:
        assert len(store.read_market().pools) == found[0].parts[0].pools


def test_the_command_uses_only_the_store_of_its_case(work: Path) -> None:
    few, many = generated_case(5, 1, work), generated_case(6, 1, work)
    assert _file(few).parent != _file(many).parent
    assert _file(few).stem == few.network
    write_orders(work, [(WETH, USDC, 12)])
    command = [str(word) for word in _command(few, few.read_orders()[0])]
    assert command[1:6] == ["route", few.network, WETH, USDC, "12"]
    assert command[command.index("--store") + 1] == str(_file(few).parent)


def test_an_order_without_a_route_is_not_timed(work: Path) -> None:
    write_orders(work, [(WETH, LONELY, 10**18)])
    with pytest.raises(BenchmarkFailed, match="exited with status 3"):
        measure_store(work, 1, 1, (5,))


def test_times_are_medians_of_medians_by_size() -> None:
    runs = [("small", Runs((1.0, 9.0, 2.0), 5)), ("small", Runs((4.0,), 7)), ("huge", Runs((100.0, 100.0), 6))]
    result = StoreResult(10, 1, 1.0, tuple(runs), (Part("small", None, 1, 1.0),))
    assert result.time_s("small") == 3.0
    assert result.time_s("huge") == 100.0
    assert result.time_s() == 4.0
    assert result.peak_bytes == 7
