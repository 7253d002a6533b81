"""Pools of iZiSwap."""

PUBLIC = ()
