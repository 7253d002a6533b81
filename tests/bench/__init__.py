"""The benchmark, `python -m tests.bench`: measures what the program promises, and writes BENCHMARKS.md.

All of it takes half an hour. `--only chain,store` prints the sections of these parts alone; with `--out BENCHMARKS.md`
they take the place of those in the page.

The baselines (markets, certified optimum, exact replay, the peer) are a folder of programs outside this repository;
they run as processes of their own, in environments of their own.

`plan` what to measure; `baselines` finds, equips and runs them; `cases` a market with its orders; `quoting` the real
command over a batch; `core_time` the core in process; `stopwatch` and `whole_process` one-shot commands; `measure`
brings one case's measurements together as `results`; `figures` the statistics; `bars` what has to be reached;
`service_url` and `store` what their names say; `chain` what needs a node; `report` writes the page, or some sections of
it anew.
"""
