"""EulerSwap pools, whose reserves are deposits and debts in lending vaults."""

PUBLIC = ()
