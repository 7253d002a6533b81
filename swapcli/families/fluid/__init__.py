"""Pools of Fluid's DEX."""

PUBLIC = ()
