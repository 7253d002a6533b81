"""Pools of iZiSwap."""

PUBLIC = ("iziswap",)
