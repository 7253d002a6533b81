"""Constant product pairs and concentrated liquidity: Uniswap's contracts, their forks, and what is like them."""
