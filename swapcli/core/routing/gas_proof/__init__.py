"""A proven upper bound on what any acyclic route pays net of gas."""

PUBLIC = ("proof",)
