"""Verify mined transactions. `swap_events` finds their swaps, `swapped_pools` reads the pools at the parent block, and
`swap_verification` compares the amounts paid with the pools' own computation. `block_verification` does the same for
the swaps in one block. `recent_swaps` finds the newest swaps in the pools that `venue_pools` selects."""

PUBLIC = (
    "block_verification", "recent_swaps", "swap_events", "swap_verification", "swapped_pools", "venue_pools",
)  # fmt: skip
