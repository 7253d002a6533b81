"""Documents for other signers of a swap: a Safe batch, and a wallet request for calls."""

PUBLIC = ("safe_batch", "swap_summary", "wallet_calls")
