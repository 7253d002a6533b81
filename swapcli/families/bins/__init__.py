"""Pools made of constant-price bins: Liquidity Book and PancakeSwap Infinity."""

PUBLIC = ("bin_curve",)
