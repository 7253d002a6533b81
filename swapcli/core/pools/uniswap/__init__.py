"""Constant product pairs and concentrated liquidity: Uniswap's contracts, their forks, and what is like them."""

PUBLIC = ("concentrated", "concentrated_curve", "concentrated_state", "constant_product", "tick_math", "v4_hooks")
