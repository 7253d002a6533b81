"""Render BENCHMARKS.md and bench/HISTORY.md.

`tables` has the Markdown, `select` groups measurements, `optimum`, `peer`, `simple`, `speed`, `service`, `store`,
`chain` and `hostile` are the sections, `machine` describes the machine, `summary` counts checks, `page` is the whole
report, and `files` are its two files.
"""
