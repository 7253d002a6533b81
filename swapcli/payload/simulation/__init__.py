"""Runs of a swap on a node, on hypothetical state: nothing is sent."""

PUBLIC = (
    "allowance_probe",
    "block_simulation",
    "offered_swaps",
    "plain_sender",
    "rehearsal",
    "revert_reason",
    "sender_balances",
    "swap_simulation",
)
