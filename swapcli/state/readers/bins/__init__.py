"""Readers of pools of bins."""

PUBLIC = ()
