"""Everything that is computed: pools, routes and exact amounts. No I/O, no clock, no environment.

`records` and `errors` are used everywhere; `encoding` and `validation` check what comes from outside. `model` has the
types that all packages share, `networks` the catalogue. `pools` replay contracts in integers, `routing` searches over
them, `selection` chooses the pools of a large market that an order can use, and `wrap` needs no market at all.
"""
