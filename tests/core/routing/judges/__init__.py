"""Judges of routes that share no code with the search, and the markets they judge on."""
