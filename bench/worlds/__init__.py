"""Markets with orders made by the benchmark, the same on every machine."""
