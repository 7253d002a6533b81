"""Pools of Valantis."""

PUBLIC = ()
