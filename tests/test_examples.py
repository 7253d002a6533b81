"""The programs and the notebook of `examples`, run as a user runs them."""

from __future__ import annotations

import ast
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from tests.support.service_process import run_service

EXAMPLES = Path(__file__).parents[1] / "examples"
TIMEOUT_S = 60
RUN_BY = {
    "bot_each_block.py": "tests/chain/test_bot_example.py",
    "rebalance.py": __name__,
    "service_client.py": __name__,
    "batch.py": __name__,
    "batch_on_dask.py": __name__,
    "quotes.ipynb": __name__,
    "kubernetes.yaml": "tests/test_kubernetes.py",
    "kubernetes-monitoring.yaml": "tests/test_kubernetes.py",
    "prometheus-rules.yaml": "tests/test_alert_rules.py",
    "grafana.json": "tests/test_grafana.py",
    "compose.yaml": "tests/test_deployment.py",
    "nginx.conf": "tests/faces/service/test_unnamed_proxy.py",
}
"""Which test runs each example."""


def run(name: str, *words: str, home: Path) -> str:
    """Run an example with a home directory of its own; return what it printed."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "SWAPCLI_LIVE": "never"}
    command = [sys.executable, str(EXAMPLES / name), *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    ).stdout


def test_every_example_is_run() -> None:
    assert {file.name for file in EXAMPLES.iterdir() if file.is_file()} == set(RUN_BY)


@pytest.mark.slow
def test_the_notebook_runs_cell_by_cell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    notebook = json.loads((EXAMPLES / "quotes.ipynb").read_text())
    names: dict[str, Any] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), "<cell>", "eval"), names))
    names["market"].close()
    market, quote, depth, compared, row, transaction = shown
    assert "Market base" in repr(market)
    assert "<svg" in quote._repr_html_()
    assert len(depth) == 4
    assert ("split", "", quote.amount_out) in compared
    assert row["liquidityUsd"] > 0
    assert transaction["chainId"] == 8453


def test_the_rebalancer_sells_what_is_too_much(tmp_path: Path) -> None:
    printed = run("rebalance.py", "base", "ETH=2:20", "USDC=1000:30", "cbBTC=0.001:50", home=tmp_path)
    first, second = printed.splitlines()
    assert re.fullmatch(r"sell 1\.\d+ ETH for at least \d+ units of USDC", first)
    assert re.fullmatch(r"sell \d+\.\d+ USDC for at least \d+ units of cbBTC", second)


def test_the_client_of_a_service_gets_one_answer_twice(tmp_path: Path) -> None:
    with run_service("--offline") as service:
        printed = run("service_client.py", service.url, "base", "ETH", "USDC", "1.5", home=tmp_path)
        with Market.service("base", api_url=service.url) as market:
            quote = market.quote("ETH", "USDC", "1.5")
    (_, library), (_, http) = (line.split() for line in printed.splitlines())
    assert library == http
    assert int(http) == quote.amount_out
    copied = pickle.loads(pickle.dumps(quote))
    assert (copied, hash(copied), copied._repr_html_()) == (quote, hash(quote), quote._repr_html_())


def test_the_batch_goes_on_after_its_results(tmp_path: Path) -> None:
    orders, results = tmp_path / "orders.jsonl", tmp_path / "results.jsonl"
    lines = [
        {
            "id": number,
            "tokenIn": "ETH",
            "tokenOut": "USDC" if number != 3 else "NOPE",
            "inputAmount": str(10**18 + number),
        }
        for number in range(12)
    ]
    orders.write_text("".join(json.dumps(each) + "\n" for each in lines))
    assert run("batch.py", "base", str(orders), str(results), home=tmp_path) == ""
    whole = results.read_text()
    assert [json.loads(line)["id"] for line in whole.splitlines()] == list(range(12))
    assert "NOPE" in json.loads(whole.splitlines()[3])["error"]
    results.write_text("".join(whole.splitlines(keepends=True)[:5]))
    run("batch.py", "base", str(orders), str(results), home=tmp_path)
    assert results.read_text() == whole


@pytest.mark.slow
def test_the_batch_on_a_cluster_of_dask(tmp_path: Path) -> None:
    printed = run("batch_on_dask.py", home=tmp_path).splitlines()
    assert [float(line.split()[0]) for line in printed] == list(range(1, 41))
