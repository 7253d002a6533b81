"""Simple methods that compete with the search: none of its code, only exact swaps of pools and the exact replay.

`python -m bench.optimum.simple_methods` says how often one of them finds a better route.
"""
