"""Open market files with their orders, plain or compressed; the recorded market of this repository is one of them."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

from bench.running import BenchmarkFailed

REAL_MARKET = Path(__file__).parent / "markets" / "market_ethereum_24721394.json.xz"
"""1,313 pools of Ethereum at one block: `bench/optimum/markets/README.md` has the source."""

_ORDER_KEYS = ("id", "size", "token_in", "token_out", "amount_in")
_DECOMPRESSORS = {".xz": lzma.decompress, ".gz": gzip.decompress}


def read_plain(file: Path) -> bytes:
    """Return the content of a file, decompressed by its suffix. Raises `BenchmarkFailed`."""
    decompress = _DECOMPRESSORS.get(file.suffix, bytes)
    try:
        return decompress(file.read_bytes())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BenchmarkFailed(f"{file}: {getattr(error, 'strerror', None) or error}") from error


def read_document(file: Path) -> dict[str, Any]:
    """Return the document of a market file. Raises `BenchmarkFailed`."""
    try:
        document = json.loads(read_plain(file))
    except ValueError as error:
        raise BenchmarkFailed(f"{file}: {error}") from error
    if not isinstance(document, dict) or "pools" not in document:
        raise BenchmarkFailed(f"{file} is no market file")
    return document


def market_name(file: Path) -> str:
    """Return the name contained in a market file's name: `NAME` in `market_NAME.json.xz`."""
    return _plain_name(file).removeprefix("market_").removesuffix(".json")


def orders_file(file: Path) -> Path:
    """Return the file of orders next to a market file, with the same or no compression. Raises `BenchmarkFailed`."""
    plain = file.with_name(f"orders_{market_name(file)}.ndjson")
    for found in (plain, *(plain.with_name(plain.name + suffix) for suffix in _DECOMPRESSORS)):
        if found.is_file():
            return found
    raise BenchmarkFailed(f"{file} has no orders beside it: {plain.name} with one JSON object a line")


def read_orders(file: Path) -> list[dict[str, Any]]:
    """Return the orders of a market file. Raises `BenchmarkFailed`."""
    found = orders_file(file)
    return [_order(found, line) for line in read_plain(found).splitlines() if line.strip()]


def _order(file: Path, line: bytes) -> dict[str, Any]:
    try:
        order = json.loads(line)
    except ValueError as error:
        raise BenchmarkFailed(f"{file} has a line that is no JSON: {error}") from error
    missing = _ORDER_KEYS if not isinstance(order, dict) else [key for key in _ORDER_KEYS if key not in order]
    if missing:
        raise BenchmarkFailed(f"{file} has an order without {', '.join(missing)}")
    return dict(order)


def unpack(file: Path, folder: Path) -> Path:
    """Write a market file and its orders into `folder` without compression; return the file of the market there."""
    plain = folder / f"market_{market_name(file)}.json"
    plain.write_bytes(read_plain(file))
    (folder / f"orders_{market_name(file)}.ndjson").write_bytes(read_plain(orders_file(file)))
    return plain


def _plain_name(file: Path) -> str:
    return file.name.removesuffix(file.suffix) if file.suffix in _DECOMPRESSORS else file.name
