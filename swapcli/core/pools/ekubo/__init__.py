"""Concentrated liquidity of Ekubo, on Starknet and on EVM networks."""

PUBLIC = ("ekubo", "ekubo_evm", "ekubo_evm_tick_math", "ekubo_tick_math", "ekubo_twamm")
