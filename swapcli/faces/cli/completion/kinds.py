"""The kinds of names that complete arguments and values. The module `names` lists the names of each kind."""

from __future__ import annotations

NETWORKS, TOKENS, PROTOCOLS, KEYS = "networks", "tokens", "protocols", "keys"
FILES, FOLDERS = "files", "folders"
WORDS, LIST = "words", "list"
LIST_MARK = ","
"""The mark at the end of a kind whose option accepts comma-separated names."""
