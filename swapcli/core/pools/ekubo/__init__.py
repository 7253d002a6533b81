"""Concentrated liquidity of Ekubo on Starknet."""

PUBLIC = ("ekubo", "ekubo_tick_math")
