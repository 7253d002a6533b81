"""Rows of pools in pandas: `DataFrame(rows)` is all that a program needs."""

from __future__ import annotations

import json
from typing import Any

import pandas
import pytest

from swapcli.core.networks.catalogue import network_names
from swapcli.quoting.market import Market
from tests.support.command import run_swapcli

COLUMNS = [
    "pool",
    "protocolId",
    "protocol",
    "feePpm",
    "tokens",
    "pair",
    "price",
    "liquidityUsd",
    "block",
    "ageS",
    "skippedReason",
]


def frame_of(network: str, *tokens: str) -> tuple[list[Any], pandas.DataFrame]:
    with Market.embedded(network) as market:
        rows: list[Any] = list(market.pool_rows(*tokens))
    return rows, pandas.DataFrame(rows)


@pytest.mark.parametrize("network", network_names())
def test_each_row_is_a_row_of_the_frame(network: str) -> None:
    rows, frame = frame_of(network)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(rows) > 0
    assert list(frame["pool"]) == [row["pool"] for row in rows]
    assert frame["feePpm"].dtype.kind == "i"
    for column in ("price", "liquidityUsd"):
        assert frame[column].dtype.kind == "f"
        known = [row[column] for row in rows if row[column] is not None]
        assert frame[column].count() == len(known)
        assert frame[column].sum() == pytest.approx(sum(known))


def test_a_frame_is_filtered_sorted_and_grouped() -> None:
    rows, frame = frame_of("base", "ETH", "USDC")
    cheap = frame[frame["feePpm"] <= 500].sort_values("price")
    prices = [row["price"] for row in rows if row["feePpm"] <= 500]
    assert list(cheap["price"].dropna()) == sorted(price for price in prices if price is not None)
    by_protocol = frame.groupby("protocol")["liquidityUsd"].sum()
    for name, total in by_protocol.items():
        assert total == pytest.approx(sum(row["liquidityUsd"] or 0 for row in rows if row["protocol"] == name))
    tokens = frame.explode("tokens").groupby("tokens").size()
    assert all(count == len(rows) for count in tokens)


def test_what_the_command_prints_is_the_same_frame() -> None:
    _, frame = frame_of("base", "ETH", "USDC")
    printed = json.loads(run_swapcli("pools", "base", "ETH", "USDC", "--limit", "0", "--offline", "--json").stdout)
    pandas.testing.assert_frame_equal(frame.dropna(axis="columns", how="all"), pandas.DataFrame(printed["pools"]))
