"""Compare mined swaps with the output of their pools, and of the best route, just before each swap."""

PUBLIC = ("hindsight", "recent_verification", "recording", "transaction_verification")
