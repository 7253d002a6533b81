"""Readers of contracts that convert at a fixed rate."""

PUBLIC = ()
