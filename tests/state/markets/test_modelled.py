"""The generator of the embedded markets writes the same bytes on every machine and checks its tables."""

from __future__ import annotations

import decimal
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from swapcli.core.model.network import Network
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.state.markets import embedded
from swapcli.state.markets.embedded import embedded_market, embedded_names
from tests.generate.markets import main, modelled_market
from tests.generate.modelling.exact import PRECISION, SeededRandom
from tests.generate.modelling.pools import pool_entry
from tests.generate.modelling.tables import PoolRow, load_table, table_names


@pytest.mark.parametrize("name", network_names())
def test_the_committed_market_equals_the_generated_one(name: str) -> None:
    assert modelled_market(name) == embedded_market(name)


def test_every_network_has_a_table_and_a_market() -> None:
    assert table_names() == embedded_names() == network_names()


@pytest.mark.slow
def test_hash_seed_decimal_context_and_locale_change_nothing() -> None:
    script = (
        "import decimal, sys; decimal.getcontext().prec = 5; decimal.getcontext().rounding = 'ROUND_UP';"
        "from tests.generate.markets import main; sys.exit(main(['--check', 'citrea', 'starknet']))"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.slow
def test_python_and_c_decimals_give_the_same_bytes() -> None:
    script = (
        "import sys; sys.modules['_decimal'] = None; import decimal; assert hasattr(decimal.Decimal.exp, '__code__');"
        "from tests.generate.markets import main; sys.exit(main(['--check']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_modelling_leaves_the_callers_decimal_context_alone() -> None:
    before = decimal.getcontext().prec
    modelled_market("citrea")
    assert decimal.getcontext().prec == before


def test_check_lists_outdated_markets_and_write_updates_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(embedded, "_FOLDER", str(tmp_path / "data"))
    assert main(["citrea"]) == 0
    assert main(["--check", "citrea"]) == 0
    assert capsys.readouterr() == ("", "")
    (tmp_path / "data" / "citrea.json").write_bytes(b"{}")
    assert main(["citrea", "starknet", "--check"]) == 1
    assert "out of date: citrea, starknet" in capsys.readouterr().err
    assert (tmp_path / "data" / "citrea.json").read_bytes() == b"{}"


def test_the_program_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "tests.generate.markets", "--check", "citrea"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", network_names())
def test_a_market_has_one_token_and_one_pool_a_line(name: str) -> None:
    document = json.loads(embedded_market(name))
    assert embedded_market(name).count(b"\n") == 10 + len(document["tokens"]) + len(document["pools"]) - 1


@pytest.mark.parametrize("name", network_names())
def test_tables_price_exactly_the_used_tokens_and_repeat_no_pool(name: str) -> None:
    table, served = load_table(name), find_network(name)
    native, wrapped = served.native.symbol, served.wrapped_native
    used = {symbol for row in table.pools for symbol in row.symbols}
    if wrapped and native in used:
        used = used - {native} | {wrapped.symbol}
    assert set(table.prices_usd) == used
    assert set(table.pegs) <= used
    assert all(price > 0 for price in table.prices_usd.values())
    rows = {(row.amm_name, row.symbols, row.fee_ppm, row.tick_spacing) for row in table.pools}
    assert len(rows) == len(table.pools)
    assert all(row.depth_usd >= 10_000 for row in table.pools)


def test_depths_are_plausible_on_base() -> None:
    table = load_table("base")
    weth_usdc = [row.depth_usd for row in table.pools if set(row.symbols) <= {"WETH", "ETH", "USDC"}]
    assert 30_000_000 < sum(weth_usdc) < 150_000_000
    assert len(weth_usdc) >= 8
    assert sorted(row.depth_usd for row in table.pools)[len(table.pools) // 2] < 2_000_000


def test_pegs_join_tokens_that_follow_one_another() -> None:
    table = load_table("base")
    assert table.are_pegged(["WETH", "cbETH"])
    assert table.are_pegged(["USDC", "USDbC", "crvUSD"])
    assert not table.are_pegged(["WETH", "USDC"])
    assert not table.are_pegged(["AERO", "VIRTUAL"])


def test_dice_fall_the_same_on_every_machine() -> None:
    with decimal.localcontext(PRECISION):
        dice = SeededRandom("a seed")
        drawn = [dice.uniform() for _ in range(2)]
        # The first eight bytes of SHA-256("a seed/1").
        assert drawn[0] == Decimal(2 * 0x79CB6BBE7A7483CA + 1) / 2**65
        assert [str(number)[:22] for number in drawn] == ["0.47576020622587305840", "0.07406482926394634944"]
        assert SeededRandom("a seed").uniform() == drawn[0]
        assert SeededRandom("another seed").uniform() != drawn[0]


def test_dice_stay_in_their_ranges_and_spread_over_them() -> None:
    with decimal.localcontext(PRECISION):
        dice = SeededRandom("ranges")
        units = [dice.uniform() for _ in range(2_000)]
        assert 0 < min(units) < Decimal("0.01")
        assert Decimal("0.99") < max(units) < 1
        assert Decimal("0.48") < sum(units) / 2_000 < Decimal("0.52")
        sizes = [dice.log_uniform(10, 1_000) for _ in range(500)]
        assert 10 < min(sizes) < 15
        assert 700 < max(sizes) < 1_000
        assert 200 < sum(size < 100 for size in sizes) < 300
        assert all(dice.exponential() > 0 for _ in range(100))
        assert all(-1 < dice.symmetric_uniform() < 1 for _ in range(100))


def entry(name: str, row: PoolRow) -> dict[str, object]:
    with decimal.localcontext(PRECISION):
        return pool_entry(row, load_table(name), find_network(name))


def test_a_placeholder_address_is_marked_and_depends_on_the_pool() -> None:
    row = PoolRow("hyperSwapV2", ("WHYPE", "USDT0"), 3000, 0, 50_000)
    one, again = entry("hyperevm", row), entry("hyperevm", row)
    other = entry("hyperevm", PoolRow("hyperSwapV2", ("WHYPE", "USDC"), 3000, 0, 50_000))
    assert one == again
    assert one["address_modelled"] is True
    assert one["address"] != other["address"]


def test_tokens_are_sorted_as_in_the_contract() -> None:
    written = [
        entry("base", PoolRow("uniswapV3", pair, 500, 10, 10**6)) for pair in (("WETH", "USDC"), ("USDC", "WETH"))
    ]
    weth_first = ["0x4200000000000000000000000000000000000006", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
    assert [one["tokens"] for one in written] == [weth_first, weth_first]


def test_v4_native_currency_is_first_and_stored_as_wrapped() -> None:
    # AUSD's address is below that of wrapped MON, and the native currency's is below all.
    written = entry("monad", PoolRow("UniswapV4", ("AUSD", "MON"), 500, 10, 10**6))
    wrapped: Network = find_network("monad")
    assert wrapped.wrapped_native is not None
    tokens = written["tokens"]
    assert isinstance(tokens, list)
    assert tokens[0].lower() == wrapped.wrapped_native.address
    assert written["native"] is True
    assert "native" not in entry("monad", PoolRow("UniswapV4", ("AUSD", "USDC"), 100, 1, 10**6))


def test_volatile_solidly_pairs_and_algebra_pools_are_marked() -> None:
    assert entry("base", PoolRow("aerodromeV2Classic", ("WETH", "USDC"), 3000, 0, 10**6))["variant"] == "solidly"
    assert "variant" not in entry("base", PoolRow("uniswapV2", ("WETH", "USDC"), 3000, 0, 10**6))
    algebra = entry("citrea", PoolRow("satsumaAlgebra", ("WcBTC", "USDC.e"), 500, 60, 10**6))
    assert algebra["variant"] == "algebra_integral"


@pytest.mark.parametrize("amm_name", ["noSuchProtocol", "kipseli"])
def test_a_protocol_whose_maths_are_unknown_cannot_be_modelled(amm_name: str) -> None:
    with pytest.raises(KeyError, match=amm_name):
        entry("base", PoolRow(amm_name, ("WETH", "USDC"), 3000, 60, 10**6))


def test_a_token_outside_the_catalogue_cannot_be_modelled() -> None:
    with pytest.raises(KeyError, match="NOPE"):
        entry("base", PoolRow("uniswapV2", ("WETH", "NOPE"), 3000, 0, 10**6))
