"""What is said of limited searches. How long they take is not tested."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.speed.solve_time import Answer, Limited, busy_processes, line_of, main, percentile, quote_all
from bench.worlds.random_pairs import PairOrder
from tests.support.pools import UNIT, build_random_market
from tests.support.testnet import WETH, build_market_document

OUTPUTS = st.just(0) | st.integers(10**10, 10**12)


@given(st.lists(st.tuples(OUTPUTS, OUTPUTS), min_size=1).filter(lambda rows: any(free for _, free in rows)))
def test_losses_are_those_of_orders_with_a_route(rows: list[tuple[int, int]]) -> None:
    orders = [PairOrder("a", "b", k + 1, 1.0) for k in range(len(rows))]
    limited = Limited(0.1, 3, orders, [Answer(out, 0.1) for out, _ in rows], [Answer(free, 1.0) for _, free in rows])
    losses = limited.losses_bps()
    assert len(losses) == sum(free > 0 for _, free in rows)
    assert limited.no_routes == losses.count(1e4) == sum(out == 0 < free for out, free in rows)
    assert limited.worst[0] == max(losses) == percentile(losses, 1.0)
    assert f"{max(losses):.3f}" in line_of(limited)


def test_quotes_without_a_limit_are_always_the_same() -> None:
    market = build_random_market(7, every_family=True)
    pairs = [(a, b) for a in market.tokens for b in market.tokens if a != b]
    orders = [PairOrder(*pair, UNIT, 1.0) for pair in pairs]
    first, again = (quote_all(market, orders, None) for _ in range(2))
    assert [answer.amount_out for answer in first] == [answer.amount_out for answer in again]
    assert any(answer.amount_out for answer in first)


def test_busy_processes_end_with_their_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[call-overload]
            started.append(self)

    monkeypatch.setattr("bench.speed.solve_time.subprocess.Popen", Recorded)
    with busy_processes(2):
        assert [process.poll() for process in started] == [None, None]
    assert all(process.returncode is not None for process in started)


def test_the_command_prints_each_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, rows = build_market_document(), tmp_path / "rows.json"
    for token in document["tokens"]:
        token["price_usd"] = 2000.0 if token["address"] == WETH else 1.0
    (tmp_path / "market_small.json").write_text(json.dumps(document))
    market = str(tmp_path / "market_small.json")
    command = ["--market", market, "--orders", "4", "--limits", "0.5,5", "--busy", "0", "--json", str(rows)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "small, 4 orders, seed 1" in printed
    assert [json.loads(line)["limit_s"] for line in rows.read_text().splitlines()] == [0.5] * 4 + [5.0] * 4
    assert main(["--market", str(tmp_path / "nowhere.json")]) == 1
    assert "nowhere.json: No such file" in capsys.readouterr().err
