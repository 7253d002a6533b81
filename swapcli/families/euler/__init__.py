"""Pools of EulerSwap, whose reserves are deposits and debts in lending vaults."""

PUBLIC = ()
