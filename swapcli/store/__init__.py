"""Markets in SQLite: one file per network, which is what a process writes, locks, copies and deletes.

`store` is what others use. `file` opens, `schema` numbers the migrations, `faults` translates SQLite's exceptions,
`rows` turns pools and tokens into rows and back; `writer` and `journal` keep whole blocks and lead back to earlier
ones; `ranking` knows which tokens and pools are deep, `choice` picks by it what an order can want, `neighbourhood`
reads that; `summary` counts, and `register` tells whoever keeps a store up to date what it holds and has left out.

Everything that SQLite is needed for is imported with this package, so whoever may do without imports it on demand.
"""

from swapcli.store.blocks import BlockMark
from swapcli.store.inventory import LeftOut
from swapcli.store.store import Store, create_store, open_store
from swapcli.store.summary import Summary
from swapcli.store.writer import BlockWriter

__all__ = ["BlockMark", "BlockWriter", "LeftOut", "Store", "Summary", "create_store", "open_store"]
