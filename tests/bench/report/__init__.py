"""BENCHMARKS.md: `tables` how it is written, `select` groups of measurements, `optimum`, `peer` and `speed` its
sections, `machine` what it was measured on, `page` the whole."""
