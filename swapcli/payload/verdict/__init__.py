"""The verdict on a swap before it is signed: a rehearsal on a node, and prices to compare its amounts with."""

PUBLIC = ("swap_rehearsal", "verdict")
