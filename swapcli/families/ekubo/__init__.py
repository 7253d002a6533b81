"""Concentrated liquidity of Ekubo, on Starknet and on EVM networks."""

PUBLIC = ()
