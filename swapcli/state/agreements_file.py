"""Remember in a file when swaps of each protocol, mined or simulated, last matched their quotes on a node's state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.state.remembered_json import read_json_file, write_json_file

_FILE: Final = "live-agreements.json"
_NETWORKS: Final = "networks"


class Agreement(NamedTuple):
    """The latest block in which a protocol's swaps matched their quotes. `timestamp` is the block's Unix time, and
    `swaps` the number of matching swaps."""

    block: int
    timestamp: int
    swaps: int


class AgreementsFile:
    """The file of agreements in a folder, which is also the stores' folder.

    >>> agreements = AgreementsFile(folder).load(8453)
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def load(self, chain_id: int) -> dict[str, Agreement]:
        """Return a network's agreements by protocol. Invalid entries in the file are ignored."""
        found = read_json_file(self._path, _NETWORKS).get(str(chain_id))
        entries = found.items() if isinstance(found, dict) else ()
        return {name: agreement for name, entry in entries if (agreement := _parse(entry))}

    def add(self, chain_id: int, agreements: Mapping[str, Agreement]) -> None:
        """Remember agreements by protocol. Agreements for an older block, or with fewer swaps in the same block, are
        ignored."""
        known = self.load(chain_id)
        newer = {
            name: each
            for name, each in agreements.items()
            if name not in known or (known[name].block, known[name].swaps) < (each.block, each.swaps)
        }
        if newer:
            merged = {name: list(each) for name, each in sorted({**known, **newer}.items())}
            write_json_file(self._path, _NETWORKS, {**read_json_file(self._path, _NETWORKS), str(chain_id): merged})


def _parse(entry: object) -> Agreement | None:
    """Return the agreement made of three numbers; None for anything else."""
    is_valid = isinstance(entry, list) and len(entry) == len(Agreement._fields)
    if not isinstance(entry, list) or not is_valid or not all(type(number) is int and number >= 0 for number in entry):
        return None
    return Agreement(*entry)
