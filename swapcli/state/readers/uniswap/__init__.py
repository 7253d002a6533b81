"""Readers of constant product pairs and of concentrated liquidity."""

PUBLIC = ("jediswap_cl", "uniswap_v2", "uniswap_v4")
