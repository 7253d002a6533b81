"""Contracts that convert tokens at a rate unaffected by swaps: stability modules, vaults, bridges, wrapping."""

PUBLIC = ("fixed_rate_curve",)
