"""Open networks, nodes, markets, stores and sources of quotes according to a `user_setup` (in programs:
`program_setup`).

`router_memory` finds networks, `nodes` and `markets` open nodes and markets, and `pool_sources` opens sources that
quote on markets. `choose_source` chooses the source for an order: one of these, or a remote service.
`long_running_nodes` is for long-running commands, `server_pool_sources` chooses the pools of a service, and
`choose_aggregators` chooses the aggregators of a comparison.
"""

PUBLIC = (
    "account_names", "check_nodes", "choose_aggregators", "choose_source", "long_running_nodes", "markets", "nodes",
    "past_nodes", "program_setup", "router_memory", "server_pool_sources", "user_setup",
)  # fmt: skip
