"""Pools of Maverick V2."""

PUBLIC = ("maverick_v2",)
