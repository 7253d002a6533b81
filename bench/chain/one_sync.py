"""One first sync, in a process with few imports.

    python -m bench.chain.one_sync SETTINGS NETWORK STORE PROTOCOL...

fills the store and prints the fields of `Synced` as a list.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from swapcli.quoting.config import load_settings, networks_from
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcEndpoint, RpcNode
from swapcli.state.store import create_store
from swapcli.state.sync import SyncFilter, sync


class Synced(NamedTuple):
    """A first sync: `seconds` from creating the store to the last block written, `steps` the number of these blocks."""

    seconds: float
    pools: int
    tokens: int
    steps: int
    round_trips: int
    peak_bytes: int


def sync_once(file: Path, name: str, store_file: str, protocols: Sequence[str]) -> Synced:
    """Fill a new store with pools of the network `name` of the settings in `file`."""
    settings = load_settings(flags={}, environ={}, config_path=file, home=file.parent)
    networks, url = networks_from(settings), settings.networks[name].rpc_url
    assert url is not None
    network = networks(name)
    with closing(RpcNode([RpcEndpoint(url.reveal(), "the node")], network.chain_id)) as node:
        started_s = perf_counter()
        with create_store(store_file, network, networks) as store:
            steps = sum(1 for _ in sync(store, node, SyncFilter(frozenset(protocols)), SYSTEM_CLOCK))
            seconds = perf_counter() - started_s
            return Synced(seconds, *store.inventory.count_pools_and_tokens(), steps, node.round_trips, _peak_bytes())


def _peak_bytes() -> int:
    """Return the peak resident memory of this process alone, without that of its parent."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024


def main(arguments: Sequence[str]) -> None:
    """Run one sync and print its figures."""
    file, name, store_file, *protocols = arguments
    print(json.dumps(sync_once(Path(file), name, store_file, protocols)))


if __name__ == "__main__":
    main(sys.argv[1:])
