"""The HTML pages: a form for quotes at `/`, and at `/docs` a viewer of `openapi.json` that can send requests.

Each page is one document that contains its style and its script, so that it works without the internet. The policy in
its headers allows no other script or style, and connections only to this service. `bench/HISTORY.md` compares the
viewer with maintained ones.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from swapcli.core.model.swap_terms import DEFAULT_MAX_IMPACT_PPM, DEFAULT_MAX_SLIPPAGE_PPM
from swapcli.faces.service.static_pages import StaticPage, parse_weights
from swapcli.interface.slippage import format_percent

CONTENT_TYPE = "text/html; charset=utf-8"

_FOLDER = Path(__file__).with_name("html")
_COMMENT = re.compile(r"^ */\*.*?\*/\n", re.DOTALL | re.MULTILINE)
"""A comment on separate lines, which browsers do not need."""
_FURTHER_SCRIPTS = {"quote": ("wallet",)}


@cache
def quote_page(
    max_slippage_ppm: int = DEFAULT_MAX_SLIPPAGE_PPM, max_impact_ppm: int = DEFAULT_MAX_IMPACT_PPM
) -> StaticPage:
    """Return the form for quotes, which asks for consent above the given slippage or price impact."""
    page = _build("quote")
    body = page.body
    for field, limit_ppm in (("data-max-slippage", max_slippage_ppm), ("data-max-impact", max_impact_ppm)):
        body = body.replace(f'{field}=""'.encode(), f'{field}="{format_percent(limit_ppm)}"'.encode(), 1)
    return StaticPage(body, CONTENT_TYPE, page.headers)


@cache
def docs_page() -> StaticPage:
    """Return the documentation. Serve it next to `openapi.json`."""
    return _build("docs")


def accepts_html(accept: str | None) -> bool:
    """Return whether an `Accept` header names HTML and does not prefer JSON. `*/*` alone does not count as HTML."""
    weights = parse_weights(accept)
    html = weights.get("text/html", 0.0)
    return html > 0.0 and html >= weights.get("application/json", 0.0)


def _build(name: str) -> StaticPage:
    style = _read("shared.css") + _read(f"{name}.css")
    scripts = ("shared", *_FURTHER_SCRIPTS.get(name, ()), name)
    script = "".join(_COMMENT.sub("", _read(f"{each}.js")) for each in scripts)
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
    return StaticPage(text.encode(), CONTENT_TYPE, headers)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
