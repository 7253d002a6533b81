"""Write the example settings file: python -m tests.generate.example_settings."""

from __future__ import annotations

from pathlib import Path

from swapcli.quoting.config.display import example_config

if __name__ == "__main__":
    Path(__file__).parents[2].joinpath("config.example.yaml").write_text(example_config())
