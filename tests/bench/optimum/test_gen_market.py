"""Markets are the same bytes for the same seed, and what they say of themselves holds."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from itertools import pairwise
from math import prod
from pathlib import Path

import pytest

from bench.optimum.draws import RAW
from bench.optimum.gen_market import generate, main, write_market
from bench.optimum.tick_math import MAX_TICK, MIN_TICK, sqrt_price_at, tick_at

RECORDED = {
    (10, 1, "arbfree"): (
        "7b655ce1188c8439348a7b143dcec85fc97daede54b4233dcdbf2ba7fb751c4e",
        "b409b6e83d87e94b6bee8dc4162ee1a2b16607e5bdf8d20410167d9464a74a3a",
    ),
    (37, 23, "raw"): (
        "600a4d3c1f0372823c18fab6b89a1ae7464d5087dd259c63f76670421e07efcb",
        "6e10f31bc7105b95c47026a3ba201a197a8ba6de5392de3bcdd68a03290987fb",
    ),
    (100, 7, "arbfree"): (
        "e87783315417ce0da4ebf5b1cdc71e19dcf0a991467035cea5b23098105b3172",
        "698e44e59af0eb65a6929bffcc83dc9d3187c49647434686a3004d7b37fb8965",
    ),
    (1_000, 1, "arbfree"): (
        "1993b2a93bf57efd419971c5982e516c40a455528cb1bab915ae1655a9468747",
        "b534d15cdb9618919efa928ca76545558c4c88bab2db4d5ee2e309a227031ab0",
    ),
    (1_000, 7, "raw"): (
        "57af86fd3bd912efee4506dd1c08f47f11ac0686c767d94430071029c8dc1b9c",
        "94406adb8569b597d12a7a2a6b18b357caa6479f66777c2efe0f3d6c4e87bfa3",
    ),
}
"""SHA-256 of the market and of its orders, by size, seed and noise: recorded from an earlier, independent program."""


@pytest.mark.parametrize(("pools", "seed", "noise"), RECORDED)
def test_the_same_seed_makes_the_same_bytes(pools: int, seed: int, noise: str, tmp_path: Path) -> None:
    market = write_market(pools, seed, tmp_path, noise)
    orders = market.with_name(market.name.replace("market", "orders")).with_suffix(".ndjson")
    assert (
        tuple(hashlib.sha256(file.read_bytes()).hexdigest() for file in (market, orders))
        == RECORDED[pools, seed, noise]
    )


def test_other_seeds_and_sizes_make_other_markets() -> None:
    addresses = [
        {pool["address"] for pool in generate(pools, seed).document["pools"]}
        for pools, seed in ((60, 1), (60, 2), (61, 1))
    ]
    assert not addresses[0] & addresses[1]
    assert not addresses[0] & addresses[2]


def test_families_have_fixed_parts_and_pools_sort_their_tokens() -> None:
    document = generate(200, 3).document
    assert Counter(pool["family"] for pool in document["pools"]) - Counter() == {
        "constant_product": 120,
        "concentrated": 60,
        "weighted": 10,
        **Counter(pool["family"] for pool in document["pools"] if "stable" in pool["family"]),
    }
    assert sum("stable" in pool["family"] for pool in document["pools"]) == 10
    assert all(pool["tokens"] == sorted(pool["tokens"]) for pool in document["pools"])


@pytest.mark.parametrize("seed", range(3))
def test_concentrated_pools_are_consistent(seed: int) -> None:
    for pool in generate(100, seed).document["pools"]:
        if pool["family"] != "concentrated":
            continue
        ticks = [(tick, int(net)) for tick, net in pool["ticks"]]
        assert all(tick % pool["tick_spacing"] == 0 for tick, _ in ticks)
        assert all(before < after for (before, _), (after, _) in pairwise(ticks))
        assert sum(net for _, net in ticks) == 0
        assert int(pool["liquidity"]) == sum(net for tick, net in ticks if tick <= pool["tick"])
        assert tick_at(int(pool["sqrt_price_x96"])) == pool["tick"]


def test_without_arbitrage_no_cycle_of_two_pools_gains() -> None:
    """The price of a constant-product pool is off by less than its fee; raw ones are off by more."""

    def worst(noise: str) -> float:
        document = generate(100, 5, noise).document
        unit = {token["address"]: token["price_usd"] / 10 ** token["decimals"] for token in document["tokens"]}
        gains: list[float] = []
        for pool in document["pools"]:
            if pool["family"] == "constant_product" and min(int(each) for each in pool["reserves"]) > 10**6:
                first, second = (int(r) * unit[t] for r, t in zip(pool["reserves"], pool["tokens"], strict=True))
                gains.append(max(first / second, second / first) * (1 - pool["fee_ppm"] / 1e6))
        return max(gains)

    assert worst("arbfree") < 1.0
    assert worst(RAW) > 1.001


def test_orders_are_parts_of_the_depth_in_four_sizes() -> None:
    orders = generate(100, 2).orders
    assert [order["id"] for order in orders] == list(range(20))
    assert Counter(order["size"] for order in orders) == dict.fromkeys(("small", "medium", "large", "huge"), 5)
    assert all(order["token_in"] != order["token_out"] for order in orders)
    for small, huge in zip(orders[::4], orders[3::4], strict=True):
        assert (small["token_in"], small["token_out"]) == (huge["token_in"], huge["token_out"])
        if int(small["amount_in"]) > 10**6:
            assert int(huge["amount_in"]) / int(small["amount_in"]) == pytest.approx(2_000, rel=1e-4)


def test_the_command_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sizes", "10,12", "--seed", "4", "--noise", "raw", "--out", str(tmp_path / "new")])
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == [
        "market_10_s4_raw.json", "market_12_s4_raw.json", "orders_10_s4_raw.ndjson", "orders_12_s4_raw.ndjson",
    ]  # fmt: skip
    assert len(json.loads((tmp_path / "new" / "market_12_s4_raw.json").read_text())["pools"]) == 12
    assert capsys.readouterr().out.count("bytes") == 2


# Ticks


def test_prices_of_ticks_are_those_of_the_contract() -> None:
    """The least and the greatest price are constants of Uniswap's TickMath."""
    assert sqrt_price_at(MIN_TICK) == 4295128739
    assert sqrt_price_at(MAX_TICK) == 1461446703485210103287273052203988822378723970342
    assert sqrt_price_at(0) == 1 << 96


@pytest.mark.parametrize("tick", [-887_271, -250_000, -1, 0, 1, 77, 200_000, 887_271])
def test_a_price_is_within_a_unit_of_the_real_one_and_leads_back(tick: int) -> None:
    square = sqrt_price_at(tick) ** 2
    real = prod([10_001] * abs(tick)) if abs(tick) < 100 else None
    if real is not None:
        whole, part = (real, 10_000 ** abs(tick)) if tick >= 0 else (10_000 ** abs(tick), real)
        assert abs(square * part - (whole << 192)) < part << 99
    assert tick_at(sqrt_price_at(tick)) == tick
    assert tick_at(sqrt_price_at(tick) - 1) == tick - 1
