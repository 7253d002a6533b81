"""Pure computations on pools, routes and exact amounts. They use no I/O, no clock and no environment variables.

`records`, `frozen_dataclass`, `annotations` and `errors` are used everywhere; `encoding` and `validation` check outside
input. `model` has the types that all packages share, and `networks` has the catalogue of networks. `routing` searches
over pools, `selection` chooses the pools of a large market that an order can use, and `execution` spreads a large order
over time. `swapcli.families` replays the pool contracts.
"""

# The modules that code outside this folder may import; every folder has such a list. An entry is a module ("errors"), a
# module in a subfolder ("routing.router"), or a folder with everything in its own list ("model"). All other modules may
# change without regard to code elsewhere. This is not `__all__`, which would list names in this file.
PUBLIC = (
    "annotations", "encoding", "errors", "execution", "frozen_dataclass", "model", "networks", "plugins", "records",
    "routing.broken_pools", "routing.competing_routes", "routing.gas", "routing.graph.order_market", "routing.no_route",
    "routing.pool_state_prediction", "routing.replay", "routing.route_limits", "routing.route_price_impact",
    "routing.router", "routing.search_memory", "routing.unused_pool_gains", "selection", "validation", "version",
)  # fmt: skip
