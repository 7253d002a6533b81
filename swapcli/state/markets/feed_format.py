"""Encode and decode `swap-feed/1`: either the changes of a market from one block to the next, or a snapshot of the
whole market.

Both are text, compressed in zlib's format. The first line is the header, in JSON, and each other line is a record. A
record is a token or a pool as in `swap-market/1`, in JSON, after its key. Integers in a pool may be JSON numbers.

    t ADDRESS {...}     a token that is new or has changed
    p KEY DEPTH {...}   a pool that is new or has changed, with its depth in dollars
    T ADDRESS           a token that was removed
    P KEY               a pool that was removed

In the header, `state_hash` is the hash of the whole market after the changes, and `base` the hash of the market before,
null in a snapshot. A market's hash is computed from its block and the sum of its records' hashes, modulo 2^128, so
updating it costs no more than the changed records. It detects errors; the server controls who may write to the feed.
Gas prices are not part of the hash, because two nodes may report different ones for a block.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Final

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput, InvalidUpstreamResponse
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import InvalidValue, parse_integer, parse_line

FORMAT: Final = "swap-feed/1"
MAX_ENTRY_BYTES: Final = 64 * 2**20
"""Uncompressed: tens of thousands of pools. A larger change is published as a snapshot."""
MAX_SNAPSHOT_BYTES: Final = 2**30
"""Uncompressed: about a million pools."""

_HASH_BYTES: Final = 16  # bytes of a line's hash
_MODULUS: Final = 1 << 8 * _HASH_BYTES
_ENTRY_LEVEL, _SNAPSHOT_LEVEL = 6, 1
"""zlib levels. An entry is small and goes to many readers; a snapshot must be made while following the chain."""
_CHUNK_BYTES: Final = 1 << 20  # bytes hashed at a time; chosen
_MAX_LINE_BYTES: Final = 4 * 2**20
"""Far longer than any pool; the parts of a longer line would be copied repeatedly."""
_MAX_KEY_BYTES: Final = 130  # a bound against hostile input; chosen
_MAX_DEPTH_DIGITS: Final = 40  # a bound against hostile input; chosen
_MAX_NUMBER: Final = 2**63 - 1  # a signed 64-bit integer
_MAX_GAS_PRICE: Final = 2**256 - 1  # a uint256


class InvalidFeed(InvalidUpstreamResponse):
    """An entry or a snapshot of a feed is malformed, or belongs to a different network."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the feed has an invalid entry: {problem}")
        self.problem = problem


class MarketHeader(NamedTuple):
    """The data about a market apart from its tokens and pools: the block, and where its state was read.

    `block_hash` and `timestamp` (Unix seconds) are None if they are unknown. `pinned` is as in `MarketState`.
    """

    network: str
    chain_id: int
    block: int
    block_hash: str | None
    timestamp: int | None
    gas_price_wei: int
    source: str
    pinned: bool | None = None


class Changes(NamedTuple):
    """Documents of new and changed records, by address or key; None for a removed record. `depths` are in dollars."""

    tokens: Mapping[str, bytes | None]
    pools: Mapping[str, bytes | None]
    depths: Mapping[str, float]


NO_CHANGES: Final = Changes({}, {}, {})


class FeedEntry(NamedTuple):
    """The changes that turn the market with the hash `base` into the market with `state_hash`, at the header's block.

    If `base` is None, the entry is a snapshot. After a chain reorganization, `rewound_to` is the last block that is
    still on the chain.
    """

    header: MarketHeader
    base: str | None
    state_hash: str
    changes: Changes
    rewound_to: int | None = None


class FeedMarket:
    """All records of a market at one block, unparsed.

    >>> market, entry = FeedMarket(), decode_entry(data, MAX_ENTRY_BYTES)
    >>> market.update(entry.header, entry.changes)
    """

    def __init__(self) -> None:
        self.header: MarketHeader | None = None
        self.tokens: dict[str, bytes] = {}
        self.pools: dict[str, bytes] = {}
        self.depths: dict[str, float] = {}
        self._sum = 0

    @property
    def state_hash(self) -> str | None:
        """The hash of the market; None if the market is empty."""
        return None if self.header is None else _market_hash(self._sum, self.header)

    def changed(self, changes: Changes) -> Changes:
        """Return `changes` without the records that the market already has in that form."""
        return Changes(
            {key: document for key, document in changes.tokens.items() if self.tokens.get(key) != document},
            {key: document for key, document in changes.pools.items() if self.pools.get(key) != document},
            changes.depths,
        )

    def update(self, header: MarketHeader, changes: Changes) -> None:
        """Apply changes to the records, and move the market to the header's block."""
        self._sum = self._sum_after(changes)
        _update_records(self.tokens, changes.tokens)
        _update_records(self.pools, changes.pools)
        self.depths.update({key: depth for key, depth in changes.depths.items() if key in self.pools})
        for key, document in changes.pools.items():
            if document is None:
                self.depths.pop(key, None)
        self.header = header

    def matches(self, entry: FeedEntry) -> bool:
        """Return whether applying an entry's changes would give the market the hash in that entry."""
        return _market_hash(self._sum_after(entry.changes), entry.header) == entry.state_hash

    def entry(
        self, base: str | None, tokens: Iterable[str], pools: Iterable[str], rewound_to: int | None = None
    ) -> FeedEntry:
        """Return the entry that turns the market with the hash `base` into this one. The two markets differ in `tokens`
        and `pools`."""
        assert self.header is not None, "an empty market has no hash"
        keys = list(pools)
        changes = Changes(
            {address: self.tokens.get(address) for address in tokens},
            {key: self.pools.get(key) for key in keys},
            {key: self.depths[key] for key in keys if key in self.depths},
        )
        return FeedEntry(self.header, base, _market_hash(self._sum, self.header), changes, rewound_to)

    def snapshot(self) -> FeedEntry:
        """Return an entry with all records. Later changes to the market do not affect the entry."""
        assert self.header is not None, "an empty market has no hash"
        changes = Changes(dict(self.tokens), dict(self.pools), dict(self.depths))
        return FeedEntry(self.header, None, _market_hash(self._sum, self.header), changes)

    def _sum_after(self, changes: Changes) -> int:
        total = self._sum
        for kind, records, changed in ((b"t", self.tokens, changes.tokens), (b"p", self.pools, changes.pools)):
            for key, document in changed.items():
                before = records.get(key)
                if before is not None:
                    total -= _record_hash(kind, key, before)
                if document is not None:
                    total += _record_hash(kind, key, document)
        return total % _MODULUS


def encode_entry(entry: FeedEntry) -> bytes:
    """Return the entry as bytes."""
    compressor = zlib.compressobj(_SNAPSHOT_LEVEL if entry.base is None else _ENTRY_LEVEL)
    parts = [compressor.compress(b"\n".join(lines) + b"\n") for lines in _in_batches(_lines(entry), 1_000)]
    return b"".join([*parts, compressor.flush()])


def decode_entry(data: bytes, max_bytes: int) -> FeedEntry:
    """Parse an entry of at most `max_bytes` uncompressed. Raises `InvalidFeed`."""
    lines = _read_lines(data, max_bytes)
    header, base, state_hash, rewound_to, count = _parse_header(next(lines, b""))
    tokens: dict[str, bytes | None] = {}
    pools: dict[str, bytes | None] = {}
    depths: dict[str, float] = {}
    for line in lines:
        kind, _, rest = line.partition(b" ")
        match kind:
            case b"p":
                name, depth, document = _split(rest, 3)
                key = _parse_key(name)
                pools[key], depths[key] = document, _parse_depth(depth)
            case b"t":
                name, document = _split(rest, 2)
                tokens[_parse_key(name)] = document
            case b"P":
                pools[_parse_key(rest)] = None
            case b"T":
                tokens[_parse_key(rest)] = None
            case _:
                raise InvalidFeed("a record of an unknown kind")
    if len(tokens) + len(pools) != count:
        raise InvalidFeed(f"{len(tokens) + len(pools)} records instead of {count}")
    return FeedEntry(header, base, state_hash, Changes(tokens, pools, depths), rewound_to)


def _update_records(records: dict[str, bytes], changes: Mapping[str, bytes | None]) -> None:
    for key, document in changes.items():
        if document is None:
            records.pop(key, None)
        else:
            records[key] = document


def _record_hash(kind: bytes, key: str, document: bytes) -> int:
    line = b" ".join((kind, key.encode(), document))
    return int.from_bytes(blake2b(line, digest_size=_HASH_BYTES).digest())


def _market_hash(total: int, header: MarketHeader) -> str:
    block = (header.network, header.chain_id, header.block, header.block_hash, header.timestamp)
    text = json.dumps([FORMAT, *block], separators=(",", ":")).encode()
    return blake2b(total.to_bytes(_HASH_BYTES) + text, digest_size=_HASH_BYTES).hexdigest()


def _lines(entry: FeedEntry) -> Iterator[bytes]:
    tokens, pools, depths = entry.changes
    document = {
        "format": FORMAT,
        **entry.header._asdict(),
        "gas_price_wei": str(entry.header.gas_price_wei),
        "base": entry.base,
        "state_hash": entry.state_hash,
        "rewound_to": entry.rewound_to,
        "records": len(tokens) + len(pools),
    }
    yield json.dumps(document, separators=(",", ":")).encode()
    for address, token in tokens.items():
        yield f"T {address}".encode() if token is None else b"t %b %b" % (address.encode(), token)
    for key, pool in pools.items():
        depth = repr(depths.get(key, 0.0)).encode()
        yield f"P {key}".encode() if pool is None else b"p %b %b %b" % (key.encode(), depth, pool)


def _in_batches(lines: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for line in lines:
        batch.append(line)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _read_lines(data: bytes, max_bytes: int) -> Iterator[bytes]:
    """Yield the lines one by one, so that the whole text is never in memory. Raises `InvalidFeed`."""
    rest, total = b"", 0
    for chunk in _decompress(data):
        total += len(chunk)
        if total > max_bytes:
            raise InvalidFeed(f"it is larger than {max_bytes:,} bytes")
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > _MAX_LINE_BYTES:
            raise InvalidFeed("it ends within a line")
    if rest:
        raise InvalidFeed("it ends within a line")


def _decompress(data: bytes) -> Iterator[bytes]:
    """Yield the text in chunks of bounded size. Raises `InvalidFeed`."""
    decompressor, view = zlib.decompressobj(), memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK_BYTES):
            piece: bytes | memoryview = view[start : start + _CHUNK_BYTES]
            while piece and not decompressor.eof:
                yield decompressor.decompress(piece, _CHUNK_BYTES)
                piece = decompressor.unconsumed_tail
            if decompressor.eof and (decompressor.unused_data or start + _CHUNK_BYTES < len(data)):
                raise InvalidFeed("it has data after its end")
        if not decompressor.eof:
            yield decompressor.flush()
    except zlib.error:
        raise InvalidFeed("it is not in zlib's format, or damaged") from None
    if not decompressor.eof:
        raise InvalidFeed("it is truncated")


def _parse_header(line: bytes) -> tuple[MarketHeader, str | None, str, int | None, int]:
    """Return the header, together with `base`, `state_hash`, `rewound_to` and `records`."""
    try:
        fields = parse_json(line)
    except InvalidInput:
        raise InvalidFeed("its header is not JSON") from None
    if not isinstance(fields, dict):
        raise InvalidFeed("its header is not an object")
    if fields.get("format") != FORMAT:
        raise InvalidFeed(f"it is not in the format {FORMAT}")

    def number(name: str) -> int:
        return parse_integer(fields.get(name), 0, _MAX_NUMBER)

    def optional_text(name: str) -> str | None:
        return None if fields.get(name) is None else parse_line(fields[name])

    pinned = fields.get("pinned")
    try:
        header = MarketHeader(
            network=parse_line(fields.get("network")),
            chain_id=parse_integer(fields.get("chain_id"), 0, _MAX_GAS_PRICE),
            block=number("block"),
            block_hash=optional_text("block_hash"),
            timestamp=None if fields.get("timestamp") is None else number("timestamp"),
            gas_price_wei=parse_integer(fields.get("gas_price_wei"), 0, _MAX_GAS_PRICE),
            source=parse_line(fields.get("source")),
            pinned=pinned if isinstance(pinned, bool) else None,
        )
        rewound_to = None if fields.get("rewound_to") is None else number("rewound_to")
        return header, optional_text("base"), parse_line(fields.get("state_hash")), rewound_to, number("records")
    except InvalidValue as error:
        raise InvalidFeed(f"its header is invalid: {error.problem}") from None


def _split(rest: bytes, parts: int) -> list[bytes]:
    words = rest.split(b" ", parts - 1)
    if len(words) != parts:
        raise InvalidFeed("a record without a document")
    return words


def _parse_key(name: bytes) -> str:
    if not name or len(name) > _MAX_KEY_BYTES or not name.isascii() or b" " in name:
        raise InvalidFeed("a record with an invalid key")
    return name.decode()


def _parse_depth(text: bytes) -> float:
    try:
        depth = float(text) if len(text) <= _MAX_DEPTH_DIGITS else -1.0
    except ValueError:
        depth = -1.0
    if not 0 <= depth < float("inf"):
        raise InvalidFeed("a pool with an invalid depth")
    return depth
