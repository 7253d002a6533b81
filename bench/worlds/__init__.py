"""Markets with orders that the benchmark makes itself, the same ones on every machine."""
