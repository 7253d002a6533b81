"""The benchmark, `python -m bench`: measures the program against its thresholds, and beside a peer in the same run.

It needs nothing but this checkout and the registries of its tools. It writes the figures that a user decides by into
BENCHMARKS.md, and the tables of all values into bench/HISTORY.md; bench/README.md explains how to read them.

Each question has its folder: `optimum` (how good are the routes?), `speed`, `service`, `chain` and `scale`, which is a
command of its own. `question` in each of them measures, and returns an `Answer`: rows for the page and sections for the
history. `plan` parses the command line, `running` runs programs, and `report` is the common part.

It asks no public nodes: neither this process nor one that it starts, unless it brings nodes of its own.
"""

import os

os.environ.setdefault("SWAPCLI_LIVE", "never")
