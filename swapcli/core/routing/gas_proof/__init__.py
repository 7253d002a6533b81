"""Prove an upper bound on the output after gas of any acyclic route."""

PUBLIC = ("proof",)
