"""Stable pairs of Solidly's descendants. Their volatile pairs are constant products."""

PUBLIC = ("solidly_stable",)
