"""Read the body of an HTTP response within a size limit, independent of what its headers claim."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

MAX_BODY_BYTES = 8 * 2**20
"""The largest route of the interface is a few hundred KiB."""

ACCEPTED_ENCODINGS = "gzip"

_GZIP_WBITS = 16 + zlib.MAX_WBITS


class InvalidBody(Exception):
    """What is wrong with a body, to follow the name of who sent it."""


def read_body(chunks: Iterable[bytes], encoding: str = "", *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The decoded body, from the chunks that arrive. Raises `InvalidBody` where it is longer than `most_bytes`, is not
    what `encoding` (of the header) says, or has an encoding that was not asked for.

    No more than `most_bytes` and a chunk are ever held, so a few bytes cannot unfold into many.
    """
    body = bytearray()
    for part in _decoded(_bounded(chunks, max_bytes), encoding.strip().lower(), max_bytes):
        body += part
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(body)


def _bounded(chunks: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    """The chunks as long as they fit: encoded bytes that decode to nothing must end too."""
    left = most_bytes
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise _too_large(most_bytes)
        yield chunk


def _decoded(chunks: Iterator[bytes], encoding: str, most_bytes: int) -> Iterator[bytes]:
    if encoding in ("", "identity"):
        return chunks
    if encoding in ("gzip", "x-gzip"):
        return _gunzipped(chunks, most_bytes)
    raise InvalidBody("encoded its answer in a way that was not asked for")


def _gunzipped(chunks: Iterator[bytes], most_bytes: int) -> Iterator[bytes]:
    unzip = zlib.decompressobj(_GZIP_WBITS)
    for chunk in chunks:
        try:
            yield unzip.decompress(chunk, most_bytes + 1)
        except zlib.error:
            raise InvalidBody("sent a body that is not gzip, as it should be") from None
        if unzip.unused_data:
            raise InvalidBody("sent a body that goes on after its end")
    if not unzip.eof:
        raise InvalidBody("sent a body that ends early")


def _too_large(most_bytes: int) -> InvalidBody:
    return InvalidBody(f"sent more than {most_bytes // 2**20 or 1} MiB, which no answer needs")
