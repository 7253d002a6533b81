"""The kinds of names that complete arguments and values. The module `names` lists the names of each kind."""

from __future__ import annotations

NETWORKS, TOKENS, PROTOCOLS, KEYS = "networks", "tokens", "protocols", "keys"
FILES, FOLDERS = "files", "folders"
WORDS, LIST = "words", "list"
LIST_MARK = ","
"""Ends the kind of an option that accepts comma-separated names."""
