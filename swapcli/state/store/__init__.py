"""Markets in SQLite, with one file per network, which processes can write, lock, copy and delete.

Other packages use `store`. `database` opens connections, `schema` numbers the migrations, `sqlite_errors` translates
exceptions, `rows` converts pools and tokens to rows and back. `block_writer` writes complete blocks, and `undo_log`
rewinds to earlier blocks. `disk_outage` manages the copy that is used while the disk fails. `ranking_updates` keeps the
depths of pools up to date, and `ranking_queries` reads them for `core.selection`. `summary` counts the contents, and
`known_pools` lists the stored and the skipped pools.

Importing this package imports sqlite3, so modules on the start-up path import it lazily.
"""

from swapcli.state.store.block_writer import BlockWriter
from swapcli.state.store.database import IN_MEMORY, remove_store
from swapcli.state.store.disk_outage import remove_copy
from swapcli.state.store.known_pools import SkippedEntry
from swapcli.state.store.sqlite_errors import is_disk_failure
from swapcli.state.store.store import Store, create_store, open_store
from swapcli.state.store.stored_block_header import StoredBlock
from swapcli.state.store.summary import StoreSummary

PUBLIC = ("summary",)

__all__ = [
    "IN_MEMORY",
    "BlockWriter",
    "SkippedEntry",
    "Store",
    "StoreSummary",
    "StoredBlock",
    "create_store",
    "is_disk_failure",
    "open_store",
    "remove_copy",
    "remove_store",
]
