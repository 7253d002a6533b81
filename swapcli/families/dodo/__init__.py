"""Pools of DODO V2."""

PUBLIC = ()
