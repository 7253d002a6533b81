"""Curve's StableSwap and cryptoswap pools, and metapools."""

PUBLIC = ("cryptoswap", "cryptoswap_math", "curve_meta", "stableswap", "stableswap_curve")
