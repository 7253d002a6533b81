"""Curve's StableSwap and cryptoswap pools, and metapools."""

PUBLIC = ("stableswap_curve",)
