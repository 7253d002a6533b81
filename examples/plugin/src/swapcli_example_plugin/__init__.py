"""An example of a package that adds to swapcli; `pyproject.toml` has its entry points."""
