"""The documentation page: a self-contained viewer of `openapi.json` that can send requests."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

CONTENT_TYPE = "text/html; charset=utf-8"

_FILE = Path(__file__).with_name("documentation.html")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HEAD = '<meta charset="utf-8">\n'


@lru_cache(maxsize=1)
def page() -> bytes:
    """Return the page, which includes its own content security policy. Serve it next to `openapi.json`."""
    text = _FILE.read_text(encoding="utf-8")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(_policy(text))}">\n'
    return text.replace(_HEAD, _HEAD + meta, 1).encode()


def _policy(text: str) -> tuple[str, ...]:
    """Return the directives: only the page's own script and style, and connections only to this service."""
    return (
        "default-src 'none'",
        f"script-src {_digests(_SCRIPT, text)}",
        f"style-src {_digests(_STYLE, text)}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )


def _digests(element: re.Pattern[str], text: str) -> str:
    return " ".join(
        f"'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'" for inner in element.findall(text)
    )
