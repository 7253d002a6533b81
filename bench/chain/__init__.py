"""Measurements on a local chain of real contracts.

`many_pools` creates a chain with a given number of pools; `first_sync` fills stores from it (each in a process of
`one_sync`), and `live` quotes on it. `following` keeps stores at the latest block of a chain with pools of all
families, on which a `crowd` trades; `block_to_quote` measures how soon commands show
an announced block; `received` mines routes. `measure` runs them all.
"""
