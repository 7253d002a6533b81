"""The tokens with pools in the embedded markets, which completion offers.

`make completions` writes them to a file: opening a market would take too long.
"""

from __future__ import annotations

import json
import os
from functools import cache

PACKAGED_TOKENS_FILE = os.path.join(os.path.dirname(__file__), "packaged_tokens.json")


@cache
def read_packaged_tokens() -> dict[str, dict[str, str]]:
    """Return the names of each network's tokens by symbol, the native token first, then by number of pools."""
    with open(PACKAGED_TOKENS_FILE, encoding="utf-8") as file:
        return dict(json.load(file))
