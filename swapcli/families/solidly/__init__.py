"""Stable pairs of Solidly forks. Their volatile pairs are constant products."""

PUBLIC = ("solidly_stable",)
