"""How tokens transfer: trials on hypothetical state, and the storage of balances and allowances."""

PUBLIC = ("erc20_calls", "token_slots", "transfer_probe", "transfer_trials")
