"""Pools of DODO's second version."""

PUBLIC = ()
