"""Everything that is computed: pools, routes and exact amounts. No I/O, no clock, no environment.

`records` and `errors` are used everywhere; `encoding` and `validation` check what comes from outside. `model` has the
types that all packages share, `networks` the catalogue. `pools` replay contracts in integers, `routing` searches over
them, `selection` chooses the pools of a large market that an order can use, and `wrap` needs no market at all.
"""

# What modules outside of this folder may import; every folder has such a list. An entry is a module ("wrap"), a module
# of a folder below ("routing.router"), or a folder with all that its own list names ("model"). The rest may change
# without a look outside. It is no `__all__`, which would hold names of this file.
PUBLIC = (
    "encoding", "errors", "model", "networks", "pools", "records", "routing.broken_pools", "routing.competing_routes",
    "routing.gas", "routing.graph.order_market", "routing.no_route", "routing.pool_state_prediction",
    "routing.replay", "routing.route_limits", "routing.route_price_impact", "routing.router", "routing.search_memory",
    "routing.unused_pool_gains", "selection", "validation", "wrap",
)  # fmt: skip
