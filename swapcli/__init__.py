"""The best swap route over liquidity pools, exact to the unit, and the transaction that executes it."""

__version__ = "0.1.0"
