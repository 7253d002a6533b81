"""Test how tokens transfer, with trials on hypothetical state. Find the storage slots of balances and allowances."""

PUBLIC = ("erc20_calls", "token_slots", "transfer_probe", "transfer_trials")
