"""The version of the program."""

__version__ = "0.1.0"
"""The same version as in `pyproject.toml`."""
