"""The documents in which a swap is handed to those who sign it: a Safe's batch, a wallet's request for calls."""

PUBLIC = ("safe_batch", "swap_summary", "wallet_calls")
