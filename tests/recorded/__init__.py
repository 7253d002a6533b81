"""Recorded answers of real pool contracts, and swaps that were mined, against the pools of `swapcli.families`."""
