"""The common part of all questions: figures and thresholds, Markdown, BENCHMARKS.md and bench/HISTORY.md.

`figures` has statistics, `thresholds` the thresholds, and `tables` the Markdown of sections. `answer` is the result of
a question: rows of the page and sections of the history. `page` renders both files, `files` writes them completely or
not at all, and `machine` describes the machine.
"""
