"""The state of chains: the pools of a market with their source, from nodes, stores, files and feeds.

`rpc` talks to nodes, with one policy for limits and failures. `readers` have one module per kind of pool contract,
`discovery` finds the pools of a network, `transfers` tests how tokens transfer, and `block_snapshot` is what was read
at one block. `store` is a market in SQLite, which `sync` fills and follows; `markets` are files, and `feed` carries
them over a Redis server. Nothing here computes an amount: the families of `swapcli.core.pools` check and own the state.
"""
