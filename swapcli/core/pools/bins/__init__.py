"""Pools of bins of constant price: Liquidity Book and PancakeSwap Infinity."""

PUBLIC = ("bin_curve", "bin_math", "infinity_bin", "liquidity_book", "volatility_fee")
