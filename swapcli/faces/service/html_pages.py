"""The HTML pages: a form for quotes at `/`, and at `/docs` a viewer of `openapi.json` that can send requests.

Each page is one document that contains its style and its script, so that it works without a network. The policy in its
headers allows nothing else: no other script or style, and connections only to this service. `bench/HISTORY.md` compares
the viewer with maintained ones.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from swapcli.core.model.swap_terms import DEFAULT_MAX_IMPACT_PPM, DEFAULT_MAX_SLIPPAGE_PPM
from swapcli.core.records import NamedTuple
from swapcli.interface.slippage import format_percent

CONTENT_TYPE = "text/html; charset=utf-8"

_FOLDER = Path(__file__).with_name("html")


class HtmlPage(NamedTuple):
    """An encoded page and the headers that restrict what it may do."""

    body: bytes
    headers: tuple[tuple[str, str], ...]


@cache
def quote_page(
    max_slippage_ppm: int = DEFAULT_MAX_SLIPPAGE_PPM, max_impact_ppm: int = DEFAULT_MAX_IMPACT_PPM
) -> HtmlPage:
    """Return the form for quotes, which asks for consent to a slippage or a price impact above these."""
    page = _build("quote")
    body = page.body
    for field, limit_ppm in (("data-max-slippage", max_slippage_ppm), ("data-max-impact", max_impact_ppm)):
        body = body.replace(f'{field}=""'.encode(), f'{field}="{format_percent(limit_ppm)}"'.encode(), 1)
    return page._replace(body=body)


@cache
def docs_page() -> HtmlPage:
    """Return the documentation. Serve it next to `openapi.json`."""
    return _build("docs")


def accepts_html(accept: str | None) -> bool:
    """Return whether an `Accept` header names HTML and does not prefer JSON; `*/*` alone names nothing."""
    weights = {"text/html": 0.0, "application/json": 0.0}
    for part in (accept or "").lower().split(","):
        media_type, *parameters = (each.strip() for each in part.split(";"))
        if media_type in weights:
            weights[media_type] = _weight(parameters)
    return weights["text/html"] > 0 and weights["text/html"] >= weights["application/json"]


def _weight(parameters: list[str]) -> float:
    """Return the quality value of a media range; 0 if it is malformed."""
    text = next((each.removeprefix("q=") for each in parameters if each.startswith("q=")), "1")
    try:
        return float(text)
    except ValueError:
        return 0.0


def _build(name: str) -> HtmlPage:
    style = _read("shared.css") + _read(f"{name}.css")
    script = _read("shared.js") + _read(f"{name}.js")
    text = _read(f"{name}.html")
    text = text.replace("<style></style>", f"<style>{style}</style>", 1)
    text = text.replace("<script></script>", f"<script>{script}</script>", 1)
    policy = (
        "default-src 'none'",
        f"script-src {_digest(script)}",
        f"style-src {_digest(style)}",
        "connect-src 'self'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    headers = (("Content-Security-Policy", "; ".join(policy)), ("Referrer-Policy", "no-referrer"))
    return HtmlPage(text.encode(), headers)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
