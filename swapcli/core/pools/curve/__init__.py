"""Curve's StableSwap and cryptoswap pools, and metapools."""
