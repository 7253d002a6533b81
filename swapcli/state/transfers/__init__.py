"""How tokens transfer: trials on hypothetical state, and the storage of balances and allowances."""
