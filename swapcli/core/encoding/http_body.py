"""Read the body of an HTTP response within a size limit, whatever its headers claim."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

MAX_BODY_BYTES = 8 * 2**20
"""The size limit of a body; the largest route of the interface is a few hundred KiB."""

ACCEPTED_ENCODINGS = "gzip"

_PART_BYTES = 2**20  # bytes decompressed in one step: the size is checked after each
_GZIP_WBITS = 16 + zlib.MAX_WBITS


class InvalidBody(Exception):
    """The problem with a response body. The message continues a sentence that begins with the sender of the body."""


class OversizedBody(InvalidBody):
    """The body is longer than its limit."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"sent more than {max_bytes // 2**20 or 1} MiB, more than any response needs")


def read_body(chunks: Iterable[bytes], encoding: str = "", *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Return the decoded body from its chunks.

    Raises `InvalidBody` for a body longer than `max_bytes`, one that does not match `encoding` (from the header), and
    an encoding that was not requested. Memory use is limited to `max_bytes` plus one small chunk, so a small compressed
    body cannot exhaust it.
    """
    body = bytearray()
    for part in _decoded(_bounded(chunks, max_bytes), encoding.strip().lower()):
        body += part
        if len(body) > max_bytes:
            raise OversizedBody(max_bytes)
    return bytes(body)


def _bounded(chunks: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    """Yield chunks until the limit: even encoded bytes that decode to nothing must end."""
    left = most_bytes
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise OversizedBody(most_bytes)
        yield chunk


def _decoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in ("", "identity"):
        return chunks
    if encoding in ("gzip", "x-gzip"):
        return _gunzipped(chunks)
    raise InvalidBody("used a compression that was not requested")


def _gunzipped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    unzip = zlib.decompressobj(_GZIP_WBITS)
    for chunk in chunks:
        left, is_full = chunk, True
        while left or is_full:
            try:
                part = unzip.decompress(left, _PART_BYTES)
            except zlib.error:
                raise InvalidBody("sent a body that is not gzip, although its header says so") from None
            left, is_full = unzip.unconsumed_tail, len(part) == _PART_BYTES
            yield part
        if unzip.unused_data:
            raise InvalidBody("sent a body with data after its end")
    if not unzip.eof:
        raise InvalidBody("sent a body that ends early")
