"""BENCHMARKS.md: `tables` how it is written, `select` groups of measurements, `optimum`, `peer`, `speed`,
`service_url`,
`store` and `chain` its sections, `machine` what it was measured on, `verdict` what comes of it, `page` the whole."""
