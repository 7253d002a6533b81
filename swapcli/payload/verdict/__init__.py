"""The verdict on a swap before it is signed: a rehearsal on a node, and prices for comparison with its amounts."""

PUBLIC = ("swap_rehearsal", "verdict")
