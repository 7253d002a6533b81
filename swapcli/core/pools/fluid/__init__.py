"""Pools of Fluid's DEX."""

PUBLIC = ("fluid_t1",)
