"""The tokens with pools of the embedded markets, which completion offers.

`make completions` writes them to a file: opening a market takes longer than a user waits.
"""

from __future__ import annotations

import json
import os
from functools import cache

PACKAGED_TOKENS_FILE = os.path.join(os.path.dirname(__file__), "packaged_tokens.json")


@cache
def read_packaged_tokens() -> dict[str, dict[str, str]]:
    """Return the names of the tokens of each network by symbol, the native token first, then by the number of pools."""
    with open(PACKAGED_TOKENS_FILE, encoding="utf-8") as file:
        return dict(json.load(file))
