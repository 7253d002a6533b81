"""Download one document from a URL that the user named."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

from swapcli.core.encoding.http_body import ACCEPTED_ENCODINGS, InvalidBody, read_body
from swapcli.core.encoding.url import redact_url, split_url
from swapcli.core.errors import InvalidOption, InvalidUpstreamResponse, UpstreamRejected, UpstreamTimeout
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.remote.transport_errors import classify_error, redirect_error
from swapcli.state.connect_failure import USER_AGENT


def download(url: str, *, timeout_s: float, max_bytes: int) -> bytes:
    """Return the document at an http(s) URL. Errors show only the URL's host, because the rest may be secret.

    Redirects are not followed, and no proxy or credentials are taken from the environment. Raises `UpstreamError`, and
    `InvalidOption` for an invalid URL.
    """
    try:
        host = split_url(url).netloc.rpartition("@")[2]
    except ValueError:
        raise InvalidOption(f"{redact_url(url)} is not a valid URL") from None
    service, deadline_s = ServiceUrl(f"{urlsplit(url).scheme}://{host}", host), time.monotonic() + timeout_s
    headers = {"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": ACCEPTED_ENCODINGS}
    has_answered = False
    try:
        with (
            httpx.Client(timeout=timeout_s, trust_env=False, follow_redirects=False) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            has_answered = True
            if response.is_redirect:
                raise redirect_error(service, response.status_code, response.headers.get("Location", ""))
            if response.status_code != HTTPStatus.OK:
                raise UpstreamRejected(f"{host} responded with status {response.status_code}")
            chunks = _before(deadline_s, response.iter_raw(), host)
            return read_body(chunks, response.headers.get("Content-Encoding", ""), max_bytes=max_bytes)
    except InvalidBody as error:
        raise InvalidUpstreamResponse(f"{host} {error}") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise classify_error(error, service, timeout_s, has_answered=has_answered).error from None


def _before(deadline_s: float, chunks: Iterator[bytes], host: str) -> Iterator[bytes]:
    """Yield chunks until the deadline, then raise `UpstreamTimeout`."""
    for chunk in chunks:
        if time.monotonic() > deadline_s:
            raise UpstreamTimeout(f"{host} did not finish its response in time", hint="try again")
        yield chunk
