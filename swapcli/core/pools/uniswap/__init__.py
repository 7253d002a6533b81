"""Constant product pairs and concentrated liquidity: Uniswap's contracts, their forks, and what is like them."""

PUBLIC = (
    "clanker_volatility", "concentrated", "concentrated_curve", "concentrated_state", "constant_product",
    "fee_in_token", "hook_fees", "internal_swap", "ring_pair", "tick_math", "uniswap_v4_hooked", "v4_hooks",
)  # fmt: skip
