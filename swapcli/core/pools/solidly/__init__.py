"""Stable pairs of Solidly's descendants. Their volatile pairs are constant products."""
