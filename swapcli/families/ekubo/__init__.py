"""Ekubo's concentrated liquidity, on Starknet and on EVM networks."""

PUBLIC = ("ekubo_evm_reader", "ekubo_reader")
