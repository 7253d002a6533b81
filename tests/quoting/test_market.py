"""Markets of the library: how they open, what they quote, and how they refuse wrong input."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli import Market, SwapQuote, quote
from swapcli.core.errors import (
    ConfigError,
    InvalidAddress,
    InvalidAmount,
    InvalidInput,
    InvalidOption,
    InvalidPoolState,
    InvalidSlippage,
    MarketError,
    MarketUnavailable,
    PriceImpactTooHigh,
    SameToken,
    SwapcliError,
    UnknownNetwork,
    UnknownToken,
)
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.token import Token
from swapcli.core.routing.search.route_search import RouteSearch
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.quoting.amounts import Amount, to_base_units
from swapcli.quoting.sources.quote_source import known_market
from swapcli.state.store import create_store
from tests.support.command import run_swapcli
from tests.support.pools import after_some_swaps
from tests.support.testnet import build_market_document, write_market_file

MAX_LOSS = 1e-6
"""Part of an amount, 0.01 basis points, that a market may lose by starting from searches before."""
RECIPIENT = "0x" + "11" * 20
ETHER = 10**18
TIMES = dict.fromkeys(("time", "meta", "expiresAt"))
"""The fields of a route that depend on when it was found."""


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the settings and stores of the user out of the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def base() -> Market:
    return Market.embedded("base")


def test_text_decimal_and_base_units_mean_the_same(base: Market) -> None:
    amounts: list[Amount] = ["1.5", "0.0015k", Decimal("1.5"), Decimal("15e-1"), 1_500_000_000_000_000_000]
    assert {base.quote("ETH", "USDC", amount).amount_out for amount in amounts} == {
        base.quote(base.token("eth"), base.token("usdc"), "1.50").amount_out
    }


@given(units=st.integers(1, 2**256 - 1), decimals=st.integers(0, 36))
def test_every_amount_survives_as_decimal_and_as_text(units: int, decimals: int) -> None:
    token = Token("0x" + "00" * 20, "T", "T", decimals)
    exact = Decimal(f"{units}e-{decimals}")
    assert to_base_units(exact, token) == to_base_units(f"{exact:f}", token) == to_base_units(units, token) == units


@pytest.mark.parametrize(
    "amount",
    [1.5, 1.0, True, 0, -1, 2**256, 10**4000, "0", "-1", "", "1e18", "nan", None, b"1", [1], Decimal("NaN"),
     Decimal(-1), Decimal("Infinity"), Decimal("1e999999999"), Decimal("1e-999999999"), Decimal("1e-19")],
)  # fmt: skip
def test_no_float_and_no_text_without_number_is_an_amount(base: Market, amount: Any) -> None:
    with pytest.raises(InvalidAmount):
        base.quote("ETH", "USDC", amount)
    with pytest.raises(InvalidAmount):
        base.quote("ETH", "DAI", amount_out=amount)


def test_an_exact_output_is_paid(base: Market) -> None:
    found = base.quote("ETH", "USDC", amount_out="1000")
    assert found.amount_out >= 1000 * 10**6
    assert found.amount_out_decimal == Decimal(found.amount_out).scaleb(-6)
    with pytest.raises(InvalidAmount, match=r"^give only one of amount and amount_out$"):
        base.quote("ETH", "USDC", "1", amount_out="1000")
    with pytest.raises(InvalidAmount, match="a quote needs an amount: give amount, or amount_out"):
        base.quote("ETH", "USDC")
    with pytest.raises(TypeError, match="argument 'reverse'; use amount_out for an exact output"):
        base.quote("ETH", "USDC", "1", reverse=True)  # type: ignore[call-arg]


def test_a_quote_is_that_of_the_command_line(base: Market) -> None:
    document = run_swapcli("route", "base", "ETH", "USDC", "25", "--json", "--max-hops", "2").json
    for found in (base.quote("ETH", "USDC", "25", max_hops=2), quote("base", "ETH", "USDC", 25 * ETHER, max_hops=2)):
        assert str(found.amount_out) == document["outputAmount"]
        assert found.state.provenance is Provenance.MODELLED
        assert {**found.to_dict(), **TIMES} == {**document, **TIMES}
        assert json.loads(found.to_json()) == found.to_dict()
        assert [warning.code for warning in found.warnings] == [each["code"] for each in document["warnings"]]


def test_options_of_a_quote_override_the_settings(base: Market) -> None:
    direct = base.quote("ETH", "USDC", "25", direct=True, exclude_protocols=["uniswapV4"], shares="whole")
    swaps = [swap for segment in direct.route.segments for hop in segment.hops for swap in hop]
    assert all(len(segment.hops) == 1 for segment in direct.route.segments)
    assert "Uniswap V4" not in {swap.pool_name for swap in swaps}
    assert base.quote("ETH", "USDC", "25", certify=True).certificate is not None
    assert base.quote("ETH", "USDC", "25", slippage="0.1").terms.slippage_ppm == 1_000
    strict = Market.embedded("base", settings={"slippage": 0, "max_hops": 1})
    assert strict.quote("ETH", "USDC", "1").min_received == strict.quote("ETH", "USDC", "1").amount_out


def test_only_named_protocols_are_used(base: Market) -> None:
    names = {each.amm_name for each in base.network.protocols}
    only = base.quote("ETH", "USDC", "25", only_protocols=["uniswapV3", "aerodromeV3"])
    rest = base.quote("ETH", "USDC", "25", exclude_protocols=sorted(names - {"uniswapV3", "aerodromeV3"}))
    assert (only.amount_out, only.route.segments) == (rest.amount_out, rest.route.segments)
    assert only.amount_out < base.quote("ETH", "USDC", "25").amount_out
    by_setting = Market.embedded("base", settings={"only_protocols": ["uniswapV3", "aerodromeV3"]})
    assert by_setting.quote("ETH", "USDC", "25").route.segments == only.route.segments


WRONG: list[tuple[type[SwapcliError], Callable[[Market], object]]] = [
    (UnknownNetwork, lambda _: Market.embedded("nowhere")),
    (MarketError, lambda _: Market.from_file(__file__)),
    (InvalidInput, lambda _: Market.from_file("/nonexistent/market.json")),
    (ConfigError, lambda _: Market.store("base")),
    (ConfigError, lambda _: Market.live("base", rpc_url="ftp://node.example")),
    (InvalidOption, lambda _: Market.live("base", settings={"live": "never"})),
    (ConfigError, lambda _: Market.open("base", settings={"no_such_setting": 1})),
    (ConfigError, lambda _: Market.service("base", api_url="nonsense")),
    (UnknownToken, lambda market: market.quote("ETH", "NOPE", "1")),
    (SameToken, lambda market: market.quote("ETH", "eth", "1")),
    (ConfigError, lambda market: market.quote("ETH", "USDC", "1", max_hops=99)),
    (ConfigError, lambda market: market.quote("ETH", "USDC", "1", only_protocols=[""])),
    (ConfigError, lambda market: market.quote("ETH", "USDC", "1", slippage="much")),
    (InvalidSlippage, lambda market: market.quote("ETH", "USDC", "1", slippage=50)),
    (InvalidAddress, lambda market: market.quote("ETH", "USDC", "1").transaction(destination="nobody")),
    (InvalidAddress, lambda market: market.quote("ETH", "USDC", "1").transaction(destination="0x" + "00" * 20)),
    (PriceImpactTooHigh, lambda market: market.quote("ETH", "USDC", "9999999").transaction(destination=RECIPIENT)),
    (InvalidOption, lambda market: market.quote("ETH", "USDC", "1").transaction(destination=RECIPIENT, simulate=True)),
]


@pytest.mark.parametrize(("error", "call"), WRONG)
def test_wrong_input_is_one_sentence_with_a_code(
    base: Market, error: type[SwapcliError], call: Callable[[Market], object]
) -> None:
    with pytest.raises(error) as raised:
        call(base)
    assert raised.value.message
    assert "\n" not in raised.value.message


def test_an_unknown_keyword_is_a_type_error(base: Market) -> None:
    with pytest.raises(TypeError, match="hops"):
        base.quote("ETH", "USDC", "1", hops=2)  # type: ignore[call-arg]


def test_a_quote_never_changes(base: Market) -> None:
    found = base.quote("ETH", "USDC", "1.5")
    with pytest.raises(AttributeError):
        found.terms = found.terms._replace(slippage_ppm=0)  # type: ignore[misc]
    assert repr(found).startswith("<SwapQuote 1.5 ETH → ")
    assert repr(found).endswith(" USDC on base>")


def test_a_file_and_a_store_of_it_quote_the_same(tmp_path: Path) -> None:
    file, folder = tmp_path / "base.json", tmp_path / "stores"
    exported = run_swapcli("market", "export", "base", str(file))
    assert exported.exit_code == 0, exported.stderr
    with Market.from_file(file) as market:
        found = market.quote("WETH", "USDC", "3")
        known = known_market(market.source)
        assert known is not None
        state = known.whole()
        folder.mkdir()
        with create_store(str(folder / "base.sqlite"), market.network, lambda _: market.network) as store:
            store.write_market(state)
    with Market.store("base", folder=folder) as stored, ThreadPoolExecutor(4) as threads:
        found_by_threads = threads.map(lambda _: stored.quote("WETH", "USDC", "3").amount_out, range(8))
        assert set(found_by_threads) == {found.amount_out}
        assert stored.quote("WETH", "USDC", "3").amount_out == found.amount_out
        assert stored.pools == state.pools
        assert stored.tokens == state.tokens
    assert repr(stored) == "<Market base: closed>"
    with pytest.raises(MarketUnavailable):
        stored.quote("WETH", "USDC", "3")


def test_a_malformed_pool_is_skipped_with_a_warning(tmp_path: Path) -> None:
    pools = [*build_market_document()["pools"], {"address": "0x" + "a9" * 20}]
    file = write_market_file(tmp_path, pools=pools)
    warnings: list[str] = []
    with pytest.raises(InvalidPoolState):
        Market.from_file(file)
    market = Market.from_file(file, skip_bad_pools=True, warn=warnings.append)
    assert len(market.pools) == len(pools) - 1
    assert len(warnings) == 1


def test_threads_share_a_market_in_turn(base: Market) -> None:
    expected = [base.quote("ETH", "USDC", number * ETHER).amount_out for number in range(1, 9)]
    found: dict[int, int] = {}

    def work(number: int) -> None:
        found[number] = base.quote("ETH", "USDC", number * ETHER).amount_out

    threads = [Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(1, 9)] == expected


def test_a_service_quotes_and_builds_the_same(base: Market, service_url: str) -> None:
    with Market.service("base", api_url=service_url) as market:
        found, own = market.quote("USDC", "ETH", "1500"), base.quote("USDC", "ETH", "1500")
        assert found.amount_out == own.amount_out
        assert found.transactions(destination=RECIPIENT) == own.transactions(destination=RECIPIENT)
        assert found.state.service_url == service_url
        assert market.health().is_healthy
        with pytest.raises(InvalidOption, match="does not list its pools"):
            _ = market.pools


def test_open_follows_the_environment_and_arguments(monkeypatch: pytest.MonkeyPatch, service_url: str) -> None:
    monkeypatch.setenv("SWAPCLI_SLIPPAGE", "0.3")
    assert Market.open("8453").quote("ETH", "USDC", "1").terms.slippage_ppm == 3_000
    assert Market.open("base", settings={"slippage": "0.2"}).quote("ETH", "USDC", "1").terms.slippage_ppm == 2_000
    monkeypatch.setenv("SWAPCLI_API_URL", service_url)
    assert Market.open("base").quote("ETH", "USDC", "1").state.service_url == service_url
    assert Market.open("base", offline=True).quote("ETH", "USDC", "1").state.service_url is None
    assert Market.embedded("base").quote("ETH", "USDC", "1").state.service_url is None


def test_a_transaction_needs_no_node(base: Market) -> None:
    found: SwapQuote = base.quote("USDC", "ETH", "1500")
    approval, swap = found.transactions(destination=RECIPIENT, slippage="1", deadline="20m")
    assert approval["to"].lower() == base.token("USDC").address
    assert swap == found.transaction(destination=RECIPIENT, slippage=Decimal(1), deadline="20m")
    document = run_swapcli(
        "calldata", "base", "USDC", "ETH", "1500", "--slippage", "1", "--destination", RECIPIENT, "--json"
    ).json
    assert swap["data"] == document["calldata"]
    exact = found.transaction(destination=RECIPIENT, slippage=0)
    assert exact == found.transaction(destination=RECIPIENT, slippage="0") != swap


def test_a_prepared_swap_warns_as_the_command_line_does(base: Market) -> None:
    prepared = base.quote("USDC", "ETH", "1500").prepare(destination=RECIPIENT, deadline="20m")
    ran = run_swapcli(
        *("calldata", "base", "USDC", "ETH", "1500", "--deadline", "20m", "--destination", RECIPIENT),
        *("--with-approval", "--json"),
    )
    assert [warning.code for warning in prepared.warnings] == [each["code"] for each in ran.json["warnings"]]
    assert "ROUTER_UNVERIFIED" in [warning.code for warning in prepared.warnings]
    assert prepared.transactions == prepared.quote.transactions(destination=RECIPIENT, deadline="20m")
    assert prepared.simulation is None
    assert prepared.payload.call.route.amount_out == prepared.quote.amount_out


def test_a_market_builds_for_the_router_of_its_settings() -> None:
    market = Market.embedded("base", settings={"router_dialect": "universal-router"})
    approve, allow, swap = market.quote("USDC", "ETH", "1500").transactions(destination=RECIPIENT)
    assert approve["to"].lower() == market.token("USDC").address
    assert len({approve["to"], allow["to"], swap["to"]}) == 3
    assert swap["to"].lower() == market.network.router


def test_an_old_file_is_refused_where_the_settings_say_so(tmp_path: Path) -> None:
    file = write_market_file(tmp_path, timestamp=1_700_000_000)
    assert Market.from_file(file).quote("WETH", "USDC", "1").state.timestamp == 1_700_000_000
    with pytest.raises(MarketUnavailable):
        Market.from_file(file, settings={"max_age_s": 30})


def test_reused_searches_pay_as_much_on_later_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[bool] = []
    search = SearchMemory.search

    def record(memory: SearchMemory, order: Order, search_for: Callable[[int], RouteSearch], first: int) -> Any:
        result = search(memory, order, search_for, first)
        starts.append(result is not None)
        return result

    monkeypatch.setattr(SearchMemory, "search", record)
    with Market.embedded("base") as embedded:
        known = known_market(embedded.source)
    assert known is not None
    state = known.whole()
    orders = [("ETH", "USDC", 30 * ETHER, None), ("USDC", "ETH", None, 5 * ETHER)]
    with (
        create_store(str(tmp_path / "base.sqlite"), state.network, lambda _: state.network) as store,
        Market.store("base", folder=tmp_path) as cold,
        Market.store("base", folder=tmp_path, reuse_searches=True) as warm,
    ):
        for block in range(3):
            state, _ = after_some_swaps(state, seed=block, count=20)
            store.write_market(state._replace(block=block + 1))
            for sold, bought, amount, amount_out in orders:
                pair = [market.quote(sold, bought, amount, amount_out=amount_out) for market in (warm, cold)]
                assert pair[0].state.block == pair[1].state.block == block + 1
                assert pair[0].amount_out >= pair[1].amount_out * (1.0 - MAX_LOSS)
                assert pair[0].amount_in <= pair[1].amount_in * (1.0 + MAX_LOSS)
    assert starts == [False, False, *[True] * 4], "a market without the option has no memory"


@pytest.mark.slow
def test_depth_comparison_and_pools_are_those_of_the_commands() -> None:
    with Market.embedded("base") as market:
        depth = market.depth("ETH", "USDC", ["1", "100"])
        compared = market.compare("ETH", "USDC", "100")
        rows = market.pool_rows("ETH", "USDC", limit=3)
        assert [point.amount_in for point in depth.points] == [ETHER, 100 * ETHER]
        assert depth.points[1].amount_out == market.quote("ETH", "USDC", "100").amount_out == compared.split.amount_out
        with pytest.raises(InvalidOption, match="at most two tokens"):
            market.pool_rows("ETH", "USDC", "cbBTC")
    printed = run_swapcli("pools", "base", "ETH", "USDC", "--limit", "3", "--offline", "--json")
    known = [{key: value for key, value in row.items() if value is not None} for row in rows]
    assert [{**row, "ageS": None} for row in known] == [
        {**row, "ageS": None} for row in json.loads(printed.stdout)["pools"]
    ]


@pytest.mark.slow
def test_a_ladder_of_depth_starts_at_a_few_dollars() -> None:
    with Market.embedded("base") as market:
        assert market.depth("ETH", "USDC").points[0].amount_in < ETHER // 100


def test_dir_shows_what_programs_call() -> None:
    with Market.embedded("base") as market:
        expected = (
            "allowance backtest balance build_part check close compare depth embedded execute from_file health"
            " hindsight live network open permit pinned plan pool_list pool_rows pools prepare prices quote quote_many"
            " record record_recent refresh service settings state store token tokens transaction transactions verify"
            " verify_recent watch"
        )
        assert " ".join(name for name in dir(market) if not name.startswith("__")) == expected
