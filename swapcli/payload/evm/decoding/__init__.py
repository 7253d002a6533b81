"""Decode router and token calls from bytes, in any dialect, before someone signs them."""

PUBLIC = ("arguments", "decode")
