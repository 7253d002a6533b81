"""The readers of Ekubo's pools, on Starknet and on EVM networks."""

PUBLIC = ("ekubo", "ekubo_evm")
