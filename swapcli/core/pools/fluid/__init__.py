"""Pools of Fluid's DEX."""
