"""Decode router and token calls from bytes: whatever anyone is about to sign, in any dialect."""

PUBLIC = ("arguments", "decode")
