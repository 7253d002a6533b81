"""Fills a store from a node, and keeps it at the newest block.

Everything in a store is exact at its head block: each step brings what it holds to the node's newest block, adds what
was found in the meantime, and writes both in one transaction, after the block has been seen to stand still.

`wanted` has the words. `syncing` fills a store and `following` keeps it new, both by taking a `step`: `footing` says
where the store stands on the node's chain, `refreshing` reads what has changed, `finding` finds more, as far as
`search` remembers, and `adding` takes it in. `left_out` tells what is missing, and why. `transfers` tries out what
transfers of tokens do.
"""

from swapcli.engine.sync.backfill import adopt, sync
from swapcli.engine.sync.follow import follow
from swapcli.engine.sync.skipped import Omission, skipped
from swapcli.engine.sync.sync_filter import Advance, Progress, Wanted
from swapcli.engine.sync.transfer_checks import refusal_of

__all__ = ["Advance", "Omission", "Progress", "Wanted", "adopt", "follow", "refusal_of", "skipped", "sync"]
