"""The page that needs no installation against this Python: equal replies, and how long they take.

`python -m bench.web` prints a table. The amounts of the same orders, and the replies to the same payloads and proofs,
are compared in full. Times are ratios within one run.
"""
