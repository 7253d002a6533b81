"""Pools of DODO's second version."""

PUBLIC = ("dodo_v2",)
