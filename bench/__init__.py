"""The benchmark, `python -m bench`: measures the program against its thresholds.

It writes the current figures into BENCHMARKS.md, and their tables into bench/HISTORY.md.

A whole run takes half an hour. `--only chain,store` prints the sections of these parts only; with
`--out BENCHMARKS.md` they replace those of the report.

The baselines (markets, certified optimum, exact replay, the peer) are a folder of programs outside this repository;
they run as processes of their own, in environments of their own.

`plan` parses the command line; `baselines` finds, installs and runs the baselines; `cases` are markets with orders;
`quoting` runs the real command over a batch; `core_time` times the core in process; `stopwatch` and `whole_process`
time one-shot commands; `measure` measures one case and `results` has its results; `figures` are the statistics and
`thresholds` their limits; `simple_methods` compete with our routes, `contradictions` are answers that disagree, and
`solve_time` is what limited searches lose; `service`, `abuse`, `store`, `chain` and `hostile` measure the other parts;
`report` renders the page or replaces some of its sections.

It asks no public nodes: neither this process nor one that it starts, unless it brings nodes of its own.
"""

import os

os.environ.setdefault("SWAPCLI_LIVE", "never")
