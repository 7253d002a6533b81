"""Readers of order books."""

PUBLIC = ()
