"""The verdict on a swap before it is signed: a rehearsal on a node, and prices with which its amounts are compared."""

PUBLIC = ("swap_rehearsal", "verdict")
