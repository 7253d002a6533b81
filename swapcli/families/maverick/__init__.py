"""Pools of Maverick V2."""

PUBLIC = ()
