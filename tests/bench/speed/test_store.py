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

MAKER = """
import sys
from pathlib import Path
pools, seed, out = (sys.argv[sys.argv.index(name) + 1] for name in ("--sizes", "--seed", "--out"))
here = Path(__file__).parent
for kind in ("market.json", "orders.ndjson"):
    name, _, ending = kind.partition(".")
    Path(out, f"{name}_{pools}_s{seed}.{ending}").write_text((here / kind).read_text())
"""


@pytest.fixture
def maker(tmp_path: Path) -> Path:
    """Return a folder with a generator that writes the same small market for any arguments."""
    folder = tmp_path / "maker"
    folder.mkdir()
    (folder / "gen_market.py").write_text(MAKER)
    document = build_market_document()
    document["network"]["name"] = "synthetic"
    (folder / "market.json").write_text(json.dumps(document))
    write_orders(folder, [(WETH, USDC, 10**18), (USDC, WETH, 10**9), (WETH, USDC, 10**19), (USDC, WETH, 10**11)])
    return folder


def write_orders(folder: Path, orders: list[tuple[str, str, int]]) -> None:
    lines = [
        {"id": number, "size": size, "token_in": sold, "token_out": bought, "amount_in": str(amount)}
        for number, (size, (sold, bought, amount)) in enumerate(zip(SIZES, orders, strict=False))
    ]
    (folder / "orders.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.slow
def test_every_order_is_quoted_on_every_store_by_the_command(maker: Path, tmp_path: Path) -> None:
    runs_a_size = examples(1, full=2)
    found = measure_store(tmp_path, maker, runs_a_size, (5, 6))
    assert [result.pools for result in found] == [5, 6]
    for result in found:
        assert [size for size, _ in result.runs] == list(SIZES)
        assert all(len(runs.times_s) == runs_a_size for _, runs in result.runs)
        assert 10e6 < result.peak_bytes < 120e6
        assert result.file_bytes > 0
        assert result.import_s > 0
        assert [part.size for part in result.parts] == list(SIZES)
        assert all(part.gap_bps == 0 and part.read_ms > 0 for part in result.parts)
    case = generated_case(5, 1, tmp_path)
    with open_store(str(_file(case)), find_network, case.network) as store:
        assert len(store.read_market().pools) == found[0].parts[0].pools


def test_the_command_uses_only_the_store_of_its_case(tmp_path: Path) -> None:
    few, many = generated_case(5, 1, tmp_path), generated_case(6, 1, tmp_path)
    assert _file(few).parent != _file(many).parent
    assert _file(few).stem == few.network
    (tmp_path / few.orders.name).write_text(
        json.dumps({"id": 0, "size": "small", "token_in": WETH, "token_out": USDC, "amount_in": "12"})
    )
    command = [str(word) for word in _command(few, few.read_orders()[0])]
    assert command[1:6] == ["route", few.network, WETH, USDC, "12"]
    assert command[command.index("--store") + 1] == str(_file(few).parent)


def test_an_order_without_a_route_is_not_timed(maker: Path, tmp_path: Path) -> None:
    write_orders(maker, [(WETH, LONELY, 10**18)])
    with pytest.raises(BenchmarkFailed, match="ended with status 3"):
        measure_store(tmp_path, maker, 1, (5,))


def test_times_are_medians_of_medians_by_size() -> None:
    runs = [("small", Runs((1.0, 9.0, 2.0), 5)), ("small", Runs((4.0,), 7)), ("huge", Runs((100.0, 100.0), 6))]
    result = StoreResult(10, 1, 1.0, tuple(runs), (Part("small", None, 1, 1.0),))
    assert result.time_s("small") == 3.0
    assert result.time_s("huge") == 100.0
    assert result.time_s() == 4.0
    assert result.peak_bytes == 7
