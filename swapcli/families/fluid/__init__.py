"""Pools of the Fluid DEX."""

PUBLIC = ()
