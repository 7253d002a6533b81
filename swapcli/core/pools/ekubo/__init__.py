"""Concentrated liquidity of Ekubo on Starknet."""
