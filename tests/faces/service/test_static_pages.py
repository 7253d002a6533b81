"""Pages with an ETag and gzip, over real connections: which representation each header gets, and its length."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from swapcli.faces.service import operations_pages, static_pages
from swapcli.faces.service.static_pages import accepts_gzip
from tests.examples import few_rows
from tests.support.service import build_app, open_registry, serve_over_sockets

PATHS = ("/openapi.json", "/docs", "/")
TIMEOUT_S = 30


@pytest.fixture(scope="module")
def connection() -> Iterator[HTTPConnection]:
    with (
        pytest.MonkeyPatch.context() as patched,
        serve_over_sockets(build_app(open_registry(["monad"]))) as url,
    ):
        patched.setattr(operations_pages, "EXAMPLES_S", 3_600)
        parts = urlsplit(url)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
        yield connection
        connection.close()


def send(connection: HTTPConnection, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers={"Accept": "text/html", **named})
    response = connection.getresponse()
    return response, response.read()


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_compressed_for_clients_that_accept_it(path: str, connection: HTTPConnection) -> None:
    plain, body = send(connection, path)
    packed, compressed = send(connection, path, Accept_Encoding="gzip, deflate, br")
    assert gzip.decompress(compressed) == body
    assert len(compressed) < len(body) / 2
    assert (plain.headers["Content-Encoding"], packed.headers["Content-Encoding"]) == (None, "gzip")
    assert plain.headers["ETag"] != packed.headers["ETag"], "strong ETags name bytes"
    for response, content in ((plain, body), (packed, compressed)):
        assert response.headers["ETag"].startswith('"')
        assert "Accept-Encoding" in response.headers["Vary"].split(", ")
        assert response.headers.get_all("Cache-Control") == ["no-cache"], "no-store would keep nothing to compare"
        assert response.headers["Content-Length"] == str(len(content))
        head, nothing = send(connection, path, "HEAD", Accept_Encoding=response.headers["Content-Encoding"] or "")
        assert nothing == b""
        names = ("ETag", "Content-Length", "Content-Type", "Content-Encoding", "Vary", "Content-Security-Policy")
        assert [head.headers[name] for name in names] == [response.headers[name] for name in names]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_client_that_has_the_page_gets_only_its_etag(
    path: str, method: str, encoding: str, connection: HTTPConnection
) -> None:
    tag = send(connection, path, Accept_Encoding=encoding)[0].headers["ETag"]
    for known in (tag, f"W/{tag}", f'"a,b", W/"c" ,{tag}', "*"):
        response, body = send(connection, path, method, Accept_Encoding=encoding, If_None_Match=known)
        assert (response.status, body) == (304, b""), known
        assert response.headers["ETag"] == tag
        assert response.headers["Content-Length"] is None
        assert response.headers["Vary"]
    for other in ('"other"', tag.strip('"'), f'"{tag}"', ""):
        assert send(connection, path, method, Accept_Encoding=encoding, If_None_Match=other)[0].status == 200, other


@pytest.mark.parametrize(
    ("header", "expected"),
    few_rows(
        [
            ("gzip", True),
            ("GZip;q=0.5", True),
            ("gzip;q=0", False),
            ("gzip;q=0.000, *", False),
            ("deflate, x-gzip", True),
            ("*", True),
            ("*;q=0", False),
            ("br", False),
            ("", False),
            (None, False),
            ("identity, gzip;q=0.9", False),
            ("identity;q=0.5, gzip;q=0.9", True),
            ("gzip ; q = 1", True),
            ("gzip;q=nan", False),
            ("gzip;q=2", False),
            ("gzip;q=", False),
        ],
        12,
    ),
)
def test_gzip_is_accepted_by_its_weight(header: str | None, expected: bool) -> None:
    assert accepts_gzip(header) is expected


def test_a_page_is_compressed_once(connection: HTTPConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    send(connection, "/docs", Accept_Encoding="gzip")

    def compress(*_: object, **__: object) -> bytes:
        raise AssertionError("compressed again")

    monkeypatch.setattr(static_pages.gzip, "compress", compress)  # type: ignore[attr-defined]
    assert send(connection, "/docs", Accept_Encoding="gzip")[0].status == 200
