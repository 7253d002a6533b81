"""The common part of all questions: figures and their bars, Markdown, BENCHMARKS.md and bench/HISTORY.md.

`figures` are statistics, `thresholds` the bars, `tables` the Markdown of sections, `answer` is what a question returns:
rows of the page and sections of the history. `page` renders both files, `files` writes them whole or not at all, and
`machine` describes the machine.
"""
