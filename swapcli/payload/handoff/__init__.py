"""Documents for other signers of a swap: a Safe's batch, and a wallet's request for calls."""

PUBLIC = ("safe_batch", "swap_summary", "wallet_calls")
