"""Mined transactions: `swap_events` finds their swaps, `swapped_pools` reads the pools at the parent block, and
`swap_verification` compares what was paid with the pools' own computation."""

PUBLIC = ("swap_events", "swap_verification", "swapped_pools")
