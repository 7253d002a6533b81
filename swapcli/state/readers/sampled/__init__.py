"""Finds and samples pools that their protocol quotes by itself."""
