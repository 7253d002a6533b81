"""Run a swap on a node, on hypothetical state: nothing is sent."""

PUBLIC = ("allowance_probe", "offered_swaps", "rehearsal", "revert_reason", "sender_balances", "swap_simulation")
