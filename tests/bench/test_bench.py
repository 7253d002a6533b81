"""The benchmark's own logic: statistics, thresholds and options. Times are not tested."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.baselines import Baselines, find_folder, open_baselines
from bench.optimum.cases import OTHER_PROTOCOLS, Case, copy_real_case, generated_case
from bench.optimum.judged import Exactness, Judged, Times
from bench.optimum.measure import exactness_of, peer_out, results_of, scored_bound
from bench.optimum.quoting import amount_out, proven_bound, quote_batch
from bench.plan import PARTS, parse_plan
from bench.report.figures import Spread, ahead_bps, gap_bps, p95
from bench.report.thresholds import Check, gap_threshold, time_threshold
from bench.running import BenchmarkFailed, clean_environment, run
from bench.speed.core_time import time_in_core
from bench.speed.stopwatch import in_turn, split
from bench.speed.whole_process import BANNED, Runs, banned_among, modules_of_a_quote
from tests.support.testnet import LONELY, USDC, WETH, build_market_document

FIGURES = st.floats(-1e6, 1e6, allow_nan=False)
OUTPUTS = st.integers(1, 10**30)


# Statistics


@given(st.lists(FIGURES, min_size=1))
def test_a_spread_is_in_order_and_made_of_the_values(values: list[float]) -> None:
    spread = Spread.of(values)
    assert spread.count == len(values)
    assert spread.minimum == min(values) <= spread.median <= max(values) == spread.maximum
    assert spread.p95 in values
    assert spread.minimum <= spread.mean + 1e-6
    assert spread.mean <= spread.maximum + 1e-6


def test_p95_is_counted_like_the_baselines() -> None:
    assert p95(range(1, 21)) == 19
    assert p95(range(1, 6)) == 4
    assert p95([7.0]) == 7.0


def test_a_spread_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        Spread.of([])


@given(OUTPUTS, OUTPUTS)
def test_gaps_and_leads_are_consistent(ours: int, theirs: int) -> None:
    ratio = 1 + ahead_bps(ours, theirs) / 1e4
    assert isclose(1 - gap_bps(ours, theirs) / 1e4, ratio, rel_tol=1e-9, abs_tol=1e-9)


# Thresholds


@pytest.mark.parametrize(
    ("pools", "size", "median", "maximum"),
    [
        (100, "small", 0.05, 1.0),
        (1_000, "medium", 0.05, 1.0),
        (1_000, "large", 0.7, 5.0),
        (100, "huge", 6.0, None),
        (10_000, "small", 0.05, 2.0),
        (10_000, "large", 4.0, None),
        (10_000, "huge", 4.0, None),
    ],
)
def test_the_threshold_of_a_class_depends_on_the_market_size(
    pools: int, size: str, median: float, maximum: float | None
) -> None:
    assert gap_threshold(pools, size) == (median, maximum)


def test_only_two_market_sizes_have_a_time_threshold() -> None:
    assert time_threshold(1_000) == (10.0, 60.0)
    assert time_threshold(10_000) == (25.0, None)
    assert time_threshold(100) == (None, None)


def test_a_threshold_is_met_at_its_limit_and_missed_beyond() -> None:
    assert Check("gap", 0.05, 0.05).is_met
    assert not Check("gap", 0.0501, 0.05).is_met
    assert Check("lead", -2.0, -2.0, is_floor=True).is_met
    assert not Check("lead", -2.001, -2.0, is_floor=True).is_met


# The command line


def test_a_plain_run_measures_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BASELINES", raising=False)
    plan = parse_plan([])
    assert (plan.sizes, plan.seeds) == ((100, 1_000, 10_000), (7, 1))
    assert plan.runs >= 15
    assert plan.out is not None
    assert plan.out.name == "BENCHMARKS.md"
    assert plan.is_whole
    assert plan.baselines is None


def test_a_run_of_parts_does_not_write_the_report_by_default() -> None:
    plan = parse_plan(["--only", "chain,store"])
    assert (plan.parts, plan.is_whole, plan.out) == (("store", "chain"), False, None)
    assert parse_plan(["--only", "chain", "--out", "page.md"]).out == Path("page.md")
    assert parse_plan(["--only", ",".join(PARTS)]) == parse_plan([])


@pytest.mark.parametrize("parts", ["", "chains", "chain,", "chain;store"])
def test_unknown_parts_are_refused(parts: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_plan([f"--only={parts}"])
    assert ended.value.code == 2
    assert "expected some of routes, simple, process" in capsys.readouterr().err


def test_a_quick_run_is_smaller_in_every_part() -> None:
    whole, quick = parse_plan([]), parse_plan(["--quick"])
    assert all(less < more for less, more in zip(quick.chain, whole.chain, strict=True) if more != whole.chain.swaps)
    assert set(quick.stores) < set(whole.stores)
    assert quick.store_runs < whole.store_runs


def test_explicit_options_override_quick() -> None:
    plan = parse_plan(["--quick", "--sizes", "10,1000,10"])
    assert (plan.sizes, plan.seeds, plan.rounds) == ((10, 1000), (7,), 1)


def test_the_option_overrides_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASELINES", "/from/environment")
    assert parse_plan([]).baselines == Path("/from/environment")
    assert parse_plan(["--baselines", "/from/option"]).baselines == Path("/from/option")


@pytest.mark.parametrize("sizes", ["", "a", "1,,2", "1.5", "-1"])
def test_sizes_that_are_not_numbers_are_refused(sizes: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_plan([f"--sizes={sizes}"])
    assert ended.value.code == 2
    assert "expected numbers with commas" in capsys.readouterr().err


@given(st.sets(st.integers(1, 10**6), min_size=1), st.sets(st.integers(0, 99), min_size=1), st.booleans())
def test_the_command_of_a_report_repeats_its_run(sizes: set[int], seeds: set[int], quick: bool) -> None:
    lists = [",".join(map(str, values)) for values in (sizes, seeds)]
    plan = parse_plan(["--sizes", lists[0], "--seeds", lists[1], *(["--quick"] if quick else [])])
    assert parse_plan(plan.command.split('"')[1].split()) == plan


# Baselines


def write_baselines(folder: Path, **programs: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "gen_market.py").touch()
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_baselines_are_found_beside_the_repository(tmp_path: Path) -> None:
    folder = write_baselines(tmp_path / "elsewhere" / "bench")
    (tmp_path / "repository").mkdir()
    assert find_folder(None, tmp_path / "repository") == folder


def test_a_named_folder_is_used_and_must_exist(tmp_path: Path) -> None:
    folder = write_baselines(tmp_path / "named")
    write_baselines(tmp_path / "elsewhere" / "bench")
    assert find_folder(folder, tmp_path / "repository") == folder
    with pytest.raises(BenchmarkFailed, match=r"has no gen_market\.py"):
        find_folder(tmp_path, tmp_path / "repository")


def test_without_baselines_the_message_says_how_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFailed, match="make bench BASELINES=DIR"):
        find_folder(None, tmp_path / "repository")


def test_named_tool_installations_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASELINES_PYTHON", "/numerics/python")
    monkeypatch.setenv("TINES_HOME", "/peer")
    folder = write_baselines(tmp_path / "bench")
    assert open_baselines(folder) == Baselines(folder, Path("/numerics/python"), Path("/peer"))


def test_an_exit_status_of_the_score_is_no_failure(tmp_path: Path) -> None:
    program = "import json, sys; print(json.dumps({'arguments': sys.argv[1:]})); sys.exit(1)"
    folder = write_baselines(tmp_path / "bench", score=program, dual_bound="sys.exit(1)")
    baselines, case = Baselines(folder, Path(sys.executable), tmp_path), generated_case(10, 3, tmp_path)
    files = [str(case.market), str(case.orders), "results", "--json"]
    families = ["--families", "constant_product,concentrated"]
    assert baselines.score(case, Path("results")) == {"arguments": [*files, *families]}
    assert baselines.replay(case, Path("results")) == {"arguments": [*files, "--exact-only"]}
    with pytest.raises(BenchmarkFailed, match="NameError"):
        baselines.bounds(case)


def test_real_markets_are_those_with_orders_beside_them(tmp_path: Path) -> None:
    market = tmp_path / "market"
    market.mkdir()
    for name in ("market_a.json", "orders_a.ndjson", "market_b.json", "vectors_a.json"):
        (market / name).touch()
    baselines = Baselines(write_baselines(tmp_path / "bench"), Path(sys.executable), tmp_path)
    assert baselines.real_markets() == [market / "market_a.json"]


# Running programs


def test_a_failed_program_is_reported_with_its_stderr() -> None:
    with pytest.raises(BenchmarkFailed, match="status 4: no such luck"):
        run([sys.executable, "-c", "import sys; print('no such luck', file=sys.stderr); sys.exit(4)"])
    with pytest.raises(BenchmarkFailed, match="cannot run no-such-program"):
        run(["no-such-program"])


def test_the_environment_of_commands_has_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPCLI_MAX_HOPS", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/settings")
    env = clean_environment(tmp_path)
    assert env["HOME"] == str(tmp_path)
    assert not {"SWAPCLI_MAX_HOPS", "XDG_CONFIG_HOME"} & set(env)


def test_a_stopwatch_measures_time_and_memory() -> None:
    bare, larger = ([sys.executable, "-S", "-c", code] for code in ("pass", "x = bytearray(80 << 20)"))
    measured = in_turn(2, [bare, larger])
    assert [len(runs) for runs in measured] == [2, 2]
    assert split(["--", *bare, "--", *larger]) == [bare, larger]
    assert all(seconds > 0 for runs in measured for seconds, _ in runs)
    assert all(kibibytes > 80 << 10 for _, kibibytes in measured[1])


def test_a_stopwatch_does_not_time_a_failure() -> None:
    with pytest.raises(SystemExit, match="ended with status 3"):
        in_turn(1, [[sys.executable, "-c", "raise SystemExit(3)"]])


def test_ratios_are_of_runs_that_followed_each_other() -> None:
    assert Runs((3.0, 40.0, 500.0), 0).ratio_to(Runs((1.0, 20.0, 100.0), 0)) == 3.0


def test_banned_packages_are_seen_in_any_of_their_modules() -> None:
    assert banned_among(("json", "rich.table", "httpx", "webbrowser")) == ("httpx", "rich")


def test_the_modules_of_a_quote_are_those_of_the_program() -> None:
    modules = modules_of_a_quote()
    assert {"swapcli.core.routing.router", "swapcli.faces.cli.commands.route"} <= set(modules)
    assert not set(modules) & set(BANNED)


# Cases and routes

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
    return copy_real_case(source / "market_small.json", work)


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
    case = generated_case(100, 7, tmp_path)
    assert (case.market.name, case.orders.name) == ("market_100_s7.json", "orders_100_s7.ndjson")
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


# Results of the baselines


@given(st.integers(1, 10**24), st.floats(0, 5_000))
def test_the_bound_is_recovered_from_a_reported_gap(out: int, gap: float) -> None:
    bound = scored_bound({"out": out, "gap_bps": gap})
    assert bound is not None
    assert isclose(gap_bps(out, bound), gap, rel_tol=1e-9, abs_tol=1e-9)


def test_a_route_of_the_peer_counts_if_it_takes_the_whole_order() -> None:
    assert peer_out({"status": "Success", "evaluated": 12.5}) == 12.5
    assert peer_out({"status": "Partial", "evaluated": 12.5}) is None
    assert peer_out({"status": "NoWay", "evaluated": 0.0}) is None
    assert peer_out(None) is None


def test_exactness_is_a_share_of_what_could_be_replayed() -> None:
    score = {"orders": 20, "routed": 19, "exact": 8, "skipped": 9, "faults": [[3, "no route"]]}
    found = exactness_of(score)
    assert found.share == 80.0
    assert found.errors == ("order 3: no route",)
    assert Exactness(2, 2, 0, 2, ()).share == 100.0


JUDGED = Judged(order=1, size="small", out=9_999, peer_out=9_990.0, dual=10_000.0, own=10_001.0)


def test_the_tighter_bound_judges_both_routers() -> None:
    order = replace(JUDGED, dual=10_000.0, own=9_999.5)
    assert order.bound == 9_999.5
    assert order.gap_bps == gap_bps(9_999, 9_999.5)
    assert order.peer_gap_bps == gap_bps(9_990.0, 9_999.5)
    assert order.is_own_tighter
    assert not JUDGED.is_own_tighter


def test_an_order_without_a_route_is_behind_by_everything() -> None:
    order = replace(JUDGED, out=None)
    assert order.gap_bps == 1e4
    assert order.ahead_bps == -1e4
    assert replace(JUDGED, out=None, peer_out=None).ahead_bps is None


def test_a_certificate_below_a_known_route_is_detected() -> None:
    assert replace(JUDGED, own=9_980.0).is_bound_refuted
    assert replace(JUDGED, known_out=10_002.0).is_bound_refuted
    assert not replace(JUDGED, known_out=10_000.5).is_bound_refuted


def test_times_are_medians_without_the_first_pass() -> None:
    cold = [[90.0, 9.0, 8.0], [70.0, 7.0, 6.0], [80.0, 5.0, 7.0]]
    warm = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [2.0, 2.0, 2.0]]
    peer = [[5.0, 6.0, 7.0], [7.0, 6.0, 5.0], [1.0, 9.0, 6.0]]
    times = Times([list(passes) for passes in zip(cold, warm, strict=True)], peer)
    assert times.first == 80.0
    assert times.cold == [7.0, 7.0]
    assert times.warm == [2.0, 2.0, 2.0]
    assert times.theirs == [5.0, 6.0, 6.0]
