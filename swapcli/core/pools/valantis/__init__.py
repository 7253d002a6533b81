"""Pools of Valantis."""

PUBLIC = ("valantis_stex",)
