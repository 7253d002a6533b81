"""Simple methods that compete with the search: they use none of its code, only exact swaps of pools and the exact
replay.

`python -m bench.optimum.simple_methods` shows how often one of them finds a better route.
"""
