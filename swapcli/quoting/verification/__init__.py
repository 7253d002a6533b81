"""Mined swaps, compared with the output of the pools and of the best route just before them."""

PUBLIC = ("hindsight", "recent_verification", "recording", "transaction_verification")
