"""Readers of pairs of Solidly's descendants, stable and volatile."""

PUBLIC = ()
