"""Contracts that convert tokens at a rate that a swap does not move: stability modules, vaults, bridges, wrapping."""

PUBLIC = ("fixed_rate_curve",)
