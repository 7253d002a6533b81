"""Constant product pairs and concentrated liquidity: Uniswap's contracts, their forks and similar pools."""

PUBLIC = (
    "concentrated", "concentrated_curve", "concentrated_state", "constant_product", "jediswap_cl_reader", "rows",
    "uniswap_v2_reader", "uniswap_v4_reader", "v4_hooks",
)  # fmt: skip
