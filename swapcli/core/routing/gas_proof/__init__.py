"""A proven upper bound on what any acyclic route pays after gas."""

PUBLIC = ("proof",)
