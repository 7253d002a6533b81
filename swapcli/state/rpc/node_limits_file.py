"""Remember the limits of nodes between runs, in a small file that also holds the data of `node_records`.

Nodes are identified by a hash of their URL, because the URL may contain a key. The file only saves time. If it is
missing, damaged or read-only, no result changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from swapcli.state.remembered_json import read_json_file, write_json_file
from swapcli.state.rpc.node_limits import NodeLimits

_NODES: Final = "nodes"
_SAVED_AT: Final = "saved_at_s"
_HASH_CHARACTERS: Final = 32  # of the hash of a URL, which may contain a key
_MAX_NODES: Final = 100
"""More nodes than anyone uses; beyond this, those saved longest ago are forgotten."""


class NodeLimitsFile:
    """The file of node limits at `path`. `now_s` returns Unix time.

    >>> limits = NodeLimitsFile(folder / "node-limits.json").load("https://node.example/key")
    """

    def __init__(self, path: Path, now_s: Callable[[], float] = time.time) -> None:
        self._path, self._now_s = path, now_s

    def load(self, url: str, *, burst: int = 0) -> NodeLimits:
        """Return the limits of the node at `url`, or the default limits if the node is unknown. `burst` is as in
        `NodeLimits`."""
        limits = NodeLimits(self._now_s, burst=burst)
        limits.restore(read_node_entries(self._path).get(node_key(url)))
        return limits

    def save(self, limits_by_url: Mapping[str, NodeLimits]) -> None:
        """Write the learned limits of nodes, by URL. Entries for other nodes do not change."""
        learned = {node_key(url): document for url, limits in limits_by_url.items() if (document := limits.document())}
        saved = read_node_entries(self._path)
        if any(_without_time(saved.get(key)) != document for key, document in learned.items()):
            update_node_entries(self._path, learned, self._now_s())


def read_node_entries(path: Path) -> dict[str, object]:
    """Return the entries in the file, by `node_key`; empty if it is missing or damaged."""
    return read_json_file(path, _NODES)


def update_node_entries(path: Path, entries: Mapping[str, Mapping[str, object] | None], now_s: float) -> None:
    """Replace `entries` in the file, and remove an entry if its new value is None. Other entries do not change. `now_s`
    is Unix time."""
    new = {key: {**entry, _SAVED_AT: int(now_s)} for key, entry in entries.items() if entry is not None}
    removed = entries.keys() - new.keys()
    nodes = {key: entry for key, entry in (read_node_entries(path) | new).items() if key not in removed}
    newest = sorted(nodes, key=lambda key: _saved_at(nodes[key]))[-_MAX_NODES:]
    write_json_file(path, _NODES, {key: nodes[key] for key in newest})


def node_key(url: str) -> str:
    """Return the key of a node or a host in the file. It is a hash, because a URL may contain a secret."""
    return sha256(url.encode()).hexdigest()[:_HASH_CHARACTERS]


def _saved_at(entry: object) -> float:
    saved_at_s = entry.get(_SAVED_AT) if isinstance(entry, dict) else None
    return saved_at_s if isinstance(saved_at_s, int | float) else 0.0


def _without_time(entry: object) -> object:
    return {name: value for name, value in entry.items() if name != _SAVED_AT} if isinstance(entry, dict) else None
