"""Calls of routers and tokens as bytes, read back: what anyone is about to sign, of any dialect."""

PUBLIC = ("arguments", "decode")
