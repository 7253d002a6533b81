"""Mined transactions: `swap_events` finds their swaps, `swapped_pools` reads the pools at the parent block, and
`swap_verification` compares the paid amounts with the pools' own computation; `block_verification` does so for the
swaps of one block. `recent_swaps` finds the newest swaps in the pools of `venue_pools`."""

PUBLIC = (
    "block_verification", "recent_swaps", "swap_events", "swap_verification", "swapped_pools", "venue_pools",
)  # fmt: skip
