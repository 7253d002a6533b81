"""Calls of routers and tokens as bytes, read back: what anybody is about to sign, of any dialect."""

PUBLIC = ("arguments", "decode")
