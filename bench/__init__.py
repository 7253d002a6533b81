"""The benchmark, `python -m bench`: measures the program against its thresholds, and compares it with a peer in the
same run.

It needs only this checkout and its tools' package registries. It writes the most important figures to BENCHMARKS.md,
and the tables of all values to bench/HISTORY.md; bench/README.md explains how to read them.

Each question has a folder: `optimum` (how good are the routes?), `speed`, `service`, `chain` and `scale`, which is a
separate command. `question` in each of them measures, and returns an `Answer`: rows for the page and sections for the
history. `plan` parses the command line, `running` runs programs, and `report` is the common part.

Neither this process nor its child processes use public nodes, unless they bring their own.
"""

import os

os.environ.setdefault("SWAPCLI_LIVE", "never")
