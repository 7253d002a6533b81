"""What was mined, compared with what the pools and the best route would have paid just before it."""

PUBLIC = ("hindsight", "recent_verification", "recording", "transaction_verification")
