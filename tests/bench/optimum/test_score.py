"""The judge on a toy market whose amounts are computed by hand, and on routes that are deliberately wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from bench.optimum.bound import Market
from bench.optimum.replay import WrongRoute, pools_of, replay, steps_of
from bench.optimum.score import main, score

A, B, C = "0x" + "a" * 40, "0x" + "b" * 40, "0x" + "c" * 40
AB, AB2, AC, CB, STABLE = (f"0x{number:040x}" for number in range(1, 6))


def pair(address: str, tokens: list[str], reserves: list[int], family: str = "constant_product") -> dict[str, Any]:
    return {
        "address": address,
        "family": family,
        "tokens": tokens,
        "fee_ppm": 3_000,
        "reserves": [str(each) for each in reserves],
        "weights": [str(5 * 10**17)] * 2,
    }


MARKET = {
    "tokens": [
        {"address": token, "symbol": token[2], "decimals": decimals, "price_usd": 1.0}
        for token, decimals in ((A, 6), (B, 6), (C, 6))
    ],
    "pools": [
        pair(AB, [A, B], [1_000_000, 1_000_000]),
        pair(AB2, [A, B], [2_000_000, 2_000_000]),
        pair(AC, [A, C], [3_000_000, 3_000_000]),
        pair(CB, [B, C], [3_000_000, 3_000_000]),
        pair(STABLE, [A, B], [1_000_000, 1_000_000], "weighted"),
    ],
}
ORDER = {"id": 7, "size": "small", "token_in": A, "token_out": B, "amount_in": "10000"}


def swap(pool: str, sold: str, bought: str, percent: str = "100%") -> dict[str, str]:
    return {"poolAddress": pool, "fromTokenAddress": sold, "toTokenAddress": bought, "percent": percent}


def result(amount_out: int, *segments: tuple[str, list[list[dict[str, str]]]]) -> dict[str, Any]:
    route = [{"percent": percent, "swaps": hops} for percent, hops in segments]
    return {"success": True, "outputAmount": str(amount_out), "route": route, "time": 0.002}


def paid(amount: int, reserve_in: int, reserve_out: int) -> int:
    """Return what a pair pays for `amount`, by the formula of its contract."""
    return amount * 997 * reserve_out // (reserve_in * 1_000 + amount * 997)


SPLIT_OUT = paid(3_000, 1_000_000, 1_000_000) + paid(7_000, 2_000_000, 2_000_000)
VIA_C_OUT = paid(paid(10_000, 3_000_000, 3_000_000), 3_000_000, 3_000_000)
SPLIT = result(SPLIT_OUT, ("100%", [[swap(AB, A, B, "30%"), swap(AB2, A, B, "70%")]]))
VIA_C = result(VIA_C_OUT, ("100%", [[swap(AC, A, C)], [swap(CB, C, B)]]))


def test_amounts_by_hand() -> None:
    pools = pools_of(MARKET)
    assert replay(pools, SPLIT, ORDER) == SPLIT_OUT == 2_982 + 6_954
    assert replay(pools, VIA_C, ORDER) == VIA_C_OUT


def test_rates_are_parts_of_what_is_left() -> None:
    mixed = result(
        0,
        ("50.5%", [[swap(AB, A, B, "40%"), swap(AB2, A, B, "60%")]]),
        ("49.5%", [[swap(AB, A, B)]]),
    )
    # AB gets 50.5 * 0.4 + 49.5 = 69.7 %, merged, and AB2 what is left.
    assert [(step.pool, step.rate) for step in steps_of(mixed)] == [(AB, 697_000), (AB2, 1_000_000)]


def test_a_token_is_sold_after_everything_that_brings_it() -> None:
    late = result(0, ("50%", [[swap(AC, A, C)], [swap(CB, C, B)]]), ("50%", [[swap(AB, A, B)]]))
    assert [step.token_in for step in steps_of(late)] == [A, A, C]
    assert [step.rate for step in steps_of(late)] == [500_000, 1_000_000, 1_000_000]


def test_a_way_there_and_back_is_refused() -> None:
    there = result(0, ("100%", [[swap(AC, A, C)], [swap(AC, C, A)]]))
    with pytest.raises(WrongRoute, match="cycle"):
        replay(pools_of(MARKET), there, ORDER)


def test_segments_through_the_same_pool_are_one_swap() -> None:
    twice = result(0, ("40%", [[swap(AB, A, B)]]), ("60%", [[swap(AB, A, B)]]))
    assert replay(pools_of(MARKET), twice, ORDER) == paid(10_000, 1_000_000, 1_000_000)


WRONG = {
    "a unit too much": ({**SPLIT, "outputAmount": str(SPLIT_OUT + 1)}, f"claims {SPLIT_OUT + 1}, but pays {SPLIT_OUT}"),
    "a unit too little": ({**SPLIT, "outputAmount": str(SPLIT_OUT - 1)}, f"claims {SPLIT_OUT - 1}"),
    "another pool": (result(SPLIT_OUT, ("100%", [[swap("0x" + "9" * 40, A, B)]])), "the market has no pool"),
    "another token": (result(1, ("100%", [[swap(AC, A, B)]])), "does not hold both tokens"),
    "a hop of 99%": (result(1, ("100%", [[swap(AB, A, B, "99%")]])), "shares of a hop"),
    "segments of 90%": (result(1, ("90%", [[swap(AB, A, B)]])), "shares of the segments"),
    "a share below a hundredth": (
        result(1, ("100%", [[swap(AB, A, B, "99.999%"), swap(AB2, A, B, "0.001%")]])),
        "no share",
    ),
    "a share without %": (result(1, ("100", [[swap(AB, A, B)]])), "no share"),
    "tokens left": (result(1, ("50%", [[swap(AB, A, B)]]), ("50%", [[swap(AC, A, C)]])), "tokens left"),
    "a token that the router lacks": (result(1, ("100%", [[swap(CB, C, B)]])), "spends nothing"),
    "no shares at all": ({"success": True, "outputAmount": "1", "route": [{}]}, "KeyError"),
    "no route": ({"success": False, "errorMessage": "none"}, "no route"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_route_is_a_fault(case: str) -> None:
    wrong, message = WRONG[case]
    found = score(MARKET, [ORDER], {7: wrong})
    assert (found.exact, found.skipped) == (0, 0)
    ((order, fault),) = found.faults
    assert order == 7
    assert message in fault


def test_a_missing_result_is_a_fault() -> None:
    assert score(MARKET, [ORDER], {}).faults == ((7, "no route"),)


def test_a_route_that_cannot_be_replayed_is_skipped_not_exact() -> None:
    found = score(MARKET, [ORDER], {7: result(123, ("100%", [[swap(STABLE, A, B)]]))})
    assert (found.exact, found.skipped, found.faults, len(found.rows)) == (0, 1, (), 1)


def test_gaps_are_to_the_bound() -> None:
    market = Market(MARKET)
    bound = market.bound(A, B, 10_000).bound
    assert SPLIT_OUT < bound < 10_000
    (row,) = score(MARKET, [ORDER], {7: SPLIT}, market).rows
    assert row.bound == bound
    assert row.gap_bps == pytest.approx((1 - SPLIT_OUT / bound) * 1e4)
    assert (row.pools, row.segments, row.time_ms, row.exact) == (2, 1, 2.0, True)


def write(folder: Path, results: list[dict[str, Any]]) -> list[str]:
    (folder / "market_toy.json").write_text(json.dumps(MARKET))
    (folder / "orders_toy.ndjson").write_text(json.dumps(ORDER) + "\n")
    (folder / "results.json").write_text("".join(json.dumps(each) + "\n" for each in results))
    return [str(folder / name) for name in ("market_toy.json", "orders_toy.ndjson", "results.json")]


def test_the_command_prints_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write(tmp_path, [{"id": 7, "result": SPLIT}])
    assert main([*files, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["orders"], printed["routed"], printed["exact"], printed["faults"]) == (1, 1, 1, [])
    assert printed["gap_bps every"]["max"] == pytest.approx(printed["rows"][0]["gap_bps"], abs=1e-3)
    assert main([*files, "--exact-only"]) == 0
    assert not [key for key in json.loads(capsys.readouterr().out) if key.startswith("gap")]


def test_the_status_tells_of_faults_and_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = deepcopy(SPLIT)
    wrong["outputAmount"] = "99999"
    assert main([*write(tmp_path, [{"id": 7, "result": wrong}]), "--exact-only"]) == 1
    assert json.loads(capsys.readouterr().out)["faults"]
    assert main([str(tmp_path / "none.json"), "x", "y", "--exact-only"]) == 1
    assert "none.json: No such file" in capsys.readouterr().err
