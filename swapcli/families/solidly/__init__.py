"""Stable pairs of Solidly forks. Their volatile pairs are in the constant-product family."""

PUBLIC = ("solidly_stable",)
