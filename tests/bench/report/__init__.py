"""Render BENCHMARKS.md.

`tables` has the Markdown, `select` groups measurements, `optimum`, `peer`, `speed`, `service`, `store`, `chain` and
`hostile` are the sections, `machine` describes the machine, `summary` counts checks, and `page` is the whole page.
"""
