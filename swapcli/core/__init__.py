"""The computations: pools, routes and exact amounts. No I/O, no clock, no environment.

`records`, `frozen_dataclass`, `annotations` and `errors` are used everywhere; `encoding` and `validation` check what
comes from outside. `model` has the types that all packages share, `networks` the catalogue. `routing` searches over
pools, `selection` chooses those of a large market that an order can use, and `execution` spreads a large order over
time. `swapcli.families` replays the contracts of the pools.
"""

# What modules outside of this folder may import; every folder has such a list. An entry is a module ("errors"), one
# of a folder below ("routing.router"), or a folder with all that its own list names ("model"). The rest may change
# without a look outside. It is no `__all__`, which would hold names of this file.
PUBLIC = (
    "annotations", "encoding", "errors", "execution", "frozen_dataclass", "model", "networks", "plugins", "records",
    "routing.broken_pools", "routing.competing_routes", "routing.gas", "routing.graph.order_market", "routing.no_route",
    "routing.pool_state_prediction", "routing.replay", "routing.route_limits", "routing.route_price_impact",
    "routing.router", "routing.search_memory", "routing.unused_pool_gains", "selection", "validation", "version",
)  # fmt: skip
