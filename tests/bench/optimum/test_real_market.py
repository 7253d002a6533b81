"""Market files open plain and compressed; the recorded market is the one that its page describes."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
from pathlib import Path

import pytest

from bench.optimum.real_market import (
    REAL_MARKET,
    market_name,
    orders_file,
    read_document,
    read_orders,
    read_plain,
    unpack,
)
from bench.running import BenchmarkFailed
from tests.support.testnet import build_market_document

ORDER = {"id": 0, "size": "small", "token_in": "0xa", "token_out": "0xb", "amount_in": "1"}


def test_the_recorded_market_has_the_hashes_of_its_page() -> None:
    page = (REAL_MARKET.parent / "README.md").read_text()
    for file in (REAL_MARKET, orders_file(REAL_MARKET)):
        content = read_plain(file)
        assert f"`{file.stem}` | {len(content):,} | `{hashlib.sha256(content).hexdigest()}`" in page


def test_the_recorded_market_has_the_numbers_of_its_page() -> None:
    document, orders = read_document(REAL_MARKET), read_orders(REAL_MARKET)
    families = [pool["family"] for pool in document["pools"]]
    assert (families.count("constant_product"), families.count("concentrated"), len(families)) == (1_036, 277, 1_313)
    assert (document["network"]["name"], document["block"]) == ("ethereum", 24_721_394)
    assert (len(orders), sum(order["size"] == "stress" for order in orders)) == (250, 50)
    tokens = {token["address"] for token in document["tokens"]}
    assert all({order["token_in"], order["token_out"]} <= tokens for order in orders)


def test_unpacked_files_are_plain_and_beside_each_other(tmp_path: Path) -> None:
    market = unpack(REAL_MARKET, tmp_path)
    assert market == tmp_path / "market_ethereum_24721394.json"
    assert json.loads(market.read_bytes()) == read_document(REAL_MARKET)
    assert read_orders(market) == read_orders(REAL_MARKET)


@pytest.mark.parametrize("suffix", ["", ".xz", ".gz"])
def test_files_open_by_their_suffix(suffix: str, tmp_path: Path) -> None:
    document = build_market_document()
    market = tmp_path / f"market_x.json{suffix}"
    for file, content in ((market, document), (tmp_path / f"orders_x.ndjson{suffix}", ORDER)):
        plain = json.dumps(content).encode()
        file.write_bytes({"": plain, ".xz": lzma.compress(plain), ".gz": gzip.compress(plain)}[suffix])
    assert market_name(market) == "x"
    assert read_document(market) == document
    assert read_orders(market) == [ORDER]


BAD = {
    "no such file": (None, "No such file"),
    "cut short": (lzma.compress(b"{}")[:-4], ".xz: "),
    "not compressed": (b"{}", ".xz: "),
    "no JSON": (lzma.compress(b"{"), "Expecting property name"),
    "no market": (lzma.compress(b"[]"), "is no market file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_market_file_is_named(case: str, tmp_path: Path) -> None:
    content, message = BAD[case]
    file = tmp_path / "market_x.json.xz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BenchmarkFailed, match=message) as raised:
        read_document(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [("{", "a line that is no JSON"), ("[]", "an order without id, size"), ('{"id": 1}', "without size, token_in")],
)
def test_a_bad_order_is_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "orders_x.ndjson").write_text(f"{json.dumps(ORDER)}\n\n{line}\n")
    with pytest.raises(BenchmarkFailed, match=message):
        read_orders(tmp_path / "market_x.json")


def test_a_market_without_orders_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFailed, match=r"has no orders beside it: orders_x\.ndjson"):
        read_orders(tmp_path / "market_x.json.gz")
