"""Fill a store from a node, and keep it at the latest block.

All data in a store is exact at the store's latest block. Each step reads the changes up to the node's latest block,
adds newly discovered pools, and writes both in one transaction, after checking that the block is still on the chain.

`sync_filter` defines which pools to store, and `progress` reports what happened. `fill_store` fills a store and
`follow` keeps it current, both by calling `advance`. `chain_position` relates the store to the node's chain,
`refresh_pools` reads changes, `discover` finds new pools from the position in `cursor`, and `insert` adds them.
`skipped` counts what is missing, with the reasons. `transfer_checks` probes how tokens transfer.
"""

from swapcli.state.sync.cursor import discovery_method
from swapcli.state.sync.fill_store import import_pools, sync
from swapcli.state.sync.follow import ChainFollower, DiskReport, follow
from swapcli.state.sync.progress import Advance, Progress
from swapcli.state.sync.skipped import SkipReason, count_skipped
from swapcli.state.sync.sync_filter import SyncFilter
from swapcli.state.sync.transfer_checks import transfer_check_error

PUBLIC = ("follow", "skipped")

__all__ = [
    "Advance",
    "ChainFollower",
    "DiskReport",
    "Progress",
    "SkipReason",
    "SyncFilter",
    "count_skipped",
    "discovery_method",
    "follow",
    "import_pools",
    "sync",
    "transfer_check_error",
]
