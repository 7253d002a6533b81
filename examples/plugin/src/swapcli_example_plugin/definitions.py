"""What is data: a network for a local test chain, and the adapter of an aggregator."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent

NETWORK: Final = _FOLDER / "example_local.json"
"""In the form of a network file, which `swapcli help networks` explains."""
AGGREGATOR: Final = _FOLDER / "example_aggregator.json"
"""In the form of `docs/adapters.md`. The settings say where it runs: aggregators.example.address."""
