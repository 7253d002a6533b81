"""Readers of pools of bins."""
