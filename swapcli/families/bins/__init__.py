"""Pools of bins of constant price: Liquidity Book and PancakeSwap Infinity."""

PUBLIC = ("bin_curve",)
