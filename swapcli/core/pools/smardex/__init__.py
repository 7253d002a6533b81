"""Pairs of SmarDex."""

PUBLIC = ()
