"""Revisions quote the same orders in turn, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.orders.__main__ import main
from bench.orders.in_turn import Revision, checkout, quote_world, revisions
from bench.running import BenchmarkFailed
from bench.worlds.world import World, WorldOrder
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.quoting.open_market import open_market
from tests.support.testnet import USDC, WETH, build_market_document

ROOT = Path(__file__).parents[3]

FORMER_MODULES = {
    "errors": "class SwapcliError(Exception): pass",
    "model/order": """
from collections import namedtuple
Order = namedtuple("Order", "token_in token_out amount reverse")
""",
    "networks/catalogue": "def find_network(name): return name",
    "engine/open_market": """
class Opened:
    class market:
        class Token:
            decimals = 6
        class Tokens:
            def __getitem__(self, address): return Opened.market.Token
        tokens = Tokens()
def open_market(name, networks, document): return Opened
""",
    "routing/router": """
from swapcli.errors import SwapcliError
class Quote:
    def __init__(self, order, gas):
        self.amount_in, self.amount_out, self.gas_units = order.amount, order.amount * 2 + gas, 90_000
        self.wei_usd, self.price_in_usd, self.price_out_usd = 3e-15, 1.0, 2.0
class Router:
    def __init__(self, market): self.market = market
    def warm(self): pass
    def quote(self, order, gas_price_wei):
        if order.amount == 13: raise SwapcliError
        return Quote(order, gas_price_wei)
""",
}


@pytest.fixture
def former(tmp_path: Path) -> Path:
    """A tree with the layout of revisions before `swapcli.core`."""
    package = tmp_path / "former" / "swapcli"
    for name, text in FORMER_MODULES.items():
        file = package / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for folder in (package, *(each for each in package.iterdir() if each.is_dir())):
        (folder / "__init__.py").write_text("")
    return package.parent


def small_world() -> World:
    market = open_market("testnet", find_network, document=json.dumps(build_market_document()).encode()).market
    orders = (WorldOrder(WETH, USDC, 10**18), WorldOrder(USDC, WETH, 3 * 10**9), WorldOrder(USDC, WETH, 13))
    return World("real", "small", market, orders)


def test_quotes_are_those_of_the_program_and_of_a_former_layout(former: Path, tmp_path: Path) -> None:
    world = small_world()
    compared = [Revision("this", ROOT), Revision("former", former)]
    first, exact, second, exact_too = quote_world(world, compared, [0.0, 1.0], 2, tmp_path, exact_output=2)
    for quotes, gas in ((first, 0), (second, 10**9)):
        for order, row in zip(quotes.orders, quotes.rows[0], strict=True):
            tokens = world.market.tokens
            wanted = Order(tokens[order.token_in], tokens[order.token_out], order.amount)
            if order.amount > 13:
                assert row.amount_out == Router(world.market).quote(wanted, gas_price_wei=gas).amount_out
        assert [row[1:] for row in quotes.rows[1]] == [
            (10**18, 2 * 10**18 + gas, 90_000, 3e-15, 2e-6),
            (3 * 10**9, 6 * 10**9 + gas, 90_000, 3e-15, 2e-6),
            (0, 0, 0, 0.0, 0.0),
        ]
    for forward, reverse in ((first, exact), (second, exact_too)):
        assert [(order.amount, order.reverse) for order in reverse.orders] == [
            (row.amount_out, True) for row in forward.rows[0][:2]
        ]


def test_a_revision_that_does_not_start_or_is_not_known_is_reported(tmp_path: Path) -> None:
    (tmp_path / "swapcli").mkdir()
    (tmp_path / "swapcli" / "__init__.py").write_text("raise SystemExit")
    with pytest.raises(BenchmarkFailed, match="revision broken did not start on world_small"):
        quote_world(small_world(), [Revision("broken", tmp_path)], [0.0], 1, tmp_path)
    with pytest.raises(BenchmarkFailed, match="no-such-revision"), revisions(["no-such-revision"], tmp_path):
        pass


def test_a_checkout_has_the_program_of_a_revision(tmp_path: Path) -> None:
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    if known.returncode:
        pytest.skip("this is no checkout")
    assert (checkout("HEAD", tmp_path) / "swapcli" / "core" / "routing" / "router.py").is_file()
    assert checkout(str(tmp_path), tmp_path) == tmp_path.resolve()


@pytest.mark.slow
def test_the_command_prints_what_differs(former: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.json"
    command = ["--worlds", "real", "--orders", "2", "--gas", "1", "--rounds", "1", "--exact-output", "1"]
    assert main([*command, "--against", str(former), "--json", str(rows)]) == 0
    printed = capsys.readouterr().out
    assert "gas 1 gwei, 2 orders, 0 without a route; CPU ms mean" in printed
    assert "gas 1 gwei, 1 exact output" in printed
    assert f"CPU to {former}: mean" in printed
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [len(each["rows"]["this"]) for each in found] == [2, 1]
    with pytest.raises(SystemExit):
        main(["--worlds", "imaginary"])
    assert sys.executable
